"""What does one line of the agent say of a GPU?

An object: index and uuid, gauges by name, the counters of the card under "counters" with the second of the node's steady
clock, new Xids; or "lost" with the reason. "deaf" says once that the Xids of a card can't be heard, or can be again. Whatever has another type, is below zero or beyond all bounds is no value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import visible
from gpulease_gui.telemetry.figure_bounds import BEYOND, MOST_OF, possible
from gpulease_gui.telemetry.gpu_alike import MOST, Alike, Shape
from gpulease_gui.telemetry.rates import Changes, Rates
from gpulease_gui.telemetry.row import Row, form_of
from gpulease_gui.telemetry.source import Point

# As NVML spells them: a word such as "N/A" in this place names no card.
UUID = re.compile(r"(?:GPU|MIG)-[A-Za-z0-9/_.:-]{1,92}\Z")
_MOST_INDEX, _MOST_XIDS = 1024, 16
# A node that invents GPUs must not fill the memory.
MOST_GPUS = 64
_GIB_PER_MIB, _GB_PER_KB, _GB_PER_KIB = 1 / 1024, 1e-6, 1024 / 1e9

# Name of the agent -> (metric, factor).
_GAUGES: Mapping[str, tuple[str, float]] = {
    "util_percent": ("gpu.util_percent", 1), "memory_util_percent": ("gpu.memory_util_percent", 1),
    "memory_used_mib": ("gpu.memory_used_gib", _GIB_PER_MIB), "power_w": ("gpu.power_w", 1),
    "power_limit_w": ("gpu.power_limit_w", 1), "temperature_c": ("gpu.temperature_c", 1),
    "temperature_memory_c": ("gpu.temperature_memory_c", 1), "clock_sm_mhz": ("gpu.clock_sm_mhz", 1),
    "clock_memory_mhz": ("gpu.clock_memory_mhz", 1), "event_reasons": ("gpu.event_reasons", 1),
    "pcie_rx_kb_s": ("gpu.pcie_rx_gb_s", _GB_PER_KB), "pcie_tx_kb_s": ("gpu.pcie_tx_gb_s", _GB_PER_KB),
    "remap_pending": ("gpu.remap_pending", 1), "remap_failed": ("gpu.remap_failed", 1), "processes": ("gpu.processes", 1),
    "process_memory_mib": ("gpu.process_memory_gib", _GIB_PER_MIB),
}  # fmt: skip
_RATES: Mapping[str, tuple[str, float]] = {
    "pcie_rx_bytes": ("gpu.pcie_rx_gb_s", 1e-9), "pcie_tx_bytes": ("gpu.pcie_tx_gb_s", 1e-9),
    "nvlink_rx_kib": ("gpu.nvlink_rx_gb_s", _GB_PER_KIB), "nvlink_tx_kib": ("gpu.nvlink_tx_gb_s", _GB_PER_KIB),
}  # fmt: skip
# Counters that count as one are added up, as far as the card tells them.
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "gpu.pcie_replays": ("pcie_replays",), "gpu.ecc_corrected": ("ecc_corrected",), "gpu.ecc_uncorrected": ("ecc_uncorrected",),
    "gpu.nvlink_errors": ("nvlink_crc_flit", "nvlink_crc_data", "nvlink_replay", "nvlink_recovery"),
    "gpu.remapped_rows": ("remapped_corrected", "remapped_uncorrected"),
}  # fmt: skip

# Twice what the fastest card of today has in one direction: PCIe 6 x16 (121 GB/s), NVLink 5 (900 GB/s).
_MOST_GB_S: Mapping[str, float] = {"gpu.pcie_rx_gb_s": 250.0, "gpu.pcie_tx_gb_s": 250.0, "gpu.nvlink_rx_gb_s": 1800.0, "gpu.nvlink_tx_gb_s": 1800.0}
MOST_COUNTS: Mapping[str, float] = {name: _MOST_GB_S[metric] / factor for name, (metric, factor) in _RATES.items()}

_NAMES = frozenset({"index", "uuid", "counters", *_GAUGES})
_COUNTER_NAMES = frozenset({"at_s", *_RATES, *(name for names in _CHANGES.values() for name in names)})

# Without any of these a line says nothing of how the card is.
_VITAL = frozenset({"gpu.util_percent", "gpu.power_w", "gpu.temperature_c"})
# Such a card is gone for who uses it, whatever the driver calls it; NVML would say that it is lost.
MUTE = "it answers nothing"
# Why no Xid is told of a card: nobody hears whether there is one.
XID, UNHEARD = "gpu.xid", "unheard"
# What stands for a card that is lost from its first line on.
_ANY = ("gpu.util_percent",)


class Reader:
    """Reads the lines of one stream; a metric that a card never told makes no curve, unless what it told can't be."""

    def __init__(self) -> None:
        self._rates, self._changes = {name: Rates(most) for name, most in MOST_COUNTS.items()}, Changes()
        self._told: dict[str, set[str]] = {}
        self._alike: dict[str, Alike] = {}

    def look(self, line: str) -> Row | tuple[Point, ...]:
        """What `read` says, as a row where the card's line looks like the one before it. Raises Unreadable."""
        said = parsed(line)
        uuid = said.get("uuid")
        alike = self._alike.get(uuid) if isinstance(uuid, str) else None
        if alike is not None:
            row = alike.row(said)
            if row is not None:
                return row
            self._leave(alike)
        points = self._read(said)
        shape = _shape(said, points)
        counters = said.get("counters")
        if shape is not None and isinstance(counters, dict):
            self._alike[points[0].subject] = Alike(said["index"], counters, form_of(points), shape)
        return points

    def _leave(self, alike: Alike) -> None:
        """What was counted last is what the next line is compared with, whoever reads it."""
        uuid = alike.form.keys[0][1]
        del self._alike[uuid]
        at_s, *counts = alike.before
        for name, count in zip(alike.counters, counts, strict=True):
            if name in _RATES:
                self._rates[name].set(uuid, float(at_s), float(count))
            else:
                self._changes.since(uuid + name, float(count))

    def read(self, line: str) -> tuple[Point, ...]:
        """The points of one card. Raises Unreadable."""
        return self._read(parsed(line))

    def _read(self, said: Mapping[str, object]) -> tuple[Point, ...]:
        index, uuid = said.get("index"), said.get("uuid")
        if not isinstance(uuid, str) or not UUID.match(uuid) or not _is_index(index):
            raise Unreadable("the GPU line names no GPU")
        if uuid not in self._told and len(self._told) >= MOST_GPUS:
            raise Unreadable(f"more than {MOST_GPUS} GPUs")
        assert isinstance(index, int)
        told = self._told.setdefault(uuid, set())
        lost = MUTE if _is_mute(said) else said.get("lost")
        if isinstance(lost, str):
            why = visible(lost)[:120] or "lost"
            return (*_xids(said, uuid, index), *(Point(metric, uuid, None, index, why) for metric in sorted(told or _ANY)))
        return tuple(self._points(said, uuid, index, told))

    def _points(self, said: Mapping[str, object], uuid: str, index: int, told: set[str]) -> Iterator[Point]:
        for metric, value, why in (*_gauges(said), *self._counted(said, uuid)):
            if value is not None:
                told.add(metric)
            if metric in told or why:
                yield Point(metric, uuid, value, index, why=why)
        yield from _xids(said, uuid, index)

    def _counted(self, said: Mapping[str, object], uuid: str) -> Iterator[tuple[str, float | None, str]]:
        counters = said.get("counters")
        if not isinstance(counters, dict):
            return
        at_s = figure(counters.get("at_s"))
        for name, (metric, factor) in _RATES.items():
            counter = figure(counters.get(name))
            # A card has either these counters or the gauge of the same metric.
            if counter is not None and at_s is not None:
                rate = self._rates[name].per_second(uuid, at_s, counter)
                yield metric, None if rate is None else rate * factor, self._rates[name].why(uuid)
        for metric, names in _CHANGES.items():
            if any(name in counters for name in names):
                yield metric, *self._risen(uuid, {name: figure(counters.get(name)) for name in names})

    def _risen(self, uuid: str, counters: Mapping[str, float | None]) -> tuple[float | None, str]:
        known = {name: value for name, value in counters.items() if value is not None}
        rises = [self._changes.since(uuid + name, value) for name, value in known.items()]
        seen = [rise for rise, _ in rises if rise is not None]
        return sum(seen) if seen and len(seen) == len(rises) else None, next((why for _, why in rises if why), "")


