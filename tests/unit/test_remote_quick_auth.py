"""Is the login that goes with its question the one that the library would send after the answer?"""

from __future__ import annotations

import socket
import threading

import paramiko
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from paramiko.auth_handler import AuthHandler

from gpulease_gui.remote import quick_auth
from gpulease_gui.remote.pieces import Several
from gpulease_gui.remote.wire import Wire

CERTIFICATE = ("ssh-ed25519-cert-v01@openssh.com", b"a certificate of that key")


class Blob:
    key_type, key_blob = CERTIFICATE


@pytest.fixture
def key(tmp_path):
    def saved(made):
        path = tmp_path / "key"
        path.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        return paramiko.PKey.from_path(str(path))

    return saved


@pytest.fixture
def sent():
    near, far = socket.socketpair()
    with near, far:
        transport, said = Wire(near), list[paramiko.Message]()
        transport.session_id = b"the hash of the first exchange"  # type: ignore[attr-defined]
        transport._send_message = said.append  # type: ignore[attr-defined]
        yield transport, said


def by_the_library(transport, said, key) -> list[bytes]:
    said.clear()
    handler = AuthHandler(transport)
    handler.auth_publickey("root", key, threading.Event())
    leave = paramiko.Message()
    leave.add_string("ssh-userauth")
    leave.rewind()
    handler._parse_service_accept(leave)  # type: ignore[attr-defined]
    return [message.asbytes() for message in said]


def test_that_question_and_login_go_together_in_the_librarys_words(key, sent):
    transport, said = sent
    plain, certified = (key(ed25519.Ed25519PrivateKey.generate()) for _ in range(2))
    certified.public_blob = Blob()
    for one in (plain, certified):
        wanted = by_the_library(transport, said, one)
        said.clear()
        quick_auth._AtOnce(transport).auth_publickey("root", one, threading.Event())
        assert len(said) == 1 and isinstance(said[0], Several)
        assert [message.asbytes() for message in said[0].messages] == wanted and len(wanted) == 2


def test_that_what_is_signed_is_the_session_and_the_login(key, sent):
    transport, said = sent
    one = key(ec.generate_private_key(ec.SECP256R1()))
    quick_auth._AtOnce(transport).auth_publickey("root", one, threading.Event())
    login = paramiko.Message(said[0].messages[1].asbytes())  # type: ignore[attr-defined]
    assert login.get_byte() == b"\x32"
    assert [login.get_text() for _ in range(3)] == ["root", "ssh-connection", "publickey"] and login.get_boolean()
    assert (login.get_text(), login.get_string()) == ("ecdsa-sha2-nistp256", one.asbytes())
    session, before = paramiko.Message(), login.get_so_far()
    session.add_string(transport.session_id)  # type: ignore[attr-defined]
    assert one.verify_ssh_sig(session.asbytes() + before, paramiko.Message(login.get_string()))
    assert not login.get_remainder()
