"""What does a node's line come to, slot by slot, over the last stretch of time?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np

from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Floats
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import SeriesKey

SLOTS = 60


class LaneChoice(StrEnum):
    """What the lines of all tiles are of."""

    UTIL = "util"
    POWER = "power"
    HOTTEST = "temperature"
    NETWORK = "network"


METRICS: Mapping[LaneChoice, tuple[str, ...]] = {
    LaneChoice.UTIL: ("gpu.util_percent", "npu.aicore_percent"), LaneChoice.POWER: ("gpu.power_w", "npu.power_w"),
    LaneChoice.HOTTEST: ("gpu.temperature_c", "npu.temperature_c"), LaneChoice.NETWORK: ("net.rx_gbit_s", "net.tx_gbit_s"),
}  # fmt: skip
# Cards are told by their mean, heat by the hottest one, the network by its busiest direction.
_HIGHEST = frozenset([LaneChoice.HOTTEST, LaneChoice.NETWORK])


def line_of(rings: Mapping[SeriesKey, Ring], lane: LaneChoice, start_s: float, end_s: float) -> list[float | None]:
    """One figure for each of SLOTS slots of start <= time < end; None where nothing was read."""
    wanted = [ring for (metric, _), ring in rings.items() if metric in METRICS[lane]]
    rows = [row for ring in wanted if (row := _slots(ring, start_s, end_s)) is not None]
    if not rows:
        return [None] * SLOTS
    return _known(np.fmax.reduce(rows) if lane in _HIGHEST else _mean(rows))


def _slots(ring: Ring, start_s: float, end_s: float) -> Floats | None:
    """The mean of each slot of one ring, NaN where nothing was read."""
    samples = data.between(data.read(ring), start_s, end_s)
    known = ~np.isnan(samples.values)
    if not known.any():
        return None
    places = np.minimum(((samples.times_s[known] - start_s) * (SLOTS / (end_s - start_s))).astype(np.intp), SLOTS - 1)
    counts = np.bincount(places, minlength=SLOTS)
    sums = np.bincount(places, samples.values[known], SLOTS)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean(rows: Sequence[Floats]) -> Floats:
    stacked = np.array(rows)
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    return np.where(count > 0, np.where(known, stacked, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _known(values: Floats) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def now_of(rings: Mapping[SeriesKey, Ring], lane: LaneChoice, since_s: float) -> float | None:
    """The figure of now: of samples not older than `since_s`; None when there is none."""
    last = [ring.last for (metric, _), ring in rings.items() if metric in METRICS[lane]]
    values = [one[1] for one in last if one is not None and one[0] >= since_s and one[1] == one[1]]
    if not values:
        return None
    return max(values) if lane in _HIGHEST else sum(values) / len(values)


def busy_of(rings: Mapping[SeriesKey, Ring], since_s: float) -> tuple[int, int]:
    """(cards that work, cards that are read) now."""
    values = [one[1] for one in _cards(rings) if one[0] >= since_s and one[1] == one[1]]
    return sum(1 for value in values if value >= 5.0), len(values)


def _cards(rings: Mapping[SeriesKey, Ring]) -> Iterable[tuple[float, float]]:
    for (metric, _), ring in rings.items():
        if metric in METRICS[LaneChoice.UTIL] and (last := ring.last) is not None:
            yield last


def samples_of(rings: Mapping[SeriesKey, Ring], interval_s: float, start_s: float, end_s: float) -> tuple[int, int]:
    """(samples, samples that would be there without a gap) of the cards' use, from the first one on."""
    count = expected = 0
    for (metric, _), ring in rings.items():
        if metric in METRICS[LaneChoice.UTIL]:
            held = data.between(data.read(ring), start_s, end_s)
            if len(held.times_s):
                there = int(np.count_nonzero(~np.isnan(held.values)))
                count += there
                expected += max(there, round((end_s - float(held.times_s[0])) / max(interval_s, 1e-3)))
    return count, expected
