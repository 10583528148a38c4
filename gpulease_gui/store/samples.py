"""How are the readings of a watched node kept and read back for a chart?"""

from __future__ import annotations

import math
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.records import Gap, Mark, SampleBlock, SampleRange, Series, Stretch

if TYPE_CHECKING:
    from datetime import datetime

    from sqlite_utils import Database

_RAW = 0


def append_blocks(db: Database, blocks: Iterable[SampleBlock]) -> None:
    """Keep blocks; one with the start of a kept block replaces it. Raises sqlite3.IntegrityError (unknown node)."""
    kept = [block for block in blocks if len(block.values)]
    series = {block.series for block in kept}
    # By executemany on the connection: the row-by-row door of sqlite-utils is five times slower.
    db.conn.executemany(
        "INSERT INTO sample_series (node_id, metric, subject, unit) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(s.node_id, s.metric, s.subject, s.unit) for s in series],
    )
    ids = {one: _series_id(db.conn, one) for one in series}
    db.conn.executemany(
        "INSERT OR REPLACE INTO sample_blocks (series_id, level, start_ns, step_ns, count, float32_bytes) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(ids[b.series], _RAW, b.start_ns, b.step_ns, len(b.values), packed(b.values)) for b in kept],
    )


def append_gap(db: Database, gap: Gap) -> None:
    """Keep why a stretch has no samples."""
    row = {
        "node_id": gap.node_id, "metric": gap.metric, "start_ns": gap.start_ns, "end_ns": gap.end_ns,
        "reason": gap.reason,
    }  # fmt: skip
    db.table("sample_gaps").insert(row)


def save_mark(db: Database, mark: Mark) -> None:
    """Keep an event of a node."""
    row = {
        "id": mark.id, "node_id": mark.node_id, "run_id": mark.run_id, "at": utc_text(mark.at), "kind": mark.kind,
        "words": mark.words,
    }  # fmt: skip
    db.table("marks").insert(row)


def list_marks(connection: sqlite3.Connection, node_id: str, start: datetime, end: datetime) -> tuple[Mark, ...]:
    """The events of a node from `start` to `end` (both UTC, included), oldest first."""
    rows = connection.execute(
        "SELECT id, node_id, at, kind, words, run_id FROM marks WHERE node_id = ? AND at BETWEEN ? AND ? ORDER BY at",
        (node_id, utc_text(start), utc_text(end)),
    )
    return tuple(Mark(id_, node, utc_from(at), kind, words, run) for id_, node, at, kind, words, run in rows)


def list_series(connection: sqlite3.Connection, node_id: str) -> tuple[Series, ...]:
    """Everything that was ever sampled of a node."""
    rows = connection.execute(
        "SELECT node_id, metric, subject, unit FROM sample_series WHERE node_id = ? ORDER BY metric, subject", (node_id,)
    )
    return tuple(Series(*row) for row in rows)


def read_range(
    connection: sqlite3.Connection, node_id: str, metric: str, start_ns: int, end_ns: int, max_points: int
) -> SampleRange:
    """The readings with start <= time < end (ns, UTC), at most `max_points` points a subject.

    With more readings than that, a point stands for an even slice of the time, with its lowest and highest reading.
    NaN readings are left out, as are empty slices; gaps say why. Raises ValueError for an empty range.
    """
    if end_ns <= start_ns or max_points < 1:
        raise ValueError("the range is empty")
    rows = connection.execute(
        "SELECT id, node_id, metric, subject, unit FROM sample_series WHERE node_id = ? AND metric = ? "
        "ORDER BY subject",
        (node_id, metric),
    ).fetchall()
    stretches = (_stretch(connection, row[0], Series(*row[1:]), start_ns, end_ns, max_points) for row in rows)
    return SampleRange(tuple(s for s in stretches if s.times_ns), list_gaps(connection, node_id, metric, start_ns, end_ns))


def read_blocks(
    connection: sqlite3.Connection, node_id: str, metric: str, start_ns: int, end_ns: int
) -> tuple[SampleBlock, ...]:
    """The kept readings with start <= time < end (ns, UTC) as they were taken, by subject and time. NaN = not read."""
    rows = connection.execute(
        "SELECT id, node_id, metric, subject, unit FROM sample_series WHERE node_id = ? AND metric = ? ORDER BY subject",
        (node_id, metric),
    ).fetchall()
    return tuple(
        SampleBlock(Series(*row[1:]), first_ns, step_ns, values)
        for row in rows for first_ns, step_ns, values in _blocks(connection, row[0], start_ns, end_ns) if values
    )  # fmt: skip


