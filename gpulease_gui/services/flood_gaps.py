"""Where did a node send more readings than it was asked for, so that some of them have no place?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.services.source_gaps import source_of
from gpulease_gui.store.records import Gap

# What follows within so many intervals is the same flood.
_SAME_INTERVALS, _MOST_SHOWN = 3.0, 500
_NS = 1_000_000_000


def flood_gaps(view: WatchView, floods: Mapping[str, tuple[float, float]]) -> tuple[Gap, ...]:
    """What is to be stored of floods (from, to in UTC seconds, by metric); the view tells each source once, for as long as it lasts."""
    for source_id, (begin_s, end_s) in {source_of(metric): span for metric, span in floods.items()}.items():
        last = next((gap for gap in reversed(view.source_gaps) if gap.source == source_id and gap.reason == FLOODED), None)
        if last is not None and last.end_s is not None and begin_s - last.end_s <= _SAME_INTERVALS * view.interval_s:
            last.end_s = end_s
        else:
            gap = GapSpan(begin_s, FLOODED, end_s, True, source_id)
            view.source_gaps = [*view.source_gaps[-_MOST_SHOWN:], gap]
    return tuple(Gap(view.node_id, int(begin * _NS), int(end * _NS), FLOODED, metric) for metric, (begin, end) in floods.items())
