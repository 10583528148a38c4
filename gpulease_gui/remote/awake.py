"""How long was this computer awake, and did it sleep meanwhile? No node is to blame for time in which nobody here looked."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

# Who looks several times a second and then not at all for so long slept, or was not let run.
GAP_S = 5.0
_LOOK_S = 0.5


def lasting_clock() -> Callable[[], float]:
    """A clock in seconds that nobody sets and that runs on in a sleep, as `time.monotonic` does on Windows only."""
    if sys.platform == "win32":
        return time.monotonic
    named = {"linux": "CLOCK_BOOTTIME", "darwin": "CLOCK_MONOTONIC"}.get(sys.platform, "")
    number: int | None = getattr(time, named, None) if named else None
    return time.monotonic if number is None else partial(time.clock_gettime, number)


lasting_s = lasting_clock()


def awake_clock() -> Callable[[], float]:
    """A clock in seconds that nobody sets and that stands still in a sleep, as `time.monotonic` does except on Windows."""
    if sys.platform != "win32":
        return time.monotonic
    import ctypes

    def now_s() -> float:
        ticks = ctypes.c_ulonglong()  # of 100 ns
        ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks))
        return ticks.value / 1e7

    return now_s


# For who waits for a node, and needs no more than that.
awake_s = awake_clock()


class Awake:
    """A clock for who looks again and again: what is longer than `most_s` between two looks counts as `most_s`.

    `slept_s`: seconds that were left out so far; `woke_s`: when, by this clock, the last of them were over.
    """

    def __init__(self, most_s: float = GAP_S) -> None:
        self._most_s = most_s
        self._looked_s = lasting_s()
        self.slept_s, self.woke_s = 0.0, -math.inf

    def now_s(self) -> float:
        """Look: seconds of a clock of its own that stood still in every sleep."""
        now_s = lasting_s()
        left_out_s = now_s - self._looked_s - self._most_s
        self._looked_s = now_s
        if left_out_s > 0:
            self.slept_s += left_out_s
            self.woke_s = now_s - self.slept_s
        return now_s - self.slept_s


class Watch:
    """What a block of work sees of the vigil that is kept over it. Any thread."""

    def __init__(self, lock: threading.Lock, awake: Awake) -> None:
        self._lock, self._awake = lock, awake
        with lock:
            awake.now_s()
            self._before_s = awake.slept_s

    def now_s(self) -> float:
        """Seconds of a clock that stood still in every sleep since the block began."""
        with self._lock:
            return self._awake.now_s()

    @property
    def slept(self) -> bool:
        """Whether this computer slept, or stood still, since the block began."""
        return self.slept_within(math.inf)

    def slept_within(self, seconds: float) -> bool:
        """Whether it did since then, and woke not longer ago than that."""
        with self._lock:
            now_s = self._awake.now_s()
            return self._awake.slept_s > self._before_s and now_s - self._awake.woke_s <= seconds


class Vigil:
    """Looks for those who wait for something without looking themselves: did this computer sleep meanwhile? Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._awake = Awake()
        self._waiting = 0
        self._looks = False

    @contextlib.contextmanager
    def kept(self) -> Iterator[Watch]:
        """A block of work; what it gets says whether this computer slept since it began."""
        with self._lock:
            self._waiting += 1
            if not self._looks:
                self._looks, self._awake = True, Awake()
                threading.Thread(target=self._look, name="gpulease-vigil", daemon=True).start()
            awake = self._awake
        try:
            yield Watch(self._lock, awake)
        finally:
            with self._lock:
                self._waiting -= 1

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            with self._lock:
                if not self._waiting:
                    self._looks = False
                    return
                self._awake.now_s()


# That of this program: one looks for all.
VIGIL = Vigil()
