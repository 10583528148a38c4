"""What did a node do before what the rings hold, as far as it was stored?

Runs on a worker thread: readings and summaries of the store become rings of at most three points a pixel column, the lowest,
the highest and the mean reading of its time, and figures of all readings.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpulease_gui.checks.watch_rule import LOST
from gpulease_gui.gui.models.past_bounds import Slots
from gpulease_gui.gui.models.past_edges import summed_paces, with_edges
from gpulease_gui.gui.models.past_readings import Told, of_readings, of_store, paces_of
from gpulease_gui.gui.models.past_times import Judged, times
from gpulease_gui.gui.models.stored import between_recorded
from gpulease_gui.gui.models.unwatched import NOT_RECORDED, Span, due, joined_spans, unwatched_spans, without
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Figures, Floats
from gpulease_gui.gui.widgets.chart_spec import Coarser
from gpulease_gui.gui.widgets.strip import Times
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.series import RING_POINTS, Paces, Ring, asked
from gpulease_gui.services.source_gaps import source_spans
from gpulease_gui.services.watch import GapSpan, SeriesKey, WatchView
from gpulease_gui.store.away import away_now
from gpulease_gui.store.card_names import get_numbers
from gpulease_gui.store.samples import list_gaps, outline, series_by_id
from gpulease_gui.store.watch_events import list_events
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    import sqlite3

_NS = 1_000_000_000
_BITS = "gpu.event_reasons"
_ALIKE = ("gpu.", "npu.")
# Up to so many figures percentiles are looked up in their order, beyond it in a histogram of a thousandth of their range.
_SORTED, _BINS = 8192, 1000
_SILENT_S, _FINEST_S = 15.0, 10.0


@dataclass(frozen=True, slots=True)
class Wish:
    """Which stretch is wanted (UTC seconds), over how many pixel columns, and of which part the figures are.

    `judged`: by which promises. `recorded_s`: in which stretches anything is stored, so far as that is known.
    """

    node_id: str
    start_s: float
    end_s: float
    columns: int
    figures_s: tuple[float, float]
    interval_s: float = 1.0
    judged: tuple[Judged, ...] = ()
    recorded_s: tuple[tuple[float, float], ...] = field(default=(), compare=False)

    @property
    def margin_s(self) -> float:
        """What is read at each side besides, so that a drag shows something at once."""
        return (self.end_s - self.start_s) / 2

    @property
    def step_s(self) -> float:
        """The time of one pixel column."""
        return (self.end_s - self.start_s) / max(1, self.columns)


@dataclass(frozen=True, slots=True)
class Past:
    """What was read for a wish: a view to make lanes of, and (figures, expected samples) of each series and metric.

    The key (metric, "") is of all subjects together. `coarser`: what is not kept as finely any more as it could be drawn.
    """

    wish: Wish
    view: WatchView
    figures: Mapping[SeriesKey, tuple[Figures, int]]
    coarser: tuple[Coarser, ...] = ()
    times: Mapping[SeriesKey, Times] = field(default_factory=dict)


def read_past(connection: sqlite3.Connection, wish: Wish, live: Mapping[SeriesKey, Ring]) -> Past:
    """Read the stretch with its margins; `live` has what is newer than the last stored pack."""
    start_s, end_s = wish.start_s - wish.margin_s, wish.end_s + wish.margin_s
    own = {id_ for id_, metric in metrics().items() if metric.own_pace}
    read, paces, coarser = _read(connection, wish, start_s, end_s, live)
    told = {key: one.bridged(wish.interval_s) if key[0] in own else one for key, one in read.items()}
    counted, counted_paces = _counted(connection, wish, live, own) or (told, paces)
    unwatched = _unwatched(connection, wish, live, counted)
    lost, away = _lost(connection, wish), {card: one.at.timestamp() for card, one in away_now(connection, wish.node_id).items()}
    rings: dict[SeriesKey, Ring] = {}
    figures: dict[SeriesKey, tuple[Figures, int]] = {}
    step_s, columns = 0.0, _Columns(start_s, wish.step_s)
    for metric, subjects in _by_metric(told):
        for subject, one in subjects.items():
            rings[metric, subject], thin = columns.ring(one, bits=metric == _BITS)
            step_s = max(step_s, one.step_s, wish.step_s if thin else 0.0)
    for metric, subjects in _by_metric(counted):
        alike = list(subjects.values())
        if not metric.startswith(_ALIKE):
            figures |= {(metric, subject): _figures([one], wish, counted_paces, unwatched, own_pace=metric in own) for subject, one in subjects.items()}
        if metric.startswith(_ALIKE):
            missing = [span for (of, subject), spans in lost.items() if of == metric and subject not in subjects for span in spans]
            until_s = max((one.last_s for other in (told, counted) for (of, _), one in other.items() if of == metric), default=-math.inf)
            figures[metric, ""] = _figures(alike, wish, counted_paces, unwatched, own_pace=metric in own, until_s=until_s, missing=missing,
                                           gone_s=[away.get(subject, math.inf) for subject in subjects])  # fmt: skip
        else:
            figures[metric, ""] = _figures(alike, wish, counted_paces, unwatched, own_pace=metric in own)
    gaps = _gaps(connection, wish, _busiest(told), start_s, end_s, _longest_s(told))
    ends_ns = int(start_s * _NS), int(end_s * _NS)
    noted = list_gaps(connection, wish.node_id, None, *ends_ns)
    view = WatchView(wish.node_id, max(wish.interval_s, step_s), rings, gaps, state=NodeState.CONNECTED, source_gaps=source_spans(noted), away=away,
                     numbers=get_numbers(connection, wish.node_id), missed=tuple(source_spans(noted, lost=True)))  # fmt: skip
    return Past(wish, view, figures, tuple(Coarser(*(at_ns / _NS for at_ns in one)) for one in coarser), _times(wish, counted, counted_paces))


def _counted(
    connection: sqlite3.Connection, wish: Wish, live: Mapping[SeriesKey, Ring], own: set[str]
) -> tuple[dict[SeriesKey, Told], Paces] | None:
    """What a chosen range is counted from: it is read as finely as if it were all that is in sight."""
    begin, end = wish.figures_s
    if end - begin >= 0.99 * (wish.end_s - wish.start_s):
        return None
    finer = replace(wish, start_s=begin, end_s=end)
    read, paces, _ = _read(connection, finer, begin - finer.margin_s, end + finer.margin_s, live)
    return {key: one.bridged(wish.interval_s) if key[0] in own else one for key, one in read.items()}, paces


def _times(wish: Wish, told: Mapping[SeriesKey, Told], paces: Paces) -> dict[SeriesKey, Times]:
    """For how long each promise was kept: by all cards together, by each line for itself."""
    inside = {key: one.between(*wish.figures_s) for key, one in told.items()}
    by_metric, known = dict(_by_metric(inside)), metrics()
    made: dict[SeriesKey, Times] = {}
    for judged in wish.judged:
        for metric in (metric for metric in by_metric if metric in known and known[metric].term == judged.term):
            curves = by_metric[metric]
            parts = {"": curves} if metric.startswith(_ALIKE) else {subject: {subject: one} for subject, one in curves.items()}
            made |= {(metric, of): times(judged, part, by_metric.get(_BITS, {}), wish.interval_s, paces) for of, part in parts.items()}
    return made


def _read(
    connection: sqlite3.Connection, wish: Wish, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring]
) -> tuple[dict[SeriesKey, Told], Paces, tuple[tuple[int, int, int], ...]]:
    # A summary may be two columns wide; but below ten seconds a column the readings themselves are shown.
    longest_s = 2 * wish.step_s if wish.step_s >= _FINEST_S else wish.step_s
    stored = outline(connection, wish.node_id, int(start_s * _NS), int(end_s * _NS), int(longest_s * _NS))
    known = series_by_id(connection, wish.node_id)
    told = {
        (known[id_].metric, known[id_].subject): one
        for id_, one in with_edges(connection, wish.node_id, _cut(of_store(stored), start_s, end_s)).items() if id_ in known
    }  # fmt: skip
    for key, ring in live.items():
        before = told.get(key)
        last_s = start_s if before is None else before.last_s
        newer = of_readings(data.between(data.read(ring), last_s + 0.5 * min(1.0, wish.interval_s), end_s))
        if len(newer.times_s):
            told[key] = newer if before is None else before.and_then(newer)
    paces = paces_of(stored.packs) if not stored.slabs else summed_paces(connection, wish.node_id, told.values(), start_s, end_s)
    return told, paces, stored.coarser


def _cut(told: Mapping[int, Told], start_s: float, end_s: float) -> dict[int, Told]:
    return {id_: cut for id_, one in told.items() if len((cut := one.between(start_s, end_s)).times_s)}


def _by_metric(told: Mapping[SeriesKey, Told]) -> Iterator[tuple[str, dict[str, Told]]]:
    by_metric: dict[str, dict[str, Told]] = {}
    for (metric, subject), one in told.items():
        by_metric.setdefault(metric, {})[subject] = one
    yield from by_metric.items()


class _Columns:
    """Pixel columns over the readings of series, most of which were taken at the same times."""

    def __init__(self, start_s: float, step_s: float) -> None:
        self._start_s, self._step_s = start_s, step_s
        self._of, self._first, self._times = np.empty(0), np.empty(0, np.intp), np.empty(0)

    def ring(self, told: Told, *, bits: bool) -> tuple[Ring, bool]:
        """Three points for each column: lowest, highest, then the mean, which stands for it; of bit masks, all bits set.

        Few readings are shown as they are. The second answer is whether they are fewer points than readings.
        """
        if told.plain and len(told.times_s) <= RING_POINTS:
            return _filled(told.times_s, told.mean, outlined=False), False
        one = told.known()
        if not len(one.times_s):
            return _filled(one.times_s, one.mean, outlined=False), False
        self._look(one.times_s, max(self._step_s, told.step_s))
        first = self._first
        if bits:
            low = high = mean = np.bitwise_or.reduceat(one.high.astype(np.int64), first).astype(np.float64)
        elif len(first) == len(one.times_s):
            low, high, mean = one.low, one.high, one.mean
        else:
            low, high = np.minimum.reduceat(one.low, first), np.maximum.reduceat(one.high, first)
            mean = np.add.reduceat(one.mean * one.count, first) / np.add.reduceat(one.count, first)
        times, values = self._times, np.column_stack((low, high, mean)).ravel()
        newest = told.newest or ((float(one.times_s[-1]), float(one.mean[-1])) if one.count[-1] == 1 else None)
        return _filled(*(times, values) if newest is None or bits else _ended(times, values, *newest), outlined=True), True

    def _look(self, times_s: Floats, step_s: float) -> None:
        if np.array_equal(times_s, self._of):
            return
        slot = np.floor((times_s - self._start_s) / step_s)
        first = np.flatnonzero(np.diff(slot, prepend=slot[0] - 1))
        begin = self._start_s + slot[first] * step_s
        self._of, self._first = times_s, first
        # The mean holds for nearly all of the slot, so that a cursor reads it.
        self._times = (begin[:, None] + np.array((0.01, 0.02, 0.03)) * step_s).ravel()


def _ended(times_s: Floats, values_of: Floats, at_s: float, value: float) -> tuple[Floats, Floats]:
    """The columns, and the last reading behind them as a column of its own, at its own time."""
    own = at_s + np.array((-0.002, -0.001, 0.0))
    if own[0] > times_s[-1]:
        return np.concatenate([times_s, own]), np.concatenate([values_of, np.full(3, value)])
    return np.concatenate([times_s[:-3], own]), np.concatenate([values_of[:-1], [value]])


def _filled(times_s: Floats, values_of: Floats, *, outlined: bool) -> Ring:
    times, values = array("d"), array("f")
    times.frombytes(times_s.astype(np.float64).tobytes())
    values.frombytes(values_of.astype(np.float32).tobytes())
    return Ring.of(times, values, outlined=outlined)


def _lost(connection: sqlite3.Connection, wish: Wish) -> dict[SeriesKey, list[tuple[float, float]]]:
    """From when to when (UTC seconds) a card was lost that had been read before, for each of its curves."""
    begin, end = wish.figures_s
    spans: dict[str, list[tuple[float, float]]] = {}
    for event in list_events(connection, wish.node_id, int(begin * _NS), int(end * _NS)):
        if event.rule == LOST.id:
            spans.setdefault(event.subject, []).append((event.began_ns / _NS, end if event.ended_ns is None else event.ended_ns / _NS))
    known = series_by_id(connection, wish.node_id).values() if spans else ()
    return {(one.metric, one.subject): spans[one.subject] for one in known if one.subject in spans}


def _figures(
    read: Sequence[Told], wish: Wish, paces: Paces, unwatched: Sequence[Span], *, own_pace: bool, until_s: float = -math.inf,
    missing: Sequence[tuple[float, float]] = (), gone_s: Sequence[float] = (),
) -> tuple[Figures, int]:  # fmt: skip
    """The figures of all readings of the stretch, and how many were due from the first one on.

    `until_s`: up to when one of them was read, so up to when all should have been; `missing`: when one was lost of which
    nothing at all was read here; `gone_s`: for each of them from when on nobody expects it.
    """
    begin, end = wish.figures_s
    inside = [one.between(begin, end).known() for one in read]
    usual_s = min((one.pace_s(wish.interval_s) for one in read), default=wish.interval_s)
    lost = [(max(begin, a), min(end, z, until_s)) for a, z in missing]
    expected = sum(due(unwatched, a, z, lambda b, y: (y - b) / usual_s if own_pace else asked(paces, wish.interval_s, b, y)) for a, z in lost)
    for one, away_s in zip(read, gone_s or [math.inf] * len(read), strict=True):
        since, until = max(begin, one.first_s), min(end, max(one.last_s, min(until_s, away_s)))
        expected += due(unwatched, since, until, partial(_asked, one, one.pace_s(wish.interval_s), wish.interval_s, paces, own_pace))
    figures = _of_all(inside)
    return figures, max(expected, figures.count)


def _unwatched(connection: sqlite3.Connection, wish: Wish, live: Mapping[SeriesKey, Ring], counted: Mapping[SeriesKey, Told]) -> tuple[Span, ...]:
    """When nobody watched: what was noted, and what lies between all that was recorded without a note of why."""
    begin, end = wish.figures_s
    gaps = _gaps(connection, wish, _busiest(counted), begin, end, _longest_s(counted))
    if not wish.recorded_s:
        return unwatched_spans(gaps, begin, end)
    # To the second, where the columns of a month are most of an hour.
    noted = [gap for gap in gaps if gap.reason != NOT_RECORDED]
    seen = [ring.view().times_s for ring in live.values() if ring.total]
    known = [*wish.recorded_s, *([(min(times[0] for times in seen), max(times[-1] for times in seen))] if seen else [])]
    told = [(gap.start_s, end if gap.end_s is None else gap.end_s) for gap in noted]
    return joined_spans([*unwatched_spans(noted, begin, end), *without(between_recorded(known, begin, end), told, begin, end)], begin, end)


def _asked(one: Told, pace_s: float, interval_s: float, paces: Paces, own_pace: bool, start_s: float, end_s: float) -> float:
    """How many readings of a series were asked for from start to end; what is older than all readings that are kept says that itself."""
    asked_s = end_s if own_pace else start_s if one.plain else min(max(start_s, paces[0][0] if paces else end_s), end_s)
    return (asked_s - start_s) / pace_s + asked(paces, interval_s, asked_s, end_s)


def _busiest(told: Mapping[SeriesKey, Told]) -> Floats:
    """The times of the series that was read most often."""
    return max((one.times_s for one in told.values()), key=len, default=np.empty(0))


def _longest_s(told: Mapping[SeriesKey, Told]) -> float:
    return max((one.step_s for one in told.values()), default=0.0)


def _of_all(inside: Sequence[Told]) -> Figures:
    """Lowest, mean, highest and count are those of the readings; of summaries the percentiles are estimated."""
    low, mean, p95, high, count = (
        np.concatenate([getattr(one, name) for one in inside]) if inside else np.empty(0)
        for name in ("low", "mean", "p95", "high", "count")
    )  # fmt: skip
    total = int(count.sum())
    if not total:
        return Figures(0)
    many = count > 1
    # Of a slot: its lowest and its highest reading, a twentieth of its readings at its p95, the rest at what is left.
    tail = np.where(many, 0.05 * count, 0.0)
    rest = np.where(many, np.maximum(count - 2 - tail, 0.0), 1.0)
    left = np.where(many & (rest > 0), np.clip((mean * count - low - high - tail * p95) / np.where(rest > 0, rest, 1.0), low, high), mean)
    values = np.concatenate([left, low[many], high[many], p95[many]])
    weights = np.concatenate([rest, np.ones(2 * int(many.sum())), tail[many]])
    p5, high5 = _percentiles(values, weights, float(low.min()), float(high.max()))
    average = float((mean * count).sum() / total)
    told = Figures(total, float(low.min()), p5, average, high5, float(high.max()), estimated=bool(many.any()))
    if not told.estimated:
        return told
    slots = Slots(low, mean, p95, high, count)
    early, late = slots.bounds(0.05), slots.bounds(0.95)
    p5, high5 = min(max(p5, early[0]), early[1]), min(max(high5, late[0]), late[1])
    return replace(told, p5=p5, p95=high5, p5_between=early, p95_between=late)


def _percentiles(values: Floats, weights: Floats, low: float, high: float) -> tuple[float, float]:
    """The values below which a twentieth, and above which a twentieth of the weight lies."""
    if len(values) <= _SORTED or high <= low:
        order = np.argsort(values, kind="stable")
        ranked, reached = values[order], np.cumsum(weights[order])
    else:
        bins = ((values - low) * (_BINS / (high - low))).astype(np.intp)
        reached = np.cumsum(np.bincount(bins, weights, _BINS + 1))
        ranked = np.asarray(low + (np.arange(_BINS + 1) + 0.5) * ((high - low) / _BINS), np.float64)
    places = np.searchsorted(reached, [share * (reached[-1] - 1) + 0.5 for share in (0.05, 0.95)])
    p5, p95 = (min(high, float(ranked[min(int(place), len(ranked) - 1)])) for place in places)
    return p5, p95


def _gaps(
    connection: sqlite3.Connection, wish: Wish, times: Floats, start_s: float, end_s: float, step_s: float
) -> list[GapSpan]:
    """What the store says, and the silences that nobody noted."""
    told = list_gaps(connection, wish.node_id, "", int(start_s * _NS), int(end_s * _NS))
    made = [GapSpan(gap.start_ns / _NS, gap.reason, gap.end_ns / _NS, True, imported=gap.imported) for gap in told]
    noted = [(gap.start_s, end_s if gap.end_s is None else gap.end_s) for gap in made]
    limit = max(_SILENT_S, 3 * wish.interval_s, 1.5 * step_s)
    for place in np.flatnonzero(np.diff(times) > limit).tolist():
        begin, after = float(times[place]), float(times[place + 1])
        whole = begin + max(wish.interval_s, step_s), after
        made += [GapSpan(a, NOT_RECORDED, z) for a, z in without([whole], noted, start_s, end_s) if z - a > limit or (a, z) == whole]
    return sorted(made, key=lambda gap: gap.start_s)
