"""How are the readings of a watched node kept and read back for a chart?"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from gpulease_gui.store import older_blocks
from gpulease_gui.store.ahead import CLOCK_WRONG
from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.moments import events_of, merged
from gpulease_gui.store.packing import Block, Pack, pack, unpack
from gpulease_gui.store.records import Gap, Mark, SampleBlock, SampleRange, Series, Stretch
from gpulease_gui.store.slot_reading import first_whole, read_outline
from gpulease_gui.store.slots import LONGEST_NS, Outline, cover, pieces, rows_between, slots_of
from gpulease_gui.store.unread import OF_OTHERS, TOUCHED, unread

if TYPE_CHECKING:
    from datetime import datetime

    from sqlite_utils import Database


def append_blocks(db: Database, blocks: Iterable[SampleBlock], watch: str | None = None) -> None:
    """Keep blocks that a `watch` (its id) took; one with the start of a kept block replaces it. Raises sqlite3.IntegrityError (unknown node)."""
    by_node: dict[str, list[SampleBlock]] = {}
    for block in blocks:
        if len(block.values):
            by_node.setdefault(block.series.node_id, []).append(block)
    for node_id, kept in by_node.items():
        # By executemany on the connection: the row-by-row door of sqlite-utils is five times slower.
        rows = [_row(node_id, group) for group in _groups(_short(_numbered(db.conn, node_id, kept)))]
        db.conn.executemany(
            "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content, watch) VALUES (?, 0, ?, ?, ?, ?)", [(*row, watch) for row in rows]
        )
        cover(db.conn, node_id, max(row[2] for row in rows), rows[0][1])


def _numbered(connection: sqlite3.Connection, node_id: str, blocks: Sequence[SampleBlock]) -> list[Block]:
    """The blocks with the numbers of their series, new ones included."""
    names = [(block.series.metric, block.series.subject, block.series.unit) for block in blocks]
    known = _known(connection, node_id)
    new = [name for name in dict.fromkeys(names) if name not in known]
    if new:
        connection.executemany(
            "INSERT INTO sample_series (node_id, metric, subject, unit) VALUES (?, ?, ?, ?)", [(node_id, *name) for name in new]
        )
        known = _known(connection, node_id)
    return [(known[name], block.start_ns, block.step_ns, block.values) for name, block in zip(names, blocks, strict=True)]


def _known(connection: sqlite3.Connection, node_id: str) -> dict[tuple[str, str, str], int]:
    rows = connection.execute("SELECT id, metric, subject, unit FROM sample_series WHERE node_id = ?", (node_id,))
    return {(metric, subject, unit): id_ for id_, metric, subject, unit in rows}


def _short(blocks: list[Block]) -> list[Block]:
    """The blocks in pieces that are no longer than a pack may be."""
    most_ns = LONGEST_NS // 2
    if all(step_ns * len(values) <= most_ns for _, _, step_ns, values in blocks):
        return blocks
    return [
        (series_id, start_ns + place * step_ns, step_ns, values[place : place + most])
        for series_id, start_ns, step_ns, values in blocks
        if (most := max(1, most_ns // step_ns))
        for place in range(0, len(values), most)
    ]


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks that begin within half an hour of the first one: packs of a watch are ten seconds long."""
    group: list[Block] = []
    for block in sorted(blocks, key=itemgetter(1)):
        if group and block[1] - group[0][1] > LONGEST_NS // 2:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _row(node_id: str, blocks: list[Block]) -> tuple[str, int, int, bytes]:
    """(node, start, end, content) of a pack."""
    return node_id, blocks[0][1], max([at + step * len(values) for _, at, step, values in blocks]), pack(blocks)


def append_gap(db: Database, gap: Gap, watch: str | None = None) -> None:
    """Keep why a `watch` (its id) has no samples of a stretch, instead of what somebody else took for its end meanwhile."""
    if watch is not None:
        db.conn.execute(
            "DELETE FROM sample_gaps WHERE node_id = ? AND start_ns = ? AND metric IS ? AND reason = ? AND watch = ?",
            (gap.node_id, gap.start_ns, gap.metric, gap.reason, watch),
        )
    row = {
        "node_id": gap.node_id, "metric": gap.metric, "start_ns": gap.start_ns, "end_ns": gap.end_ns,
        "reason": gap.reason, "watch": watch,
    }  # fmt: skip
    db.table("sample_gaps").insert(row)


def cut_gaps(db: Database, node_id: str, now_ns: int) -> None:
    """No gap of a node lasts beyond now (ns, UTC), as one does that was written down by a clock that was ahead."""
    db.conn.execute(
        "UPDATE sample_gaps SET end_ns = ? WHERE node_id = ? AND start_ns < ? AND end_ns > ? AND reason <> ?",
        (now_ns, node_id, now_ns, now_ns, CLOCK_WRONG),
    )


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


