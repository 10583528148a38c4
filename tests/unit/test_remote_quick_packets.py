"""Is what the short way takes the same as what the library would have taken, whatever the node sends?"""

from __future__ import annotations

import os
import queue
import select
import socket
import threading
import time

import paramiko
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from paramiko.packet import Packetizer

from gpulease_gui.remote import quick_packets
from gpulease_gui.remote.ear import Ear, Parked
from gpulease_gui.remote.quick_packets import read_quickly
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.wire import Wire

KEY, NONCE = os.urandom(16), b"abcd" + b"\xff" * 4 + b"\x00" * 3 + b"\xfe"
IGNORE, DATA, WINDOW_ADJUST = 2, 94, 93
STATE = ("iv_in", "sequence_number_in", "received_bytes", "received_packets")


class Deaf(Ear):
    """As on a system without epoll: each connection reads in its own thread."""

    works = False


class Wired:
    """Both ends of a line with keys: `send` is the node, `read` is the transport's thread with one channel."""

    def __init__(self, ear: Ear | None, *, library: bool = False) -> None:
        near, self.far = socket.socketpair()
        self.node = Packetizer(self.far)
        self.node.set_outbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_out=NONCE)
        self.transport = Wire(ReadAhead.of(near))
        self.transport.sock.settimeout(0.05)
        self.transport.active = True
        self.packets = self.transport.packetizer
        if library:
            self.packets._ahead = None
        self.packets.set_inbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_in=NONCE)
        self.channel = paramiko.Channel(5)
        self.transport._channels.put(5, self.channel)
        if ear is not None:
            assert read_quickly(self.transport, ear)

    def send(self, *messages):
        for message in messages:
            self.node.send_message(message)

    def read(self):
        """The next message that the library is asked about: (type, its bytes)."""
        kind, message = self.packets.read_message()
        if kind == IGNORE:  # what the library's loop does
            return self.read()
        if kind == DATA:
            assert message.get_int() == 5
            self.channel._feed(message)
            return self.read()
        return kind, message.get_remainder()

    def state(self):
        return [vars(self.packets)[f"_Packetizer__{name}"] for name in STATE]

    def close(self):
        self.far.close()
        self.transport.sock.close()


def data(words: bytes, channel: int = 5) -> paramiko.Message:
    message = paramiko.Message()
    message.add_byte(bytes([DATA]))
    message.add_int(channel)
    message.add_string(words)
    return message


def adjust(room: int = 7) -> paramiko.Message:
    message = paramiko.Message()
    message.add_byte(bytes([WINDOW_ADJUST]))
    message.add_int(5)
    message.add_int(room)
    return message


def until(holds):
    end_s = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.005)


@pytest.fixture
def pair():
    near, far = socket.socketpair()
    with near, far:
        yield near, far


@pytest.fixture(params=["ear", "thread", "alone"])
def wired(request):
    """`alone`: as long as nobody listens."""
    made = []

    def make(*, quick=True):
        ears = {"ear": Ear, "thread": Deaf}
        made.append(Wired(ears[request.param]() if quick and request.param in ears else None, library=not quick))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_that_data_comes_out_and_everything_else_is_the_librarys(wired):
    one, plain = wired(), wired(quick=False)
    for line in (one, plain):
        line.send(data(b"first "), data(b""), data(b"second"), adjust(), data(b"x" * 30_000), adjust(9))
        assert [line.read(), line.read()] == [(WINDOW_ADJUST, b"\0\0\0\5\0\0\0\7"), (WINDOW_ADJUST, b"\0\0\0\5\0\0\0\x09")]
        assert line.channel.in_buffer.read(100_000) == b"first second" + b"x" * 30_000
    assert one.state() == plain.state()


def test_that_packets_come_out_however_they_are_cut(wired):
    one = wired()
    near, far = socket.socketpair()
    with near, far:
        sender = Packetizer(near)
        sender.set_outbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_out=NONCE)
        for message in (data(b"abc"), data(b"def"), adjust()):
            sender.send_message(message)
        content = far.recv(4096)

    def dribble():
        for place in range(0, len(content), 7):
            one.far.sendall(content[place : place + 7])
            until(lambda: not select.select([one.transport.sock], [], [], 0)[0])  # it was taken

    sending = threading.Thread(target=dribble)
    sending.start()
    assert one.read()[0] == WINDOW_ADJUST
    sending.join()
    assert one.channel.in_buffer.read(100) == b"abcdef"


def test_that_data_of_no_channel_and_odd_packets_go_to_the_library(wired):
    odd = data(b"more than it says")
    odd.add_string(b"behind")
    for message in (data(b"abc", channel=9), odd):
        one = wired()
        one.send(message)
        kind, told = one.packets.read_message()
        assert kind == DATA and told.asbytes() == message.asbytes()[1:]


def test_that_a_broken_seal_and_a_huge_packet_end_as_they_do_in_the_library(wired):
    for content, fault in ((b"\0\0\0\x20" + bytes(48), InvalidTag), (b"\x7f\xff\xff\xf0" + bytes(60), paramiko.SSHException)):
        for line in (wired(), wired(quick=False)):
            line.far.sendall(content)
            with pytest.raises(fault):
                line.read()


def test_that_new_keys_are_asked_for_with_the_packet_with_which_the_library_does(wired):
    for line in (wired(), wired(quick=False)):
        line.packets.REKEY_PACKETS = 2
        line.send(data(b"a"), data(b"b"), data(b"c"), adjust())
        assert line.read()[0] == WINDOW_ADJUST
        assert line.packets.need_rekey() and line.channel.in_buffer.read(9) == b"abc"


