"""Between which two figures does a percentile of readings lie of which there are summaries only?

Of a slot are known: lowest, mean, p95, highest and count. At most and at least so many of its readings lie at or below a
figure; where these numbers reach a share of all readings, its percentile begins and ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpulease_gui.gui.widgets.chart_data import Floats

# Each step halves what is left of the range of all readings, down to less than a table of five digits shows; what float32
# figures are wrong by at most.
_STEPS, _WRONG = 18, 1e-6
# Slots whose number is settled are left out once they are so large a part of those that are looked at.
_WORTH = 0.25
# After so many steps figures are looked for that slots have in common; so many more steps that may take.
_NEAR, _MORE = 7, 12
# So many slots say where a percentile is about, and how closely, once there are so many times more.
_FEW, _GUESS, _MANY = 256, 14, 4
# Rows of a table of slots: low, p95, high, count, how many readings lie before p95; then two of each formula.
_LOW, _P95, _HIGH, _COUNT, _BEFORE, _EARLY, _LATE = range(7)
# (table, figure, room for the slots with p95 at or below it, room for the others): the readings at or below the figure.
_Formula = Callable[[Floats, float, Floats, Floats], None]


@dataclass(frozen=True)
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
        most, least = self._tables
        with np.errstate(divide="ignore", invalid="ignore"):
            return _reached(_most, most, wanted)[0], _reached(_least, least, wanted)[1]

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        # By rising p95, so that a figure cuts the slots in two parts with one formula each.
        order = np.argsort(self.p95, kind="stable")
        low, mean, p95, high, n = (figures[order] for figures in (self.low, self.mean, self.p95, self.high, self.count))
        place = np.round(0.95 * (n - 1))
        after, wrong = n - place - 1, _WRONG * n * np.maximum(np.abs(low), np.abs(high))
        # How much readings lie below the highest, and above the lowest ones that there can be, all together.
        below = (place + 1) * p95 + after * high - n * mean + wrong, n * (high - mean) + wrong
        above = n * mean - place * low - after * p95 - high + wrong, n * (mean - low) + wrong
        most = np.empty((7, len(n)))
        most[:5] = low, p95, high, n, place
        least = most.copy()
        most[5:], least[5:] = below, above
        return most, least


def _most(table: Floats, x: float, late: Floats, early: Floats) -> None:
    """At most so many readings lie at or below x: each of them takes its distance to the highest from what all lie below it."""
    cut = len(late)
    np.divide(table[_LATE, :cut], table[_HIGH, :cut] - x, out=late)
    np.minimum(np.floor(late, out=late), table[_COUNT, :cut] - 1, out=late)
    np.divide(table[_EARLY, cut:], table[_P95, cut:] - x, out=early)
    np.minimum(np.floor(early, out=early), table[_BEFORE, cut:], out=early)


def _least(table: Floats, x: float, late: Floats, early: Floats) -> None:
    """At least so many readings lie at or below x: each that does not takes its distance to the lowest from what all lie above it."""
    cut = len(late)
    np.divide(table[_LATE, :cut], x - table[_LOW, :cut], out=late)
    np.subtract(table[_COUNT, :cut], np.floor(late, out=late), out=late)
    np.maximum(late, table[_BEFORE, :cut] + 1, out=late)
    np.divide(table[_EARLY, cut:], x - table[_LOW, cut:], out=early)
    np.subtract(table[_BEFORE, cut:], np.floor(early, out=early), out=early)
    np.fmax(early, 1.0, out=early)


def _counted(formula: _Formula, table: Floats, x: float) -> Floats:
    """How many readings of each slot lie at or below x."""
    made, cut = np.empty(table.shape[1]), int(table[_P95].searchsorted(x, "right"))
    formula(table, x, made[:cut], made[cut:])
    np.copyto(made[:cut], table[_COUNT, :cut], where=table[_HIGH, :cut] <= x)
    np.copyto(made[cut:], 0.0, where=table[_LOW, cut:] > x)
    return made


def _reached(formula: _Formula, table: Floats, wanted: int, steps: int = _STEPS) -> tuple[float, float]:
    """Two figures close to each other: at or below the first lie fewer readings than wanted, below the second as many."""
    below, above = float(table[_LOW].min()), float(table[_HIGH].max())
    at_below, at_above, settled = _counted(formula, table, below), table[_COUNT], 0.0
    if at_below.sum() >= wanted:
        return below, below
    close, near = (above - below) / 2**steps, (above - below) / 2**_NEAR
    first = [math.nextafter(above, below), *_guessed(formula, table, wanted)]
    for _ in range(steps + _MORE):
        if above - below <= close:
            break
        # The number of a slot rises with the figure: one that is the same at both ends is the same between them.
        # Few slots are counted sooner than they are parted.
        if len(at_below) > _FEW:
            open_: NDArray[np.bool_] = at_below != at_above
            if np.count_nonzero(open_) < (1 - _WORTH) * len(open_):
                settled += float(at_below[~open_].sum())
                table, at_below, at_above = (some.compress(open_, -1) for some in (table, at_below, at_above))
        if above - below <= near:
            first, near = first + _alike(table, below, above), 0.0
        middle = first.pop() if first else (below + above) / 2
        if not below < middle < above:
            continue
        at_middle = _counted(formula, table, middle)
        if settled + np.add.reduce(at_middle) >= wanted:
            above, at_above = middle, at_middle
        else:
            below, at_below = middle, at_middle
    return below, above


def _guessed(formula: _Formula, table: Floats, wanted: int) -> list[float]:
    """What to try, the last one first, where there are many slots: a few of them, as they lie by their p95, say where it is about."""
    every = table.shape[1] // _FEW
    if every < _MANY:
        return []
    few = np.ascontiguousarray(table[:, every // 2 :: every])
    below, above = _reached(formula, few, max(1, round(wanted * float(few[_COUNT].sum() / table[_COUNT].sum()))), _GUESS)
    return [below - 31 * (above - below), above + 31 * (above - below), 2 * below - above, 2 * above - below]


def _alike(table: Floats, below: float, above: float) -> list[float]:
    """What to try, the last one first, where many slots have one figure in common: their numbers may all rise there and nowhere else."""
    found = list[float]()
    for figures in table[:_COUNT]:
        inside = figures[(figures > below) & (figures < above)]
        if len(inside) and inside.min() == inside.max():
            found += math.nextafter(inside[0], below), float(inside[0])
    return found
