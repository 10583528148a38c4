"""Which gaps do the readings tell that came at once: more than were asked for, or those that waited while this program stood still?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.services.gap_words import CLOCK_SET, SLEPT
from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.services.source_gaps import source_of, with_newest
from gpulease_gui.store.records import Gap

# What follows within so many intervals is the same flood.
_SAME_INTERVALS = 3.0
_NS = 1_000_000_000


def flood_gaps(view: WatchView, floods: Mapping[str, tuple[float, float]]) -> tuple[Gap, ...]:
    """What is to be stored of floods (from, to in UTC seconds, by metric); the view tells each source once, for as long as it lasts."""
    for source_id, (begin_s, end_s) in {source_of(metric): span for metric, span in floods.items()}.items():
        last = next((gap for gap in reversed(view.source_gaps) if gap.source == source_id and gap.reason == FLOODED), None)
        if last is not None and last.end_s is not None and begin_s - last.end_s <= _SAME_INTERVALS * view.interval_s:
            last.end_s = end_s
        else:
            gap = GapSpan(begin_s, FLOODED, end_s, True, source_id)
            view.source_gaps = with_newest(view.source_gaps, gap)
    return tuple(Gap(view.node_id, int(begin * _NS), int(end * _NS), FLOODED, metric) for metric, (begin, end) in floods.items())


class LateGaps:
    """The gaps of the time in which this program stood still are stored once it is known how far readings of it came afterwards."""

    def __init__(self, view: WatchView) -> None:
        self._view = view
        self._held: list[GapSpan] = []

    def hold(self, gap: GapSpan) -> tuple[Gap, ...]:
        """What is to be stored now of a gap that is over."""
        if not gap.resumed or gap.reason not in (SLEPT, CLOCK_SET):
            return (self._stored(gap),)
        self._held.append(gap)
        return ()

    def take(self) -> tuple[Gap, ...]:
        """What is to be stored of those that were held, as the view shows them now."""
        held, self._held = self._held, []
        return tuple(self._stored(gap) for gap in held if any(gap is shown for shown in self._view.gaps))

    def _stored(self, gap: GapSpan) -> Gap:
        return Gap(self._view.node_id, int(gap.start_s * _NS), int((gap.end_s or gap.start_s) * _NS), gap.reason)
