"""Do many bytes for a command go as the library would send them, within the room that the node gave?"""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor

import paramiko
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from paramiko.packet import Packetizer

from gpulease_gui.remote.outpour import AT_ONCE_BYTES, Outpour
from gpulease_gui.remote.seals import Seals
from gpulease_gui.remote.wire import Wire

KEY, NONCE = os.urandom(16), b"abcd" + bytes(7) + b"\xfe"
DATA = 94


class Counted(socket.socket):
    """How often something was sent."""

    calls = 0

    def send(self, data, flags=0, /):
        self.calls += 1
        return super().send(data, flags)


class Line:
    """One channel of ours, and the node, which reads with the library."""

    def __init__(self, *, keys: bool = True, window: int = 1 << 20, most: int = 32 * 1024) -> None:
        near, self.far = socket.socketpair()
        self.far.settimeout(10)
        self.sock = Counted(fileno=near.detach())
        self.transport = Wire(self.sock)
        self.sock.settimeout(None)  # the system itself waits, as on a connection
        self.transport.active = True
        self.transport.clear_to_send.set()
        self.node = Packetizer(self.far)
        if keys:
            self.transport.packetizer.set_outbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_out=NONCE)
            self.node.set_inbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_in=NONCE)
        self.channel = paramiko.Channel(5)
        self.channel._set_transport(self.transport)
        self.channel._set_window(1 << 20, 32 * 1024)
        self.channel._set_remote_channel(7, window, most)
        self.channel.settimeout(0.0)
        self.outpour = Outpour(self.channel)

    def sizes_sent(self, content: bytes, most: int | None = None) -> list[int]:
        """The sizes of the packets with which they, or the first `most` of them, went; the node reads meanwhile."""
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(self.outpour.send_all, content)
            try:
                sizes = self.sizes_read(content[:most])
            except BaseException:
                self.far.close()  # or the sender waits for ever
                raise
            sending.result()
        return sizes

    def sizes_read(self, wanted: bytes) -> list[int]:
        """The sizes of the packets with which exactly these bytes came."""
        sizes, came = [], b""
        while len(came) < len(wanted):
            kind, message = self.node.read_message()
            assert (kind, message.get_int()) == (DATA, 7)
            piece = message.get_binary()
            assert not message.get_remainder()
            sizes.append(len(piece))
            came += piece
        assert came == wanted
        return sizes

    def close(self):
        self.sock.close()
        self.far.close()


@pytest.fixture
def line():
    made = []

    def make(**how):
        made.append(Line(**how))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("size", [1, 32 * 1024 + 1, 128 * 1024, 200_003, AT_ONCE_BYTES, AT_ONCE_BYTES + 40_000])
def test_that_all_bytes_come_in_their_order_in_packets_that_the_node_takes(line, size):
    one, content = line(), os.urandom(size)
    sizes = one.sizes_sent(content)
    assert max(sizes) <= 32 * 1024 and one.channel.out_window_size == (1 << 20) - size


def test_that_what_goes_at_once_is_one_call_of_the_system(line):
    one, content = line(), os.urandom(AT_ONCE_BYTES)
    assert len(one.sizes_sent(content)) == 9 and one.sock.calls == 1


def test_that_a_server_of_small_packets_gets_small_ones(line):
    one, content = line(most=4096), os.urandom(AT_ONCE_BYTES)
    assert max(one.sizes_sent(content)) <= 4096


def test_that_no_more_goes_than_the_node_has_room_for(line):
    one, content = line(window=150_001), os.urandom(290_000)
    with pytest.raises(TimeoutError):
        one.sizes_sent(content, most=150_001)
    one.channel._window_adjust(paramiko.Message((140_000).to_bytes(4, "big")))
    one.sizes_sent(content[150_001:])
    assert one.channel.out_window_size == 1


def test_that_a_closed_channel_takes_nothing(line):
    one = line()
    one.channel.closed = True
    with pytest.raises(OSError, match="takes nothing more"):
        one.outpour.send_all(bytes(200_000))
    assert one.sock.calls == 0


def test_that_a_line_without_aes_gcm_or_one_that_wants_new_keys_is_the_librarys(line):
    content = os.urandom(200_000)
    plain, due = line(keys=False), line()
    due.transport.packetizer.REKEY_BYTES = AT_ONCE_BYTES + 60_000
    for one in (plain, due):
        for _ in range(4):
            one.sizes_sent(content)
    assert plain.sock.calls == 28 and due.transport.packetizer.need_rekey()


def test_that_an_engine_that_cant_write_in_place_seals_the_same():
    class Old:
        def encrypt(self, *words):
            return AESGCM(KEY).encrypt(*words)

    found = []
    for engine in (AESGCM(KEY), Old()):
        packets = Packetizer(None)
        packets.set_outbound_cipher(engine, 16, None, 16, b"", aead=True, iv_out=NONCE)
        room, scratch = memoryview(bytearray(400)), memoryview(bytearray(100))
        used, at = Seals(packets).seal_into(room, scratch, b"12345", memoryview(b"x" * 60 + b"y" * 60 + b"z"), [60, 60, 1]), 0
        plain = []
        for nonce, size in enumerate((96, 96, 32)):
            sealed = room[at + 4 : at + 4 + size]
            plain.append(AESGCM(KEY).decrypt((0xFE + nonce).to_bytes(8, "big").join([NONCE[:4], b""]), sealed, room[at : at + 4]))
            at += 4 + size
        found.append((used, at, [piece[1 : -piece[0]] for piece in plain], vars(packets)["_Packetizer__sent_packets"]))
    texts = [b"12345\0\0\0\x3c" + b"x" * 60, b"12345\0\0\0\x3c" + b"y" * 60, b"12345\0\0\0\x01z"]
    assert found[0] == found[1] == (236, 236, texts, 3)
