"""How do packs and summaries of the store become arrays of one series each?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Floats, Samples
from gpulease_gui.services.series import Paces
from gpulease_gui.store.packing import FIELDS, Pack
from gpulease_gui.store.slots import Outline, Slab

_NS = 1_000_000_000
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Told:
    """Readings or summaries of one series by time (UTC seconds, rising). Of a reading all four figures are the reading.

    NaN = not read. `step_s` is the longest time that a summary stands for, 0 = there are readings only. `first_read_s` and
    `newest`: when the first reading of the first summary was taken, and the last one of the last with its time, where known.
    """

    times_s: Floats
    low: Floats
    mean: Floats
    p95: Floats
    high: Floats
    count: Floats
    step_s: float = 0.0
    first_read_s: float | None = None
    newest: tuple[float, float] | None = None

    @property
    def plain(self) -> bool:
        """Whether there are readings only."""
        return self.step_s == 0.0

    @property
    def first_s(self) -> float:
        """The time of the first reading, or the begin of the first summary."""
        return float(self.times_s[0]) if self.first_read_s is None else self.first_read_s

    @property
    def last_s(self) -> float:
        """The time of the last reading, or the end of the last summary."""
        if self.newest is not None:
            return self.newest[0]
        return float(self.times_s[-1]) + (self.step_s - 0.5 if self.count[-1] > 1 else 0.0)

    def between(self, start_s: float, end_s: float) -> Told:
        """What begins with start <= time < end."""
        first, last = np.searchsorted(self.times_s, (start_s, end_s))
        return self._picked(slice(int(first), int(last)))

    def part(self, first: int, last: int) -> Told:
        """Those from one place up to another."""
        return self._picked(slice(first, last))

    def known(self) -> Told:
        """Without what was not read."""
        if not len(self.mean) or (low := np.minimum.reduce(self.mean)) == low:  # NaN is unlike itself
            return self
        return self._picked(~np.isnan(self.mean))

    def _picked(self, which: slice | NDArray[np.bool_] | NDArray[np.intp]) -> Told:
        mean = self.mean[which]
        if self.plain:
            return Told(self.times_s[which], mean, mean, mean, mean, self.count[which])
        low, p95, high = self.low[which], self.p95[which], self.high[which]
        return Told(self.times_s[which], low, mean, p95, high, self.count[which], self.step_s)

    def bridged(self, interval_s: float) -> Told:
        """Without the slots between two readings that no longer lie apart than is usual for them; summaries as they are."""
        there = ~np.isnan(self.mean)
        times = self.times_s[there]
        if not self.plain or len(times) < 2:
            return self
        place = np.searchsorted(times, self.times_s)
        before, after = times[np.maximum(place - 1, 0)], times[np.minimum(place, len(times) - 1)]
        apart_s = data.HOLD_INTERVALS * data.usual_s(Samples(self.times_s, self.mean), interval_s)
        return self._picked(there | (after - before > apart_s))

    def and_then(self, later: Told) -> Told:
        """This, then what came later."""
        return replace(joined([self, later]), first_read_s=self.first_read_s)

    def pace_s(self, interval_s: float) -> float:
        """The usual distance of readings."""
        if not len(self.times_s):
            return interval_s
        if self.plain:
            return data.usual_s(Samples(self.times_s, self.mean), interval_s)
        most = float(self.count.max())
        return max(interval_s, self.step_s / max(1.0, most))


def of_readings(samples: Samples) -> Told:
    """Readings as they are."""
    values = samples.values
    return Told(samples.times_s, values, values, values, values, np.ones(len(values)))


def joined(parts: Sequence[Told]) -> Told:
    """Parts in the order of their time."""
    if len(parts) == 1:
        return parts[0]
    times, low, mean, p95, high, count = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("times_s", "low", "mean", "p95", "high", "count")
    )
    made = Told(times, low, mean, p95, high, count, max(part.step_s for part in parts))
    return made._picked(np.argsort(times, kind="stable")) if np.any(np.diff(times) < 0) else made


def of_store(outline: Outline) -> dict[int, Told]:
    """What was read of each series, by series id."""
    parts: dict[int, list[Told]] = {}
    for slab in outline.slabs:
        for series_id, one in _of_slab(slab):
            parts.setdefault(series_id, []).append(one)
    for series_id, one in _of_packs(outline.packs):
        parts.setdefault(series_id, []).append(one)
    return {series_id: joined(some) for series_id, some in parts.items()}


def paces_of(packs: Sequence[Pack]) -> Paces:
    """How often the readings of these packs were asked for."""
    if not packs:
        return ()
    starts, steps = _all_of(packs, "starts_ns"), _all_of(packs, "steps_ns")
    order = np.argsort(starts, kind="stable")
    starts, steps = starts[order], steps[order]
    changed = np.flatnonzero(np.diff(steps, prepend=-1))
    return tuple(zip((starts[changed] / _NS).tolist(), (steps[changed] / _NS).tolist(), strict=True))


def _of_slab(slab: Slab) -> Iterable[tuple[int, Told]]:
    rows, ids = len(slab.starts_ns), slab.ids.tolist()
    step_s = slab.step_ns / _NS
    starts = np.frombuffer(slab.starts_ns, np.int64) / _NS
    times = (starts[:, None] + np.arange(slab.slots) * step_s).ravel()
    # Rows, series, slots, fields -> series, fields, rows and slots: each figure of a series in one piece.
    values = np.frombuffer(slab.values, np.float32).reshape(rows, len(ids), slab.slots, FIELDS)
    turned = values.transpose(1, 3, 0, 2).astype(np.float64, order="C").reshape(len(ids), FIELDS, rows * slab.slots)
    for place, series_id in enumerate(ids):
        low, mean, p95, high, count = turned[place]
        there = count > 0
        if there.all():
            yield series_id, Told(times, low, mean, p95, high, count, step_s)
        elif there.any():
            yield series_id, Told(times[there], low[there], mean[there], p95[there], high[there], count[there], step_s)


def _of_packs(packs: Sequence[Pack]) -> Iterable[tuple[int, Told]]:
    if not any(pack.ids for pack in packs):  # none, or only such as end before the first moment that was asked for
        return
    ids, starts, steps, counts = (_all_of(packs, name) for name in ("ids", "starts_ns", "steps_ns", "counts"))
    values = np.concatenate([np.frombuffer(pack.values, np.float32) for pack in packs])
    # Blocks are put in order, not their readings: there are ten times fewer of them.
    order = np.lexsort((starts, ids))
    begins = (np.cumsum(counts) - counts)[order]
    ids, starts, steps, counts = ids[order], starts[order], steps[order], counts[order]
    ends = np.cumsum(counts)
    places = np.arange(len(values)) - np.repeat(ends - counts, counts)
    values = values[places + np.repeat(begins, counts)].astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    times = (np.repeat(starts, counts) + places * np.repeat(steps, counts)) / _NS
    first = np.flatnonzero(np.diff(ids, prepend=-1))
    last = np.append(first[1:], len(ids)) - 1
    for series_id, begin, end in zip(ids[first].tolist(), (ends - counts)[first].tolist(), ends[last].tolist(), strict=True):
        yield series_id, of_readings(Samples(times[begin:end], values[begin:end]))


def _all_of(packs: Sequence[Pack], name: str) -> _Ints:
    kind = np.int64 if name.endswith("_ns") else np.uint32
    return np.concatenate([np.frombuffer(getattr(pack, name), kind) for pack in packs]).astype(np.int64)
