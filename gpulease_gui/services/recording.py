"""How do samples become the packed blocks of the store?"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

from gpulease_gui.store.records import SampleBlock, Series
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


class Recorder:
    """Collects the samples of one node and hands them out as blocks of an even step; a missing slot is NaN."""

    def __init__(self, node_id: str, interval_s: float, metrics: Mapping[str, Metric]) -> None:
        self._node_id = node_id
        self._interval_s = interval_s
        self._metrics = metrics
        self._held: dict[tuple[str, str], list[tuple[float, float]]] = {}
        self._since_s: float | None = None

    def add(self, metric: str, subject: str, at_s: float, value: float | None) -> None:
        """Keep one sample (UTC seconds); None is a slot without a value."""
        if self._since_s is None:
            self._since_s = at_s
        self._held.setdefault((metric, subject), []).append((at_s, math.nan if value is None else value))

    def due(self, now_s: float) -> bool:
        """Whether a block's time is over."""
        return self._since_s is not None and now_s - self._since_s >= BLOCK_S

    def take(self) -> tuple[SampleBlock, ...]:
        """The blocks of what is held, which is then forgotten."""
        held, self._held, self._since_s = self._held, {}, None
        return tuple(self._block(metric, subject, samples) for (metric, subject), samples in held.items())

    def _block(self, metric: str, subject: str, samples: list[tuple[float, float]]) -> SampleBlock:
        start_s, step_s = samples[0][0], self._interval_s
        places = slots([at_s - start_s for at_s, _ in samples], step_s)
        values = array("f", [math.nan]) * (places[-1] + 1)
        for place, (_, value) in zip(places, samples, strict=True):
            values[place] = value
        unit = self._metrics[metric].unit if metric in self._metrics else ""
        return SampleBlock(Series(self._node_id, metric, subject, unit), int(start_s * _NS), int(step_s * _NS), values)
