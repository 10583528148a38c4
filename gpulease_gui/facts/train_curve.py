"""How fast was a training, in which unit, without its warm-up, and did it slow down?"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from gpulease_gui.domain.task import TaskPoint

# Beyond this many points every second one is dropped, and from then on every second one kept: memory stays bounded.
_MOST = 4096
_MOST_POINTS = 2000
# The newest of them stand unthinned beside: who looks every fifth of a second wants those of now.
_RECENT = 256
_MOST_WARM = 200
_MOST_SERIES, _MOVED = 64, 2
# Of the lines that tell a speed: what counts as warm-up (compiling, filling caches), at least one, at most 200.
WARM_SHARE, WARM_FEWEST = 0.1, 1


class Unit(StrEnum):
    """A unit of speed as the log tells it."""

    TOKENS_S = "tokens/s"
    SAMPLES_S = "samples/s"
    TOKENS_S_GPU = "tokens/s per GPU"
    STEP_S = "s/step"
    TFLOPS = "TFLOP/s per GPU"


@dataclass(frozen=True, slots=True)
class Rates:
    """The speeds in one unit after the warm-up. `drift`: median of the last quarter as a part of that of the first, less one.

    `warmup` points were left out.
    """

    unit: Unit
    n: int
    median: float
    p5: float
    p95: float
    drift: float | None
    warmup: int


class _Series:
    """Values in order, thinned evenly once there are too many."""

    def __init__(self) -> None:
        self._kept: list[float] = []
        self._every = 1
        self.seen = 0

    def add(self, value: float) -> None:
        if self.seen % self._every == 0:
            self._kept.append(value)
            if len(self._kept) > _MOST:
                self._kept = self._kept[::2]
                self._every *= 2
        self.seen += 1

    def rates(self, unit: Unit) -> Rates | None:
        """None where nothing is left after the warm-up."""
        warm = warmup_of(self.seen)
        left = self._kept[(warm + self._every - 1) // self._every :]
        if not left:
            return None
        ordered = sorted(left)
        return Rates(unit, self.seen - warm, quantile(ordered, 0.5), quantile(ordered, 0.05), quantile(ordered, 0.95), _drift(left), warm)


def warmup_of(seen: int) -> int:
    """How many of so many speeds are left out as warm-up."""
    return min(_MOST_WARM, max(WARM_FEWEST, int(seen * WARM_SHARE)))


def quantile(ordered: list[float], share: float) -> float:
    """The value at a share of a sorted list, between neighbours in proportion."""
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _drift(values: list[float]) -> float | None:
    """Of fewer than eight values nothing is said."""
    part = len(values) // 4
    if part < 2:
        return None
    first, last = quantile(sorted(values[:part]), 0.5), quantile(sorted(values[-part:]), 0.5)
    return last / first - 1 if first > 0 else None


class _Points:
    """Points in order, thinned evenly once there are too many."""

    def __init__(self) -> None:
        self.kept: list[TaskPoint] = []
        self._recent: deque[TaskPoint] = deque(maxlen=_RECENT)
        self._every = 1
        self.seen = 0

    def since(self, seen: int) -> tuple[TaskPoint, ...]:
        """The points after the first `seen`, in order; of more than the newest, those that were kept."""
        from_recent = self.seen - len(self._recent)
        # The one at place n of those that were kept is the point of number n times `_every`.
        first, last = (-(-number // self._every) for number in (seen, max(seen, from_recent)))
        return (*self.kept[first:last], *islice(self._recent, max(0, seen - from_recent), None))

    def add(self, point: TaskPoint) -> None:
        self._recent.append(point)
        if self.seen % self._every == 0:
            self.kept.append(point)
            if len(self.kept) > _MOST_POINTS:
                self.kept = self.kept[::2]
                self._every *= 2
        self.seen += 1


class Curve:
    """Collects steps, losses and speeds."""

    def __init__(self) -> None:
        self.steps = 0
        self.last_step: int | None = None
        self.first_loss: float | None = None
        self.last_loss: float | None = None
        self.lines = 0
        self._points = _Points()
        self._series: dict[tuple[Unit, int | None], _Series] = {}

    def step(self, number: int | None, loss: float | None) -> None:
        """One line with a step or a loss; NaN is no loss (a fault says it)."""
        self.steps += 1
        if number is not None:
            self.last_step = number if self.last_step is None else max(self.last_step, number)
        if loss is not None:
            self.first_loss = loss if self.first_loss is None else self.first_loss
            self.last_loss = loss

    def speed(self, unit: Unit, value: float, of: int | None = None) -> None:
        """One speed; nought is a speed, a negative one is not. `of`: the total of the bar that tells it."""
        if value < 0 or (len(self._series) >= _MOST_SERIES and (unit, of) not in self._series):
            return
        self._series.setdefault((unit, of), _Series()).add(value)

    def point(self, point: TaskPoint) -> None:
        """One line as a point of the curve, for the eye."""
        self._points.add(point)

    @property
    def points(self) -> tuple[TaskPoint, ...]:
        """All points, or every second, fourth... of them where there are too many."""
        return tuple(self._points.kept)

    def points_since(self, seen: int) -> tuple[TaskPoint, ...]:
        """Those after the first `seen`, none of them before it: the newest whole, earlier ones thinned."""
        return self._points.since(seen)

    @property
    def points_seen(self) -> int:
        """How many points there were so far."""
        return self._points.seen

    def rates(self) -> tuple[Rates, ...]:
        """One entry per unit, in the order first told; of several bars the one with the largest total, if it moved at all."""
        found = []
        for unit in dict.fromkeys(unit for unit, _ in self._series):
            own = [(of or 0, series) for (one, of), series in self._series.items() if one is unit]
            moved = [pair for pair in own if pair[1].seen > _MOVED] or own
            found.append(max(moved, key=lambda pair: pair[0])[1].rates(unit))
        return tuple(one for one in found if one is not None)
