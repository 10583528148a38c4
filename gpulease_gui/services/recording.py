"""How do samples become the packed blocks of the store?"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import Metric

BLOCK_S = 10.0
_NS = 1_000_000_000
_MOST_SLOTS = 100_000


def slots(ages_s: list[float], step_s: float) -> list[int]:
    """A slot of its own for each sample (seconds since the first one, in the order they came), rising.

    The nearest one, or the next free one before it: a line that stalls delivers several samples at once, and they were
    taken in the slots before. A clock that was set back moves nothing back.
    """
    places = [min(_MOST_SLOTS, max(0, round(age_s / step_s))) for age_s in ages_s]
    for n in range(len(places) - 2, -1, -1):
        places[n] = min(places[n], places[n + 1] - 1)
    for n in range(len(places)):
        places[n] = max(places[n], places[n - 1] + 1 if n else 0)
    return places


class _Held:
    """Rows of one form: their times, how many rows were taken before each, and their values."""

    __slots__ = ("before", "places", "rows", "times_s")

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.before: list[int] = []
        self.rows: list[Sequence[float]] = []
        self.places: list[int] = []


class Recorder:
    """Collects the samples of one node and hands them out as blocks of an even step; a missing slot is NaN."""

    def __init__(self, node_id: str, interval_s: float, metrics: Mapping[str, Metric]) -> None:
        self._node_id = node_id
        self._interval_s = interval_s
        self._metrics = metrics
        self._held: dict[Form, _Held] = {}
        self._count = 0
        self._since_s: float | None = None
        self._series: dict[tuple[str, str], Series] = {}

    def add(self, row: Row, at_s: float) -> None:
        """Keep a sample of each curve of a row (UTC seconds); NaN is a slot without a value."""
        if self._since_s is None:
            self._since_s = at_s
        held = self._held.get(row.form)
        if held is None:
            held = self._held[row.form] = _Held()
        held.times_s.append(at_s)
        held.before.append(self._count)
        held.rows.append(row.values)
        self._count += 1

    def due(self, now_s: float) -> bool:
        """Whether a block's time is over."""
        return self._since_s is not None and now_s - self._since_s >= BLOCK_S

    def take(self) -> tuple[SampleBlock, ...]:
        """The blocks of what is held, which is then forgotten."""
        held, self._held, self._since_s, self._count = self._held, {}, None, 0
        found: dict[tuple[str, str], list[tuple[_Held, tuple[float, ...]]]] = {}
        for form, some in held.items():
            some.places = self._places(some.times_s)
            for key, values in zip(form.keys, zip(*some.rows, strict=True), strict=True):
                found.setdefault(key, []).append((some, values))
        return tuple([self._block(key, parts) for key, parts in found.items()])

    def _places(self, times_s: list[float]) -> list[int]:
        start_s = times_s[0]
        return slots([at_s - start_s for at_s in times_s], self._interval_s)

    def _block(self, key: tuple[str, str], parts: list[tuple[_Held, tuple[float, ...]]]) -> SampleBlock:
        """A curve that was told in lines of several forms is one block in the order in which they came."""
        held, told = parts[0]
        start_s, places = held.times_s[0], held.places
        if len(parts) > 1:
            merged = sorted((n, at_s, value) for one, values in parts for n, at_s, value in zip(one.before, one.times_s, values, strict=True))
            start_s, told = merged[0][1], tuple(value for _, _, value in merged)
            places = self._places([at_s for _, at_s, _ in merged])
        if places[-1] + 1 == len(places):
            values = array("f", told)
        else:
            values = array("f", [math.nan]) * (places[-1] + 1)
            for place, value in zip(places, told, strict=True):
                values[place] = value
        return SampleBlock(self._named(key), int(start_s * _NS), int(self._interval_s * _NS), values)

    def _named(self, key: tuple[str, str]) -> Series:
        named = self._series.get(key)
        if named is None:
            metric, subject = key
            unit = self._metrics[metric].unit if metric in self._metrics else ""
            named = self._series[key] = Series(self._node_id, metric, subject, unit)
        return named
