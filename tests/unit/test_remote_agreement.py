"""Is what we agree on with a node what the library would agree on, whatever the node says?"""

from __future__ import annotations

import os
import socket

import paramiko
import pytest
from paramiko.ssh_exception import IncompatiblePeer, MessageOrderError

from gpulease_gui.remote.wire import Wire

AGREED = (
    "agreed_on_strict_kex", "host_key_type", "local_cipher", "remote_cipher", "local_mac", "remote_mac", "local_compression",
    "remote_compression", "remote_kex_init",
)  # fmt: skip
KEX = "sntrup761x25519-sha512,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ext-info-s,kex-strict-s-v00@openssh.com"
KEYS = "rsa-sha2-512,ssh-ed25519"
OUT, IN = "chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes128-ctr", "aes128-ctr,aes128-gcm@openssh.com"
MACS = "umac-64@openssh.com,hmac-sha2-256,hmac-sha2-512-etm@openssh.com"
OPENSSH = (KEX, KEYS, OUT, IN, MACS, "hmac-sha2-256", "none,zlib@openssh.com", "none", "", "")


def said(lists, *, behind: bytes = b"") -> paramiko.Message:
    message = paramiko.Message()
    message.add_bytes(os.urandom(16))
    for names in lists:
        message.add_string(names)
    message.add_boolean(False)
    message.add_int(0)
    message.add_bytes(behind)
    return paramiko.Message(message.asbytes())


def agree(transport, message, number: int = 0):
    """What came of it, or the error and its words."""
    transport._send_message = lambda _: None
    transport._send_kex_init()
    message.rewind()
    message.seqno = number
    try:
        transport._parse_kex_init(message)
    except (paramiko.SSHException, UnicodeDecodeError) as error:
        return type(error), str(error)
    return [getattr(transport, name) for name in AGREED], type(transport.kex_engine)


@pytest.fixture
def both():
    """Agrees by our way, again by our way, and by the library's with our wishes."""
    near, far = socket.socketpair()

    def agreed(message, **how):
        plain = paramiko.Transport(near)
        plain._kex_info = Wire._kex_info  # type: ignore[attr-defined]  # one exchange has two names there
        options, wanted = plain.get_security_options(), Wire(near).get_security_options()
        options.kex, options.ciphers, options.digests, options.key_types = wanted.kex, wanted.ciphers, wanted.digests, wanted.key_types
        found = [agree(transport, message, **how) for transport in (Wire(near), Wire(near), plain)]
        assert found[0] == found[1] == found[2]
        return found[0]

    with near, far:
        yield agreed


def test_that_of_all_that_a_node_has_our_first_is_chosen_each_way(both):
    message = said(OPENSSH, behind=b"\0what is not hashed")
    fields, engine = both(message)
    assert engine.name == "ecdh-sha2-nistp256" and fields[:-1] == [
        True, "ssh-ed25519", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256",
        "none", "none",
    ]  # fmt: skip
    assert fields[-1] == b"\x14" + message.asbytes().removesuffix(b"\0what is not hashed")


@pytest.mark.parametrize("place", range(8))
def test_that_a_node_without_anything_in_common_is_told_as_by_the_library(both, place):
    error, _ = both(said([*OPENSSH[:place], "nothing-of-ours", *OPENSSH[place + 1 :]]))
    assert error is IncompatiblePeer


def test_that_strictness_is_agreed_on_only_in_its_own_words(both):
    for kex, strict in (("ecdh-sha2-nistp256", False), ("ecdh-sha2-nistp256,kex-strict-s-v01@else", False), (KEX, True)):
        assert both(said((kex, *OPENSSH[1:])))[0][0] is strict


def test_that_a_strict_node_whose_first_packet_is_another_is_refused(both):
    assert both(said(OPENSSH), number=1)[0] is MessageOrderError
    assert both(said(("ecdh-sha2-nistp256", *OPENSSH[1:])), number=1)[0][0] is False


def test_that_cut_and_garbled_words_end_as_in_the_library(both):
    whole = said(OPENSSH).asbytes()
    for content in (b"", whole[:40], whole[:-5], whole[:-1], whole.replace(b"ecdh", b"\xff\xfe\xff\xfe")):
        both(paramiko.Message(content))


def test_that_words_longer_than_any_servers_are_not_kept_but_read(both):
    assert both(said((f"{KEX},{'x' * 5000}", *OPENSSH[1:])))[0][0] is True
