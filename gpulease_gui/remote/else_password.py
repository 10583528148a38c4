"""When does a host that takes none of our keys get a password?"""

from __future__ import annotations

from dataclasses import replace

from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, Phase, no_password_yet

# How a login ends that has nothing to do with which key was shown, or whose keys were taken.
_NOT_OF_KEYS = (
    "answer_refused", "hung_up", "no_answer", "no_password", "no_password_wanted", "nothing_asked", "password_refused", "renegotiates",
    "second_factor", "timeout", "typed_too_late", "way_barred",
)  # fmt: skip


def by_password_instead(credentials: Credentials, error: ConnectFailed) -> Credentials | None:
    """With what the login that failed with `error` goes on; None = it does not."""
    if not credentials.else_password or credentials.method is AuthMethod.PASSWORD or not is_of_keys(error):
        return None
    if credentials.methods and not {"password", "keyboard-interactive"} & set(credentials.methods):
        return None
    return replace(credentials, method=AuthMethod.PASSWORD, identity_file="", certificate_file="")


def is_of_keys(error: ConnectFailed) -> bool:
    """Whether a login failed as none of our keys was taken, for whatever reason."""
    return error.phase is Phase.AUTH and error.cause not in _NOT_OF_KEYS


def without_password(error: ConnectFailed, *, once: bool) -> ConnectFailed:
    """The failure of a login at a jump host that had to do with keys alone, as in `no_password_yet`."""
    plain = no_password_yet(ConnectFailed(Phase.AUTH, error.host_port, "", NO_TEXT), once=once)
    error.also(plain.why_text)
    error.next_text = Text(f"{error.next_text.en}; {plain.next_text.en}", f"{error.next_text.zh}；{plain.next_text.zh}")
    error.at_terminal = f"{error.at_terminal}; {plain.next_text.en}" if error.at_terminal else ""
    return error


def told_of_both(by_key: ConnectFailed, by_password: ConnectFailed) -> ConnectFailed:
    """Why neither way led in: what was wrong with the keys, unless a password or an answer was refused."""
    if by_password.cause == "no_password_wanted":
        return by_key
    if by_password.cause == "no_password":
        by_key.also(by_password.why_text)
        return by_key
    return by_password
