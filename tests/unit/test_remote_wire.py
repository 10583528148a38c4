from __future__ import annotations

import socket
import threading

import paramiko
import pytest

from gpulease_gui.remote.handshake import _prefer, offered_key_types
from gpulease_gui.remote.wire import PACKET_MAX_BYTES, Packets, Wire


@pytest.fixture
def ends():
    near, far = socket.socketpair()
    near.settimeout(5)
    yield Packets(near), far
    near.close()
    far.close()


def test_that_a_packet_that_claims_gigabytes_is_refused_before_anything_of_it_is_kept(ends):
    packets, far = ends
    far.sendall((0x7FFFFFFC).to_bytes(4, "big") + b"\4" * 4)
    with pytest.raises(paramiko.SSHException, match="a packet of 2147483640 bytes"):
        packets.read_message()


def test_that_the_largest_packet_is_read_whole(ends):
    packets, far = ends
    sender = threading.Thread(target=far.sendall, args=(b"x" * PACKET_MAX_BYTES,))
    sender.start()
    assert packets.read_all(PACKET_MAX_BYTES) == b"x" * PACKET_MAX_BYTES
    sender.join()


def test_that_a_handshake_that_takes_too_long_is_given_up_without_a_thread_that_watches_it(ends):
    packets, _ = ends
    threads = threading.active_count()
    packets.start_handshake(60)
    assert not packets.handshake_timed_out()
    packets.start_handshake(-1)
    assert threading.active_count() == threads
    with pytest.raises(EOFError):
        packets.read_all(1)
    packets.complete_handshake()
    assert not packets.handshake_timed_out()


def test_that_the_cheapest_key_exchange_is_asked_for_first_and_no_old_one_at_all():
    near, far = socket.socketpair()
    with near, far:
        options = Wire(near).get_security_options()
        _prefer(options, offered_key_types())
        assert options.kex[:2] == ("ecdh-sha2-nistp256", "curve25519-sha256@libssh.org")
        assert not [name for name in (*options.kex, *options.digests) if "sha1" in name or "md5" in name]
        assert "gcm" in options.ciphers[0] and not [name for name in options.ciphers if "cbc" in name]
        assert options.key_types == offered_key_types()
