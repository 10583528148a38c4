"""Which readings of one way of a node's line are the rate of a test of ours, and which are somebody else's traffic?

A test of ours asks for all that the way gives: from its first bytes to its last every reading counts, however little it is.
Not its ramp: TCP may take seconds to grow. The ramp ends with the highest reading that is not passed by 2 % in the three
seconds after it, at the latest `ramp_s` after the first bytes; what is read after it counts, that reading too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

REST_READINGS = 10
STEADY_S = 3.0
# A reading above the highest by less than this is no growth; the chatter of a node is no test.
_GROWTH, _CHATTER, _OVER_REST = 1.02, 0.001, 1.1


@dataclass(frozen=True, slots=True)
class Load:
    """A test of ours that asks for all that `metric` gives, for `seconds` from its first bytes on; `number` tells tests apart.

    Not `certain`: something may come before it that moves nothing this way, so that it begins with what it adds to the rest.
    `waits`: a test that may be the limit itself; its readings count when it is `over` and was seen not to be.
    """

    metric: str
    seconds: float
    certain: bool = True
    waits: bool = False
    over: bool = False
    number: int = 0


class LineWatch:
    """One way of the node's busiest line, read every `interval_s`. Times are UTC seconds."""

    __slots__ = ("_interval_s", "_rest", "_test")

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._rest: deque[float] = deque(maxlen=REST_READINGS)
        self._test: _Test | None = None

    def take(self, value: float, at_s: float, load: Load | None, promised: float, ramp_s: float) -> list[tuple[float, float]] | None:
        """(time, value) of the readings of which it is known now that they are a test's rate; None: no test moves anything."""
        if load is None or load.over:
            late = self._test.late if self._test is not None and load is not None and self._test.load.number == load.number else []
            self._test = None
            self._rest.append(value)
            return late or None
        if self._test is None or self._test.load.number != load.number:
            usual = median(self._rest) if self._rest else 0.0
            self._test = _Test(load, max(promised * _CHATTER, 0.0 if load.certain else usual * _OVER_REST))
        counted = self._test.take(value, at_s, self._interval_s, ramp_s)
        if load.waits and counted:
            self._test.late += counted
            return []
        return counted

    @property
    def usual(self) -> float | None:
        """The middle one of the last ten readings that are no test's; None while a test runs, or before there are ten."""
        return median(self._rest) if self._test is None and len(self._rest) == REST_READINGS else None


class _Test:
    """The readings of one test, from its first bytes (`least` or more) on."""

    __slots__ = ("_began_s", "_held", "_high", "_least", "_steady", "late", "load")

    def __init__(self, load: Load, least: float) -> None:
        self.load, self._least = load, least
        self._began_s: float | None = None
        self._high, self._steady = 0.0, False
        self._held: list[tuple[float, float]] = []
        self.late: list[tuple[float, float]] = []

    def take(self, value: float, at_s: float, interval_s: float, ramp_s: float) -> list[tuple[float, float]] | None:
        if self._began_s is None:
            if value < self._least:
                return None
            self._began_s = at_s
        # The bytes began at some time of the interval before the reading that shows them.
        if at_s > self._began_s - interval_s + self.load.seconds:
            return None
        if self._steady:
            return [(at_s, value)]
        if value > self._high * _GROWTH:
            self._high, self._held = value, []
        self._held.append((at_s, value))
        self._steady = at_s - self._began_s >= ramp_s or at_s - self._held[0][0] >= STEADY_S
        return self._held if self._steady else []
