"""How long was this computer awake, and did it sleep meanwhile? No node is to blame for time in which nobody here looked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

# Who looks several times a second and then not at all for so long slept, or was not let run.
GAP_S = 5.0


def lasting_clock() -> Callable[[], float]:
    """A clock in seconds that nobody sets and that runs on in a sleep, as `time.monotonic` does on Windows only."""
    named = {"linux": "CLOCK_BOOTTIME", "darwin": "CLOCK_MONOTONIC"}.get(sys.platform, "")
    number: int | None = getattr(time, named, None) if named else None
    return time.monotonic if number is None else partial(time.clock_gettime, number)


lasting_s = lasting_clock()


class Awake:
    """A clock for who looks again and again: what is longer than `most_s` between two looks counts as `most_s`.

    `slept_s`: seconds that were left out so far.
    """

    def __init__(self, most_s: float = GAP_S) -> None:
        self._most_s = most_s
        self._looked_s = lasting_s()
        self.slept_s = 0.0

    def now_s(self) -> float:
        """Look: seconds of a clock of its own that stood still in every sleep."""
        now_s = lasting_s()
        self.slept_s += max(0.0, now_s - self._looked_s - self._most_s)
        self._looked_s = now_s
        return now_s - self.slept_s
