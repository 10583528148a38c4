"""Which gaps of curves lasted when the program of their watch was killed?

A watch leaves word of what it holds open together with the readings that it writes. Nobody else ends that; once the watch is
gone, each of them is a gap that lasts as long as the readings of that watch go on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpulease_gui.store.records import Gap
from gpulease_gui.store.settings import save_setting

if TYPE_CHECKING:
    from sqlite_utils import Database

# An older program leaves such a setting where it is.
_OPEN = "gaps:"


def keep_open(db: Database, watch: str, gaps: Sequence[Gap]) -> None:
    """A `watch` (the id that its packs have) holds these gaps of one node open, and nothing else; their ends are not looked at."""
    if gaps:
        save_setting(db, f"{_OPEN}{watch}", json.dumps([[gap.node_id, gap.start_ns, gap.reason, gap.metric] for gap in gaps]))
    else:
        db.conn.execute("DELETE FROM settings WHERE key = ?", (f"{_OPEN}{watch}",))


def end_left_open(connection: sqlite3.Connection, lives_ns: tuple[int, int] | None = None, node_id: str | None = None) -> None:
    """Keep as gaps what watches that are gone held open, of all nodes or of one.

    A watch whose newest readings end within `lives_ns` (from, to in ns, UTC) is not gone.
    """
    for key, value in connection.execute("SELECT key, value FROM settings WHERE key GLOB ?", (f"{_OPEN}*",)).fetchall():
        gaps, watch = list(_held(value)), key.removeprefix(_OPEN)
        if gaps and node_id not in (None, gaps[0].node_id):
            continue
        end_ns = _read_until(connection, gaps[0].node_id, watch) if gaps else 0
        if lives_ns is not None and lives_ns[0] <= end_ns <= lives_ns[1]:
            continue
        connection.executemany(
            "INSERT INTO sample_gaps (node_id, metric, start_ns, end_ns, reason, watch) VALUES (?, ?, ?, ?, ?, ?)",
            [(gap.node_id, gap.metric, gap.start_ns, end_ns, gap.reason, watch) for gap in gaps if gap.start_ns < end_ns],
        )
        connection.execute("DELETE FROM settings WHERE key = ?", (key,))


def _read_until(connection: sqlite3.Connection, node_id: str, watch: str) -> int:
    """When the readings of a watch end (ns, UTC); 0 = none is kept, or the node is gone."""
    row = connection.execute(
        "SELECT end_ns FROM sample_packs WHERE node_id = ? AND level = 0 AND watch = ? ORDER BY end_ns DESC LIMIT 1", (node_id, watch)
    ).fetchone()
    return int(row[0]) if row else 0


def _held(value: str) -> Iterator[Gap]:
    """What is not written as `keep_open` writes it holds nothing."""
    try:
        held = [(str(node_id), int(start_ns), str(reason), str(metric)) for node_id, start_ns, reason, metric in json.loads(json.loads(value))]
    except (TypeError, ValueError):
        return
    for node_id, start_ns, reason, metric in held:
        yield Gap(node_id, start_ns, start_ns, reason, metric)
