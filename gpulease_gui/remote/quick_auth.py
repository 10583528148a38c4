"""How is a key shown to a node without waiting for its leave to log in? It saves a round trip."""

from __future__ import annotations

import threading

import paramiko
from paramiko.auth_handler import AuthHandler

_SERVICE = "ssh-userauth"


class _AtOnce(AuthHandler):
    """Sends the login with the question whether one may log in; the node takes both in turn (RFC 4252, section 5)."""

    def _request_auth(self) -> None:
        super()._request_auth()  # type: ignore[misc]  # the stubs lack both
        leave = paramiko.Message()
        leave.add_string(_SERVICE)
        leave.rewind()
        super()._parse_service_accept(leave)  # type: ignore[misc]

    def _parse_service_accept(self, message: paramiko.Message) -> None:
        """The leave comes when its use is under way."""
        if message.get_text() != _SERVICE:
            raise paramiko.SSHException("the node accepts another service than was asked for")


def can_be_quick(transport: paramiko.Transport, key: paramiko.PKey) -> bool:
    """An RSA key waits: the node's list of the signatures that it takes may still be under way."""
    return not key.get_name().startswith("ssh-rsa") or bool(transport.server_extensions)  # type: ignore[attr-defined]


def auth_publickey(transport: paramiko.Transport, user: str, key: paramiko.PKey) -> list[str]:
    """As `transport.auth_publickey`: the ways that the node wants besides. Raises what that raises."""
    if not can_be_quick(transport, key):
        return transport.auth_publickey(user, key)
    answered = threading.Event()
    handler = _AtOnce(transport)
    transport.auth_handler = handler
    handler.auth_publickey(user, key, answered)
    return handler.wait_for_response(answered)