def recorded_spans(
    connection: sqlite3.Connection, node_id: str, metric: str, start_ns: int, end_ns: int, apart_ns: int
) -> tuple[tuple[int, int], ...]:
    """(start, end) in ns of the stretches in which one subject of a metric was read; pauses up to `apart_ns` are none."""
    rows = connection.execute(
        "SELECT b.start_ns, b.start_ns + b.step_ns * b.count FROM sample_blocks b WHERE b.level = ? AND b.series_id = "
        "(SELECT min(id) FROM sample_series WHERE node_id = ? AND metric = ?) AND b.start_ns < ? AND b.start_ns >= ? "
        "ORDER BY b.start_ns",
        (_RAW, node_id, metric, end_ns, start_ns),
    )
    spans: list[tuple[int, int]] = []
    for begin_ns, after_ns in rows:
        if spans and begin_ns - spans[-1][1] <= apart_ns:
            spans[-1] = (spans[-1][0], max(after_ns, spans[-1][1]))
        else:
            spans.append((begin_ns, after_ns))
    return tuple(spans)


def list_gaps(
    connection: sqlite3.Connection, node_id: str, metric: str, start_ns: int, end_ns: int
) -> tuple[Gap, ...]:
    """The gaps of a metric, or of the whole node, that touch start <= time < end (ns, UTC)."""
    rows = connection.execute(
        "SELECT node_id, start_ns, end_ns, reason, metric FROM sample_gaps "
        "WHERE node_id = ? AND (metric IS NULL OR metric = ?) AND start_ns < ? AND end_ns >= ? ORDER BY start_ns, entry",
        (node_id, metric, end_ns, start_ns),
    )
    return tuple(Gap(*row) for row in rows)


def _stretch(
    connection: sqlite3.Connection, series_id: int, series: Series, start_ns: int, end_ns: int, max_points: int
) -> Stretch:
    blocks = _blocks(connection, series_id, start_ns, end_ns)
    stretch = Stretch(series, array("q"), array("f"), array("f"))
    if sum(len(values) for _, _, values in blocks) <= max_points:
        for first_ns, step_ns, values in blocks:
            _add_readings(stretch, first_ns, step_ns, values)
        return stretch
    last = -1
    for number, low, high in _slices(blocks, start_ns, end_ns, max_points):
        if number != last:
            stretch.times_ns.append(start_ns + number * (end_ns - start_ns) // max_points)
            stretch.low.append(low)
            stretch.high.append(high)
            last = number
        else:
            stretch.low[-1] = min(stretch.low[-1], low)
            stretch.high[-1] = max(stretch.high[-1], high)
    return stretch


_Block = tuple[int, int, "array[float]"]


def _blocks(connection: sqlite3.Connection, series_id: int, start_ns: int, end_ns: int) -> list[_Block]:
    """(time of the first reading, step, readings), each cut to start <= time < end."""
    rows = connection.execute(
        "SELECT start_ns, step_ns, float32_bytes FROM sample_blocks WHERE series_id = ? AND level = ? "
        "AND start_ns < ? AND start_ns + step_ns * (count - 1) >= ? ORDER BY start_ns",
        (series_id, _RAW, end_ns, start_ns),
    )
    blocks: list[_Block] = []
    for first_ns, step_ns, content in rows:
        skipped = max(0, _steps(start_ns - first_ns, step_ns))
        values = unpacked(content)[skipped : _steps(end_ns - first_ns, step_ns)]
        blocks.append((first_ns + skipped * step_ns, step_ns, values))
    return blocks


def _steps(stretch_ns: int, step_ns: int) -> int:
    """How many readings lie in a stretch that begins with one: its length over the step, rounded up."""
    return -(-stretch_ns // step_ns)


def _add_readings(stretch: Stretch, first_ns: int, step_ns: int, values: array[float]) -> None:
    for position, value in enumerate(values):
        if not math.isnan(value):
            stretch.times_ns.append(first_ns + position * step_ns)
            stretch.low.append(value)
            stretch.high.append(value)


def _slices(
    blocks: Iterable[_Block], start_ns: int, end_ns: int, slices: int
) -> Iterator[tuple[int, float, float]]:
    """(number of the slice, lowest, highest) for each part of a block that lies in one slice of the time."""
    length_ns = end_ns - start_ns
    for first_ns, step_ns, values in blocks:
        position = 0
        while position < len(values):
            number = (first_ns + position * step_ns - start_ns) * slices // length_ns
            border_ns = start_ns + _steps((number + 1) * length_ns, slices)
            after = _steps(border_ns - first_ns, step_ns)
            read = [value for value in values[position:after] if value == value]  # NaN is unlike itself
            if read:
                yield number, min(read), max(read)
            position = after


def packed(values: array[float]) -> bytes:
    """Little-endian float32 on every machine."""
    copy = array("f", values)
    if sys.byteorder == "big":
        copy.byteswap()
    return copy.tobytes()


def unpacked(content: bytes) -> array[float]:
    """The readings that `packed` wrote."""
    values: array[float] = array("f")
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _series_id(connection: sqlite3.Connection, series: Series) -> int:
    found: int = connection.execute(
        "SELECT id FROM sample_series WHERE node_id = ? AND metric = ? AND subject = ? AND unit = ?",
        (series.node_id, series.metric, series.subject, series.unit),
    ).fetchone()[0]
    return found
