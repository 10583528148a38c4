"""What does the stretch in sight come to, beside the promise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Figures, Grid, Samples
from gpulease_gui.gui.widgets.chart_spec import Curve, LaneSpec
from gpulease_gui.gui.widgets.lasting import lasting_s
from gpulease_gui.gui.widgets.strip import Kept, strip
from gpulease_gui.services.series import Paces, asked


@dataclass(frozen=True, slots=True)
class Summary:
    """One row under the chart: a lane of cards, or one named curve. Seconds are of the contract strip; `expected` samples.

    Of stored summaries the seconds are the least that is sure, and `most_s` (kept, warned, broken) the most that can be.
    `pending`: the figures are being read. `lasting_s`: the broken ones that follow one another, at least and at most.
    """

    lane: LaneSpec
    curve: Curve | None
    figures: Figures
    expected: int
    kept_s: float = 0.0
    warned_s: float = 0.0
    broken_s: float = 0.0
    most_s: tuple[float, float, float] | None = None
    pending: bool = False
    lasting_s: tuple[float, float] = (0.0, 0.0)

    @property
    def key(self) -> tuple[str, str]:
        """Which row this is."""
        return self.lane.id, self.curve.subject if self.curve else ""


def summaries(
    lane: LaneSpec, start_s: float, end_s: float, interval_s: float, loads: Sequence[tuple[float, float]] = (),
    paces: Paces = (),
) -> tuple[Summary, ...]:
    """The rows of one lane from start to end (UTC seconds)."""
    parts = [(None, lane.curves)] if lane.alike else [(curve, (curve,)) for curve in lane.curves]
    return tuple(_summary(lane, curve, curves, start_s, end_s, interval_s, loads, paces) for curve, curves in parts)


def _summary(
    lane: LaneSpec, curve: Curve | None, curves: Sequence[Curve], start_s: float, end_s: float, interval_s: float,
    loads: Sequence[tuple[float, float]], paces: Paces,
) -> Summary:  # fmt: skip
    held = [data.read(one.ring) for one in curves]
    figures = data.figures(held, start_s, end_s)
    ends = [end_s if curve.away_s is None else min(end_s, curve.away_s) for curve in curves]
    expected = sum(_expected(one, start_s, end, interval_s, paces, own_pace=lane.own_pace) for one, end in zip(held, ends, strict=True))
    kept, warned, broken, lasting = _times(lane, curves, held, start_s, end_s, interval_s, loads)
    return Summary(lane, curve, figures, max(expected, figures.count), kept, warned, broken, lasting_s=(lasting, lasting))


def _expected(
    samples: Samples, start_s: float, end_s: float, interval_s: float, paces: Paces = (), *, own_pace: bool = False
) -> int:
    """How many samples there would be from the first one on, had each come that was asked for."""
    if not len(samples.times_s):
        return 0
    start_s = max(start_s, float(samples.times_s[0]))
    end_s = max(start_s, end_s)
    if own_pace:
        return max(0, round((end_s - start_s) / data.usual_s(data.between(samples, start_s, end_s), interval_s)))
    return round(asked(paces, interval_s, start_s, end_s))


def _times(
    lane: LaneSpec, curves: Sequence[Curve], held: Sequence[Samples], start_s: float, end_s: float, interval_s: float,
    loads: Sequence[tuple[float, float]],
) -> tuple[float, float, float, float]:  # fmt: skip
    """(kept, warned, broken, of these in stretches) seconds of the strip."""
    if lane.promised is None:
        return 0.0, 0.0, 0.0, 0.0
    step = max(interval_s, 1.0)
    begins = [float(samples.times_s[0]) for samples in held if len(samples.times_s)]
    start_s = max(start_s, min(begins, default=end_s) - step)
    first = int(start_s // step) + 1
    grid = Grid(first, max(0, int(end_s // step) - first), step)
    reasons = [None if curve.reasons is None else data.read(curve.reasons) for curve in curves]
    codes = strip(lane.promised, held, reasons, grid, interval_s, loads)
    kept, warned, broken = (float(np.sum(codes == code)) * step for code in (Kept.KEPT, Kept.WARNED, Kept.BROKEN))
    steps = np.full(grid.count, step)
    return kept, warned, broken, lasting_s(grid.starts_s, steps, np.where(codes == Kept.BROKEN, step, 0.0), np.zeros(grid.count), interval_s)