def _shape(said: Mapping[str, object], points: Sequence[Point]) -> Shape | None:
    """What the next lines of this card will look like; None while not every curve of the card is told."""
    counters = said.get("counters")
    if not isinstance(counters, dict) or not said.keys() <= _NAMES or not counters.keys() <= _COUNTER_NAMES:
        return None
    counted = {name for name in counters if figure(counters[name]) is not None}
    gauges = [
        (name, factor, MOST_OF.get(metric, MOST * factor) / factor)
        for name, (metric, factor) in _GAUGES.items() if figure(said.get(name)) is not None
    ]  # fmt: skip
    rates = [(name, factor, MOST_COUNTS[name]) for name, (_, factor) in _RATES.items() if name in counted]
    changes = [some for names in _CHANGES.values() if (some := tuple(name for name in names if name in counted))]
    told = [_GAUGES[name][0] for name, *_ in gauges] + [_RATES[name][0] for name, *_ in rates]
    told += [metric for metric, names in _CHANGES.items() if not counted.isdisjoint(names)]
    if "at_s" not in counted or len(counted) < 2 or _VITAL.isdisjoint(told) or len(set(told)) < len(told):
        return None
    if [point.metric for point in points if point.value is not None] != told or len(points) != len(told):
        return None
    silent = [name for name in said if name in _GAUGES and figure(said[name]) is None]
    silent_counters = [name for name in counters if name not in counted]
    if any(said[name] is not None for name in silent) or any(counters[name] is not None for name in silent_counters):
        return None
    return Shape(gauges, rates, changes, silent, silent_counters)


