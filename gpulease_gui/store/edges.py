"""When was the first and the last reading of a stretch taken, and how often were they asked for, where summaries do not say it?"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable

from gpulease_gui.store.packing import unpack
from gpulease_gui.store.slots import LONGEST_NS, pieces

# A pack has ten seconds of all series; what is told more seldom is in one of its neighbours.
_PACKS = 3
# (time in ns UTC, reading) by series.
Readings = dict[int, tuple[int, float]]


def first_readings(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> Readings:
    """The first kept reading of each series with start <= time < end (ns, UTC), of the packs that come first."""
    return _edge(connection, node_id, start_ns, end_ns, last=False)


def last_readings(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> Readings:
    """The last one of each series, of the packs that come last."""
    return _edge(connection, node_id, start_ns, end_ns, last=True)


def _edge(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int, *, last: bool) -> Readings:
    rows = connection.execute(
        "SELECT content FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? AND end_ns <= ? AND start_ns < ? "
        f"ORDER BY end_ns {'DESC' if last else 'ASC'} LIMIT {_PACKS}",
        (node_id, start_ns, end_ns + LONGEST_NS, end_ns),
    ).fetchall()
    found: Readings = {}
    for series_id, first_ns, step_ns, values in pieces(unpack(content) for (content,) in rows):
        places = range(len(values) - 1, -1, -1) if last else range(len(values))
        for place in places:
            at_ns = first_ns + place * step_ns
            if start_ns <= at_ns < end_ns and not math.isnan(values[place]):
                found[series_id] = (max if last else min)(found.get(series_id, (at_ns, values[place])), (at_ns, values[place]))
                break
    return found


_LOOKS, _MOST_HALVINGS = 24, 24


def steps_of(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int, looks: Iterable[int] = ()) -> tuple[tuple[int, int], ...]:
    """(since when, time between readings that were asked for), in ns, of what is kept of start <= time < end.

    It is looked for at `looks` (ns), where it may have changed, and here and there besides.
    """

    def look(at_ns: int) -> tuple[int, int] | None:
        row = connection.execute(
            "SELECT start_ns, content FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? ORDER BY end_ns LIMIT 1", (node_id, at_ns)
        ).fetchone()
        return None if row is None or row[0] >= end_ns else (int(row[0]), min(unpack(row[1]).steps_ns, default=1_000_000_000))

    everywhere = {start_ns + (end_ns - start_ns) * n // _LOOKS for n in range(_LOOKS)} | {end_ns - 1}
    found: list[tuple[int, int]] = []
    before_ns = start_ns
    for at_ns in sorted(everywhere | {at_ns for at_ns in looks if start_ns <= at_ns < end_ns}):
        at = look(at_ns)
        if at is not None and (not found or at[1] != found[-1][1]):
            found.append(_changed(look, before_ns, at, found[-1][1]) if found else at)
        before_ns = at_ns
    return tuple(found)


def _changed(look: Callable[[int], tuple[int, int] | None], early_ns: int, late: tuple[int, int], before_ns: int) -> tuple[int, int]:
    """The first pack after a time that has another step than those before."""
    for _ in range(_MOST_HALVINGS):
        middle = look((early_ns + late[0]) // 2)
        if middle is None or middle[0] >= late[0]:
            break
        if middle[1] == before_ns:
            early_ns = middle[0]
        else:
            late = middle
    return late
