"""How is the gap of a single curve shown: as hatching of its lane, or along the edge of it because others of that lane went on?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.cards import card_name
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.services.gap_words import SERIES_WORDS, of_series, origin_told
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpulease_gui.services.series import Ring
    from gpulease_gui.services.watch import GapSpan, WatchView

_CARDS = ("gpu.", "npu.")
# The cards of a node tell one after the other that nobody hears their events.
_TOGETHER_S = 5.0


def curve_hole(gap: GapSpan, view: WatchView, numbers: Mapping[str, int]) -> Hole:
    """The hole of a gap that names a metric: all of its lane where nothing else of that metric was read, else part of it.

    `numbers` are those that the lanes give the cards; what is stored knows none.
    """
    code, subject = of_series(gap.reason) or ("", "")
    metric, why, name = metrics()[gap.metric], SERIES_WORDS[code], _name(gap.metric, subject, numbers)
    others = (ring for (id_, of), ring in view.rings.items() if id_ == gap.metric and of != subject)
    alone = not any(_is_read(ring, gap) for ring in others)
    words = origin_told(Text(f"{metric.title.en}{name}: {why.en}", f"{metric.title.zh}{name}：{why.zh}"), imported=gap.imported)
    lane = f"{metric.lane}:{metric.term or ''}"
    return Hole(gap.start_s, gap.end_s, words, lane) if alone else Hole(gap.start_s, gap.end_s, words, f"curve:{metric.id}", part_of=lane)


def lost_hole(gap: GapSpan, view: WatchView) -> Hole:
    """That of a curve whose card is lost: the rules of the watch tell of it."""
    return replace(curve_hole(gap, view, {}), reason="")


def is_unheard(gap: GapSpan) -> bool:
    """Whether nobody heard the events of a card; of their absence nothing follows."""
    return bool(gap.metric) and gap.reason.startswith(UNHEARD)


def unheard_holes(gaps: Iterable[GapSpan], numbers: Mapping[str, int]) -> Iterator[Hole]:
    """One hole for all cards whose events were not heard in the same time, in no lane; nothing went wrong with what is read."""
    groups: list[list[GapSpan]] = []
    for gap in sorted(gaps, key=lambda one: one.start_s):
        if groups and _is_beside(gap, groups[-1][0]):
            groups[-1].append(gap)
        else:
            groups.append([gap])
    for first, *more in groups:
        subjects = dict.fromkeys((of_series(gap.reason) or ("", ""))[1] for gap in (first, *more))
        whole = "" in subjects or numbers.keys() <= subjects.keys()
        of = "" if whole else ",".join(_name(first.metric, subject, numbers) for subject in subjects)
        title, why = metrics()[first.metric].title, SERIES_WORDS[UNHEARD]
        words = origin_told(Text(f"{title.en}{of}: {why.en}", f"{title.zh}{of}：{why.zh}"), imported=first.imported)
        yield Hole(first.start_s, first.end_s, words, f"curve:{first.metric}", quiet=True)


def _is_beside(gap: GapSpan, other: GapSpan) -> bool:
    """Whether two gaps of events began and ended together, or both last."""
    begins_s, ends_s = gap.start_s - other.start_s, (gap.end_s or 0.0) - (other.end_s or 0.0)
    return (gap.metric, gap.imported) == (other.metric, other.imported) and begins_s <= _TOGETHER_S and abs(ends_s) <= _TOGETHER_S


def _name(metric: str, subject: str, numbers: Mapping[str, int]) -> str:
    name = card_name(subject, numbers) if metric.startswith(_CARDS) else subject
    return f" {name}" if name else ""


def _is_read(ring: Ring, gap: GapSpan) -> bool:
    """Whether a curve has a value in the gap."""
    seen = ring.view()
    place = bisect_left(seen.times_s, gap.start_s)
    last_s = float("inf") if gap.end_s is None else gap.end_s
    return any(value == value for at_s, value in zip(seen.times_s[place : place + 8], seen.values[place : place + 8], strict=True) if at_s < last_s)
