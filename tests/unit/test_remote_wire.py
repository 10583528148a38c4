from __future__ import annotations

import socket
import threading
from hashlib import sha256, sha512
from types import SimpleNamespace

import paramiko
import pytest

from gpulease_gui.remote.algorithms import HOST_KEYS
from gpulease_gui.remote.handshake import cut, hang_up
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
        assert options.kex[:3] == ("ecdh-sha2-nistp256", "curve25519-sha256", "curve25519-sha256@libssh.org")
        assert not [name for name in (*options.kex, *options.digests) if "sha1" in name or "md5" in name]
        assert "gcm" in options.ciphers[0] and "etm" in options.digests[0]
        assert not [name for name in options.ciphers if "cbc" in name or "3des" in name]
        assert options.key_types == HOST_KEYS


def test_that_what_we_offer_is_worded_as_the_library_words_it():
    near, far = socket.socketpair()
    with near, far:
        ours, plain = Wire(near), paramiko.Transport(near)
        plain._kex_info = Wire._kex_info  # type: ignore[attr-defined]  # one exchange has two names there
        said: list[bytes] = []
        for kinds in (("ssh-ed25519",), ("rsa-sha2-512", "ssh-ed25519")):
            for transport in (ours, plain):
                options, wanted = transport.get_security_options(), ours.get_security_options()
                options.kex, options.ciphers, options.digests = wanted.kex, wanted.ciphers, wanted.digests
                options.key_types = kinds
                transport.clear_to_send.set()  # type: ignore[attr-defined]
                transport._send_message = lambda message: said.append(message.asbytes())  # type: ignore[attr-defined]
                transport._send_kex_init()  # type: ignore[attr-defined]
                assert transport.in_kex and not transport.clear_to_send.is_set()  # type: ignore[attr-defined]
                assert transport.local_kex_init == transport._latest_kex_init == said[-1]  # type: ignore[attr-defined]
            assert said[-2][1:17] != said[-1][1:17] and said[-2][:1] + said[-2][17:] == said[-1][:1] + said[-1][17:]


@pytest.mark.parametrize("digest", [sha256, sha512])
def test_that_the_keys_of_a_connection_are_those_that_the_library_derives(digest):
    near, far = socket.socketpair()
    with near, far:
        for secret in (1 << 255, 77, b"fixed length"):
            derived = []
            for transport in (Wire(near), paramiko.Transport(near)):
                transport.kex_engine = SimpleNamespace(hash_algo=digest)  # type: ignore[attr-defined]
                transport._set_K_H(secret, b"hash of the exchange")  # type: ignore[attr-defined]
                transport._set_K_H(secret, b"hash of the second one")  # type: ignore[attr-defined]
                derived.append([transport._compute_key(name, 12 * (n + 1) + 40) for n, name in enumerate("ABCDEF")])  # type: ignore[attr-defined]
            assert derived[0] == derived[1] and [len(key) for key in derived[0]] == [52, 64, 76, 88, 100, 112]


def test_that_keys_are_never_derived_by_a_digest_that_nobody_agreed_on():
    near, far = socket.socketpair()
    with near, far:
        transport = Wire(near)
        transport._set_K_H(77, b"hash")
        with pytest.raises(paramiko.SSHException, match="without a digest"):
            transport._compute_key("A", 16)


def test_that_ending_a_connection_through_a_jump_host_that_is_gone_raises_nothing() -> None:
    class Torn:
        def settimeout(self, seconds: float) -> None:
            """Whatever it is told."""

        def close(self) -> None:
            raise EOFError

    wire = Wire(Torn())
    wire.active = True
    cut(wire)
    wire.active = True
    hang_up(wire)
    assert not wire.is_active()
