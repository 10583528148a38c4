"""Which gaps lasted when the program of their watch was killed?

A watch leaves word of what it holds open together with the readings that it writes, and while it tries to read its node again. Nobody
else ends that; once the watch is gone, each gap of a curve lasts as long as the readings of that watch go on, and one of the whole node
until its watch said so last.
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
    """A `watch` (the id that its packs have) holds these gaps of one node open, and nothing else. The end of one of the whole node is
    when it was seen to last; those of others are not looked at.
    """
    if gaps:
        told = [[gap.node_id, gap.start_ns, gap.reason, gap.metric, *([] if gap.metric else [gap.end_ns])] for gap in gaps]
        save_setting(db, f"{_OPEN}{watch}", json.dumps(told))
    else:
        db.conn.execute("DELETE FROM settings WHERE key = ?", (f"{_OPEN}{watch}",))


def end_left_open(connection: sqlite3.Connection, lives_ns: tuple[int, int] | None = None, node_id: str | None = None) -> None:
    """Keep as gaps what watches that are gone held open, of all nodes or of one.

    A watch whose newest readings, or newest word of a gap, end within `lives_ns` (from, to in ns, UTC) is not gone.
    """
    for key, value in connection.execute("SELECT key, value FROM settings WHERE key GLOB ?", (f"{_OPEN}*",)).fetchall():
        gaps, watch = list(_held(value)), key.removeprefix(_OPEN)
        if gaps and node_id not in (None, gaps[0].node_id):
            continue
        end_ns = _read_until(connection, gaps[0].node_id, watch) if gaps else 0
        if lives_ns is not None and any(lives_ns[0] <= told_ns <= lives_ns[1] for told_ns in (end_ns, *(gap.end_ns for gap in gaps))):
            continue
        ended = ((gap, end_ns if gap.metric else gap.end_ns) for gap in gaps)
        connection.executemany(
            "INSERT INTO sample_gaps (node_id, metric, start_ns, end_ns, reason, watch) VALUES (?, ?, ?, ?, ?, ?)",
            [(gap.node_id, gap.metric, gap.start_ns, until_ns, gap.reason, watch) for gap, until_ns in ended if gap.start_ns < until_ns],
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
        held = [_gap(*told) for told in json.loads(json.loads(value))]
    except (TypeError, ValueError):
        return
    yield from held


def _gap(node_id: object, start_ns: object, reason: object, metric: object, seen_ns: object = None) -> Gap:
    begin_ns = int(str(start_ns))
    return Gap(str(node_id), begin_ns, begin_ns if seen_ns is None else int(str(seen_ns)), str(reason), None if metric is None else str(metric))
