"""Which host keys of a node are trusted, and who decided so?"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from gpulease_gui.domain.node import HostKey
from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.records import KeyDecision, KeyState

if TYPE_CHECKING:
    from sqlite_utils import Database

_DECISION = "SELECT node_id, key_type, fingerprint, state, decided_at, compared_with, decided_by, why, place FROM host_keys"


def save_key_decision(db: Database, decision: KeyDecision) -> None:
    """Add one line to the history; lines are never changed."""
    row = {
        "node_id": decision.node_id, "key_type": decision.key.kind, "fingerprint": decision.key.fingerprint,
        "state": decision.state, "decided_at": utc_text(decision.decided_at),
        "compared_with": decision.compared_with, "decided_by": decision.by, "why": decision.why,
        "place": decision.place,
    }  # fmt: skip
    db.table("host_keys").insert(row)


def list_key_decisions(connection: sqlite3.Connection, *node_ids: str) -> tuple[KeyDecision, ...]:
    """The history of the keys of one or several nodes, oldest first."""
    rows = connection.execute(f"{_DECISION} WHERE node_id IN (SELECT value FROM json_each(?)) ORDER BY entry", (json.dumps(node_ids),))
    return tuple(_decision(*row) for row in rows)


def list_trusted_keys(connection: sqlite3.Connection, node_id: str) -> tuple[HostKey, ...]:
    """The keys whose last decision was "trusted", in the order of that decision; empty = nothing is pinned."""
    last: dict[HostKey, KeyState] = {}
    for decision in list_key_decisions(connection, node_id):
        last.pop(decision.key, None)
        last[decision.key] = decision.state
    return tuple(key for key, state in last.items() if state is KeyState.TRUSTED)


def _decision(
    node_id: str, kind: str, fingerprint: str, state: str, at: str, compared_with: str, by: str, why: str, place: str
) -> KeyDecision:
    return KeyDecision(node_id, HostKey(kind, fingerprint), KeyState(state), utc_from(at), compared_with, by, why, place)
