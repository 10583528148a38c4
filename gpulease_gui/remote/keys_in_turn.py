"""Which of the named keys are shown to a host next, and whose passphrase is asked for on the way?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import paramiko

from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.agent_keys import agent_holds, is_file_name
from gpulease_gui.remote.credentials import KEYS_MAX, Credentials, KeyRing, agent_present, is_of_no_use
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.key_certificates import fits, pairs
from gpulease_gui.remote.key_shapes import bare, certificate_in, not_accepted, shapes_of
from gpulease_gui.remote.login import KeyToTry, shown_name
from gpulease_gui.remote.rsa_length import is_too_short, rsa_bits, short_user_key

_NOT_OPENED = ("key_encrypted", "wrong_passphrase")


class KeysInTurn:
    """The keys of one login, in their order, as many as may be tried.

    `refused`: files that the host did not take. A passphrase is asked for when it is its key's turn, not before.
    """

    def __init__(self, ring: KeyRing, host_port: str, credentials: Credentials) -> None:
        files = credentials.identity_file.split("\n") if credentials.method is AuthMethod.KEY else [credentials.identity_file]
        self._ring, self._host_port = ring, host_port
        self._left = _turns(credentials, files[:KEYS_MAX])
        self._shown = 0
        self._certificates: set[bytes] = set()
        self._too_many: tuple[str, ...] = ()
        self._ready: list[KeyToTry] = []
        self._trouble: ConnectFailed | None = None
        self.refused: tuple[str, ...] = ()

    def next(self) -> Sequence[KeyToTry]:
        """The keys that can be shown on one connection: the next one and those after it that need no passphrase.

        Raises ConnectFailed (auth) when none of those that are left can be used.
        """
        if not self._ready:
            self._load()
        if not self._ready:
            assert self._trouble is not None
            raise self._trouble
        now, self._ready = self._ready, []
        return now

    def go_on(self, tried: Sequence[KeyToTry], error: ConnectFailed) -> bool:
        """All of `tried` were refused: whether there is another to try. If not, `error` says what was left out."""
        self.refused += tuple(shown_name(credentials) for credentials, _ in tried)
        self._load()
        if not self._ready and self._trouble is not None:
            error.also(self._trouble.why_text)
        if not self._ready and self._too_many:
            names = ", ".join(self._too_many)
            error.also(Text(f"not tried, as {KEYS_MAX} are the most: {names}", f"最多尝试 {KEYS_MAX} 次，未尝试：{names}"))
        return bool(self._ready)

    def _load(self) -> None:
        while self._left and not (self._ready and self._asks(self._left[0])):
            credentials = self._left.pop(0)
            try:
                self._add(credentials, self._key_of(credentials))
            except ConnectFailed as error:
                self._trouble = self._trouble or error
                if error.cause in _NOT_OPENED:  # nobody is asked for it a second time
                    self._left = [one for one in self._left if one.identity_file != credentials.identity_file]

    def _add(self, credentials: Credentials, key: paramiko.PKey | None) -> None:
        """A certificate beside its key is shown before the bare key, and counts so; those that would be too many are left out.

        Raises ConnectFailed (auth) for one that is too short for the config, or that it lets sign with nothing.
        """
        if key is not None and is_too_short(key.asbytes(), credentials.rsa_bits_least):
            raise short_user_key(self._host_port, shown_name(credentials), rsa_bits(key.asbytes()), credentials.rsa_bits_least)
        certificate = certificate_in(key)
        if key is not None and certificate and certificate in self._certificates:  # it was named, too
            key = bare(key)
        self._certificates.add(certificate)
        only = bool(credentials.certificate_file)
        times = len(shapes_of(key, credentials.key_algorithms, certificate_only=only)) if key is not None else 1
        if not times:
            raise not_accepted(self._host_port, shown_name(credentials))
        if self._shown + times > KEYS_MAX:
            self._too_many = tuple(shown_name(one) for one in (credentials, *self._left))
            self._left.clear()
            return
        self._shown += times
        self._ready.append((credentials, key))

    def _asks(self, credentials: Credentials) -> bool:
        return credentials.method is AuthMethod.KEY and self._ring.would_ask(credentials)

    def _key_of(self, credentials: Credentials) -> paramiko.PKey | None:
        return self._ring.load(self._host_port, credentials) if credentials.method is AuthMethod.KEY else None


def _turns(credentials: Credentials, files: Sequence[str]) -> list[Credentials]:
    """As ssh has them: each named certificate with its key, then all keys as they are. Of a single key that none of them
    is about that is said, and it is not tried. The agent looks itself for those of its keys that are not named by a file.
    """
    if credentials.method is AuthMethod.PASSWORD or not is_file_name(files[0]):
        return [replace(credentials, identity_file=file) for file in files]
    named = [file for file in credentials.certificate_file.split("\n") if file]
    certified = [replace(credentials, identity_file=key, certificate_file=file) for file, key in pairs(named, files)]
    if named and not certified and len(files) == 1 and credentials.method is AuthMethod.KEY:
        return [replace(credentials, identity_file=files[0], certificate_file=named[0])]
    bare = [_with_agent(replace(credentials, identity_file=file, certificate_file="")) for file in files]
    return [*map(_with_agent, certified), *(turn for one in bare for turn in ((one,) if named else _beside(one)))]


def _with_agent(credentials: Credentials) -> Credentials:
    """A key that the agent holds is used there, as ssh does, where its file is locked or of no use."""
    file = credentials.identity_file
    if credentials.method is not AuthMethod.KEY or credentials.passphrase is not None:
        return credentials
    if file and agent_present(credentials.agent) and is_of_no_use(file) and agent_holds(file, credentials.agent):
        return replace(credentials, method=AuthMethod.AGENT)
    return credentials


def _beside(credentials: Credentials) -> Sequence[Credentials]:
    """A key of the agent with KEY-cert.pub before it, if that is there; beside a key that is read here the library finds it."""
    file = f"{credentials.identity_file.removesuffix('.pub')}-cert.pub"
    if credentials.method is AuthMethod.AGENT and fits(file, credentials.identity_file):
        return replace(credentials, certificate_file=file), credentials
    return (credentials,)
