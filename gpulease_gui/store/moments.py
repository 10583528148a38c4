"""Which reading counts where several tell of one moment of a series?

Readings lie on one another where two programs watched a node at once, and where our clock was set back. The finer ones count,
of equally fine ones those that were kept last. Another reading counts where none of them lies within half of its own step,
and "not read" where nobody read. What lies apart, as nearly everything does, stays as it is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from gpulease_gui.store.packing import Block, Pack, pack_of

if TYPE_CHECKING:
    import sqlite3

# Each value is a thing that happened, several may be of one moment: only the same one told by two programs is one.
EVENTS = frozenset({"gpu.xid"})
# (number of a block, its first reading that counts, the one after the last).
_Cut = tuple[int, int, int]
_Part = tuple[int, int, "array[float]"]


def merged(packs: Sequence[Pack], events: Callable[[], Collection[int]]) -> Sequence[Pack]:
    """The readings of packs in the order in which they were kept, each moment of a series once.

    `events`: the ids of the series of which each value counts; asked where anything overlaps only.
    """
    if lies_apart(packs):
        return packs
    held: dict[int, list[tuple[int, _Part]]] = {}
    for number, pack in enumerate(packs):
        for series_id, start_ns, step_ns, values in blocks_of(pack):
            held.setdefault(series_id, []).append((number, (start_ns, step_ns, values)))
    apart, known = events(), _Known()
    made: list[Block] = []
    for series_id, some in held.items():
        parts = _once(some) if series_id in apart else known.merged([part for _, part in some])
        made += [(series_id, *part) for part in parts]
    return (pack_of(made),)


def events_of(connection: sqlite3.Connection, node_id: str) -> frozenset[int]:
    """The ids of the series of a node of which each value counts."""
    rows = connection.execute("SELECT id, metric FROM sample_series WHERE node_id = ?", (node_id,))
    return frozenset(id_ for id_, metric in rows if metric in EVENTS)


def lies_apart(packs: Sequence[Pack]) -> bool:
    """Whether each block begins more than half a step after the last reading of the one of its series that was kept before."""
    ends: dict[int, int] = {}
    for _, some in groupby(packs, key=lambda pack: pack.ids):
        alike = list(some)
        # A series that has several blocks in a pack, or is not in each of them, is looked for by its number.
        one_each = len(set(alike[0].ids)) == len(alike[0].ids)
        if not all(_goes_on(ends, pack) for pack in (alike[:1] if one_each else alike)):
            return False
        if one_each and len(alike) > 1:
            if not all(map(_follows, alike, alike[1:])):
                return False
            _goes_on(ends, alike[-1])
    return True


def _follows(before: Pack, pack: Pack) -> bool:
    """Whether a pack of the same series goes on after another. Most of these were read at the same times, so that few differ."""
    told = set(zip(before.starts_ns, before.steps_ns, before.counts, pack.starts_ns, strict=True))
    return all(start + step * count - step // 2 < later for start, step, count, later in told)


def _goes_on(ends: dict[int, int], pack: Pack) -> bool:
    """Whether the blocks of a pack begin after what was told of their series; what they tell is noted."""
    apart = True
    for id_, start, step, count in zip(pack.ids, pack.starts_ns, pack.steps_ns, pack.counts, strict=True):
        end = ends.get(id_)
        apart &= end is None or end < start
        ends[id_] = start + step * count - step // 2
    return apart


def blocks_of(pack: Pack) -> Iterator[Block]:
    """The blocks of a pack as they lie in it."""
    place = 0
    for series_id, start_ns, step_ns, count in zip(pack.ids, pack.starts_ns, pack.steps_ns, pack.counts, strict=True):
        yield series_id, start_ns, step_ns, pack.values[place : place + count]
        place += count


class _Known:
    """What counts of blocks, found once for all series that were read at the same times."""

    def __init__(self) -> None:
        self._cuts: dict[tuple[tuple[int, int, int], ...], list[_Cut]] = {}

    def merged(self, parts: Sequence[_Part]) -> list[_Part]:
        """What counts of the blocks of a series in the order in which they were kept, by time."""
        return [(parts[n][0] + first * parts[n][1], parts[n][1], parts[n][2][first:after]) for n, first, after in self._cut(parts)]

    def _cut(self, parts: Sequence[_Part]) -> list[_Cut]:
        if not all(is_whole(values) for _, _, values in parts):
            return _cuts(parts)
        times = tuple((start_ns, step_ns, len(values)) for start_ns, step_ns, values in parts)
        if times not in self._cuts:
            self._cuts[times] = _cuts(parts)
        return self._cuts[times]


def is_whole(values: array[float]) -> bool:
    """Whether all readings are finite numbers."""
    total = sum(values)
    return total - total == 0.0  # what is no finite number is unlike itself when it is taken from itself


def runs_of(values: array[float]) -> Iterator[tuple[bool, int, int]]:
    """(whether it is missing, first, after the last) of readings that follow one another and were all read, or all not."""
    if is_whole(values):
        yield False, 0, len(values)
        return
    place = 0
    for missing, some in groupby(values, key=lambda value: value - value != 0.0):
        after = place + len(list(some))
        yield missing, place, after
        place = after


def _cuts(parts: Sequence[_Part]) -> list[_Cut]:
    runs = [(missing, parts[n][1], -n, first, after) for n in range(len(parts)) for missing, first, after in runs_of(parts[n][2])]
    told, found = _Covered(), list[tuple[int, _Cut]]()
    for _, step_ns, number, first, after in sorted(runs):
        start_ns = parts[-number][0]
        for begin, end in list(told.free(start_ns, step_ns, first, after)):
            found.append((start_ns + begin * step_ns, (-number, begin, end)))
            told.add(start_ns + begin * step_ns, start_ns + (end - 1) * step_ns)
    return [cut for _, cut in sorted(found)]


class _Covered:
    """The stretches from one reading that counts to another, which lie apart and in the order of their time (ns)."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def free(self, start_ns: int, step_ns: int, first: int, after: int) -> Iterator[tuple[int, int]]:
        """(first, after the last) of the readings of a run that lie half a step before, or as much after all of them.

        Exactly half a step before one it is that moment, exactly half a step after it is not: a reading takes one's place.
        """
        place = bisect_left(self._ends, start_ns + first * step_ns - step_ns)
        while place < len(self._begins) and first < after:
            begin = -(-(2 * (self._begins[place] - start_ns) - step_ns) // (2 * step_ns))
            if begin >= after:
                break
            if begin > first:
                yield first, begin
            first = max(first, -(-(2 * (self._ends[place] - start_ns) + step_ns) // (2 * step_ns)))
            place += 1
        if first < after:
            yield first, after

    def add(self, begin_ns: int, end_ns: int) -> None:
        """From now on a stretch is covered, too."""
        low, high = bisect_left(self._ends, begin_ns), bisect_right(self._begins, end_ns)
        if low < high:
            begin_ns, end_ns = min(begin_ns, self._begins[low]), max(end_ns, self._ends[high - 1])
        self._begins[low:high], self._ends[low:high] = [begin_ns], [end_ns]


def _once(some: Iterable[tuple[int, _Part]]) -> list[_Part]:
    """The values of a series of events, by time; the same one within half a step from another pack was told by another program."""
    told = sorted(
        (start_ns + place * step_ns, pack, step_ns, value)
        for pack, (start_ns, step_ns, values) in some for place, value in enumerate(values) if value - value == 0.0
    )  # fmt: skip
    kept: dict[float, tuple[int, int]] = {}
    made: list[_Part] = []
    for at_ns, pack, step_ns, value in told:
        before_ns, by = kept.get(value, (at_ns - step_ns, pack))
        if by == pack or 2 * (at_ns - before_ns) > step_ns:
            kept[value] = at_ns, pack
            made.append((at_ns, step_ns, array("f", [value])))
    return made
