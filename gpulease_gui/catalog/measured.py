"""What do products reach when others measure them, each figure with its source?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource


class Metric(StrEnum):
    """What can be measured of a product; the name says the unit. `_8` and `_4` are how many cards took part."""

    HBM_COPY = "hbm_copy_gb_s"
    HBM_TRIAD = "hbm_triad_gb_s"
    HBM_READ = "hbm_read_gb_s"
    BF16 = "bf16_tflops"
    BF16_SUSTAINED = "bf16_sustained_tflops"
    FP16 = "fp16_tflops"
    FP8 = "fp8_tflops"
    FP4 = "fp4_tflops"
    FP32 = "fp32_tflops"
    FP64 = "fp64_tflops"
    H2D = "h2d_gb_s"
    D2H = "d2h_gb_s"
    P2P_ONE_WAY = "p2p_one_way_gb_s"
    P2P_BOTH_WAYS = "p2p_both_ways_gb_s"
    ALLREDUCE_4 = "allreduce_4_gb_s"
    ALLREDUCE_8 = "allreduce_8_gb_s"


@dataclass(frozen=True, slots=True)
class Sample:
    """One published figure; `low` and `high` where the source tells a range around it."""

    value: float
    source: str
    conditions: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What a product reaches: the lowest, the middle and the highest of `n` published figures, in `unit`."""

    model: str
    metric: Metric
    unit: str
    low: float
    median: float
    high: float
    n: int
    sources: tuple[str, ...]

    @property
    def source(self) -> str:
        """All sources in one line, with how many figures they are."""
        return f"{'; '.join(self.sources)} (n = {self.n})"


@dataclass(frozen=True, slots=True)
class MeasuredFigures:
    """Windows by product id and metric. Most products have none: what is missing is not measured, never zero."""

    windows: Mapping[tuple[str, Metric], Window] = field(default_factory=dict)

    def of(self, model: str, metric: Metric) -> Window | None:
        """The window of a catalogue id; None where nobody published one."""
        return self.windows.get((model, metric))


@dataclass(frozen=True, slots=True)
class _Figure:
    model: str
    metric: Metric
    unit: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class _MeasuredFile:
    figure: tuple[_Figure, ...]


def load_measured() -> MeasuredFigures:
    """resources/measured.toml. Raises CatalogueFault."""
    file = build(_MeasuredFile, read_toml(resource("measured.toml")), "measured.toml")
    windows: dict[tuple[str, Metric], Window] = {}
    for one in file.figure:
        if not one.samples or (one.model, one.metric) in windows:
            raise CatalogueFault("measured.toml", f"{one.model} {one.metric}", "one table with at least one sample is wanted")
        windows[one.model, one.metric] = _window(one)
    return MeasuredFigures(windows)


def _window(one: _Figure) -> Window:
    values = [sample.value for sample in one.samples]
    low = min(sample.value if sample.low is None else min(sample.value, sample.low) for sample in one.samples)
    high = max(sample.value if sample.high is None else max(sample.value, sample.high) for sample in one.samples)
    sources = tuple(dict.fromkeys(sample.source for sample in one.samples))
    return Window(one.model, one.metric, one.unit, low, median(values), high, len(values), sources)
