"""Which runs are still owed that their readings are kept as evidence, and what is the stretch of a run?

Nothing is written down when a run ends: a run that is over, has readings and no stretch of its own is owed one, whatever ended
the program that was to keep it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.imported import imported_from
from gpulease_gui.store.records import Run
from gpulease_gui.store.retention import KeptStretch, keep_stretch, list_kept, newest_pack
from gpulease_gui.store.runs import get_run
from gpulease_gui.store.slots import LONGEST_NS

if TYPE_CHECKING:
    from sqlite_utils import Database

# What a node did just before and after a run is part of the story.
MARGIN_S = 60.0
# Readings go by their age after that by themselves; nobody asks for what is older.
LOOKED_BACK_S = 30 * 86_400.0
_NS = 1_000_000_000
# A node that was read so lately is being watched: more will come, and the first of it may lie on the last two readings.
_GROWS_NS = 120 * _NS


@dataclass(frozen=True, slots=True)
class OwedRun:
    """A run whose readings are to be kept; `over_s`: when it ended (UTC)."""

    run_id: str
    node_id: str
    over_s: float


def owed_runs(connection: sqlite3.Connection, now_s: float) -> tuple[OwedRun, ...]:
    """Runs of this computer that ended within a month, have readings, and of which none were kept. The oldest first."""
    since, now = (utc_text(datetime.fromtimestamp(at_s, UTC)) for at_s in (now_s - LOOKED_BACK_S, now_s))
    rows = connection.execute(
        "SELECT id, node_id, started_at, finished_at FROM runs r WHERE state <> 'running' AND kind = 'verified' "
        "AND finished_at BETWEEN ? AND ? ORDER BY finished_at",
        (since, now),
    ).fetchall()
    return tuple(
        OwedRun(run_id, node_id, utc_from(finished).timestamp()) for run_id, node_id, started, finished in rows
        if _was_read(connection, node_id, utc_from(started), utc_from(finished)) and not _is_kept(connection, run_id, utc_from(started))
        and imported_from(connection, run_id) is None
    )  # fmt: skip


def keep_own(db: Database, run_id: str, now_s: float) -> KeptStretch | None:
    """Keep what was read during a run, and up to a minute around it, once; None without readings. Raises UsageError (unknown run)."""
    run = get_run(db.conn, run_id)
    held = _own(db.conn, run_id, run.started_at)
    if held is not None:
        return held
    begin_ns, end_ns = _begin_ns(run.started_at), _end_ns(db.conn, run, now_s)
    return keep_stretch(db, run_id, run.node_id, begin_ns, end_ns) if end_ns > begin_ns else None


def _begin_ns(started: datetime) -> int:
    return int((started.timestamp() - MARGIN_S) * _NS)


def _end_ns(connection: sqlite3.Connection, run: Run, now_s: float) -> int:
    wanted_ns = int(min(now_s, (run.finished_at.timestamp() if run.finished_at else now_s) + MARGIN_S) * _NS)
    newest = newest_pack(connection, run.node_id, int(now_s * _NS))
    if newest is None or int(now_s * _NS) - newest[0] >= _GROWS_NS:
        return wanted_ns
    return min(wanted_ns, newest[0] - 2 * newest[1])


def _own(connection: sqlite3.Connection, run_id: str, started: datetime) -> KeptStretch | None:
    """That of the run itself; those that a user chose begin elsewhere."""
    return next((one for one in list_kept(connection, run_id) if one.start_ns == _begin_ns(started)), None)


def _is_kept(connection: sqlite3.Connection, run_id: str, started: datetime) -> bool:
    return _own(connection, run_id, started) is not None


def _was_read(connection: sqlite3.Connection, node_id: str, started: datetime, finished: datetime) -> bool:
    begin_ns, end_ns = _begin_ns(started), int((finished.timestamp() + MARGIN_S) * _NS)
    # No pack is longer than that: without it all that was read since would be looked through.
    found = connection.execute(
        "SELECT 1 FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? AND end_ns <= ? AND start_ns < ? LIMIT 1",
        (node_id, begin_ns, end_ns + LONGEST_NS, end_ns),
    )
    return found.fetchone() is not None
