"""Which contract paid for a node, and when?

A move is a mark of the node. What moved before moves were written down is known by its runs at most.
"""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import json_text, mark_document, utc_from, utc_text

if TYPE_CHECKING:
    from sqlite_utils import Database

MOVE_MARK = "contract"


@dataclass(frozen=True, slots=True)
class Move:
    """From this moment on (UTC seconds) another contract, or none, paid for a node; `before` is the id of the one until then."""

    at_s: float
    before: str | None


def note_move(db: Database, node_id: str, before: str | None, after: str | None, at: datetime) -> None:
    """A node goes from one contract to another."""
    db.conn.execute(
        "INSERT INTO marks (id, node_id, run_id, at, kind, words) VALUES (?, ?, NULL, ?, ?, ?)",
        (f"move-{uuid.uuid4()}", node_id, utc_text(at), MOVE_MARK, json_text({"before": before, "after": after})),
    )


def list_moves(connection: sqlite3.Connection, node_id: str) -> tuple[Move, ...]:
    """Those that were written down, oldest first; what a merged workspace brought and is no move is left out."""
    rows = connection.execute("SELECT at, words FROM marks WHERE node_id = ? AND kind = ? ORDER BY at, rowid", (node_id, MOVE_MARK))
    told = [(utc_from(at).timestamp(), mark_document(words)) for at, words in rows]
    return tuple(Move(at_s, said["before"]) for at_s, said in told if isinstance(said.get("before", 0), str | None))


def contracts_of_runs(connection: sqlite3.Connection, node_id: str) -> tuple[tuple[float, str], ...]:
    """(start in UTC seconds, contract) of the runs of a node that were held against one."""
    rows = connection.execute("SELECT started_at, contract_id FROM runs WHERE node_id = ? AND contract_id IS NOT NULL", (node_id,))
    return tuple((utc_from(at).timestamp(), contract) for at, contract in rows)
