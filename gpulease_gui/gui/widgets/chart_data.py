"""What do the samples of a lane come to: columns of pixels, a spread, odd ones, figures of a range?

All arrays are numpy views over rings that another thread appends to; they are read, never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpulease_gui.services.series import Ring, RingView

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]

# The oldest samples of a full ring may be overwritten while they are read.
_TORN = 8
HOLD_INTERVALS = 2.5
ODD_SHARE, ODD_OF_MEDIAN, ODD_OF_RANGE = 0.5, 0.05, 0.03


@dataclass(frozen=True, slots=True)
class Samples:
    """Times (UTC seconds, rising) and values; NaN ends a line."""

    times_s: Floats
    values: Floats


EMPTY = Samples(np.empty(0), np.empty(0))


def read(ring: Ring) -> Samples:
    """All samples of a ring that are surely whole."""
    view = ring.view()
    if not len(view.values):
        return EMPTY
    skipped = _TORN if view.total > len(view.values) else 0
    return _samples(view, skipped)


def newest(ring: Ring, count: int) -> Samples:
    """The last `count` samples (at most what is there)."""
    view = ring.view()
    count = min(count, len(view.values))
    if count <= 0:
        return EMPTY
    return _samples(view, len(view.values) - count)


def _samples(view: RingView, skipped: int) -> Samples:
    """A part of a ring; a number that is no number (a node may say 1e300) is no sample."""
    values = np.frombuffer(view.values, np.float32)[skipped:].astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return Samples(np.frombuffer(view.times_s, np.float64)[skipped:], values)


def tops(ring: Ring, samples: Samples) -> Samples:
    """Its newest samples, of an outlined ring each with the highest reading of its slot."""
    if not ring.outlined or not len(samples.values):
        return samples
    behind = np.arange(len(samples.values))[::-1]
    places = np.maximum(len(behind) - 2 - 3 * (behind // 3), 0)
    return Samples(samples.times_s, samples.values[places])


def between(samples: Samples, start_s: float, end_s: float) -> Samples:
    """The samples with start <= time < end."""
    first, last = np.searchsorted(samples.times_s, (start_s, end_s))
    return Samples(samples.times_s[first:last], samples.values[first:last])


def pace_s(samples: Samples, interval_s: float) -> float:
    """The usual distance of samples: that of the last ones, at least `interval_s`."""
    times: list[float] = samples.times_s[-17:].tolist()
    if len(times) < 3:
        return interval_s
    # Sixteen numbers: a list is ten times faster than numpy.
    steps = sorted(after - before for before, after in pairwise(times))
    return max(interval_s, steps[len(steps) // 2])


def usual_s(samples: Samples, interval_s: float) -> float:
    """The usual distance of all readings, at least `interval_s`."""
    times = samples.times_s[~np.isnan(samples.values)]
    return max(interval_s, float(np.median(np.diff(times)))) if len(times) > 1 else interval_s


def breaks(samples: Samples, interval_s: float) -> Flags:
    """For each sample whether no line leads to it: after a NaN, or after a silence of 2.5 intervals."""
    times, values = samples.times_s, samples.values
    broken = np.ones(len(times), np.bool_)
    if len(times) > 1:
        limit = HOLD_INTERVALS * pace_s(samples, interval_s)
        broken[1:] = (np.diff(times) > limit) | np.isnan(values[:-1]) | np.isnan(values[1:])
    return broken


def decimated(columns: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most first, lowest, highest and last of each pixel column; the outline of the line stays.

    `columns` are whole numbers, rising; no NaN.
    """
    count = len(columns)
    if count < 3 or count <= 2 * (columns[-1] - columns[0] + 1):
        return columns, values
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    ends = np.append(starts[1:], count) - 1
    picked = (values[starts], np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts), values[ends])
    return np.repeat(columns[starts], 4), np.column_stack(picked).ravel()


