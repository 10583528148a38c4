"""Which gaps do the readings tell that came at once: more than were asked for, or those that waited while this program stood still?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.services.events import Bus, GapClosed, GapOpened
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
    """The gaps of the time in which this program stood still are stored, and told, once it is known how far readings of it came afterwards."""

    def __init__(self, view: WatchView, bus: Bus) -> None:
        self._view, self._bus = view, bus
        self._held: list[tuple[GapSpan, bool]] = []

    def hold(self, gap: GapSpan, *, told: bool) -> tuple[Gap, ...]:
        """What is to be stored now of a gap that is over; whether somebody was told of it."""
        if not gap.resumed or gap.reason not in (SLEPT, CLOCK_SET):
            return (self._stored(gap),)
        self._held.append((gap, told))
        return ()

    def take(self) -> tuple[Gap, ...]:
        """What is to be stored of those that were held, as the view shows them now; nobody is told of one that readings filled."""
        held, self._held = self._held, []
        left = [(gap, told) for gap, told in held if any(gap is shown for shown in self._view.gaps)]
        for gap, told in left:
            if not told:
                self._bus.publish(GapOpened(self._view.node_id, int(gap.start_s * 1000), gap.reason))
                self._bus.publish(GapClosed(self._view.node_id, int((gap.end_s or gap.start_s) * 1000)))
        return tuple(self._stored(gap) for gap, _ in left)

    def _stored(self, gap: GapSpan) -> Gap:
        return Gap(self._view.node_id, int(gap.start_s * _NS), int((gap.end_s or gap.start_s) * _NS), gap.reason)
