"""How are the newest samples of one curve kept, so that a chart can look at them without copying?"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

RING_POINTS = 3600
# A new curve gets room for a minute; most come to nothing that is longer.
_FIRST_ROOM = 64
NAN = math.nan
# (from, seconds between samples that were asked for) in UTC seconds, rising.
Paces = tuple[tuple[float, float], ...]


def asked(paces: Paces, interval_s: float, start_s: float, end_s: float) -> float:
    """How many samples were asked for from start to end (UTC seconds); before the first pace one each `interval_s`."""
    steps = ((-math.inf, interval_s), *paces)
    ends = (*(from_s for from_s, _ in paces), math.inf)
    spans = ((max(start_s, from_s), min(end_s, until_s), step_s) for (from_s, step_s), until_s in zip(steps, ends, strict=True))
    return sum(max(0.0, until_s - from_s) / step_s for from_s, until_s, step_s in spans)


@dataclass(frozen=True, slots=True)
class RingView:
    """Times (UTC seconds) and values of a ring, oldest first; NaN = no sample. Memory is shared, do not write.

    What is in sight stays as it is: later samples are written behind it, never over it.
    """

    times_s: memoryview
    values: memoryview
    total: int


class _Page:
    """Room for samples, times beside a column of values for each curve; sample `base` of all is the first one in it."""

    __slots__ = ("base", "columns", "times")

    def __init__(self, base: int, times_s: array[float], columns: list[array[float]]) -> None:
        self.base, self.times, self.columns = base, times_s, columns


class Track:
    """The last `capacity` samples of curves that are told at the same times. One thread appends, others look.

    Room is made as samples come, by a new page in the place of a full one: what somebody looks at is never moved.
    """

    __slots__ = ("_capacity", "_page", "total")

    def __init__(self, capacity: int = RING_POINTS, columns: int = 1) -> None:
        self._capacity, self.total = capacity, 0
        self._page = _Page(0, array("d"), [array("f") for _ in range(columns)])

    @property
    def width(self) -> int:
        """How many curves it holds."""
        return len(self._page.columns)

    def append(self, at_s: float, values: Sequence[float]) -> None:
        """Add one sample of each curve (NaN = none)."""
        page = self._page
        place = self.total - page.base
        if place >= len(page.times):
            page = self._turn(place)
            place = self.total - page.base
        page.times[place] = at_s
        for column, value in zip(page.columns, values, strict=True):
            column[place] = value
        self.total += 1

    def _turn(self, used: int) -> _Page:
        """A page with what is still needed of the full one, and as much room again, up to a quarter of the capacity."""
        first, kept = max(0, used - self._capacity), min(used, self._capacity)
        room = max(1, min(max(kept, _FIRST_ROOM), self._capacity - kept or -(-self._capacity // 4)))
        old = self._page
        times, columns = old.times[first:used], [column[first:used] for column in old.columns]
        times.frombytes(bytes(8 * room))
        for column in columns:
            column.frombytes(bytes(4 * room))
        self._page = _Page(old.base + first, times, columns)
        return self._page

    def view(self, column: int) -> RingView:
        """The samples of one curve as they are now."""
        total = self.total  # before the page: one that comes meanwhile holds these, too
        page = self._page
        end = total - page.base
        start = max(0, end - self._capacity)
        return RingView(memoryview(page.times)[start:end], memoryview(page.columns[column])[start:end], total)

    def last(self, column: int) -> tuple[float, float] | None:
        """(time, value) of the newest sample of one curve; None if there is none."""
        total, page = self.total, self._page
        place = total - page.base - 1
        return (page.times[place], page.columns[column][place]) if total else None

    @classmethod
    def of(cls, rings: Sequence[Ring]) -> Track:
        """One track for rings with the same times (and at least one), which from now on are appended to together."""
        made = cls(rings[0].track._capacity, 0)
        views = [ring.view() for ring in rings]
        made.total = views[0].total
        columns = [array("f", view.values.tobytes()) for view in views]
        made._page = _Page(made.total - len(views[0].times_s), array("d", views[0].times_s.tobytes()), columns)
        for place, ring in enumerate(rings):
            ring.seat(made, place)
        return made


class Ring:
    """The last `capacity` samples of one curve, alone or as one of a track. One thread appends, others look.

    In an `outlined` ring three samples stand for a slot of time: the lowest, the highest, and the mean.
    """

    __slots__ = ("_seat", "outlined")

    def __init__(self, capacity: int = RING_POINTS) -> None:
        self._seat = Track(capacity), 0
        self.outlined = False

    @classmethod
    def of(cls, times_s: array[float], values: array[float], *, outlined: bool = False) -> Ring:
        """A full ring of these samples (double times in UTC seconds, float values), for what was stored."""
        made = cls(max(1, len(values)))
        track = made.track
        track._page, track.total, made.outlined = _Page(0, times_s, [values]), len(values), outlined
        return made

    @property
    def track(self) -> Track:
        """That in which its samples lie."""
        return self._seat[0]

    @property
    def column(self) -> int:
        """Which one of its track it is."""
        return self._seat[1]

    @property
    def total(self) -> int:
        """How many samples were ever appended."""
        return self._seat[0].total

    def seat(self, track: Track, column: int) -> None:
        """Go on in a track that holds the same samples."""
        self._seat = track, column

    def append(self, at_s: float, value: float | None) -> None:
        """Add one sample to a ring that is alone in its track; None is a gap, kept as NaN so that no line is drawn over it."""
        self._seat[0].append(at_s, (NAN if value is None else value,))

    def view(self) -> RingView:
        """The samples as they are now."""
        track, column = self._seat
        return track.view(column)

    @property
    def last(self) -> tuple[float, float] | None:
        """(time, value) of the newest sample; None if there is none."""
        track, column = self._seat
        return track.last(column)


def same_times(one: Ring, other: Ring) -> bool:
    """Whether two rings hold samples of exactly the same times."""
    return one.track is other.track or (one.total == other.total and one.view().times_s.tobytes() == other.view().times_s.tobytes())
