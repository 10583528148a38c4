"""Does this system have a keyring that takes a secret, and what does it hold for us?

A secret is kept there or nowhere: a backend that answers nothing, throws away, or writes a plain or home-made file does
not count. Everything here blocks (a locked keyring may ask the user by its own window), so no call belongs on the main
thread; the library itself is loaded at the first call.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

SERVICE = "GPULease"
# The smallest store, that of Windows, holds 2560 bytes of UTF-16.
LONGEST_CHARS = 1280
_ANSWER_S = 60.0
_RECOMMENDED = 1  # as the library has it: below are stores that only exist for want of a better one
_FILES = "keyrings."  # the package of plain and home-made files
_FOREIGN = (("secretstorage.exceptions", "SecretStorageException"), ("jeepney", "DBusErrorResponse"),
            ("win32ctypes.pywin32.pywintypes", "error"))  # fmt: skip


class KeyringTrouble(Exception):
    """The keyring did not do it; `words` say why in one sentence."""

    def __init__(self, words: Text) -> None:
        super().__init__(words.en)
        self.words = words


class SystemKeyring:
    """The keyring of the user's session. `answer_s`: how long it may take, its own questions included."""

    def __init__(self, answer_s: float = _ANSWER_S) -> None:
        self._answer_s = answer_s

    def takes(self) -> bool:
        """Whether a real keyring is there. It may still be locked."""
        try:
            return self._within(_real) is not None
        except KeyringTrouble:
            return False

    def find(self, account: str) -> Secret | None:
        """What is kept under `account`, None = nothing. Raises KeyringTrouble."""
        found = self._within(lambda: _there().get_password(SERVICE, account))
        return None if found is None else Secret(found)

    def keep(self, account: str, secret: Secret) -> None:
        """Keep a secret, in place of what was kept there. Raises KeyringTrouble."""
        if len(secret.reveal()) > LONGEST_CHARS:
            raise KeyringTrouble(Text("it is too long for a keyring", "内容过长，密钥环无法保存"))
        self._within(lambda: _there().set_password(SERVICE, account, secret.reveal()))

    def forget(self, account: str) -> None:
        """Take out what is kept under `account`; nothing there is no error. Raises KeyringTrouble."""
        self._within(lambda: _take_out(account))

    def _within(self, work: Callable[[], T]) -> T:
        """Do it, or give up: a broken message bus answers never."""
        done: list[T] = []
        faults: list[Exception] = []

        def run() -> None:
            try:
                done.append(work())
            except _known_faults() as fault:
                faults.append(fault)

        thread = threading.Thread(target=run, name="keyring", daemon=True)
        thread.start()
        thread.join(self._answer_s)
        if faults:
            raise _told(faults[0]) from faults[0]
        if not done:
            raise KeyringTrouble(Text("it gave no answer", "没有响应"))
        return done[0]


def _real() -> KeyringBackend | None:
    """The first of the library's choice that is a true store of secrets."""
    import keyring

    chosen = keyring.get_keyring()
    several = getattr(chosen, "backends", None)  # the one that asks one after the other
    return next((one for one in several or (chosen,) if _is_real(one)), None)


def _is_real(backend: KeyringBackend) -> bool:
    try:
        return backend.priority >= _RECOMMENDED and not type(backend).__module__.startswith(_FILES)
    except _known_faults():
        return False


def _there() -> KeyringBackend:
    found = _real()
    if found is None:
        raise KeyringTrouble(Text("this system has none", "本系统没有密钥环"))
    return found


def _take_out(account: str) -> None:
    from keyring.errors import PasswordDeleteError

    backend = _there()
    if backend.get_password(SERVICE, account) is None:
        return
    try:
        backend.delete_password(SERVICE, account)
    except PasswordDeleteError:
        if backend.get_password(SERVICE, account) is not None:
            raise


def _known_faults() -> tuple[type[Exception], ...]:
    """What the library raises, and what its backends let through; only what was loaded can have been raised."""
    from keyring.errors import KeyringError

    foreign = (getattr(sys.modules.get(module), name, None) for module, name in _FOREIGN)
    return (KeyringError, KeyringTrouble, OSError, RuntimeError, ValueError, *(kind for kind in foreign if kind))


def _told(fault: Exception) -> KeyringTrouble:
    from keyring.errors import KeyringLocked

    if isinstance(fault, KeyringTrouble):
        return fault
    if isinstance(fault, KeyringLocked):
        return KeyringTrouble(Text("it is locked", "密钥环已锁定"))
    # Never the words of the fault: a backend may put what it was given into them.
    name = type(fault).__name__
    return KeyringTrouble(Text(f"it is broken ({name})", f"密钥环出错（{name}）"))
