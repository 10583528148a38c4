"""How is a key shown to a node without waiting for its leave to log in? It saves a round trip."""

from __future__ import annotations

import threading
from typing import Any

import paramiko
from paramiko.auth_handler import AuthHandler

from gpulease_gui.remote.driving import go_alone
from gpulease_gui.remote.pieces import Several
from gpulease_gui.remote.wire import Wire

_SERVICE = "ssh-userauth"
_SERVICE_REQUEST, _LOGIN = b"\x05", b"\x32"


class _AtOnce(AuthHandler):
    """Sends the login with the question whether one may log in; the node takes both in turn (RFC 4252, section 5)."""

    def _request_auth(self) -> None:
        known: Any = self  # the stubs lack most of it
        known.transport._send_message(Several((self._question(), self._login())))

    def _question(self) -> paramiko.Message:
        message = paramiko.Message()
        message.add_bytes(_SERVICE_REQUEST)
        message.add_string(_SERVICE)
        return message

    def _login(self) -> paramiko.Message:
        """RFC 4252, section 7. What is signed is the session and all that the message says before the signature."""
        known: Any = self
        kind, blob = known._get_key_type_and_bits(known.private_key)
        algorithm = known._finalize_pubkey_algorithm(kind)
        message = paramiko.Message()
        message.add_bytes(_LOGIN)
        for words in (known.username, "ssh-connection", "publickey"):
            message.add_string(words)
        message.add_boolean(True)
        message.add_string(algorithm)
        message.add_string(blob)
        signed = paramiko.Message()
        signed.add_string(known.transport.session_id)
        signed.add_bytes(message.asbytes())
        message.add_string(known.private_key.sign_ssh_data(signed.asbytes(), algorithm))
        return message

    def _parse_service_accept(self, message: paramiko.Message) -> None:
        """The leave comes when its use is under way."""
        if message.get_text() != _SERVICE:
            raise paramiko.SSHException("the node accepts another service than was asked for")


class _Asking(_AtOnce):
    """Shows the key without a signature and asks whether it would do (RFC 4252, section 7): nobody has to touch or confirm it for that."""

    is_welcome = False

    def _login(self) -> paramiko.Message:
        known: Any = self
        kind, blob = known._get_key_type_and_bits(known.private_key)
        message = paramiko.Message()
        message.add_bytes(_LOGIN)
        for words in (known.username, "ssh-connection", "publickey"):
            message.add_string(words)
        message.add_boolean(False)
        message.add_string(known._finalize_pubkey_algorithm(kind))
        message.add_string(blob)
        return message

    def _parse_userauth_info_request(self, message: paramiko.Message) -> None:
        """The number of this message means in a login by key that the key would do."""
        known: Any = self
        self.is_welcome = True
        known.auth_event.set()


def can_be_quick(transport: paramiko.Transport, key: paramiko.PKey) -> bool:
    """An RSA key waits: the node's list of the signatures that it takes may still be under way."""
    return not key.get_name().startswith("ssh-rsa") or bool(transport.server_extensions)  # type: ignore[attr-defined]


def auth_publickey(transport: paramiko.Transport, user: str, key: paramiko.PKey) -> list[str]:
    """As `transport.auth_publickey`: the ways that the node wants besides. Raises what that raises."""
    if not isinstance(transport, Wire) or not can_be_quick(transport, key):
        go_alone(transport)
        return transport.auth_publickey(user, key)
    return _answer_to(_AtOnce(transport), transport, user, key)[0]


def auth_if_welcome(transport: paramiko.Transport, user: str, key: paramiko.PKey) -> list[str]:
    """The same, but the node is asked first whether it takes the key, so that one that it refuses signs nothing."""
    if isinstance(transport, Wire) and can_be_quick(transport, key):
        asking = _Asking(transport)
        left, is_over = _answer_to(asking, transport, user, key)
        if is_over:
            return left
    return auth_publickey(transport, user, key)


def _answer_to(handler: _AtOnce, transport: Wire, user: str, key: paramiko.PKey) -> tuple[list[str], bool]:
    """The ways that the node wants besides, and whether that is its last word on the key. Raises as the library does."""
    answered = threading.Event()
    transport.auth_handler = handler
    handler.auth_publickey(user, key, answered)
    if not transport.take_in(answered.is_set, transport.auth_timeout) and not answered.is_set():
        raise paramiko.AuthenticationException("no answer in time")
    try:
        return handler.wait_for_response(answered), True
    except paramiko.AuthenticationException:  # the library knows no answer but yes and no
        if isinstance(handler, _Asking) and handler.is_welcome:
            return [], False
        raise
