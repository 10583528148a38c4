"""What memory does a plan need part by part, by which formula, and which products and stored offers hold it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.scenarios import Scenario, Scenarios
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.sizing import GB, Fit, FitVerdict, Method, Setup, can_compute, fit, need
from gpulease_gui.economics.suitable import Choice, LinkKind, LinkNeed, Standing, choices, link_need, standing_of
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.commerce_cost import Serving, offers_serving
from gpulease_gui.services.workload_desk import Ask, PricedOffer, price_offers
from gpulease_gui.store.deals import DealRow

if TYPE_CHECKING:
    import sqlite3

MOST_SERVING = 24

METHOD_WORDS = {
    Method.FULL_FT: Text("Full fine-tuning", "全参数微调"), Method.LORA: Text("LoRA", "LoRA"), Method.QLORA: Text("QLoRA", "QLoRA"),
    Method.INFERENCE: Text("Inference", "推理"),
}  # fmt: skip
FIT_WORDS = {
    FitVerdict.FITS: Text("fits", "装得下"), FitVerdict.TIGHT: Text("tight", "勉强"),
    FitVerdict.DOES_NOT_FIT: Text("does not fit", "装不下"),
}  # fmt: skip
STANDING_WORDS = {
    Standing.RECOMMENDED: Text("recommended", "推荐"), Standing.ALSO_VALID: Text("also valid", "也可用"),
    Standing.OTHER: Text("possible", "可行"), Standing.UNFIT: Text("unfit for this use", "不适合此场景"),
}  # fmt: skip
LINK_WORDS = {
    LinkKind.NONE: Text("none: one card", "无：单卡"), LinkKind.NVLINK: Text("NVLink", "NVLink"), LinkKind.PCIE: Text("PCIe", "PCIe"),
    LinkKind.NETWORK: Text("network between nodes", "节点间网络"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part is called, how it is counted, and which formula of the catalogue names its source and error."""

    label: Text
    expression: str
    formula: str = ""
    error: Text = Text("", "")


