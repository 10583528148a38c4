"""What does the stretch in sight come to, beside the promise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.gui.models.past_readings import of_readings
from gpulease_gui.gui.models.past_times import Judged, times
from gpulease_gui.gui.models.unwatched import Span, due
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Figures, Samples
from gpulease_gui.gui.widgets.chart_spec import Curve, LaneSpec
from gpulease_gui.services.series import Paces, asked


@dataclass(frozen=True, slots=True)
class Summary:
    """One row under the chart: a lane of cards, or one named curve. Seconds are those of the readings; `expected` samples.

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
    paces: Paces = (), *, timed: bool = True, unwatched: Sequence[Span] = (),
) -> tuple[Summary, ...]:
    """The rows of one lane from start to end (UTC seconds); not `timed`: for how long promises were kept is known from elsewhere.

    `unwatched`: when nobody watched, so that no sample was due.
    """
    parts = [(None, lane.curves)] if lane.alike else [(curve, (curve,)) for curve in lane.curves]
    return tuple(_summary(lane, curve, curves, start_s, end_s, interval_s, loads, paces, unwatched, timed=timed) for curve, curves in parts)


def _summary(
    lane: LaneSpec, curve: Curve | None, curves: Sequence[Curve], start_s: float, end_s: float, interval_s: float,
    loads: Sequence[tuple[float, float]], paces: Paces, unwatched: Sequence[Span], *, timed: bool,
) -> Summary:  # fmt: skip
    held = [data.read(one.ring) for one in curves]
    figures = data.figures(held, start_s, end_s)
    ends = [end_s if curve.away_s is None else min(end_s, curve.away_s) for curve in curves]
    expected = sum(_expected(one, start_s, end, interval_s, paces, unwatched, own_pace=lane.own_pace) for one, end in zip(held, ends, strict=True))
    wanted = timed and lane.promised is not None
    kept, warned, broken, lasting = _times(lane, curves, held, start_s, end_s, interval_s, loads, paces) if wanted else (0.0,) * 4
    return Summary(lane, curve, figures, max(expected, figures.count), kept, warned, broken, lasting_s=(lasting, lasting))


def _expected(
    samples: Samples, start_s: float, end_s: float, interval_s: float, paces: Paces, unwatched: Sequence[Span], *, own_pace: bool = False
) -> int:
    """How many samples were due from the first one on."""
    if not len(samples.times_s):
        return 0
    start_s = max(start_s, float(samples.times_s[0]))
    if own_pace:
        pace_s = data.usual_s(data.between(samples, start_s, max(start_s, end_s)), interval_s)
        return due(unwatched, start_s, end_s, lambda a, z: (z - a) / pace_s)
    return due(unwatched, start_s, end_s, lambda a, z: asked(paces, interval_s, a, z))


def _times(
    lane: LaneSpec, curves: Sequence[Curve], held: Sequence[Samples], start_s: float, end_s: float, interval_s: float,
    loads: Sequence[tuple[float, float]], paces: Paces,
) -> tuple[float, float, float, float]:  # fmt: skip
    """(kept, warned, broken, of these in stretches) seconds: of the readings, each for itself, as of stored ones."""
    if lane.promised is None:
        return 0.0, 0.0, 0.0, 0.0
    told = {curve.subject: of_readings(data.between(samples, start_s, end_s)) for curve, samples in zip(curves, held, strict=True)}
    bits = {curve.subject: of_readings(data.between(data.read(curve.reasons), start_s, end_s)) for curve in curves if curve.reasons is not None}
    made = times(Judged(lane.term, lane.promised, tuple(loads)), told, bits, interval_s, paces)
    return made.kept_s[0], made.warned_s[0], made.broken_s[0], made.lasting_s[0]