def test_that_the_end_of_a_line_is_told_at_once(wired):
    one = wired()
    one.send(data(b"last"))
    threading.Timer(0.05, one.far.shutdown, (socket.SHUT_RDWR,)).start()
    with pytest.raises(EOFError):
        one.read()
    assert one.channel.in_buffer.read(9) == b"last"


def test_that_a_line_closed_by_another_thread_ends(wired):
    one = wired()
    threading.Timer(0.05, lambda: (one.transport.sock.shutdown(socket.SHUT_RDWR), one.packets.close())).start()
    with pytest.raises(EOFError):
        one.read()


def test_that_a_line_that_is_closed_while_its_thread_sleeps_ends_at_once(monkeypatch):
    monkeypatch.setattr(quick_packets, "_PATIENCE_S", 3600.0)
    ear, one, found = Ear(), Wired(None), list[object]()
    assert read_quickly(one.transport, ear)

    def read() -> None:
        with pytest.raises(EOFError):
            found.append(one.read())
        found.append("ended")

    reading = threading.Thread(target=read)
    reading.start()
    until(lambda: ear._parked)
    one.packets.close()
    reading.join(30)
    assert found == ["ended"] and not ear._parked
    read()  # closed before it is slept for
    assert found == ["ended", "ended"]
    one.close()


def test_that_a_reader_that_fails_ends_its_line_and_no_other():
    ear, found = Ear(), list[object]()
    bad, good = Wired(ear), Wired(ear)

    class Fails:
        def feed(self, words):
            raise ZeroDivisionError

    bad.channel.in_buffer = Fails()  # type: ignore[assignment]

    def read(line):
        try:
            found.append(line.read())
        except (paramiko.SSHException, ZeroDivisionError) as error:
            found.append(type(error))

    hook, threading.excepthook = threading.excepthook, lambda told: found.append(told.exc_type)
    try:
        threads = [threading.Thread(target=read, args=(line,)) for line in (bad, good)]
        for thread in threads:
            thread.start()
        until(lambda: len(ear._parked) == 2)
        bad.send(data(b"a"))
        threads[0].join(60)
        good.send(data(b"b"), adjust())
        threads[1].join(60)
    finally:
        threading.excepthook = hook
    assert found[-1] == (WINDOW_ADJUST, b"\0\0\0\5\0\0\0\7") and ZeroDivisionError in found and len(found) == 3
    assert good.channel.in_buffer.read(9) == b"b"
    for line in (bad, good):
        line.close()


def test_that_the_ear_ends_with_the_last_line():
    ear = Ear()
    one = Wired(ear)
    one.send(data(b"a"))
    threading.Timer(0.05, one.send, (adjust(),)).start()
    one.read()
    one.close()
    until(lambda: not any(thread.name == "gpulease-ear" for thread in threading.enumerate()))


def test_that_a_line_that_brings_nothing_but_data_goes_to_the_ear_when_it_is_listened_to():
    ear, one, found = Ear(), Wired(None), list[object]()
    reading = threading.Thread(target=lambda: found.append(one.read()))
    reading.start()
    one.send(data(b"before "))
    until(lambda: one.channel.in_buffer.read_ready())
    assert read_quickly(one.transport, ear)
    one.send(data(b"after"))
    until(lambda: ear._parked)
    one.send(data(b"wards"), adjust())
    reading.join(60)
    assert found == [(WINDOW_ADJUST, b"\0\0\0\5\0\0\0\7")] and one.channel.in_buffer.read(99) == b"before afterwards"
    one.close()


def test_that_a_quiet_line_goes_to_the_ear_when_it_is_listened_to():
    ear, one, found = Ear(), Wired(None), list[object]()
    reading = threading.Thread(target=lambda: found.append(one.read()))
    reading.start()
    assert read_quickly(one.transport, ear)
    until(lambda: ear._parked)
    one.send(adjust())
    reading.join(60)
    assert found == [(WINDOW_ADJUST, b"\0\0\0\5\0\0\0\7")]
    one.close()


def test_that_lines_that_come_soon_after_one_another_wake_the_ear_once_for_several(pair):
    near, far = pair
    told, times = queue.SimpleQueue[str](), iter((5.0, 5.001, 5.1, 5.2, 5.3))

    class Line:
        def hear(self):
            told.put("heard")
            return near.recv(1) != b"!"

        def go_on(self):
            told.put("left")

    ear = Ear(lambda: next(times), lambda rest_s: told.put("rest"))
    ear.park(near.fileno(), Line())
    said = []
    for word, answers in ((b"x", 1), (b"x", 2), (b"x", 1), (b"x", 1), (b"!", 2)):
        far.send(word)
        said.append([told.get(timeout=60) for _ in range(answers)])
    assert said == [["heard"], ["heard", "rest"], ["heard"], ["heard"], ["heard", "left"]] and told.empty()


def test_that_much_that_came_at_once_is_taken_in_one_turn_of_the_ear():
    class Still(Ear):
        parked: Parked | None = None

        def park(self, number, one):
            self.parked = one

        def leave(self, number, one):
            pass

    ear = Still()
    one = Wired(ear)
    reading = threading.Thread(target=one.read, daemon=True)
    reading.start()
    until(lambda: ear.parked is not None)
    one.send(*(data(b"x" * 32768) for _ in range(5)))
    assert ear.parked is not None and ear.parked.hear()
    assert len(one.channel.in_buffer) == 5 * 32768
    one.send(adjust())
    assert not ear.parked.hear()
    ear.parked.go_on()
    reading.join(60)
    assert not reading.is_alive()
    one.close()
