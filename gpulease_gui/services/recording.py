"""How do samples become the packed blocks of the store?"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate

from gpulease_gui.store.ahead import MOST_AHEAD
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import Metric

BLOCK_S = 10.0
FLOODED = "more readings came than were asked for, and the oldest of them were left out"
_NS = 1_000_000_000
_MOST_SLOTS = 100_000
# Of a step, before the end of a block: the next one begins there at the earliest.
_LEAST_APART = 0.49


def slots(ages_s: list[float], step_s: float, room: int = 0) -> list[int]:
    """A slot of its own for each sample (seconds since the first slot, in the order they came), rising; of the last ones.

    The nearest one, or the next free one before it: a line that stalls delivers several samples at once, and they were
    taken in the slots before, of which `room` lie before the first. No sample lies more than MOST_AHEAD slots after it
    came: of more than that the oldest have none. A clock that was set back moves nothing back.
    """
    near = list(accumulate((min(_MOST_SLOTS, round(age_s / step_s)) for age_s in ages_s), max))
    places = list(near)
    for n in range(len(places) - 2, -1, -1):
        places[n] = min(places[n], places[n + 1] - 1)
    del places[: max(0, -room - places[0] - MOST_AHEAD)]
    before = -room - 1
    for n in range(len(places)):
        before = places[n] = max(places[n], before + 1)
    return places


class _Held:
    """Rows of one form: their times, how many rows were taken before each, and their values."""

    __slots__ = ("before", "rows", "times_s")

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.before: list[int] = []
        self.rows: list[Sequence[float]] = []


class Recorder:
    """Collects the samples of one node and hands them out as blocks of an even step; a missing slot is NaN."""

    def __init__(self, node_id: str, interval_s: float, metrics: Mapping[str, Metric]) -> None:
        self._node_id = node_id
        self._interval_s = interval_s
        self._metrics = metrics
        self._apart = frozenset(id_ for id_, metric in metrics.items() if metric.apart)
        self._held: dict[Form, _Held] = {}
        self._count = 0
        self._since_s: float | None = None
        self._series: dict[tuple[str, str], Series] = {}
        # Where what was handed out last of each form, or of a curve of several, ends, and when the last of it came (UTC seconds).
        self._ends: dict[Hashable, tuple[float, float]] = {}
        self._ended: dict[Hashable, tuple[float, float]] = {}
        self._floods: dict[str, tuple[float, float]] = {}

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
        keys = [key for form in held for key in form.keys]
        apart = {key: None for key in keys if key[0] in self._apart} if self._apart else {}
        twice = {key: count for key, count in Counter(keys).items() if count > 1} if len(set(keys)) < len(keys) else {}
        others = {key: None for key in (*apart, *twice)}
        made: list[SampleBlock] = []
        self._ended, self._ends = self._ends, {}
        for form, some in held.items():
            columns = zip(form.keys, zip(*some.rows, strict=True), strict=True)
            told = [column for column in columns if column[0] not in others] if others else columns
            made += self._blocks(form, some.times_s, told)
        for key in others:
            made += self._each(key, held) if key in apart else self._merged(key, held)
        return tuple(made)

    def floods(self) -> dict[str, tuple[float, float]]:
        """By metric, from when to when (UTC seconds) more than a few samples had no slot, since this was asked last."""
        told, self._floods = self._floods, {}
        return told

    def _blocks(
        self, of: Hashable, times_s: list[float], told: Iterable[tuple[tuple[str, str], Sequence[float]]]
    ) -> list[SampleBlock]:
        """A block of each curve with samples of these times."""
        step_s = self._interval_s
        start_s = self._begin(of, times_s[0])
        places = slots([at_s - start_s for at_s in times_s], step_s, self._room(of, start_s))
        first, left_out = places[0], len(times_s) - len(places)
        places = [place - first for place in places]
        start_ns, step_ns, count = int(start_s * _NS) + first * int(step_s * _NS), int(step_s * _NS), places[-1] + 1
        self._ends[of] = start_s + (first + count) * step_s, times_s[-1]
        even = count == len(places)
        made = [
            SampleBlock(
                self._named(key), start_ns, step_ns, array("f", values[left_out:]) if even else _spread(values[left_out:], places, count)
            )
            for key, values in told
        ]  # fmt: skip
        if left_out > MOST_AHEAD:
            for metric in {block.series.metric for block in made}:
                begin_s, end_s = self._floods.get(metric, (times_s[0], times_s[-1]))
                self._floods[metric] = min(begin_s, times_s[0]), max(end_s, times_s[-1])
        return made

    def _begin(self, of: Hashable, first_s: float) -> float:
        """Where slots begin: no two of one watch lie within half a step, as do those of several, unless its clock was set back."""
        ended_s, came_s = self._ended.get(of, (-math.inf, -math.inf))
        return first_s if first_s < came_s else max(first_s, ended_s - _LEAST_APART * self._interval_s)

    def _room(self, of: Hashable, start_s: float) -> int:
        """How many slots lie free before a time, as far as a stall is made up for."""
        ended_s, _ = self._ended.get(of, (start_s, start_s))
        free_s = min(BLOCK_S, start_s - ended_s)
        return max(0, int(free_s / self._interval_s + 0.1))

    def _merged(self, key: tuple[str, str], held: Mapping[Form, _Held]) -> list[SampleBlock]:
        """A curve that was told in lines of several forms is one block in the order in which they came."""
        samples = _samples(key, held)
        return self._blocks(key, [at_s for _, at_s, _ in samples], [(key, [value for _, _, value in samples])])

    def _each(self, key: tuple[str, str], held: Mapping[Form, _Held]) -> list[SampleBlock]:
        """A block for each value: those of one moment are a thousandth of a second apart, and none is moved to another second."""
        made: list[SampleBlock] = []
        start_ns = 0
        for _, at_s, value in _samples(key, held):
            if not math.isnan(value):
                start_ns = max(int(at_s * _NS), start_ns + _NS // 1000)
                made.append(SampleBlock(self._named(key), start_ns, int(self._interval_s * _NS), array("f", [value])))
        return made

    def _named(self, key: tuple[str, str]) -> Series:
        named = self._series.get(key)
        if named is None:
            metric, subject = key
            unit = self._metrics[metric].unit if metric in self._metrics else ""
            named = self._series[key] = Series(self._node_id, metric, subject, unit)
        return named


def _samples(key: tuple[str, str], held: Mapping[Form, _Held]) -> list[tuple[int, float, float]]:
    """(how many rows were taken before, time, value) of the samples of a curve in the order in which they came."""
    return sorted(
        (before, at_s, row[form.keys.index(key)])
        for form, some in held.items() if key in form.keys
        for before, at_s, row in zip(some.before, some.times_s, some.rows, strict=True)
    )  # fmt: skip


def _spread(values: Sequence[float], places: list[int], count: int) -> array[float]:
    """Values in their slots, NaN in the others."""
    made = array("f", [math.nan]) * count
    for place, value in zip(places, values, strict=True):
        made[place] = value
    return made