_GATHERED = Text("medium: the prefetch depth is a setting", "中等：预取深度是可设置的")
_FLAT = Text("by experience, ±1 GB per card", "经验值，每卡 ±1 GB")
_COUNTED = Text("exact by count", "按字节数精确")
_PARTS = {
    "states_16P_total": _Part(Text("weights, gradients, Adam states, all GPUs", "权重、梯度与 Adam 状态（全部卡）"), "16·P", "adam_states"),
    "states_per_gpu": _Part(Text("of these on one GPU", "其中每卡"), "16·P / N", "zero3"),
    "base_bf16": _Part(Text("base weights in bf16, all GPUs", "bf16 基座权重（全部卡）"), "2·P", "lora", _COUNTED),
    "base_nf4": _Part(Text("base weights in NF4, all GPUs", "NF4 基座权重（全部卡）"), "4.127/8·P_linear + 2·(P − P_linear)", "qlora",
                      Text("below 1 %; 4.5 bits without the second quantisation", "低于 1 %；无二次量化时为 4.5 位")),
    "adapter_16P": _Part(Text("adapters with their Adam states, all GPUs", "适配器及其 Adam 状态（全部卡）"), "16·P_lora", "adam_states"),
    "dequantised_layer": _Part(Text("two matrices while they are used", "使用中的两个反量化矩阵"), "4·h·ffn", "qlora",
                               Text("medium: frameworks keep one or two", "中等：框架保留一到两个")),
    "gathered_layers": _Part(Text("gathered layers", "聚合层"), "4·P / L", "zero3", _GATHERED),
    "activations": _Part(Text("activations", "激活"), "2·L·b·s·h + 34·b·s·h + 8·b·s·V", "activations"),
    "overhead": _Part(Text("context, buffers, allocator", "上下文、缓冲与分配器"), "2 GB", "", _FLAT),
    "overhead_per_gpu": _Part(Text("context, buffers, allocator", "上下文、缓冲与分配器"), "2 GB", "", _FLAT),
    "weights": _Part(Text("weights, all GPUs", "权重（全部卡）"), "(2 | 1 | 0.5625)·P_linear + 2·(P − P_linear)", "weights"),
    "kv_cache": _Part(Text("key-value cache, all GPUs", "KV 缓存（全部卡）"), "2·L·n_kv·d·bytes·tokens", "kv_cache"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartLine:
    """One part of the need: GB (decimal, two places), its formula, where that comes from, how far it may be off."""

    key: str
    label: Text
    gb: Decimal
    formula: str
    source: str
    error: Text


@dataclass(frozen=True, slots=True)
class ProductLine:
    """A product beside the plan: at the number of GPUs of the setup, and the fewest that hold it (None: not on 64).

    `fit` None: the card lacks the format of the weights.
    """

    gpu: GpuModel
    fit: Fit | None
    fewest: int | None
    standing: Standing
    link: LinkNeed


@dataclass(frozen=True, slots=True)
class SizingView:
    """What a plan needs, and what holds it; the products best first."""

    setup: Setup
    parts: tuple[PartLine, ...]
    per_gpu_gb: Decimal
    products: tuple[ProductLine, ...]
    choices: tuple[Choice, ...]


def size_up(setup: Setup, scenario: Scenario, scenarios: Scenarios, catalogue: Catalogue) -> SizingView:
    """The need part by part and every product beside it. Raises UsageError for dimensions that can't be."""
    if setup.model.linear > setup.model.params:
        raise UsageError(Text("the model has fewer parameters than its layers", "模型总参数量小于各层参数之和"), next_step=Text("check the dimensions", "请检查各项维度"))
    needed = need(setup)
    found = choices(setup, catalogue.gpus.models.values(), scenario)
    parts = tuple(_part(key, half_up(size / GB, 2), scenarios) for key, size in needed.parts.items())
    return SizingView(setup, parts, half_up(needed.per_gpu / GB, 2), _products(setup, scenario, found, catalogue), found)


def _part(key: str, gb: Decimal, scenarios: Scenarios) -> PartLine:
    part = _PARTS[key]
    formula = scenarios.formulas.get(part.formula)
    titles = "; ".join(scenarios.sources[id_].title for id_ in formula.sources) if formula else ""
    error = part.error if part.error.en or formula is None else formula.error
    return PartLine(key, part.label, gb, part.expression, titles, error)


_ORDER = {standing: place for place, standing in enumerate(Standing)}
_BEST = {FitVerdict.FITS: 0, FitVerdict.TIGHT: 1, FitVerdict.DOES_NOT_FIT: 2}


def _products(setup: Setup, scenario: Scenario, found: Sequence[Choice], catalogue: Catalogue) -> tuple[ProductLine, ...]:
    fewest = {choice.gpu.id: choice for choice in found}
    lines = [_product(setup, gpu, scenario, fewest.get(gpu.id)) for gpu in catalogue.gpus.models.values() if gpu.memory_total_mib and gpu.genuine]
    return tuple(sorted(lines, key=_place))


def _place(line: ProductLine) -> tuple[int, int, int, str]:
    return _ORDER[line.standing], _BEST[line.fit.verdict] if line.fit else 3, line.fewest or 99, line.gpu.id


def _product(setup: Setup, gpu: GpuModel, scenario: Scenario, choice: Choice | None) -> ProductLine:
    beside = fit(setup, gpu) if can_compute(gpu, setup) else None
    link = choice.link if choice else link_need(setup, gpu)
    return ProductLine(gpu, beside, choice.gpu_count if choice else None, standing_of(gpu, scenario), link)


@dataclass(frozen=True, slots=True)
class ServedPlan:
    """A stored offer that has the cards, priced for as many of them as the plan needs."""

    serving: Serving
    priced: PricedOffer


def serving_in(
    connection: sqlite3.Connection, rows: Iterable[DealRow], found: Sequence[Choice], catalogue: Catalogue, ask: Ask,
    rates: Sequence[FxRate], day: date,
) -> tuple[ServedPlan, ...]:  # fmt: skip
    """The offers that serve the plan, in the order of its products, then by price: at most twenty-four."""
    fitting = [choice for choice in found if choice.standing is not Standing.UNFIT]
    made: list[ServedPlan] = []
    for serving in offers_serving(rows, fitting, catalogue)[:MOST_SERVING]:
        use = replace(ask, workload=replace(ask.workload, gpus=serving.choice.gpu_count))
        (priced,) = price_offers([deal_in(connection, serving.row.subject, day)], use, rates)
        made.append(ServedPlan(serving, priced))
    return tuple(made)
