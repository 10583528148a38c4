"""Which secrets of a node does the system's keyring keep, and which of them may be used?

The workspace knows only that something is kept, never what; so a user who keeps nothing never meets a keyring. A password
belongs to one node at one address: it is never given to another. A passphrase belongs to its key file.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.services.system_keyring import KeyringTrouble, SystemKeyring
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.settings import get_setting, save_setting
from gpulease_gui.store.workspace import Workspace

PASSPHRASE, PROXY, JUMP, PASSWORD = "passphrase of ", "password of the proxy ", "password of the jump host ", "password"
_SETTING = "keyring.kept"


@dataclass(frozen=True, slots=True)
class KeptSecret:
    """That something is kept: for which node, what, and where the node was then (user@host:port)."""

    node_id: str
    what: str
    target: str

    @property
    def account(self) -> str:
        """Its name in the keyring."""
        return self.what if self.what.startswith(PASSPHRASE) else f"{self.what}, {self.target} ({self.node_id})"


def may_be_kept(what: str) -> bool:
    """Whether that kind of secret is ever kept: an answer to a node's own question is not."""
    return (what == PASSWORD or what.startswith((PASSPHRASE, PROXY, JUMP))) and not {"\t", "\n"} & set(what)


def kept_for(node: Node, kept: tuple[KeptSecret, ...]) -> tuple[KeptSecret, ...]:
    """What is kept for a node: its own, and the passphrase of its key file whichever node it was typed for."""
    passphrase = f"{PASSPHRASE}{Path(node.identity_file.split(chr(10))[0]).expanduser()}" if node.identity_file else ""
    return tuple(one for one in kept if one.node_id == node.id or one.what == passphrase)


def list_kept(connection: Reader) -> tuple[KeptSecret, ...]:
    """All that is kept, as the workspace remembers it."""
    lines = (line.split("\t") for line in get_setting(connection, _SETTING, "").split("\n"))
    return tuple(KeptSecret(*parts) for parts in lines if len(parts) == 3)


def _save_kept(db: Database, kept: tuple[KeptSecret, ...]) -> None:
    save_setting(db, _SETTING, "\n".join("\t".join((one.node_id, one.what, one.target)) for one in kept))


class KeptSecrets:
    """Finds, keeps and forgets. Blocks as the keyring does; may be called from any worker."""

    def __init__(self, workspace: Workspace, keyring: SystemKeyring) -> None:
        self._workspace, self.keyring = workspace, keyring
        self._lock = threading.Lock()
        self._wanted: dict[KeptSecret, Secret] = {}
        self._used: set[KeptSecret] = set()
        self._refused: set[str] = set()
        self._trouble: dict[str, Text] = {}

    def find(self, node: Node, what: str) -> Secret | None:
        """What is kept and was not refused since; None = the user must be asked."""
        one = KeptSecret(node.id, what, node.target)
        with self._workspace.read() as connection:
            known = {kept.account for kept in list_kept(connection)}
        if one.account not in known or one.account in self._refused:
            return None
        try:
            found = self.keyring.find(one.account)
        except KeyringTrouble as trouble:
            self._trouble[one.account] = trouble.words
            return None
        with self._lock:
            self._used.add(one)
        return found

    def trouble(self, node: Node, what: str) -> Text | None:
        """Why the keyring did not give what it keeps, None = it did, or keeps nothing."""
        return self._trouble.get(KeptSecret(node.id, what, node.target).account)

    def keep_once_accepted(self, node: Node, what: str, secret: Secret) -> None:
        """Keep it as soon as the node lets us in with it."""
        with self._lock:
            self._wanted[KeptSecret(node.id, what, node.target)] = secret

    def drop(self, node: Node, what: str) -> None:
        """It was wrong before anybody but us saw it: it is not kept, and not taken out of the keyring again."""
        one = KeptSecret(node.id, what, node.target)
        with self._lock:
            self._wanted.pop(one, None)
            if one in self._used:
                self._refused.add(one.account)

    def accepted(self, node: Node) -> bool:
        """The node let us in: keep what the user wants kept, drop what it refused before; whether that changed anything.

        Raises KeyringTrouble.
        """
        with self._lock:
            wanted = {one: secret for one, secret in self._wanted.items() if one.node_id == node.id}
            self._wanted = {one: secret for one, secret in self._wanted.items() if one not in wanted}
            stale = {one for one in self._used if one.node_id == node.id and one.account in self._refused} - wanted.keys()
            self._used -= stale
        for one, secret in wanted.items():
            self.keyring.keep(one.account, secret)
            self._refused.discard(one.account)
            self._trouble.pop(one.account, None)
            self._remember({one}, (one,))
        for one in stale:
            self.keyring.forget(one.account)
            self._remember({one})
        return bool(wanted or stale)

    def _remember(self, gone: set[KeptSecret], new: tuple[KeptSecret, ...] = ()) -> None:
        self._workspace.submit(lambda db: _save_kept(db, (*_without(list_kept(db.conn), gone), *new))).result()

    def refused(self, node: Node, *, login: bool) -> None:
        """The node was not reached: what was to be kept is not; after a failed login the keyring's is not tried again."""
        with self._lock:
            self._wanted = {one: secret for one, secret in self._wanted.items() if one.node_id != node.id}
            if login:
                self._refused |= {one.account for one in self._used if one.node_id == node.id}

    def forget(self, node: Node) -> int:
        """Take out of the keyring what is kept for the node; how many. Raises KeyringTrouble, then the rest stays."""
        with self._workspace.read() as connection:
            kept = kept_for(node, list_kept(connection))
        for account in dict.fromkeys(one.account for one in kept):
            self.keyring.forget(account)
        if kept:
            self._remember(set(kept))
        return len({one.account for one in kept})

    def close(self) -> None:
        """Let go of what waits to be kept."""
        with self._lock:
            self._wanted.clear()


def _without(kept: tuple[KeptSecret, ...], gone: set[KeptSecret]) -> tuple[KeptSecret, ...]:
    accounts = {one.account for one in gone}
    return tuple(one for one in kept if one.account not in accounts)
