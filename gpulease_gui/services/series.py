"""How are the newest samples of one curve kept, so that a chart can look at them without copying?"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

RING_POINTS = 3600
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
    """Times (UTC seconds) and values of a ring, oldest first; NaN = no sample. Memory is shared, do not write."""

    times_s: memoryview
    values: memoryview
    total: int


class Ring:
    """The last `capacity` samples of one curve. One thread appends, others look.

    Each sample is written twice, one capacity apart, so that the newest ones always lie in one piece. In an `outlined` ring
    three samples stand for a slot of time: the lowest, the highest, and the mean.
    """

    __slots__ = ("_capacity", "_times", "_values", "outlined", "total")

    def __init__(self, capacity: int = RING_POINTS) -> None:
        self._capacity = capacity
        self._times = array("d", bytes(16 * capacity))
        self._values = array("f", bytes(8 * capacity))
        self.total = 0
        self.outlined = False

    @classmethod
    def of(cls, times_s: array[float], values: array[float], *, outlined: bool = False) -> Ring:
        """A full ring of these samples (double times in UTC seconds, float values), for what was stored."""
        made = cls(1)
        made._capacity = max(1, len(values))
        if len(values):
            made._times, made._values = times_s * 2, values * 2
        made.total, made.outlined = len(values), outlined
        return made

    def append(self, at_s: float, value: float | None) -> None:
        """Add one sample; None is a gap, kept as NaN so that no line is drawn over it."""
        place = self.total % self._capacity
        kept = NAN if value is None else value
        self._times[place] = self._times[place + self._capacity] = at_s
        self._values[place] = self._values[place + self._capacity] = kept
        self.total += 1

    def view(self) -> RingView:
        """The samples as they are now."""
        total = self.total
        count = min(total, self._capacity)
        end = total % self._capacity + self._capacity if total > self._capacity else count
        start = end - count
        return RingView(memoryview(self._times)[start:end], memoryview(self._values)[start:end], total)

    @property
    def last(self) -> tuple[float, float] | None:
        """(time, value) of the newest sample; None if there is none."""
        if not self.total:
            return None
        place = (self.total - 1) % self._capacity
        return self._times[place], self._values[place]
