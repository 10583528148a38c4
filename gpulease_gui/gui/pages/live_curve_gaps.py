"""How is the gap of a single curve shown: as hatching, or only in the event row because others of its lane went on?"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.services.gap_words import SERIES_WORDS, of_series
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    from gpulease_gui.services.series import Ring
    from gpulease_gui.services.watch import GapSpan, WatchView


def curve_hole(gap: GapSpan, view: WatchView) -> Hole:
    """The hole of a gap that names a metric: in its lane where nothing else of that metric was read, else in none."""
    code, subject = of_series(gap.reason) or ("", "")
    metric, why, name = metrics()[gap.metric], SERIES_WORDS[code], _name(subject, view)
    others = (ring for (id_, of), ring in view.rings.items() if id_ == gap.metric and of != subject)
    alone = not any(_is_read(ring, gap) for ring in others)
    words = Text(f"{metric.title.en}{name}: {why.en}", f"{metric.title.zh}{name}：{why.zh}")
    return Hole(gap.start_s, gap.end_s, words, f"{metric.lane}:{metric.term or ''}" if alone else f"curve:{metric.id}")


def _name(subject: str, view: WatchView) -> str:
    number = view.numbers.get(subject)
    return f" GPU {number}" if number is not None else f" {subject}" if subject else ""


def _is_read(ring: Ring, gap: GapSpan) -> bool:
    """Whether a curve has a value in the gap."""
    seen = ring.view()
    place = bisect_left(seen.times_s, gap.start_s)
    last_s = float("inf") if gap.end_s is None else gap.end_s
    return any(value == value for at_s, value in zip(seen.times_s[place : place + 8], seen.values[place : place + 8], strict=True) if at_s < last_s)
