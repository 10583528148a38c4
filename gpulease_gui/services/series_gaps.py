"""Since when does one curve of a node have no value, while its source goes on, and why?"""

from __future__ import annotations

import math
from collections.abc import Collection

from gpulease_gui.services.gap_words import NOT_AVAILABLE, SERIES_LOST, of_series, series_reason
from gpulease_gui.services.intake import GapSpan, SeriesKey, Told, WatchView
from gpulease_gui.services.source_gaps import with_newest
from gpulease_gui.store.records import Gap
from gpulease_gui.telemetry.gpu import GONE
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.rates import FELL, NOT_NAMED
from gpulease_gui.telemetry.row import Row
from gpulease_gui.telemetry.source import Point, metrics

# A single missing value is a missing reading, as that of a counter that began anew; what is wrong with a value is told always.
LEAST_INTERVALS, LEAST_S = 2.5, 2.5
# A counter that jumps without end is told once in so long.
ONCE_S = 60.0
_MOST_OPEN = 1024
# What is said of a value that is missing, not of one that can't be.
_MISSING = frozenset({"", NOT_NAMED, FELL})
_NS = 1_000_000_000
_CARDS = frozenset({"gpu", "npu"})


class SeriesGaps:
    """The gaps of single curves of one watch. Used by its thread only, before the line is taken in; times are UTC seconds."""

    def __init__(self, view: WatchView) -> None:
        self._view = view
        self._open: dict[SeriesKey, tuple[GapSpan, bool]] = {}
        self._told_s: dict[SeriesKey, float] = {}
        self._never: set[SeriesKey] = set()
        self._absent: frozenset[str] = frozenset()
        self._missed: set[SeriesKey] = set()  # gaps of what is absent
        self._unheard: dict[SeriesKey, str] = {}  # what lasted when the stream stopped, and is told once in a stream

    def hear(self, told: Told, at_s: float) -> tuple[Gap, ...]:
        """A line of readings: what is to be stored of the gaps that it ends."""
        if isinstance(told, Row):
            return self._end([key for key in told.form.keys if key in self._open], at_s) if self._open else ()
        made: list[Gap] = []
        for point in told:  # in its order: a line may tell a curve twice, such as several Xids, or one and that they are heard again
            if not _is_told(point):
                self._begin(point, at_s)
            elif (key := (point.metric, point.subject)) in self._open:
                made += self._end([key], at_s)
        made += self._end([key for key, (gap, _) in self._open.items() if self._is_over(gap, at_s)], at_s) if self._open else ()
        return tuple(made)

    def miss(self, absent: Collection[str], at_s: float) -> tuple[Gap, ...]:
        """Which cards the node does not name any more, though it had them: what is to be stored of the gaps that end with that."""
        if self._absent == frozenset(absent):
            return ()
        self._absent = frozenset(absent)
        for key in (*(key for key in self._view.rings if key[1] in absent and self._was_read(key)), *self._unread(absent)):
            if key not in self._open and len(self._open) < _MOST_OPEN:
                since_s = self._absent_s(key, at_s)
                self._open[key] = GapSpan(since_s, series_reason(SERIES_LOST, key[1]), metric=key[0]), False
                self._missed.add(key)
                self._view.missed = tuple(with_newest([*self._view.missed], self._open[key][0]))
        return self._end([key for key in self._open if key in self._missed and key[1] not in absent], at_s)

    def _unread(self, absent: Collection[str]) -> list[SeriesKey]:
        """The curves of absent cards of which nothing was read as far back as is known here: those that its other cards have."""
        kinds = {_kind(metric) for metric, _ in self._view.rings} & _CARDS
        without = {*absent} - {subject for _, subject in self._view.rings}
        if len(kinds) != 1 or not without:
            return []  # of a node with both, nobody knows which of them it was
        curves = {metric for metric, subject in self._view.rings if _kind(metric) in kinds and self._was_read((metric, subject))}
        return [(metric, card) for card in sorted(without) for metric in sorted(curves)]

    def _absent_s(self, key: SeriesKey, at_s: float) -> float:
        """When the first reading of a card was missed that nothing tells of: with the first one after a cut, or after the last one."""
        ring, back_s = self._view.rings.get(key), self._view.gaps[-1].end_s if self._view.gaps else None
        if ring is None:
            begun_s = (one.view().times_s[0] for (metric, _), one in self._view.rings.items() if metric == key[0] and one.total)
            return min(at_s, back_s or min(begun_s, default=at_s))
        return self._missed_s(key, at_s)

    def end_all(self, at_s: float) -> tuple[Gap, ...]:
        """The stream stops, or nobody takes it."""
        self._never, self._absent = set(), frozenset()
        self._unheard = {key: gap.reason for key, (gap, _) in self._open.items() if (of_series(gap.reason) or ("",))[0] == UNHEARD}
        return self._end(list(self._open), at_s)

    def go_on(self, at_s: float) -> None:
        """The same stream is taken again: what it told once, and was so when nobody took it any more, it does not say again."""
        for key, reason in self._unheard.items():
            if key not in self._open and len(self._open) < _MOST_OPEN:
                self._open[key] = GapSpan(at_s, reason, metric=key[0]), False
                self._view.source_gaps = with_newest(self._view.source_gaps, self._open[key][0])
        self._unheard = {}

    @staticmethod
    def _is_over(gap: GapSpan, at_s: float) -> bool:
        """What has another name now is not waited for."""
        return gap.reason.startswith(NOT_NAMED) and at_s - gap.start_s >= ONCE_S

    def _begin(self, point: Point, at_s: float) -> None:
        """Of a curve that never had a value nothing is missing, but a value that can't be is told from its first line on."""
        key = point.metric, point.subject
        code = SERIES_LOST if point.lost else point.why or NOT_AVAILABLE
        if key in self._open or len(self._open) >= _MOST_OPEN or (point.why in _MISSING and not self._was_read(key)):
            return
        wrong = point.why not in ("", FELL) and at_s - self._told_s.get(key, -math.inf) >= ONCE_S
        gap = GapSpan(self._missed_s(key, at_s) if point.lost == GONE else at_s, series_reason(code, point.subject), metric=point.metric)
        self._open[key] = gap, wrong
        if point.lost:  # the rules of the watch tell of it
            self._view.missed = tuple(with_newest([*self._view.missed], gap))
        else:
            self._view.source_gaps = with_newest(self._view.source_gaps, gap)

    def _missed_s(self, key: SeriesKey, at_s: float) -> float:
        """When the first value was missed that no gap tells of: after the last one, whatever line ended the curve; or after a cut."""
        seen, kind = self._view.rings[key].view(), _kind(key[0])
        last = next((place for place in range(len(seen.values) - 1, -1, -1) if seen.values[place] == seen.values[place]), None)
        if last is None:
            return at_s
        gaps = (*self._view.gaps, *self._view.source_gaps)
        told_s = max((gap.end_s for gap in gaps if gap.end_s is not None and not gap.metric and gap.source in ("", kind)), default=0.0)
        return min(at_s, max(float(seen.times_s[last]) + self._view.interval_s, told_s))

    def _was_read(self, key: SeriesKey) -> bool:
        """Whether a curve has a value; one that has none is not looked through twice."""
        ring = self._view.rings.get(key)
        last = ring.last if ring is not None else None
        if ring is None or last is None:
            return False
        if not math.isnan(last[1]):
            self._never.discard(key)
            return True
        if key in self._never:
            return False
        if any(value == value for value in ring.view().values):
            return True
        self._never.add(key)
        return False

    def _end(self, keys: list[SeriesKey], at_s: float) -> tuple[Gap, ...]:
        made: list[Gap] = []
        for key in keys:
            gap, wrong = self._open.pop(key)
            self._missed.discard(key)
            if not wrong and at_s - gap.start_s < max(LEAST_S, LEAST_INTERVALS * self._view.interval_s):
                self._view.source_gaps = [one for one in self._view.source_gaps if one is not gap]
                self._view.missed = tuple(one for one in self._view.missed if one is not gap)
                continue
            if wrong:
                self._told_s[key] = at_s
            gap.resumed, gap.end_s = True, at_s
            made.append(Gap(self._view.node_id, int(gap.start_s * _NS), int(at_s * _NS), gap.reason, gap.metric))
        return tuple(made)


def _is_told(point: Point) -> bool:
    """Whether it has a value, or is an event that is heard from now on and did not happen."""
    return point.value is not None or (not point.why and not point.lost and metrics()[point.metric].apart)


def _kind(metric: str) -> str:
    return metric.partition(".")[0]
