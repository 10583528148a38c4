"""What was written down by a clock of this computer that was ahead, and how is it told once the clock is right?

It stays where it was written: nobody knows for sure when it was read. Nothing that asks for the newest takes it for that, and
what is read at that time once more counts instead of it (`moments`).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import utc_text
from gpulease_gui.store.packing import Pack, unpack

if TYPE_CHECKING:
    from sqlite_utils import Database

_NS = 1_000_000_000
# A clock is corrected by less than this all the time; more is a sleep of this computer, or a clock that was set.
JUMP_S = 5.0
# As much as lines come late and early on a bad day: no reading stands more steps after the time at which it came.
MOST_AHEAD = 3
# A pack ends a step after its last reading, and no step of a watch is longer.
_LONGEST_STEP_S = 60.0
_SEAM_NS = 2 * _NS
CLOCK_WRONG = "clock_wrong"
CLOCK_MARK = "clock"


@dataclass(frozen=True, slots=True)
class Ahead:
    """Up to when (ns, UTC) readings of a node lie in the time to come, 0 = there are none; `told`: that was noted just now."""

    until_ns: int = 0
    told: bool = False


def not_ahead(now_ns: int) -> int:
    """Up to when (ns, UTC) readings may end that are stored now."""
    return now_ns + int((JUMP_S + _LONGEST_STEP_S) * _NS)


def newest_end(connection: sqlite3.Connection, node_id: str, now_ns: int) -> int:
    """When the newest kept reading of a node ends (ns, UTC) that lies in no time to come; 0 = there is none."""
    row = connection.execute(
        "SELECT coalesce(max(end_ns), 0) FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns <= ?", (node_id, not_ahead(now_ns))
    ).fetchone()
    return int(row[0])


def tell_ahead(db: Database, node_id: str, now_ns: int) -> Ahead:
    """Note the readings of a node that lie in the time to come (ns, UTC), as a gap over them and a mark of now, once."""
    where = "FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ?"
    late = node_id, now_ns + int(JUMP_S * _NS)
    last = db.conn.execute(f"SELECT content {where} ORDER BY end_ns DESC LIMIT 1", late).fetchone()
    if last is None or not _is_ahead(unpack(last[0]), now_ns):
        return Ahead()
    begin_ns, end_ns = db.conn.execute(f"SELECT min(start_ns), max(end_ns) {where}", late).fetchone()
    told = db.conn.execute(
        "SELECT max(end_ns) FROM sample_gaps WHERE node_id = ? AND metric IS NULL AND reason = ? AND end_ns > ?",
        (node_id, CLOCK_WRONG, now_ns),
    ).fetchone()[0]
    if told is not None and told >= end_ns - int(JUMP_S * _NS):  # another program that watches the node told it
        return Ahead(end_ns)
    begin_ns = max(now_ns, begin_ns) if told is None else max(now_ns, told)
    _keep(db, node_id, begin_ns, end_ns)
    at = datetime.fromtimestamp(now_ns / _NS, UTC)
    db.conn.execute(
        "INSERT OR IGNORE INTO marks (id, node_id, run_id, at, kind, words) VALUES (?, ?, NULL, ?, ?, ?)",
        (f"{CLOCK_MARK}-{node_id}-{now_ns}", node_id, utc_text(at), CLOCK_MARK, utc_text(datetime.fromtimestamp(end_ns / _NS, UTC))),
    )
    return Ahead(end_ns, told=True)


def _is_ahead(pack: Pack, now_ns: int) -> bool:
    """Whether its last reading stands further ahead than a correction of the clock, or a line that came early, explains."""
    if not pack.starts_ns:
        return False
    last_ns = max(start + step * (count - 1) for start, step, count in zip(pack.starts_ns, pack.steps_ns, pack.counts, strict=True))
    return last_ns - now_ns >= max(int(JUMP_S * _NS), MOST_AHEAD * max(pack.steps_ns))


def read_again(db: Database, node_id: str, start_ns: int, end_ns: int) -> None:
    """A stretch (ns, UTC) of which a clock that was ahead told was read by the right one: it is no part of that gap any more."""
    held = db.conn.execute(
        "SELECT entry, start_ns, end_ns FROM sample_gaps WHERE node_id = ? AND metric IS NULL AND reason = ? AND start_ns < ? AND end_ns > ?",
        (node_id, CLOCK_WRONG, end_ns, start_ns),
    ).fetchall()
    for entry, begin_ns, after_ns in held:
        db.conn.execute("DELETE FROM sample_gaps WHERE entry = ?", (entry,))
        for first_ns, last_ns in ((begin_ns, start_ns), (end_ns, after_ns)):
            if last_ns - first_ns > _SEAM_NS:
                _keep(db, node_id, first_ns, last_ns)


def _keep(db: Database, node_id: str, begin_ns: int, end_ns: int) -> None:
    db.conn.execute(
        "INSERT INTO sample_gaps (node_id, metric, start_ns, end_ns, reason) VALUES (?, NULL, ?, ?, ?)", (node_id, begin_ns, end_ns, CLOCK_WRONG)
    )