def _gauges(said: Mapping[str, object]) -> Iterator[tuple[str, float | None, str]]:
    for name, (metric, factor) in _GAUGES.items():
        if name in said:
            value = figure(said[name])
            if value is None and _is_wrong(said[name]):
                yield metric, None, BEYOND
            elif value is not None or not metric.startswith("gpu.pcie"):
                yield metric, *possible(metric, None if value is None else value * factor)


def _is_mute(said: Mapping[str, object]) -> bool:
    """Whether a line names how the card is, and tells nothing of it."""
    named = [name for name in _GAUGES if name in said]
    return any(_GAUGES[name][0] in _VITAL for name in named) and all(said[name] is None for name in named) and "lost" not in said


def _xids(said: Mapping[str, object], uuid: str, index: int) -> Iterator[Point]:
    xids = said.get("xids")
    for xid in xids[:_MOST_XIDS] if isinstance(xids, list) else ():
        if (value := figure(xid)) is not None:
            yield Point(XID, uuid, value, index)
    deaf = said.get("deaf")
    if isinstance(deaf, bool):
        yield Point(XID, uuid, None, index, why=UNHEARD if deaf else "")


def _is_index(index: object) -> bool:
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < _MOST_INDEX


def figure(value: object) -> float | None:
    """A number that is not below zero and smaller than 2^63, as whose bits are all set is none; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 <= number < MOST else None


def _is_wrong(said: object) -> bool:
    """Whether it is a number that no figure can be; all bits set is how a driver says that it has none."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return False
    return not said >= 0 or said == math.inf


def parsed(line: str) -> Mapping[str, object]:
    """The object that a line holds. Raises Unreadable."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable("the line is not the agent's") from error
    if not isinstance(said, dict):
        raise Unreadable("the line is not the agent's")
    return said
