"""When was a sample taken by our clock, whatever that clock does meanwhile?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# The wall clock is corrected by less than this all the time; more is a sleep of this computer, or a clock that was set.
JUMP_S = 5.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The two clocks of this computer, in seconds: UTC, and one that nobody sets but that may stand still in a sleep."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


class Timeline:
    """Times of one connection follow the steady clock from its start. What the node's clock says plays no part."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._zero_s = 0.0

    def begin(self, last_s: float) -> None:
        """A connection starts now; a clock that was set back moves no sample before `last_s` (UTC)."""
        self._zero_s = max(self._clock.wall(), last_s) - self._clock.steady()

    def at(self, steady_s: float) -> float:
        """UTC seconds of a moment of the steady clock."""
        return self._zero_s + steady_s

    def slept(self) -> float:
        """Seconds that the wall clock has run ahead of the steady one: 0 for less than JUMP_S; they are made up for."""
        ahead_s = self._clock.wall() - self.at(self._clock.steady())
        if ahead_s < JUMP_S:
            return 0.0
        self._zero_s += ahead_s
        return ahead_s
