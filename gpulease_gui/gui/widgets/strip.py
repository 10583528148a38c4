"""Was the promise kept, slot by slot, and is it fair to say so?

The rules of the contract strip. An idle node breaks no promise, so a value below it is judged only where something says
that more was wanted:

* HELD (watts of a card): the card says itself that a power cap, heat or the power supply holds it back.
* CHECKED (network, disk): a check loads the line on purpose; its first and last seconds are left out.
* SIZE (memory): never.

Reaching the promise keeps it, loaded or not: of cards, where each that was read reaches it. The rest is "too little load
to tell".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gpulease_gui.gui.widgets.chart_data import Codes, Flags, Floats, Grid, Samples, held, lasts_of
from gpulease_gui.gui.widgets.chart_spec import Promised, Rule

# Bits of the clock event reasons: software power cap, hardware slowdown, software and hardware thermal, power brake.
HELD_BACK = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
RAMP_S = 2.0


class Kept(IntEnum):
    """One slot of the strip; of several cards the one with the largest number decides."""

    NO_DATA = 0
    KEPT = 1
    IDLE = 2
    WARNED = 3
    BROKEN = 4


@dataclass(frozen=True, slots=True)
class Times:
    """For how many seconds a promise was kept, nearly kept and broken: (at least, at most). `lasting_s`: broken in stretches."""

    kept_s: tuple[float, float] = (0.0, 0.0)
    warned_s: tuple[float, float] = (0.0, 0.0)
    broken_s: tuple[float, float] = (0.0, 0.0)
    lasting_s: tuple[float, float] = (0.0, 0.0)


def strip(
    promised: Promised, curves: Sequence[Samples], reasons: Sequence[Samples | None], grid: Grid, interval_s: float,
    loads: Sequence[tuple[float, float]] = (), tops: Sequence[Samples] = (),
) -> Codes:  # fmt: skip
    """One Kept code per slot. `reasons` beside `curves`: the bit masks of the cards; `loads`: stretches of checks.

    `tops`: where a curve stands for several readings, the highest of them. What they reach is not called broken, for nobody
    knows at which of them a bit was set.
    """
    codes = np.zeros(grid.count, np.uint8)
    if promised.rule is Rule.SIZE or not curves or not grid.count:
        return codes
    rows = lasts_of(curves, grid, interval_s)
    if promised.rule is Rule.CHECKED:
        best = np.fmax.reduce(rows)
        return _judge(promised, best, _inside(grid, loads))
    highs = lasts_of(tops, grid, interval_s) if tops else rows
    for row, high, reason in zip(rows, highs, reasons, strict=True):
        np.maximum(codes, _judge(promised, row, _held_back(reason, grid, interval_s), high), out=codes)
    return codes


def _judge(promised: Promised, values: Floats, wanted: Flags, highs: Floats | None = None) -> Codes:
    tops = values if highs is None else highs
    codes = np.full(len(values), Kept.IDLE, np.uint8)
    with np.errstate(invalid="ignore"):
        kept, warned = values >= promised.value * promised.passes, tops >= promised.value * promised.warns
        reached = tops >= promised.value * promised.passes
    codes[wanted & ~kept] = Kept.BROKEN
    codes[wanted & ~kept & warned] = Kept.WARNED
    codes[wanted & ~kept & reached] = Kept.IDLE
    codes[kept] = Kept.KEPT
    codes[np.isnan(values)] = Kept.NO_DATA
    return codes


def _held_back(reason: Samples | None, grid: Grid, interval_s: float) -> Flags:
    if reason is None:
        return np.zeros(grid.count, np.bool_)
    # The lowest of a slot: bits of two samples must not be mixed by a mean.
    low, _ = held(reason, grid, interval_s)
    return np.asarray((np.nan_to_num(low).astype(np.int64) & HELD_BACK) != 0, np.bool_)


def _inside(grid: Grid, loads: Sequence[tuple[float, float]]) -> Flags:
    inside = np.zeros(grid.count, np.bool_)
    for start_s, end_s in loads:
        inside |= (grid.starts_s >= start_s + RAMP_S) & (grid.ends_s <= end_s - RAMP_S)
    return inside


def runs(codes: Codes) -> list[tuple[int, int, Kept]]:
    """(first slot, slot after the last, code) of each stretch of equal codes."""
    if not len(codes):
        return []
    starts = np.flatnonzero(np.diff(codes, prepend=np.uint8(255)))
    ends = np.append(starts[1:], len(codes))
    return [(int(a), int(b), Kept(int(codes[a]))) for a, b in zip(starts, ends, strict=True)]