@dataclass(frozen=True, slots=True)
class Grid:
    """Slots of an even step: slot k covers first + k .. first + k + 1 steps of UTC time."""

    first: int
    count: int
    step_s: float

    @property
    def ends_s(self) -> Floats:
        """The end of each slot."""
        return np.asarray((self.first + 1 + np.arange(self.count)) * self.step_s, np.float64)

    @property
    def starts_s(self) -> Floats:
        """The start of each slot."""
        return np.asarray((self.first + np.arange(self.count)) * self.step_s, np.float64)


@dataclass(frozen=True, slots=True)
class Placing:
    """How many samples of certain times lie before and up to the end of each slot, and whether the last one still holds."""

    before: NDArray[np.intp]
    after: NDArray[np.intp]
    fresh: Flags


def _placings(curves: Sequence[Samples], grid: Grid, interval_s: float) -> Iterator[Placing]:
    """One for each curve; curves of one node have the same times, and are looked up once."""
    starts, ends, times, made = grid.starts_s, grid.ends_s, None, None
    for curve in curves:
        if made is None or times is None or not np.array_equal(times, curve.times_s):
            times = curve.times_s
            made = _placing(curve, starts, ends, interval_s)
        yield made


def _placing(samples: Samples, starts: Floats, ends: Floats, interval_s: float) -> Placing:
    times = samples.times_s
    after = np.searchsorted(times, ends)
    if not len(times):
        return Placing(after, after, np.zeros(len(ends), np.bool_))
    before = np.searchsorted(times, starts)
    pace = pace_s(samples, interval_s)
    # What comes next may be late; the reading before a hole stands for itself, the hole begins when the next one was due.
    holds_s = np.where(np.diff(times, append=times[-1]) <= HOLD_INTERVALS * pace, HOLD_INTERVALS * pace, pace)
    last = np.maximum(after - 1, 0)
    fresh = (after > before) | (after > 0) & (ends - times[last] <= holds_s[last])
    return Placing(before, after, fresh)


def last_of(samples: Samples, grid: Grid, interval_s: float) -> Floats:
    """The last value of each slot, or the one held from before; NaN = no data. Of stored time it is the mean of the slot."""
    return _last(samples, _placing(samples, grid.starts_s, grid.ends_s, interval_s))


def lasts_of(curves: Sequence[Samples], grid: Grid, interval_s: float) -> Floats:
    """`last_of` of each curve, as rows."""
    placings = _placings(curves, grid, interval_s)
    return np.array([_last(curve, placing) for curve, placing in zip(curves, placings, strict=True)])


def _last(samples: Samples, placing: Placing) -> Floats:
    if not len(samples.values):
        return np.full(len(placing.after), np.nan)
    return np.where(placing.fresh, samples.values[np.maximum(placing.after - 1, 0)], np.nan)


def held(samples: Samples, grid: Grid, interval_s: float) -> tuple[Floats, Floats]:
    """(lowest, highest) value of each slot; a slot between two samples holds the one before; NaN = no data.

    A value is held for at most 2.5 times the usual distance of the samples; before a hole until the next one was due.
    """
    placing = _placing(samples, grid.starts_s, grid.ends_s, interval_s)
    return _held(samples, placing, _last(samples, placing))


def _held(samples: Samples, placing: Placing, last: Floats) -> tuple[Floats, Floats]:
    several = np.flatnonzero(placing.after - placing.before > 1)
    if not len(several):
        return last, last
    low, high = last.copy(), last.copy()
    # Begin and end of each slot in turn: every other result is of a slot. The NaN at the end lets a slot end there.
    edges = np.column_stack((placing.before[several], placing.after[several])).ravel()
    padded = np.append(samples.values, np.nan)
    low[several], high[several] = np.fmin.reduceat(padded, edges)[::2], np.fmax.reduceat(padded, edges)[::2]
    return low, high


