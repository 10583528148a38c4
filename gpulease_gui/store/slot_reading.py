"""Which readings and summaries tell a stretch, each moment once and as finely as it is still kept?

What is old goes oldest first, but what touches a kept stretch of a run stays. So a level may have islands in the time of
which the rest is gone; between them a coarser level tells what was read.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gpulease_gui.store.packing import FIELDS, Block, ids_of, pack_of, packed, slots_head, unpack, unpacked
from gpulease_gui.store.slot_places import BASE_NS, of_block
from gpulease_gui.store.slots import (
    LEVELS,
    LONGEST_NS,
    NOT_READ,
    ROWS,
    Outline,
    Slab,
    after,
    covered,
    level_for,
    pieces,
    rows_between,
    slabs,
    slots_of,
)

# (length of a slot, start, content) of a row of summaries.
_Row = tuple[int, int, bytes]
_Span = tuple[int, int]
_NOTHING = array("f", NOT_READ)


@dataclass(frozen=True, slots=True)
class _Node:
    """Where is read: a node, and up to where its summaries are made."""

    connection: sqlite3.Connection
    id: str
    until_ns: int

    def rows(self, level: int, start_ns: int, end_ns: int) -> list[tuple[int, int, bytes]]:
        return rows_between(self.connection, self.id, level, start_ns, end_ns) if start_ns < end_ns else []


def read_outline(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int, step_ns: int) -> Outline:
    """What was read of a node with start <= time < end; the first and the last row may reach beyond.

    Slots are at most `step_ns` long where such summaries are still kept, else longer ones, and `coarser` says where. Under
    10 s the readings themselves come.
    """
    level = level_for(step_ns)
    node = _Node(connection, node_id, covered(connection, node_id) or start_ns)
    if not level:
        return _readings(node, start_ns, end_ns)
    since_ns = max(start_ns, min(end_ns, node.until_ns))
    made = tuple(slabs(_level_rows(node, level, start_ns, end_ns)))
    packs = [after(unpack(content), since_ns) for _, _, content in node.rows(0, since_ns, end_ns)]
    return Outline(made, tuple(packs), _coarser(made, LEVELS[level]))


def whole_from(
    connection: sqlite3.Connection, node_id: str, level: int, spans: Iterable[_Span], start_ns: int, end_ns: int
) -> int:
    """From when on (ns) nothing of a level was removed from start <= time < end; `spans` are its rows that are there.

    The first row that touches no kept stretch would have gone before all later ones.
    """
    kept: list[_Span] = connection.execute(
        "SELECT start_ns, end_ns FROM kept_stretches WHERE node_id = ? AND start_ns < ? AND end_ns > ?",
        (node_id, end_ns + LONGEST_NS, start_ns - LONGEST_NS),
    ).fetchall()
    first_ns = min([start_ns, *(begin for begin, end in kept if end > start_ns)])
    before = connection.execute(
        "SELECT 1 FROM (SELECT start_ns, end_ns FROM sample_packs WHERE node_id = :node AND level = :level AND end_ns <= :first "
        "AND end_ns > :first - :apart ORDER BY end_ns DESC LIMIT 1) p WHERE NOT EXISTS (SELECT 1 FROM kept_stretches k "
        "WHERE k.node_id = :node AND k.start_ns < p.end_ns AND k.end_ns > p.start_ns)",
        {"node": node_id, "level": level, "first": first_ns, "apart": ROWS.get(level, ROWS[1])},
    ).fetchone()
    if before is not None:
        return start_ns
    loose = (row[1] for row in spans if not any(begin < row[1] and end > row[0] for begin, end in kept))
    return min(loose, default=end_ns)


def first_whole(connection: sqlite3.Connection, node_id: str, level: int, start_ns: int, end_ns: int) -> int:
    """The start (ns) of the first row of a level that touches start <= time < end and no kept stretch; `end_ns` without one."""
    found = connection.execute(
        "SELECT p.start_ns FROM sample_packs p WHERE p.node_id = ? AND p.level = ? AND p.end_ns > ? AND p.start_ns < ? "
        "AND NOT EXISTS (SELECT 1 FROM kept_stretches k WHERE k.node_id = p.node_id AND k.start_ns < p.end_ns "
        "AND k.end_ns > p.start_ns) ORDER BY p.end_ns LIMIT 1",
        (node_id, level, start_ns, end_ns),
    ).fetchone()
    return end_ns if found is None else int(found[0])


# -- summaries --------------------------------------------------------------------------------------------------------


def _level_rows(node: _Node, level: int, start_ns: int, end_ns: int) -> list[_Row]:
    """Rows of a level, coarser ones where these are gone; after the last whole row those of finer levels."""
    made_ns = min(end_ns, node.until_ns // ROWS[level] * ROWS[level])
    made = _patched(node, level, start_ns, made_ns) if made_ns > start_ns else []
    rest_ns = max(start_ns, made_ns)
    if level - 1 in LEVELS and min(end_ns, node.until_ns) > rest_ns:
        made += _level_rows(node, level - 1, rest_ns, end_ns)
    return made


def _patched(node: _Node, level: int, start_ns: int, end_ns: int) -> list[_Row]:
    rows = node.rows(level, start_ns, end_ns)
    made = [(LEVELS[level], row[0], row[2]) for row in rows]
    if level + 1 not in LEVELS:
        return made
    whole_ns = whole_from(node.connection, node.id, level, [row[:2] for row in rows], start_ns, end_ns)
    patches = [
        cut for hole in _holes([row[0] for row in rows], ROWS[level], start_ns, min(whole_ns, end_ns))
        for row in _patched(node, level + 1, *hole) if (cut := _within(row, *hole))
    ]  # fmt: skip
    return sorted(made + patches, key=lambda row: row[1]) if patches else made


def _holes(starts_ns: Sequence[int], row_ns: int, start_ns: int, end_ns: int) -> Iterator[_Span]:
    """The stretches of whole rows that are not there. Such a row is one slot of the next level: none is told twice."""
    at_ns = start_ns // row_ns * row_ns
    for begin_ns in starts_ns:
        if at_ns < min(begin_ns, end_ns):
            yield at_ns, min(begin_ns, -(-end_ns // row_ns) * row_ns)
        at_ns = max(at_ns, begin_ns + row_ns)
    if at_ns < end_ns:
        yield at_ns, -(-end_ns // row_ns) * row_ns


def _within(row: _Row, start_ns: int, end_ns: int) -> _Row | None:
    """The slots of a row that touch start <= time < end; None if nothing was read in them."""
    step_ns, at_ns, content = row
    if start_ns <= at_ns and at_ns + slots_head(content)[0] * step_ns <= end_ns:
        return row
    return _picked(row, lambda _, begin_ns: begin_ns + step_ns > start_ns and begin_ns < end_ns)


def _picked(row: _Row, wanted: Callable[[int, int], bool]) -> _Row | None:
    """A row with those of its slots that are wanted, by series and start; None if nothing was read in them."""
    step_ns, at_ns, content = row
    slots, ids, place = slots_head(content)
    values = unpacked(content[place:])
    for number, series_id in enumerate(ids_of(ids)):
        for slot in range(slots):
            if not wanted(series_id, at_ns + slot * step_ns):
                at = (number * slots + slot) * FIELDS
                values[at : at + FIELDS] = _NOTHING
    return (step_ns, at_ns, content[:place] + packed(values)) if any(values[4::FIELDS]) else None


def _coarser(made: Iterable[Slab], wished_ns: int) -> tuple[tuple[int, int, int], ...]:
    """(start, end, length of a slot) of the stretches with longer slots than wished."""
    told = sorted(
        (at_ns, at_ns + slab.step_ns, slab.step_ns) for slab in made if slab.step_ns > wished_ns for at_ns in _told_slots(slab)
    )
    found: list[tuple[int, int, int]] = []
    for begin, end, step_ns in told:
        if found and found[-1][2] == step_ns and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1]), step_ns
        else:
            found.append((begin, end, step_ns))
    return tuple(found)


def _told_slots(slab: Slab) -> Iterator[int]:
    """The starts of the slots in which anything was read."""
    length = len(slab.ids) * slab.slots * FIELDS
    for number, start_ns in enumerate(slab.starts_ns):
        counts = slab.values[number * length : (number + 1) * length][4::FIELDS]
        yield from (start_ns + slot * slab.step_ns for slot in range(slab.slots) if any(counts[slot :: slab.slots]))


# -- readings ---------------------------------------------------------------------------------------------------------


def _readings(node: _Node, start_ns: int, end_ns: int) -> Outline:
    """The readings themselves; summaries where some of them are gone."""
    rows = node.rows(0, start_ns, end_ns)
    minute = ROWS[1]
    whole_ns = whole_from(node.connection, node.id, 0, [row[:2] for row in rows], start_ns, end_ns)
    if whole_ns <= start_ns:
        return Outline((), tuple(after(unpack(row[2]), start_ns) for row in rows))
    first_ns, whole_ns = start_ns // minute * minute, -(-whole_ns // minute) * minute
    summed = _level_rows(node, 1, first_ns, whole_ns)
    if not summed:
        return Outline((), tuple(after(unpack(row[2]), start_ns) for row in rows))
    early = _cut(pieces(unpack(row[2]) for row in node.rows(0, first_ns, whole_ns)), first_ns, whole_ns)
    there = _Islands(early, summed)
    own = list(there.blocks())
    late = tuple(after(unpack(row[2]), whole_ns) for row in rows if row[1] > whole_ns)
    made = tuple(slabs(filter(None, map(there.lacking, summed))))
    return Outline(made, ((pack_of(own),) if own else ()) + late, _coarser(made, 0))


def _cut(blocks: Iterable[Block], start_ns: int, end_ns: int) -> list[Block]:
    made = []
    for series_id, at_ns, step_ns, values in blocks:
        first, last = max(0, -(-(start_ns - at_ns) // step_ns)), max(0, -(-(end_ns - at_ns) // step_ns))
        if part := values[first:last]:
            made.append((series_id, at_ns + first * step_ns, step_ns, part))
    return made


class _Islands:
    """Readings beside summaries of the same time: of each slot of a series, which of the two tells all of it?"""

    def __init__(self, blocks: list[Block], summed: Sequence[_Row]) -> None:
        self._blocks, self._read = blocks, _counted(blocks)
        self._touched = {at_ns // ROWS[1] for _, at_ns in self._read}
        fine = [row for row in summed if row[0] == BASE_NS]
        self._minutes = {row[1] // ROWS[1] for row in fine}
        self._coarse = _coarser(slabs([row for row in summed if row[0] != BASE_NS]), BASE_NS)
        self._wanted = {
            (series_id, at_ns): numbers[4]
            for slab in slabs([row for row in fine if row[1] // ROWS[1] in self._touched])
            for place, series_id in enumerate(slab.ids) for at_ns, numbers in slots_of(slab, place)
        }  # fmt: skip

    def _whole(self, series_id: int, at_ns: int) -> bool:
        """Whether the readings of a slot are all that there ever were."""
        if at_ns // ROWS[1] in self._minutes:
            return self._read.get((series_id, at_ns), 0) >= self._wanted.get((series_id, at_ns), 0)
        place = bisect_right(self._coarse, (at_ns, math.inf, 0)) - 1
        return place < 0 or self._coarse[place][1] <= at_ns

    def blocks(self) -> Iterator[Block]:
        """The readings of whole slots."""
        for series_id, at_ns, step_ns, values in self._blocks:
            first = last = 0
            for slot, begin, end in _slots_of_block(at_ns, step_ns, len(values)):
                if not self._whole(series_id, slot * BASE_NS):
                    if begin > first:
                        yield series_id, at_ns + first * step_ns, step_ns, values[first:begin]
                    first = end
                last = end
            if last > first:
                yield series_id, at_ns + first * step_ns, step_ns, values[first:last]

    def lacking(self, row: _Row) -> _Row | None:
        """What of a row of summaries stands for readings that are gone."""
        if row[0] != BASE_NS or row[1] // ROWS[1] not in self._touched:
            return row
        return _picked(row, lambda series_id, at_ns: not self._whole(series_id, at_ns))


def _slots_of_block(at_ns: int, step_ns: int, count: int) -> Iterator[tuple[int, int, int]]:
    return of_block(at_ns, step_ns, count, at_ns, at_ns + step_ns * count)


def _counted(blocks: Iterable[Block]) -> dict[_Span, int]:
    """How many readings there are by (series, start of the slot of ten seconds)."""
    found: dict[_Span, int] = {}
    for series_id, at_ns, step_ns, values in blocks:
        for slot, begin, end in _slots_of_block(at_ns, step_ns, len(values)):
            key = series_id, slot * BASE_NS
            found[key] = found.get(key, 0) + sum(map(math.isfinite, values[begin:end]))
    return found
