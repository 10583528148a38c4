"""Which readings of a series lie in which slot of time?

Readings of many packs become one list a series. Series that were read at the same times, as all cards of a node are, share
the places of their slots, so that these are looked for once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from gpulease_gui.store.packing import Pieces, ids_of, in_pieces, unpacked

Readings = list[float]
# From and up to where the readings of a slot lie in those of the series; several where blocks came late or overlap.
Places = list[tuple[int, int]]
BASE_NS = 10_000_000_000
_Times = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True)
class _Gathered:
    """Blocks of one series in the order in which they were kept."""

    starts_ns: list[int] = field(default_factory=list)
    steps_ns: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    readings: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class InSlots:
    """All readings of a series, and where those of each slot of ten seconds lie, by its number since 1970.

    `coarser`: the same of longer slots, shared by series that were read at the same times.
    """

    series_id: int
    readings: Readings
    base: Mapping[int, Places]
    coarser: dict[int, Mapping[int, Places]]

    def of_length(self, step_ns: int) -> Mapping[int, Places]:
        """Where the readings of slots of this length lie; it is a multiple of ten seconds."""
        if step_ns == BASE_NS:
            return self.base
        if step_ns not in self.coarser:
            self.coarser[step_ns] = _joined(self.base, step_ns // BASE_NS)
        return self.coarser[step_ns]


def by_slots(contents: Iterable[bytes], begin_ns: int, end_ns: int) -> list[InSlots]:
    """The readings with begin <= time < end (UTC) of packs, by the id of the series.

    Of two blocks of a series with one start the later one counts.
    """
    known: dict[_Times, tuple[Mapping[int, Places], dict[int, Mapping[int, Places]]]] = {}
    found = []
    for series_id, one in sorted(_gathered(contents).items()):
        times = tuple(one.starts_ns), tuple(one.steps_ns), tuple(one.counts)
        if times not in known:
            known[times] = _base(times, begin_ns, end_ns), {}
        found.append(InSlots(series_id, unpacked(b"".join(one.readings)).tolist(), *known[times]))
    return found


def _gathered(contents: Iterable[bytes]) -> dict[int, _Gathered]:
    held: dict[int, _Gathered] = {}
    for ids, some in groupby(map(in_pieces, contents), key=lambda pack: pack.ids):
        series, packs = ids_of(ids), list(some)
        alike = [packs] if len(set(series)) == len(series) else [[pack] for pack in packs]
        for run in alike:
            for series_id, starts, steps, counts, readings in zip(series, *_columns(run), strict=True):
                one = held.setdefault(series_id, _Gathered())
                one.starts_ns.extend(starts)
                one.steps_ns.extend(steps)
                one.counts.extend(counts)
                one.readings.extend(readings)
    return held


_Column = Iterator[tuple[int, ...]]


def _columns(packs: Sequence[Pieces]) -> tuple[_Column, _Column, _Column, Iterator[tuple[bytes, ...]]]:
    """Starts, steps, counts and readings of packs of the same series, series by series."""
    starts, steps, counts = ([getattr(pack, name) for pack in packs] for name in ("starts_ns", "steps_ns", "counts"))
    readings = [pack.readings for pack in packs]
    return zip(*starts, strict=True), zip(*steps, strict=True), zip(*counts, strict=True), zip(*readings, strict=True)


def _base(times: _Times, begin_ns: int, end_ns: int) -> dict[int, Places]:
    """Where the readings of each slot of ten seconds lie."""
    last = {start_ns: number for number, start_ns in enumerate(times[0])}
    found: dict[int, Places] = {}
    before = 0
    for number, (start_ns, step_ns, count) in enumerate(zip(*times, strict=True)):
        if last[start_ns] == number:
            for slot, begin, end in of_block(start_ns, step_ns, count, begin_ns, end_ns):
                _add(found.setdefault(slot, []), before + begin, before + end)
        before += count
    return found


def of_block(start_ns: int, step_ns: int, count: int, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
    """(number of the slot, first reading, reading after the last one) of a block."""
    place = max(0, -(-(begin_ns - start_ns) // step_ns))
    last = min(count, -(-(end_ns - start_ns) // step_ns))
    while place < last:
        slot = (start_ns + place * step_ns) // BASE_NS
        after = min(last, -(-((slot + 1) * BASE_NS - start_ns) // step_ns))
        yield slot, place, after
        place = after


def _joined(base: Mapping[int, Places], each: int) -> dict[int, Places]:
    """The same of slots that are `each` of the shorter ones."""
    found: dict[int, Places] = {}
    for slot, places in base.items():
        for begin, end in places:
            _add(found.setdefault(slot // each, []), begin, end)
    return found


def _add(places: Places, begin: int, end: int) -> None:
    if places and places[-1][1] == begin:
        places[-1] = places[-1][0], end
    else:
        places.append((begin, end))
