"""When was a sample taken by our clock, whatever that clock does meanwhile?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from gpulease_gui.remote.awake import GAP_S, lasting_clock
from gpulease_gui.remote.stream import SILENT_INTERVALS, SILENT_LEAST_S
from gpulease_gui.services.gap_words import CLOCK_SET, SLEPT
from gpulease_gui.store.ahead import JUMP_S

# A clock that was set without a sleep is believed when it stays so; one that is wrong for a minute moves no sample.
BELIEVED_S = 300.0
# That a stream is over shows so late at most.
_LATE_S = 2.5
NEVER = math.inf, math.inf


@dataclass(frozen=True, slots=True)
class Clock:
    """The clocks of this computer, in seconds: UTC, one that nobody sets but that may stand still in a sleep, one that does not.

    Without `lasting` any jump of the wall clock counts as a sleep.
    """

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    lasting: Callable[[], float] | None = None


def own_clock() -> Clock:
    """That of this computer. On Linux and macOS `time.monotonic` stands still in a sleep and another clock does not."""
    return Clock(lasting=lasting_clock())


class Timeline:
    """Times of one connection follow the steady clock from its start. What the node's clock says plays no part."""

    def __init__(self, clock: Clock, interval_s: float = 1.0) -> None:
        self._clock = clock
        # A stream of which nothing is heard for long is over, unless nobody listens: so long a pause in one that goes on is ours.
        self._silent_s = max(SILENT_LEAST_S, SILENT_INTERVALS * interval_s)
        self._heard_s: float | None = None
        self._zero_s = self._slept_s = self._since_s = 0.0
        self.left_s = math.inf  # when (UTC) the line of time began that was left for this one
        self._ahead_since_s: float | None = None
        self._behind_since_s: float | None = None
        self.was_set = False  # the last jump was no sleep: somebody set the clock

    def begin(self, last_s: float) -> bool:
        """A connection starts now; whether the clock was set back since a sample at `last_s` (UTC).

        A clock that is corrected by less than JUMP_S moves no sample before that one.
        """
        self._heard_s = None
        wall_s = self._clock.wall()
        back = wall_s < last_s - JUMP_S
        self._begin_at(wall_s if back else max(wall_s, last_s))
        return back

    def _begin_at(self, now_s: float) -> None:
        self.left_s, self._since_s = self._since_s, now_s
        self._zero_s = now_s - self._clock.steady()
        self._slept_s = self._asleep_s()
        self._ahead_since_s = self._behind_since_s = None

    def _asleep_s(self) -> float:
        return 0.0 if self._clock.lasting is None else self._clock.lasting() - self._clock.steady()

    def at(self, steady_s: float) -> float:
        """UTC seconds of a moment of the steady clock."""
        return self._zero_s + steady_s

    def slept(self) -> float:
        """Seconds that the wall clock has run ahead of the steady one: 0 for less than JUMP_S; they are made up for."""
        steady_s = self._clock.steady()
        ahead_s = self._clock.wall() - self.at(steady_s)
        if ahead_s < JUMP_S:
            self._ahead_since_s = None
            return 0.0
        awake = self._clock.lasting is not None and self._asleep_s() - self._slept_s < JUMP_S
        if awake:
            self._ahead_since_s = steady_s if self._ahead_since_s is None else self._ahead_since_s
            if steady_s - self._ahead_since_s < BELIEVED_S:
                return 0.0
        self.was_set = awake
        self._begin_at(self.at(steady_s) + ahead_s)
        return ahead_s

    def missed(self, steady_s: float) -> bool:
        """The node is heard at a moment of the steady clock; whether nobody looked before it: this computer slept, its clock was
        set, or this program stood still (paused, a frozen machine, a sleep in which all clocks run on).
        """
        stood = self._heard_s is not None and steady_s - self._heard_s > self._silent_s + _LATE_S
        self._heard_s = steady_s
        jumped = self.slept() > 0
        self.was_set = self.was_set and jumped
        return jumped or stood

    def did_not_look(self, last_s: float | None) -> bool:
        """A stream ended; whether nobody looked since it was heard last (a moment of the steady clock; None: it never was)."""
        return self.slept() > 0 or (last_s is not None and self._clock.steady() - last_s > self._silent_s + GAP_S)

    @property
    def why(self) -> str:
        """The code of the time that the last jump left out."""
        return CLOCK_SET if self.was_set else SLEPT

    def set_back(self) -> bool:
        """Whether the wall clock has stood behind for BELIEVED_S; from now on its time counts."""
        steady_s, wall_s = self._clock.steady(), self._clock.wall()
        if self.at(steady_s) - wall_s < JUMP_S:
            self._behind_since_s = None
            return False
        self._behind_since_s = steady_s if self._behind_since_s is None else self._behind_since_s
        if steady_s - self._behind_since_s < BELIEVED_S:
            return False
        self._begin_at(wall_s)
        return True