@dataclass(frozen=True, slots=True)
class Spread:
    """Lowest, middle and highest of several curves in each slot; NaN where no curve has data."""

    low: Floats
    median: Floats
    high: Floats


def middle(rows: Floats) -> Floats:
    """The median over the first axis of what is there; NaN where nothing is."""
    there = np.sort(rows, axis=0)  # NaN last
    count = np.sum(~np.isnan(rows), axis=0)
    columns = np.arange(rows.shape[1])
    half = np.maximum(count - 1, 0)
    return np.asarray((there[half // 2, columns] + there[np.maximum(count, 1) // 2, columns]) / 2, np.float64)


def spread(curves: Sequence[Samples], grid: Grid, interval_s: float) -> Spread:
    """The spread of at least one curve over a grid."""
    placings = list(_placings(curves, grid, interval_s))
    lasts = [_last(curve, placing) for curve, placing in zip(curves, placings, strict=True)]
    ranges = [_held(*one) for one in zip(curves, placings, lasts, strict=True)]
    lows, highs = np.array([low for low, _ in ranges]), np.array([high for _, high in ranges])
    return Spread(np.fmin.reduce(lows), middle(np.array(lasts)), np.fmax.reduce(highs))


def odd_ones(curves: Sequence[Samples], grid: Grid, interval_s: float, scale: float) -> tuple[int, ...]:
    """Places of curves that are away from the median of all in at least half of the slots.

    Away: by more than 5 % of the median and more than 3 % of `scale` (the height of the axis).
    """
    if len(curves) < 3 or not grid.count:
        return ()
    rows = lasts_of(curves, grid, interval_s)
    median = middle(rows)
    away = np.abs(rows - median) > np.maximum(ODD_OF_MEDIAN * np.abs(median), ODD_OF_RANGE * scale)
    known = np.sum(~np.isnan(rows), axis=1)
    return tuple(int(n) for n in np.flatnonzero((np.sum(away, axis=1) >= ODD_SHARE * known) & (known > 0)))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a range of samples comes to. None when it holds no sample; gaps are left out of the figures.

    `estimated`: p5 and p95 follow from summaries of the stored readings; the others are of the readings themselves. They lie
    between these figures, both included; nothing more is known of them.
    """

    count: int
    low: float | None = None
    p5: float | None = None
    mean: float | None = None
    p95: float | None = None
    high: float | None = None
    estimated: bool = False
    p5_between: tuple[float, float] | None = None
    p95_between: tuple[float, float] | None = None


def figures(curves: Sequence[Samples], start_s: float, end_s: float) -> Figures:
    """The figures of all curves together from start to end."""
    parts = [between(curve, start_s, end_s).values for curve in curves]
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[~np.isnan(values)]
    if not len(values):
        return Figures(0)
    values.sort()
    p5, p95 = (float(values[round(share * (len(values) - 1))]) for share in (0.05, 0.95))
    return Figures(len(values), float(values[0]), p5, float(values.mean()), p95, float(values[-1]))


def value_at(ring: Ring, at_s: float, interval_s: float) -> float | None:
    """The newest value at or before a time; None in a gap and where nothing is known."""
    samples = read(ring)
    place = int(np.searchsorted(samples.times_s, at_s, "right")) - 1
    if place < 0 or at_s - samples.times_s[place] > HOLD_INTERVALS * pace_s(samples, interval_s):
        return None
    value = float(samples.values[place])
    return None if np.isnan(value) else value


def is_read_after(samples: Samples, at_s: float) -> bool:
    """Whether there is a reading later than this (UTC seconds)."""
    return bool(np.isfinite(samples.values[samples.times_s > at_s]).any())


def largest(curves: Sequence[Samples]) -> float:
    """The largest value of all curves; 0 when there is none."""
    tops = [float(np.nanmax(c.values)) for c in curves if len(c.values) and not np.all(np.isnan(c.values))]
    return max(tops, default=0.0)