def series_by_id(connection: sqlite3.Connection, node_id: str) -> dict[int, Series]:
    """Everything that was ever sampled of a node, by metric and subject."""
    rows = connection.execute(
        "SELECT id, node_id, metric, subject, unit FROM sample_series WHERE node_id = ? ORDER BY metric, subject", (node_id,)
    )
    return {row[0]: Series(*row[1:]) for row in rows}


def list_series(connection: sqlite3.Connection, node_id: str) -> tuple[Series, ...]:
    """Everything that was ever sampled of a node."""
    return tuple(series_by_id(connection, node_id).values())


def outline(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int, step_ns: int) -> Outline:
    """`slot_reading.read_outline`, with what an older program kept and nobody summarised yet; no moment of a series is told twice."""
    told = read_outline(connection, node_id, start_ns, end_ns, step_ns)
    packs = (*older_blocks.read_packs(connection, node_id, start_ns, end_ns), *told.packs)
    return Outline(told.slabs, tuple(merged(packs, partial(events_of, connection, node_id))), told.coarser)


def read_range(
    connection: sqlite3.Connection, node_id: str, metric: str, start_ns: int, end_ns: int, max_points: int
) -> SampleRange:
    """The readings with start <= time < end (ns, UTC), at most `max_points` points a subject.

    With more readings than that, a point stands for an even slice of the time, with its lowest and highest reading; of a
    long time a slice may hold readings of up to a third of its length before it. NaN readings are left out, as are empty
    slices; gaps say why. Raises ValueError for an empty range.
    """
    if end_ns <= start_ns or max_points < 1:
        raise ValueError("the range is empty")
    wanted = {id_: one for id_, one in series_by_id(connection, node_id).items() if one.metric == metric}
    told = outline(connection, node_id, start_ns, end_ns, (end_ns - start_ns) // max_points // 3)
    blocks = _by_series(told.packs, wanted, start_ns, end_ns)
    made = (_stretch(one, told, id_, blocks.get(id_, []), start_ns, end_ns, max_points) for id_, one in wanted.items())
    return SampleRange(tuple(s for s in made if s.times_ns), list_gaps(connection, node_id, metric, start_ns, end_ns), told.coarser)


def read_blocks(
    connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int
) -> dict[Series, list[SampleBlock]]:
    """The kept readings of a node with start <= time < end (ns, UTC) as they were taken, each moment of a series once. NaN = not read."""
    known = series_by_id(connection, node_id)
    rows = rows_between(connection, node_id, 0, start_ns, end_ns)
    packs = (*older_blocks.read_packs(connection, node_id, start_ns, end_ns), *(unpack(row[2]) for row in rows))
    found = _by_series(merged(packs, partial(events_of, connection, node_id)), known, start_ns, end_ns)
    return {one: [SampleBlock(one, *block) for block in found[id_]] for id_, one in known.items() if id_ in found}


def recorded_spans(
    connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int, apart_ns: int
) -> tuple[tuple[int, int], ...]:
    """(start, end) in ns of the stretches in which a node was read; pauses up to `apart_ns` are none.

    The database finds where a stretch begins: a week has sixty thousand packs. Where the readings themselves were
    removed for their age, summaries say when there were any: to the minute, or to half an hour where these are gone, too.
    """
    told_ns, fine_ns = (first_whole(connection, node_id, level, start_ns, end_ns) for level in (0, 1))
    rows = connection.execute(
        "WITH kept AS (SELECT start_ns AS a, end_ns AS z FROM sample_packs WHERE node_id = :node AND level = 0 "
        "AND end_ns > :start AND start_ns < :end), "
        "older AS (SELECT start_ns AS a, end_ns AS z FROM sample_packs WHERE node_id = :node "
        "AND ((level = 4 AND end_ns <= :fine) OR level = 1) AND end_ns > :start AND end_ns <= :told), "
        "first AS (SELECT min(id) AS id FROM sample_series WHERE node_id = :node), "
        "moved AS (SELECT start_ns AS a, start_ns + step_ns * count AS z FROM sample_blocks WHERE level = 0 AND "
        "series_id = (SELECT id FROM first) AND start_ns >= :start AND start_ns < :end), "
        "seen AS (SELECT * FROM older UNION ALL SELECT * FROM moved UNION ALL SELECT * FROM kept), "
        "told AS (SELECT a, z, a - max(z) OVER (ORDER BY a, z ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > :apart "
        "AS apart FROM seen), "
        "numbered AS (SELECT a, z, sum(coalesce(apart, 1)) OVER (ORDER BY a, z) AS stretch FROM told) "
        "SELECT min(a), max(z) FROM numbered GROUP BY stretch ORDER BY 1",
        {"node": node_id, "start": start_ns, "end": end_ns, "apart": apart_ns, "told": told_ns, "fine": min(fine_ns, told_ns)},
    )
    return tuple((begin_ns, after_ns) for begin_ns, after_ns in rows)


def list_gaps(
    connection: sqlite3.Connection, node_id: str, metric: str | None, start_ns: int, end_ns: int
) -> tuple[Gap, ...]:
    """The gaps of a metric (None: of every metric), or of the whole node, that touch start <= time < end (ns, UTC).

    What another program read of it is no part of a gap of the whole node; what was read here is no part of one that came in a file.
    """
    rows = connection.execute(
        f"SELECT node_id, start_ns, end_ns, reason, metric, watch, {TOUCHED} FROM sample_gaps g "
        "WHERE node_id = ? AND (metric IS NULL OR metric = coalesce(?, metric)) AND start_ns < ? AND end_ns >= ? ORDER BY start_ns, entry",
        (node_id, metric, end_ns, start_ns),
    ).fetchall()
    noted = ((Gap(node, first, last, why, of, watch == OF_OTHERS), watch, touched) for node, first, last, why, of, watch, touched in rows)
    made = (part for gap, watch, touched in noted for part in (unread(connection, gap, watch) if touched else (gap,)))
    return tuple(gap for gap in made if gap.start_ns < end_ns and gap.end_ns >= start_ns)


_Block = tuple[int, int, "array[float]"]
# (number of the slice, lowest, highest, mean, how many readings)
_Slice = tuple[int, float, float, float, int]


def _by_series(
    packs: Iterable[Pack], wanted: Collection[int], start_ns: int, end_ns: int
) -> dict[int, list[_Block]]:
    """(time of the first reading, step, readings) by series, each cut to start <= time < end, by time."""
    found: dict[int, list[_Block]] = {}
    for series_id, first_ns, step_ns, values in pieces(packs):
        if series_id in wanted:
            skipped = max(0, _steps(start_ns - first_ns, step_ns))
            cut = values[skipped : max(0, _steps(end_ns - first_ns, step_ns))]
            if cut:
                found.setdefault(series_id, []).append((first_ns + skipped * step_ns, step_ns, cut))
    for blocks in found.values():
        blocks.sort(key=lambda block: block[0])
    return found


def _stretch(
    series: Series, told: Outline, series_id: int, blocks: list[_Block], start_ns: int, end_ns: int, max_points: int
) -> Stretch:
    stretch = Stretch(series, array("q"), array("f"), array("f"))
    if not told.slabs and sum(len(values) for _, _, values in blocks) <= max_points:
        for first_ns, step_ns, values in blocks:
            _add_readings(stretch, first_ns, step_ns, values)
        return stretch
    early = _from_slots(told, series_id, start_ns, end_ns, max_points)
    late = _slices(blocks, start_ns, end_ns, max_points)
    _add_slices(stretch, sorted(chain(early, late), key=lambda one: one[0]), start_ns, end_ns, max_points)
    return stretch


def _from_slots(told: Outline, series_id: int, start_ns: int, end_ns: int, slices: int) -> Iterator[_Slice]:
    """Each summary counts for the slice in which it begins."""
    for slab in told.slabs:
        if series_id in slab.ids:
            for at_ns, (low, mean, _, high, count) in slots_of(slab, slab.ids.index(series_id)):
                if start_ns - slab.step_ns < at_ns < end_ns:
                    yield (max(at_ns, start_ns) - start_ns) * slices // (end_ns - start_ns), low, high, mean, int(count)


def _add_slices(stretch: Stretch, told: Iterable[_Slice], start_ns: int, end_ns: int, slices: int) -> None:
    last = -1
    for number, low, high, mean, count in told:
        if number != last:
            stretch.times_ns.append(start_ns + number * (end_ns - start_ns) // slices)
            _add_point(stretch, low, high, mean, count)
            last = number
        else:
            stretch.low[-1] = min(stretch.low[-1], low)
            stretch.high[-1] = max(stretch.high[-1], high)
            stretch.count[-1] += count
            stretch.mean[-1] += (mean - stretch.mean[-1]) * count / stretch.count[-1]


def _add_point(stretch: Stretch, low: float, high: float, mean: float, count: int) -> None:
    stretch.low.append(low)
    stretch.high.append(high)
    stretch.mean.append(mean)
    stretch.count.append(count)


def _steps(stretch_ns: int, step_ns: int) -> int:
    """How many readings lie in a stretch that begins with one: its length over the step, rounded up."""
    return -(-stretch_ns // step_ns)


def _add_readings(stretch: Stretch, first_ns: int, step_ns: int, values: array[float]) -> None:
    for position, value in enumerate(values):
        if math.isfinite(value):
            stretch.times_ns.append(first_ns + position * step_ns)
            _add_point(stretch, value, value, value, 1)


def _slices(
    blocks: Iterable[_Block], start_ns: int, end_ns: int, slices: int
) -> Iterator[_Slice]:
    """A slice for each part of a block that lies in one slice of the time."""
    length_ns = end_ns - start_ns
    for first_ns, step_ns, values in blocks:
        position = 0
        while position < len(values):
            number = (first_ns + position * step_ns - start_ns) * slices // length_ns
            border_ns = start_ns + _steps((number + 1) * length_ns, slices)
            after = _steps(border_ns - first_ns, step_ns)
            read = [value for value in values[position:after] if value - value == 0.0]  # finite ones
            if read:
                yield number, min(read), max(read), sum(read) / len(read), len(read)
            position = after
