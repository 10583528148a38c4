"""How is a month of readings summarised, so that a chart opens at once?

Four levels: 10 s, 1 min, 5 min, 30 min. Each slot holds the lowest, mean, 95th percentile and highest of its readings and
how many there were; every level is made from the readings themselves, when a pack after the end of its row is kept.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import isfinite

from gpulease_gui.store.moments import blocks_of, events_of, merged
from gpulease_gui.store.packing import (
    FIELDS,
    Block,
    Pack,
    ids_of,
    pack,
    pack_of,
    pack_slots,
    slots_head,
    unpack,
    unpacked,
)
from gpulease_gui.store.slot_places import BASE_NS, InSlots, Places, Readings, by_slots, of_block

_NS = 1_000_000_000
# Level -> length of its slots in ns; each is a multiple of the one before. A row holds the slots of ROWS.
LEVELS: Mapping[int, int] = {1: 10 * _NS, 2: 60 * _NS, 3: 300 * _NS, 4: 1800 * _NS}
ROWS: Mapping[int, int] = {1: 60 * _NS, 2: 300 * _NS, 3: 1800 * _NS, 4: 1800 * _NS}
# No pack and no row is longer: so the index need not be read further than that.
LONGEST_NS = 3600 * _NS
# Of a bit mask, all bits that were set stand for a slot.
BIT_MASKS = frozenset({"gpu.event_reasons"})
NOT_READ = (float("nan"),) * 4 + (0.0,)
# Packs whose summaries are made at once; an hour of a node.
_MOST_PACKS = 360

_Make = Callable[[Sequence[float], float], tuple[float, float, float, float, float]]


@dataclass(frozen=True, slots=True)
class Slab:
    """Rows of summaries of the same series. Row r begins at starts_ns[r] and has `slots` slots of `step_ns` (UTC).

    `values` are FIELDS numbers (lowest, mean, p95, highest, count) for each slot of each series of each row, in that
    order of nesting; count 0 = not read, its other numbers are NaN.
    """

    step_ns: int
    slots: int
    ids: array[int]
    starts_ns: array[int]
    values: array[float]


@dataclass(frozen=True, slots=True)
class Outline:
    """A range of a node: summaries by time, and the packs of what is not summarised. No reading is in both.

    `coarser` are the stretches that are not kept as finely any more as was asked for, as (start, end, length of a slot) in ns.
    """

    slabs: tuple[Slab, ...]
    packs: tuple[Pack, ...]
    coarser: tuple[tuple[int, int, int], ...] = ()


def summary(readings: Sequence[float], total: float) -> tuple[float, float, float, float, float]:
    """(lowest, mean, p95, highest, count) of finite readings that are sorted, at least one, and their sum."""
    count = len(readings)
    return readings[0], total / count, readings[round(0.95 * (count - 1))], readings[-1], float(count)


def _bits(readings: Sequence[float], _total: float) -> tuple[float, float, float, float, float]:
    mask = 0
    for reading in readings:
        mask |= int(reading)
    return float(mask), float(mask), float(mask), float(mask), float(len(readings))


def level_for(step_ns: int) -> int:
    """The coarsest level whose slots are at most `step_ns` long; 0 = the readings themselves."""
    return max((level for level, length in LEVELS.items() if length <= step_ns), default=0)


# -- making -----------------------------------------------------------------------------------------------------------


def cover(connection: sqlite3.Connection, node_id: str, kept_ns: int, oldest_ns: int) -> int:
    """Make the rows that end before `kept_ns`, up to which the readings of a node are kept; how far they reach now.

    `oldest_ns`: where what was kept just now begins; rows that it reaches into are made anew. At most an hour of rows.
    """
    minute = ROWS[1]
    until_ns = covered(connection, node_id)
    if until_ns is None:
        until_ns = oldest_ns // minute * minute
    elif oldest_ns < until_ns:
        if until_ns - LONGEST_NS * 24 >= oldest_ns and _busy(connection, node_id, kept_ns):
            _make(connection, node_id, oldest_ns, kept_ns, part=True)
            return until_ns
        until_ns = _made_before(connection, node_id, oldest_ns)
    end_ns = kept_ns // minute * minute
    if end_ns > until_ns:
        end_ns = _bounded(connection, node_id, until_ns, end_ns)
        _make(connection, node_id, until_ns, end_ns)
        _reaches(connection, node_id, end_ns)
        return end_ns
    _reaches(connection, node_id, until_ns)
    return until_ns


def remake(connection: sqlite3.Connection, node_id: str, begin_ns: int, end_ns: int) -> None:
    """Make all rows of whole half hours, of readings that came from an older file."""
    _make(connection, node_id, begin_ns, end_ns)
    _reaches(connection, node_id, max(end_ns, covered(connection, node_id) or 0))


def covered(connection: sqlite3.Connection, node_id: str) -> int | None:
    """Up to where summaries of a node are made (ns, UTC)."""
    found = connection.execute("SELECT until_ns FROM sample_covered WHERE node_id = ?", (node_id,)).fetchone()
    return None if found is None else int(found[0])


def _busy(connection: sqlite3.Connection, node_id: str, after_ns: int) -> bool:
    """Whether much was read after a time: then our clock was set far back, else it had been far ahead for a while.

    Going on from there means to make all rows after it again, which takes their readings and may be long.
    """
    rows = ((level, most) for level, most in ((0, _MOST_PACKS), (4, 4)))
    return any(
        connection.execute(
            "SELECT 1 FROM sample_packs WHERE node_id = ? AND level = ? AND end_ns > ? LIMIT 1 OFFSET ?",
            (node_id, level, after_ns, most),
        ).fetchone()
        for level, most in rows
    )


def _made_before(connection: sqlite3.Connection, node_id: str, oldest_ns: int) -> int:
    """Where to go on for readings that begin at a time before others: at their minute, or at what before it was never made."""
    (last_ns,) = connection.execute(
        "SELECT max(end_ns) FROM sample_packs WHERE node_id = ? AND level = 1 AND end_ns <= ?", (node_id, oldest_ns)
    ).fetchone()
    begin_ns = oldest_ns // ROWS[1] * ROWS[1]
    (missed_ns,) = connection.execute(
        "SELECT min(end_ns) FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? AND end_ns <= ?",
        (node_id, begin_ns if last_ns is None else last_ns, begin_ns),
    ).fetchone()
    return begin_ns if missed_ns is None or last_ns is None else int(last_ns)


def _bounded(connection: sqlite3.Connection, node_id: str, begin_ns: int, end_ns: int) -> int:
    """The end of what is made at once: silence costs nothing, many packs are made in several turns."""
    found = connection.execute(
        "SELECT start_ns FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? ORDER BY end_ns LIMIT 1 OFFSET ?",
        (node_id, begin_ns, _MOST_PACKS),
    ).fetchone()
    return end_ns if found is None else min(end_ns, max(begin_ns + ROWS[1], found[0] // ROWS[1] * ROWS[1]))


def _reaches(connection: sqlite3.Connection, node_id: str, until_ns: int) -> None:
    connection.execute(
        "INSERT INTO sample_covered (node_id, until_ns) VALUES (?, ?) "
        "ON CONFLICT (node_id) DO UPDATE SET until_ns = excluded.until_ns",
        (node_id, until_ns),
    )


def rows_between(
    connection: sqlite3.Connection, node_id: str, level: int, start_ns: int, end_ns: int
) -> list[tuple[int, int, bytes]]:
    """(start, end, content) of the packs of a level that touch start <= time < end."""
    # As the index has them, where that is their order: a month is three megabytes to sort.
    order = "end_ns, entry" if level else "entry"
    return connection.execute(
        "SELECT start_ns, end_ns, content FROM sample_packs WHERE node_id = ? AND level = ? AND end_ns > ? AND end_ns <= ? "
        f"AND start_ns < ? ORDER BY {order}",
        (node_id, level, start_ns, end_ns + LONGEST_NS, end_ns),
    ).fetchall()


def _make(connection: sqlite3.Connection, node_id: str, begin_ns: int, end_ns: int, *, part: bool = False) -> None:
    """Make the rows that end from `begin_ns` to `end_ns`; with `part` those that reach beyond it, too.

    A row that knows of more readings than are still there stays as it is.
    """
    spans = {level: (begin_ns // row * row, (-(-end_ns // row) if part else end_ns // row) * row) for level, row in ROWS.items()}
    closed = {level: span for level, span in spans.items() if span[1] > span[0]}
    first_ns, last_ns = min(begin for begin, _ in closed.values()), max(end for _, end in closed.values())
    kept, masks, left_out = _read_between(connection, node_id, first_ns, last_ns)
    for level, (begin, end) in closed.items():
        there = {row_end: content for _, row_end, content in rows_between(connection, node_id, level, begin, end)}
        made = [
            row for row in _rows(kept, level, begin, end, masks)
            if _readings_of(row[2]) + _within(left_out, row[0], row[1]) >= _readings_of(there.get(row[1], b""))
        ]  # fmt: skip
        connection.executemany(
            "DELETE FROM sample_packs WHERE node_id = ? AND level = ? AND end_ns = ?",
            [(node_id, level, row[1]) for row in made if row[1] in there],
        )
        connection.executemany(
            "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content) VALUES (?, ?, ?, ?, ?)",
            [(node_id, level, *row) for row in made],
        )


def derived(connection: sqlite3.Connection, node_id: str, begin_ns: int, end_ns: int) -> dict[int, list[tuple[int, int, bytes]]]:
    """(start, end, content) of the rows that the readings of whole half hours make, by level; nothing is kept."""
    kept, masks, _ = _read_between(connection, node_id, begin_ns, end_ns)
    return {level: list(_rows(kept, level, begin_ns, end_ns, masks)) for level in LEVELS}


def _read_between(
    connection: sqlite3.Connection, node_id: str, begin_ns: int, end_ns: int
) -> tuple[list[InSlots], set[int], Counter[int]]:
    """The readings of a stretch, each moment once; which series are bit masks; how many readings are left out, as `_told_once` says."""
    contents, left_out = _told_once(connection, node_id, [row[2] for row in rows_between(connection, node_id, 0, begin_ns, end_ns)])
    masks = {
        row[0] for row in connection.execute("SELECT id, metric FROM sample_series WHERE node_id = ?", (node_id,))
        if row[1] in BIT_MASKS
    }  # fmt: skip
    return by_slots(contents, begin_ns, end_ns), masks, left_out


def _told_once(connection: sqlite3.Connection, node_id: str, contents: list[bytes]) -> tuple[list[bytes], Counter[int]]:
    """The contents of packs with each moment of a series once, and how many readings that leaves out, by slot of ten seconds."""
    packs = [unpack(content) for content in contents]
    once = merged(packs, partial(events_of, connection, node_id))
    if once is packs:
        return contents, Counter()
    left_out = _read_in(packs)
    left_out.subtract(_read_in(once))
    return [pack(list(pieces(once)))], left_out


def _read_in(packs: Iterable[Pack]) -> Counter[int]:
    """How many finite readings there are, by the number of the slot of ten seconds."""
    found = Counter[int]()
    for _, start_ns, step_ns, values in chain.from_iterable(map(blocks_of, packs)):
        for slot, begin, end in of_block(start_ns, step_ns, len(values), start_ns, start_ns + step_ns * len(values)):
            found[slot] += sum(map(isfinite, values[begin:end]))
    return found


def _within(counts: Mapping[int, int], begin_ns: int, end_ns: int) -> int:
    return sum(count for slot, count in counts.items() if begin_ns <= slot * BASE_NS < end_ns) if counts else 0


def _readings_of(content: bytes) -> float:
    """How many readings a row of summaries tells of."""
    return sum(unpacked(content[slots_head(content)[2] :])[4::FIELDS]) if content else 0.0


def pieces(packs: Iterable[Pack]) -> Iterator[Block]:
    """The blocks of packs; of two blocks with one start the later one counts."""
    kept: dict[tuple[int, int], Block] = {}
    for block in chain.from_iterable(map(blocks_of, packs)):
        kept[block[0], block[1]] = block
    yield from kept.values()


def _rows(
    kept: Sequence[InSlots], level: int, begin_ns: int, end_ns: int, masks: set[int]
) -> Iterator[tuple[int, int, bytes]]:
    """(start, end, content) of the rows of a level in which anything was read."""
    step_ns, row_ns = LEVELS[level], ROWS[level]
    told = [(one, one.of_length(step_ns), _bits if one.series_id in masks else summary) for one in kept]
    for start_ns in range(begin_ns, end_ns, row_ns):
        numbers = range(start_ns // step_ns, (start_ns + row_ns) // step_ns)
        ids, values = array("I"), array("f")
        for one, places, make in told:
            made = [_told(one.readings, places[number], make) if number in places else NOT_READ for number in numbers]
            if made.count(NOT_READ) < len(made):
                ids.append(one.series_id)
                values.extend(chain.from_iterable(made))
        if ids:
            yield start_ns, start_ns + row_ns, pack_slots(ids, len(numbers), values)


def _told(readings: Readings, places: Places, make: _Make) -> tuple[float, float, float, float, float]:
    """The summary of the finite readings of a slot."""
    begin, end = places[0]
    own = readings[begin:end] if len(places) == 1 else list(chain.from_iterable(readings[a:b] for a, b in places))
    own.sort()
    total = sum(own)
    if total - total != 0.0:  # what is no finite number is unlike itself when it is taken from itself, and so is a sum with it
        own = sorted([value for value in own if value - value == 0.0])
        total = sum(own)
    return make(own, total) if own else NOT_READ


# -- as they are read -------------------------------------------------------------------------------------------------


def after(pack: Pack, since_ns: int) -> Pack:
    """The readings of a pack from a time on."""
    if not pack.starts_ns or min(pack.starts_ns) >= since_ns:
        return pack
    blocks = []
    for series_id, start_ns, step_ns, values in pieces([pack]):
        skipped = max(0, -(-(since_ns - start_ns) // step_ns))
        if skipped < len(values):
            blocks.append((series_id, start_ns + skipped * step_ns, step_ns, values[skipped:]))
    return pack_of(blocks)


def slabs(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[Slab]:
    """Rows (length of a slot, start, content) as slabs; those of the same series one after the other are one."""
    head: tuple[int, int, bytes] | None = None
    starts, parts = array("q"), list[memoryview]()
    for step_ns, start_ns, content in rows:
        slots, ids, after = slots_head(content)
        if head is not None and head != (step_ns, slots, ids):
            yield Slab(head[0], head[1], ids_of(head[2]), starts, unpacked(b"".join(parts)))
            starts, parts = array("q"), []
        head = step_ns, slots, ids
        starts.append(start_ns)
        parts.append(memoryview(content)[after:])  # joined below without another copy
    if head is not None:
        yield Slab(head[0], head[1], ids_of(head[2]), starts, unpacked(b"".join(parts)))


def slots_of(slab: Slab, place: int) -> Iterator[tuple[int, tuple[float, ...]]]:
    """(start of the slot, its numbers) of the series at one place of a slab, where anything was read."""
    for row, start_ns in enumerate(slab.starts_ns):
        at = (row * len(slab.ids) + place) * slab.slots * FIELDS
        for slot in range(slab.slots):
            numbers = slab.values[at + slot * FIELDS : at + (slot + 1) * FIELDS]
            if numbers[4]:
                yield start_ns + slot * slab.step_ns, tuple(numbers)
