"""Since when can one source of a node not be read, while the others go on?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.services.gap_words import SERIES_LOST, of_series
from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.store.ahead import CLOCK_WRONG
from gpulease_gui.store.records import Gap
from gpulease_gui.store.unread import NOT_WATCHED
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.source import sources

# One line that is unreadable is a missing reading; from here on it is a gap with a reason.
LEAST_INTERVALS, LEAST_S = 2.5, 2.5
_MOST_SHOWN = 500
# Of a gap before a watch.
UNSEEN = frozenset({NOT_WATCHED, CLOCK_WRONG})
_NS = 1_000_000_000


class SourceGaps:
    """The gaps of the sources of one watch. Used by its thread only; times are UTC seconds."""

    def __init__(self, view: WatchView) -> None:
        self._view = view
        self._open: dict[str, GapSpan] = {}

    def begin(self, source_id: str, reason: str, at_s: float) -> None:
        """A source is in trouble; of one that never told anything nothing is missing. A later line may say more of the same reason."""
        lasts = self._open.get(source_id)
        if lasts is not None and reason.startswith(f"{lasts.reason} ("):
            lasts.reason = reason
        elif lasts is None and _told(self._view, source_id):
            self._open[source_id] = GapSpan(at_s, reason, source=source_id)
            self._view.source_gaps = with_newest(self._view.source_gaps, self._open[source_id])

    def end(self, source_id: str, at_s: float, *, resumed: bool = True) -> tuple[Gap, ...]:
        """Samples came again, or nobody looks any more: what is to be stored, one for each metric."""
        gap = self._open.pop(source_id, None)
        if gap is None:
            return ()
        if at_s - gap.start_s < max(LEAST_S, LEAST_INTERVALS * self._view.interval_s):
            self._view.source_gaps = [one for one in self._view.source_gaps if one is not gap]
            return ()
        gap.resumed, gap.end_s = resumed, at_s
        span = int(gap.start_s * _NS), int(at_s * _NS)
        return tuple(Gap(self._view.node_id, *span, gap.reason, metric) for metric in _told(self._view, source_id))

    def end_all(self, at_s: float) -> tuple[Gap, ...]:
        """The stream stops."""
        return tuple(gap for source_id in tuple(self._open) for gap in self.end(source_id, at_s, resumed=False))

def with_newest(gaps: list[GapSpan], newest: GapSpan) -> list[GapSpan]:
    """What is shown of gaps with one more: the newest of them, and all that last."""
    return [*(gap for gap in gaps[:-_MOST_SHOWN] if gap.end_s is None), *gaps[-_MOST_SHOWN:], newest]


def open_gaps(view: WatchView, at_s: float) -> tuple[Gap, ...]:
    """What is to be stored, were the watch killed at `at_s` (UTC seconds), of its gaps that last: of sources and curves as long as nothing
    yet, of the whole node until then. That it was not watched is told by who watches it next.
    """
    whole = tuple(
        Gap(view.node_id, int(gap.start_s * _NS), int(at_s * _NS), gap.reason)
        for gap in view.gaps[-1:] if gap.end_s is None and gap.reason not in UNSEEN and gap.start_s < at_s
    )  # fmt: skip
    least_s = max(LEAST_S, LEAST_INTERVALS * view.interval_s)
    return whole + tuple(
        Gap(view.node_id, int(gap.start_s * _NS), int(gap.start_s * _NS), gap.reason, metric)
        for gap in view.lasting if at_s - gap.start_s >= least_s or gap.reason.startswith(UNHEARD)
        for metric in ([gap.metric] if gap.metric else _told(view, gap.source) if gap.source else ())
    )  # fmt: skip


def _told(view: WatchView, source_id: str) -> list[str]:
    """The metrics of a source that it ever told."""
    told = {metric for metric, _ in view.rings}
    return [metric.id for metric in sources()[source_id].metrics if metric.id in told]


def source_of(metric: str | None) -> str:
    """The id of the source that tells a metric; "" for none."""
    return next((id_ for id_, source in sources().items() if any(one.id == metric for one in source.metrics)), "")


def source_spans(gaps: Iterable[Gap], *, lost: bool = False) -> list[GapSpan]:
    """The gaps of sources and curves among stored ones, each once: those of curves whose card was lost, or all others."""
    keys = {_of(gap): None for gap in gaps if gap.metric is not None and ((of_series(gap.reason) or ("",))[0] == SERIES_LOST) is lost}
    return [GapSpan(start_ns / _NS, reason, end_ns / _NS, True, source, metric, imported) for start_ns, end_ns, reason, source, metric, imported in keys]


def _of(gap: Gap) -> tuple[int, int, str, str, str, bool]:
    """When, why, of which source or of which metric alone, and whether it came in a file."""
    single = of_series(gap.reason) is not None
    return gap.start_ns, gap.end_ns, gap.reason, "" if single else source_of(gap.metric), (gap.metric or "") if single else "", gap.imported
