"""Is what our own seals make and open the same as what the library would have made and opened?"""

from __future__ import annotations

import os
import socket

import paramiko
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from paramiko.packet import Packetizer

from gpulease_gui.remote.pieces import Several
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.seals import Told
from gpulease_gui.remote.wire import Packets

KEY, NONCE = os.urandom(32), b"abcd" + bytes(7) + b"\xfe"
OUT = ("iv_out", "sequence_number_out", "sent_bytes", "sent_packets", "need_rekey")


def words(number: int, size: int) -> paramiko.Message:
    message = paramiko.Message()
    message.add_byte(bytes([number]))
    message.add_string(b"x" * size)
    return message


class Calls(ReadAhead):
    """Counts how often the system is asked to send."""

    __slots__ = ("sent",)

    def send(self, data, flags=0, /):
        self.sent.append(len(data))
        return super().send(data, flags)


class Ends:
    """`ours` sends with our packets, `other` reads with the library's; both have the keys."""

    def __init__(self, *, ours: bool = True) -> None:
        near, far = socket.socketpair()
        self.sock = Calls.of(near)
        self.sock.sent = []
        self.sender = Packets(self.sock) if ours else Packetizer(self.sock)
        self.sender.set_outbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_out=NONCE)
        self.other = Packetizer(far)
        self.other.set_inbound_cipher(AESGCM(KEY), 16, None, 16, b"", aead=True, iv_in=NONCE)
        self.far = far

    def state(self):
        return [vars(self.sender)[f"_Packetizer__{name}"] for name in OUT]

    def read(self):
        kind, message = self.other.read_message()
        return kind, message.get_string(), message.seqno

    def close(self):
        self.sock.close()
        self.far.close()


@pytest.fixture
def ends():
    made = []

    def make(**how):
        made.append(Ends(**how))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_that_packets_of_every_length_are_sealed_as_the_library_seals_them(ends):
    ours, plain = ends(), ends(ours=False)
    for size in range(40):
        for one in (ours, plain):
            one.sender.send_message(words(94, size))
            assert one.read() == (94, b"x" * size, size)
        assert ours.state() == plain.state()
    assert ours.sock.sent == plain.sock.sent


def test_that_several_messages_go_with_one_call_of_the_system_and_in_their_order(ends):
    one = ends()
    one.sender.send_message(Several((words(98, 30), words(96, 0), words(97, 1))))
    assert len(one.sock.sent) == 1
    assert [one.read() for _ in range(3)] == [(98, b"x" * 30, 0), (96, b"", 1), (97, b"x", 2)]


def test_that_new_keys_are_asked_for_with_the_packet_with_which_the_library_does_even_among_several(ends):
    ours, plain = ends(), ends(ours=False)
    for one in (ours, plain):
        one.sender.REKEY_PACKETS = 2
    ours.sender.send_message(Several((words(98, 3), words(96, 2), words(97, 1))))
    assert [ours.read()[0] for _ in range(3)] == [98, 96, 97]
    for message in (words(98, 3), words(96, 2), words(97, 1)):
        plain.sender.send_message(message)
    assert ours.state() == plain.state() and ours.sender.need_rekey()


def test_that_a_line_without_aes_gcm_is_the_librarys(ends):
    one = ends()
    one.sender.set_outbound_cipher(None, 8, None, 0, b"")  # type: ignore[arg-type]  # as before keys are agreed on
    one.other.set_inbound_cipher(None, 8, None, 0, b"")  # type: ignore[arg-type]
    one.sender.send_message(Several((words(98, 3), words(96, 2))))
    assert [one.read()[:2] for _ in range(2)] == [(98, b"xxx"), (96, b"xx")]
    assert len(one.sock.sent) == 2


def test_that_a_cut_message_reads_as_zeros_as_in_the_library():
    content = b"\0\0\0\7\1\2"
    for message in (Told(content), paramiko.Message(content)):
        assert [message.get_int(), message.get_int(), message.get_int()] == [7, 0x01020000, 0]
