"""A keyring of this process alone, as the operating system's would be, and one that does not do what it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """A true store; `locked` refuses everything, as after the user closed the window that asked to unlock."""

    priority = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        if (service, username) not in self.held:
            raise PasswordDeleteError("not found")
        del self.held[service, username]

    def _open(self) -> None:
        self.asked += 1
        if self.locked:
            raise KeyringLocked("the collection is locked")


@contextmanager
def system_keyring(backend: KeyringBackend) -> Iterator[None]:
    """Make `backend` the system's keyring for a while."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield
    finally:
        keyring.set_keyring(before)
