"""How is the gap of a single curve shown: as hatching, or only in the event row because others of its lane went on?"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.cards import card_name
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.services.gap_words import SERIES_WORDS, of_series
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpulease_gui.services.series import Ring
    from gpulease_gui.services.watch import GapSpan, WatchView

_CARDS = ("gpu.", "npu.")


def curve_hole(gap: GapSpan, view: WatchView, numbers: Mapping[str, int]) -> Hole:
    """The hole of a gap that names a metric: in its lane where nothing else of that metric was read, else in none.

    `numbers` are those that the lanes give the cards; what is stored knows none.
    """
    code, subject = of_series(gap.reason) or ("", "")
    metric, why, name = metrics()[gap.metric], SERIES_WORDS[code], _name(gap.metric, subject, numbers)
    others = (ring for (id_, of), ring in view.rings.items() if id_ == gap.metric and of != subject)
    alone = not any(_is_read(ring, gap) for ring in others)
    words = Text(f"{metric.title.en}{name}: {why.en}", f"{metric.title.zh}{name}：{why.zh}")
    return Hole(gap.start_s, gap.end_s, words, f"{metric.lane}:{metric.term or ''}" if alone else f"curve:{metric.id}")


def _name(metric: str, subject: str, numbers: Mapping[str, int]) -> str:
    name = card_name(subject, numbers) if metric.startswith(_CARDS) else subject
    return f" {name}" if name else ""


def _is_read(ring: Ring, gap: GapSpan) -> bool:
    """Whether a curve has a value in the gap."""
    seen = ring.view()
    place = bisect_left(seen.times_s, gap.start_s)
    last_s = float("inf") if gap.end_s is None else gap.end_s
    return any(value == value for at_s, value in zip(seen.times_s[place : place + 8], seen.values[place : place + 8], strict=True) if at_s < last_s)
