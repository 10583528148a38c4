"""What was written down by a clock of this computer that was ahead, and how is it told once the clock is right?

It stays where it was written: nobody knows for sure when it was read. Nothing that asks for the newest takes it for that.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import utc_text

if TYPE_CHECKING:
    from sqlite_utils import Database

_NS = 1_000_000_000
# Clocks are corrected by less than this all the time.
AHEAD_NS = 60 * _NS
CLOCK_WRONG = "clock_wrong"
CLOCK_MARK = "clock"


def not_ahead(now_ns: int) -> int:
    """Up to when (ns, UTC) a reading may have been taken that is stored now."""
    return now_ns + AHEAD_NS


def newest_end(connection: sqlite3.Connection, node_id: str, now_ns: int) -> int:
    """When the newest kept reading of a node ends (ns, UTC) that lies in no time to come; 0 = there is none."""
    row = connection.execute(
        "SELECT coalesce(max(end_ns), 0) FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns <= ?", (node_id, not_ahead(now_ns))
    ).fetchone()
    return int(row[0])


def tell_ahead(db: Database, node_id: str, now_ns: int) -> bool:
    """Note the readings of a node that lie in the time to come (ns, UTC), as a gap over them and a mark of now, once.

    Whether there was anything to note.
    """
    begin_ns, end_ns = db.conn.execute(
        "SELECT min(start_ns), max(end_ns) FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ?", (node_id, not_ahead(now_ns))
    ).fetchone()
    if begin_ns is None:
        return False
    told = db.conn.execute(
        "SELECT max(end_ns) FROM sample_gaps WHERE node_id = ? AND metric IS NULL AND reason = ? AND end_ns > ?",
        (node_id, CLOCK_WRONG, now_ns),
    ).fetchone()[0]
    if told is not None and told >= end_ns:
        return False
    begin_ns = max(now_ns, begin_ns) if told is None else max(now_ns, told)
    db.conn.execute(
        "INSERT INTO sample_gaps (node_id, metric, start_ns, end_ns, reason) VALUES (?, NULL, ?, ?, ?)", (node_id, begin_ns, end_ns, CLOCK_WRONG)
    )
    at = datetime.fromtimestamp(now_ns / _NS, UTC)
    db.conn.execute(
        "INSERT OR IGNORE INTO marks (id, node_id, run_id, at, kind, words) VALUES (?, ?, NULL, ?, ?, ?)",
        (f"{CLOCK_MARK}-{node_id}-{now_ns}", node_id, utc_text(at), CLOCK_MARK, utc_text(datetime.fromtimestamp(end_ns / _NS, UTC))),
    )
    return True
