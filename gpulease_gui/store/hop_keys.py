"""Which host keys of jump hosts are trusted? They belong to a host:port, as many nodes share one jump host."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from gpulease_gui.domain.node import HostKey
from gpulease_gui.store.codec import utc_text
from gpulease_gui.store.records import KeyDecision, KeyState

if TYPE_CHECKING:
    from sqlite_utils import Database

_DECISIONS = "SELECT key_type, fingerprint, state FROM hop_keys WHERE host_port = ? ORDER BY entry"


def save_hop_key_decision(db: Database, host_port: str, decision: KeyDecision) -> None:
    """Add one line to the history; `decision.node_id` is the node that was to be reached."""
    row = {
        "host_port": host_port, "node_id": decision.node_id, "key_type": decision.key.kind,
        "fingerprint": decision.key.fingerprint, "state": decision.state, "decided_at": utc_text(decision.decided_at),
        "compared_with": decision.compared_with, "decided_by": decision.by, "why": decision.why,
    }  # fmt: skip
    db.table("hop_keys").insert(row)


def list_trusted_hop_keys(connection: sqlite3.Connection, host_port: str) -> tuple[HostKey, ...]:
    """The keys whose last decision was "trusted", in the order of that decision; empty = nothing is pinned."""
    last: dict[HostKey, str] = {}
    for kind, fingerprint, state in connection.execute(_DECISIONS, (host_port,)):
        key = HostKey(kind, fingerprint)
        last.pop(key, None)
        last[key] = state
    return tuple(key for key, state in last.items() if state == KeyState.TRUSTED)
