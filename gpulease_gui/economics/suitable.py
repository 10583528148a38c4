"""Which GPUs, how many of them, and which links does a plan need?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.catalog.gpus import FormClass, GpuModel
from gpulease_gui.catalog.scenarios import Scenario
from gpulease_gui.economics.sizing import Fit, Method, Setup, fewest_gpus, fit
from gpulease_gui.economics.speed import zero3_floor_ms

GPUS_PER_NODE = 8
# One direction of sixteen lanes, raw, in GB/s: generation -> rate.
_PCIE_X16_GB_S = {3: 15.75, 4: 31.5, 5: 63.0, 6: 126.0}


class Standing(StrEnum):
    """How a scenario regards a product, best first."""

    RECOMMENDED = "recommended"
    ALSO_VALID = "also_valid"
    OTHER = "other"
    UNFIT = "unfit"


_ORDER = {standing: place for place, standing in enumerate(Standing)}


class LinkKind(StrEnum):
    """The slowest link that the plan's cards talk over."""

    NONE = "none"
    NVLINK = "nvlink"
    PCIE = "pcie"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class LinkNeed:
    """The link that matters, its raw rate one way per GPU (GB/s), and what it costs a step of full training at least.

    None: the catalogue does not say the rate, or no rule counts the traffic of the method.
    """

    kind: LinkKind
    one_way_gb_s: float | None = None
    step_floor_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The fewest cards of one product that hold the plan."""

    gpu: GpuModel
    gpu_count: int
    fit: Fit
    standing: Standing
    link: LinkNeed


def choices(setup: Setup, gpus: Iterable[GpuModel], scenario: Scenario) -> tuple[Choice, ...]:
    """The products that hold the plan, by standing in the scenario, then fewest cards, then id.

    Left out: products that do not hold it on 64 cards, lack the format of the weights, or whose memory is unknown.
    """
    counted = [(gpu, fewest_gpus(setup, gpu)) for gpu in gpus if gpu.memory_total_mib and gpu.genuine]
    found = [_choice(replace(setup, gpu_count=count), gpu, scenario) for gpu, count in counted if count is not None]
    return tuple(sorted(found, key=lambda choice: (_ORDER[choice.standing], choice.gpu_count, choice.gpu.id)))


def _choice(setup: Setup, gpu: GpuModel, scenario: Scenario) -> Choice:
    return Choice(gpu, setup.gpu_count, fit(setup, gpu), standing_of(gpu, scenario), link_need(setup, gpu))


def standing_of(gpu: GpuModel, scenario: Scenario) -> Standing:
    """How a scenario regards a product; one that lacks what the use needs is unfit wherever it is listed."""
    if scenario.serves(gpu) is False:
        return Standing.UNFIT
    if gpu.id in scenario.recommended:
        return Standing.RECOMMENDED
    return Standing.ALSO_VALID if gpu.id in scenario.also_valid else Standing.OTHER


def link_need(setup: Setup, gpu: GpuModel) -> LinkNeed:
    """The link that matters: none for one card, the network beyond eight, else NVLink where the card has it, else PCIe.

    Source: where the cards of one node meet. Error: bridges join only two cards; raw rates are never reached.
    """
    if setup.gpu_count == 1:
        return LinkNeed(LinkKind.NONE)
    if setup.gpu_count > GPUS_PER_NODE and gpu.form_class is not FormClass.SUPERCHIP:
        return LinkNeed(LinkKind.NETWORK)
    if gpu.nvlink_total_gb_s:
        return _with_floor(setup, LinkKind.NVLINK, gpu.nvlink_total_gb_s / 2)
    return _with_floor(setup, LinkKind.PCIE, _pcie_gb_s(gpu))


def _pcie_gb_s(gpu: GpuModel) -> float | None:
    full = _PCIE_X16_GB_S.get(gpu.pcie_gen or 0)
    return full * gpu.pcie_width / 16 if full and gpu.pcie_width else None


def _with_floor(setup: Setup, kind: LinkKind, one_way_gb_s: float | None) -> LinkNeed:
    if one_way_gb_s is None or setup.method is not Method.FULL_FT:
        return LinkNeed(kind, one_way_gb_s)
    return LinkNeed(kind, one_way_gb_s, zero3_floor_ms(setup.model, setup.gpu_count, one_way_gb_s))


def by_month(planned_hours: Decimal, monthly_price: Decimal, hourly_price: Decimal) -> bool:
    """Whether a month is cheaper than `planned_hours` single hours; both prices for the same thing and tax."""
    return planned_hours * hourly_price > monthly_price
