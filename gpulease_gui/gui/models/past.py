"""What did a node do before what the rings hold, as far as it was stored?

Runs on a worker thread: packed blocks of the store become rings of at most three points a pixel column, the lowest, the
highest and the mean reading of its time, and figures of all readings.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Figures, Floats, Samples
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.series import RING_POINTS, Ring
from gpulease_gui.services.watch import GapSpan, SeriesKey, WatchView
from gpulease_gui.store.samples import list_gaps, list_series, read_blocks

if TYPE_CHECKING:
    import sqlite3

_NS = 1_000_000_000
_BITS = "gpu.event_reasons"
NOT_RECORDED = "not_recorded"
_SILENT_S = 15.0


@dataclass(frozen=True, slots=True)
class Wish:
    """Which stretch is wanted (UTC seconds), over how many pixel columns, and of which part the figures are."""

    node_id: str
    start_s: float
    end_s: float
    columns: int
    figures_s: tuple[float, float]
    interval_s: float = 1.0

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

    The key (metric, "") is of all subjects together.
    """

    wish: Wish
    view: WatchView
    figures: Mapping[SeriesKey, tuple[Figures, int]]


def read_past(connection: sqlite3.Connection, wish: Wish, live: Mapping[SeriesKey, Ring]) -> Past:
    """Read the stretch with its margins; `live` has what is newer than the last stored block."""
    start_s, end_s = wish.start_s - wish.margin_s, wish.end_s + wish.margin_s
    rings: dict[SeriesKey, Ring] = {}
    figures: dict[SeriesKey, tuple[Figures, int]] = {}
    busiest, thin = np.empty(0), False
    metrics = [series.metric for series in list_series(connection, wish.node_id)]
    for metric in dict.fromkeys([*metrics, *(metric for metric, _ in live)]):
        read = _read(connection, wish.node_id, metric, start_s, end_s, live)
        for subject, samples in read.items():
            slots, thinner = _thinned(samples, start_s, wish.step_s, bits=metric == _BITS)
            thin = thin or thinner
            rings[metric, subject] = _ring(slots, outlined=thinner)
            figures[metric, subject] = _figures([samples], wish)
            busiest = samples.times_s if len(samples.times_s) > len(busiest) else busiest
        figures[metric, ""] = _figures(list(read.values()), wish)
    gaps = _gaps(connection, wish, busiest, start_s, end_s)
    view = WatchView(wish.node_id, max(wish.interval_s, wish.step_s if thin else 0.0), rings, gaps, state=NodeState.CONNECTED)
    return Past(wish, view, figures)


def _read(
    connection: sqlite3.Connection, node_id: str, metric: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring]
) -> dict[str, Samples]:
    blocks: dict[str, list[tuple[Floats, Floats]]] = {}
    for block in read_blocks(connection, node_id, metric, int(start_s * _NS), int(end_s * _NS)):
        values = np.frombuffer(block.values, np.float32).astype(np.float64)
        times = np.asarray(block.start_ns / _NS + np.arange(len(values)) * (block.step_ns / _NS), np.float64)
        blocks.setdefault(block.series.subject, []).append((times, values))
    stored = {subject: _joined(parts) for subject, parts in blocks.items()}
    for (one, subject), ring in live.items():
        if one == metric:
            before = stored.get(subject, data.EMPTY)
            last_s = before.times_s[-1] if len(before.times_s) else start_s
            stored[subject] = _after(before, data.between(data.read(ring), last_s + 0.5, end_s))
    return {subject: samples for subject, samples in stored.items() if len(samples.times_s)}


def _joined(parts: Sequence[tuple[Floats, Floats]]) -> Samples:
    times, values = np.concatenate([t for t, _ in parts]), np.concatenate([v for _, v in parts])
    values[~np.isfinite(values)] = np.nan
    order = np.argsort(times, kind="stable")
    return Samples(times[order], values[order])


def _after(before: Samples, later: Samples) -> Samples:
    if not len(later.times_s):
        return before
    return Samples(np.concatenate([before.times_s, later.times_s]), np.concatenate([before.values, later.values]))


def _thinned(samples: Samples, start_s: float, step_s: float, *, bits: bool) -> tuple[Samples, bool]:
    """Three points for each `step_s`: lowest, highest, then the mean, which stands for it; of bit masks, all bits set."""
    known = ~np.isnan(samples.values)
    times, values = samples.times_s[known], samples.values[known]
    if len(samples.values) <= RING_POINTS or not len(values):
        return samples, False
    slot = np.floor((times - start_s) / step_s)
    first = np.flatnonzero(np.diff(slot, prepend=slot[0] - 1))
    if bits:
        low = high = mean = np.bitwise_or.reduceat(values.astype(np.int64), first).astype(np.float64)
    else:
        low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
        mean = np.add.reduceat(values, first) / np.diff(first, append=len(values))
    begin = start_s + slot[first] * step_s
    # The mean holds for nearly all of the slot, so that a cursor reads it.
    times = np.column_stack([begin + share * step_s for share in (0.01, 0.02, 0.03)]).ravel()
    return Samples(times, np.column_stack((low, high, mean)).ravel()), True


def _ring(samples: Samples, *, outlined: bool) -> Ring:
    times, values = array("d"), array("f")
    times.frombytes(samples.times_s.astype(np.float64).tobytes())
    values.frombytes(samples.values.astype(np.float32).tobytes())
    return Ring.of(times, values, outlined=outlined)


def _figures(read: Sequence[Samples], wish: Wish) -> tuple[Figures, int]:
    """The figures of all readings of the stretch, and how many there would be without a gap, from the first one on."""
    begin, end = wish.figures_s
    figures = data.figures(read, begin, end)
    expected = 0
    for samples in read:
        since = max(begin, float(samples.times_s[0]))
        expected += max(0, round((min(end, float(samples.times_s[-1])) - since) / data.pace_s(samples, wish.interval_s)))
    return figures, max(expected, figures.count)


def _gaps(connection: sqlite3.Connection, wish: Wish, times: Floats, start_s: float, end_s: float) -> list[GapSpan]:
    """What the store says, and the silences that nobody noted."""
    told = list_gaps(connection, wish.node_id, "", int(start_s * _NS), int(end_s * _NS))
    made = [GapSpan(gap.start_ns / _NS, gap.reason, gap.end_ns / _NS, True) for gap in told]
    limit = max(_SILENT_S, 3 * wish.interval_s)
    for place in np.flatnonzero(np.diff(times) > limit).tolist():
        begin, after = float(times[place]), float(times[place + 1])
        if not any(gap.start_s < after and begin < (gap.end_s or after) for gap in made):
            made.append(GapSpan(begin + wish.interval_s, NOT_RECORDED, after))
    return sorted(made, key=lambda gap: gap.start_s)
