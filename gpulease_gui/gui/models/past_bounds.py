"""Between which two figures does a percentile of readings lie of which there are summaries only?

Of a slot are known: lowest, mean, p95, highest and count. At most and at least so many of its readings lie at or below a
figure; where these numbers reach a share of all readings, its percentile begins and ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpulease_gui.gui.widgets.chart_data import Floats

# Each step halves what is left of the range of all readings; what float32 figures are wrong by at most.
_STEPS, _WRONG = 24, 1e-6


@dataclass(frozen=True, slots=True)
class Slots:
    """Figures of slots, each with at least one reading."""

    low: Floats
    mean: Floats
    p95: Floats
    high: Floats
    count: Floats

    def bounds(self, share: float) -> tuple[float, float]:
        """The lowest and the highest figure that the percentile can be (its place among n readings: share of n - 1, rounded)."""
        wanted = round(share * (float(self.count.sum()) - 1)) + 1
        return self._reached(self._most, wanted, upper=False), self._reached(self._least, wanted, upper=True)

    def _reached(self, counted: Callable[[float], float], wanted: float, *, upper: bool) -> float:
        below, above = float(self.low.min()), float(self.high.max())
        if not upper and counted(below) >= wanted:
            return below
        for _ in range(_STEPS):
            middle = (below + above) / 2
            below, above = (below, middle) if counted(middle) >= wanted else (middle, above)
        return above if upper else below

    def _most(self, x: float) -> float:
        """At most so many readings lie at or below x."""
        n, place = self.count, np.round(0.95 * (self.count - 1))
        wrong = _WRONG * n * np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(divide="ignore", invalid="ignore"):
            early = ((place + 1) * self.p95 + (n - place - 1) * self.high - n * self.mean + wrong) / (self.p95 - x)
            late = (n * (self.high - self.mean) + wrong) / (self.high - x)
        inside = np.where(x < self.p95, np.minimum(np.floor(early), place), np.minimum(np.floor(late), n - 1))
        return float(np.where(x < self.low, 0.0, np.where(x >= self.high, n, np.maximum(inside, 1.0))).sum())

    def _least(self, x: float) -> float:
        """At least so many readings lie at or below x."""
        n, place = self.count, np.round(0.95 * (self.count - 1))
        wrong = _WRONG * n * np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(divide="ignore", invalid="ignore"):
            early = (place * x + (n - place - 1) * self.p95 + self.high - n * self.mean - wrong) / (x - self.low)
            late = (n * (x - self.mean) - wrong) / (x - self.low)
        early = np.clip(np.ceil(np.nan_to_num(early, posinf=0.0, neginf=0.0)), 1.0, np.maximum(place, 1.0))
        late = np.clip(np.ceil(np.nan_to_num(late, posinf=0.0, neginf=0.0)), place + 1, n)
        return float(np.where(x < self.low, 0.0, np.where(x >= self.high, n, np.where(x < self.p95, early, late))).sum())
