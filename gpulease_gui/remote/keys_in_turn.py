"""Which of the named keys are shown to a host next, and whose passphrase is asked for on the way?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.remote.agent_keys import agent_holds
from gpulease_gui.remote.credentials import KEYS_MAX, Credentials, KeyRing, agent_present, is_encrypted
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.key_shapes import not_accepted, shapes_of
from gpulease_gui.remote.login import KeyToTry


class KeysInTurn:
    """The keys of one login, in their order, as many as may be tried.

    `refused`: files that the host did not take. A passphrase is asked for when it is its key's turn, not before.
    """

    def __init__(self, ring: KeyRing, host_port: str, credentials: Credentials) -> None:
        files = credentials.identity_file.split("\n") if credentials.method is AuthMethod.KEY else [credentials.identity_file]
        self._ring, self._host_port = ring, host_port
        self._left = [_with_agent(replace(credentials, identity_file=file)) for file in files[:KEYS_MAX]]
        self._shown = 0
        self._alone = len(files) == 1
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
        self.refused += tuple(credentials.identity_file for credentials, _ in tried)
        self._load()
        if not self._ready and self._trouble is not None:
            error.also(self._trouble.why_text)
        return bool(self._ready)

    def _load(self) -> None:
        while self._left and not (self._ready and self._asks(self._left[0])):
            credentials = self._left.pop(0)
            try:
                self._add(self._key_of(credentials, alone=self._alone))
            except ConnectFailed as error:
                self._trouble = self._trouble or error

    def _add(self, ready: KeyToTry) -> None:
        """One with a certificate is shown twice, and counts so; those that would be too many are left out.

        Raises ConnectFailed (auth) for one that the config lets sign with nothing.
        """
        credentials, key = ready
        times = len(shapes_of(key, credentials.key_algorithms)) if key is not None else 1
        if not times:
            raise not_accepted(self._host_port, credentials.identity_file)
        self._shown += times
        if self._shown > KEYS_MAX:
            self._left.clear()
        else:
            self._ready.append(ready)

    def _asks(self, credentials: Credentials) -> bool:
        return credentials.method is AuthMethod.KEY and self._ring.would_ask(credentials)

    def _key_of(self, credentials: Credentials, *, alone: bool) -> KeyToTry:
        """Of several keys, one that the certificate is not about is tried without it."""
        if credentials.method is not AuthMethod.KEY:
            return credentials, None
        try:
            return credentials, self._ring.load(self._host_port, credentials)
        except ConnectFailed as error:
            if alone or error.cause != "bad_certificate":
                raise
        return self._key_of(replace(credentials, certificate_file=""), alone=True)


def _with_agent(credentials: Credentials) -> Credentials:
    """An encrypted key that the agent holds is used there, as ssh does, so that no passphrase is asked for."""
    file = credentials.identity_file
    if credentials.method is not AuthMethod.KEY or credentials.passphrase is not None or credentials.certificate_file:
        return credentials
    if file and agent_present(credentials.agent) and is_encrypted(file) and agent_holds(file, credentials.agent):
        return replace(credentials, method=AuthMethod.AGENT)
    return credentials
