"""May every card draw its rated power?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "gpu.power_w"

FULL = Threshold("power.limit", "full", 0.99, SHARE, Text("full from this share of the board's rated power", "达到板卡额定功耗的此比例即为满额"), ">=", high=1.0)
LOWERED = Threshold("power.limit", "lowered", 0.93, SHARE, Text("cut below this share of it", "低于额定功耗的此比例即为压低"), "<", high=1.0)
SAME_BIN = Threshold(
    "power.limit", "same_bin", 0.03, SHARE, Text("a default is a listed figure within", "默认功耗与目录值相差不超过此比例即视为相同"), "<=",
    Origin.PUBLISHED, "NVIDIA/DCGM: diag-skus.yaml.in lists 399 W for boards of 400 W", high=0.2,
)  # fmt: skip
ROUNDING_W = Threshold("power.limit", "rounding", 0.5, "W", Text("a promised wattage may be missed by", "与承诺功耗的允许误差"), "<=", high=50.0)

CHECK = Check(
    id="power.limit",
    title=Text("Power limit", "功耗上限"),
    why=Text(
        "A rack short of power caps its cards: a 700 W H100 at 500 W computes a tenth or more slower at the same price.",
        "供电不足的机柜会限制功耗：700 W 的 H100 限到 500 W，价格不变，算力少一成以上。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    partial=True,
    ask=Text("Which power limit is set on each GPU?", "每张 GPU 的功耗上限设为多少？"),
    thresholds=(FULL, LOWERED, SAME_BIN, ROUNDING_W),
)
_RAISE = Text("ask the supplier to set `nvidia-smi -pl` back to the board's default", "请供应商用 `nvidia-smi -pl` 恢复板卡默认功耗")
_READ = Text("run `nvidia-smi -q -d POWER` on the node", "在节点上运行 `nvidia-smi -q -d POWER`")


@dataclass(frozen=True, slots=True)
class _Reference:
    """The wattage to hold a card against: the term, else the promised model's default, else the identified one's."""

    watts: float
    named: bool
    model: GpuModel | None


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the enforced limit of every card in W."""
    found, stated = cards(report, None, promise.catalogue.gpus), promise.get(TERM)
    if not found:
        return ()
    marks = [(card.gpu, _mark(card, _reference(card, stated, promise), stated is not None, promise)) for card in found]
    return (finding_of(
        CHECK, marks, term=TERM, promised=stated.value if stated else None, unit="W", better="more",
        pass_code=stated.reason_code if stated else "",
    ),)  # fmt: skip


def _reference(card: Card, stated: Stated | None, promise: Promise) -> _Reference | None:
    promised = promise.model.product if promise.model else None
    if stated is not None:
        return _Reference(stated.number, not stated.implied, promised)
    product = card.identity.product
    default = product.default_power_limit_w if product else None
    return _Reference(default, False, product) if default is not None else None


def _mark(card: Card, reference: _Reference | None, promised: bool, promise: Promise) -> Mark:
    gpu = card.gpu
    limit = gpu.power_enforced_limit_w if gpu.power_enforced_limit_w is not None else gpu.power_limit_w
    if limit is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the power limit was not told", "未给出功耗上限"), "unreadable", None, _READ)
    if reference is None:
        return Mark(Verdict.INCONCLUSIVE, _unknown(limit), Reason.NOT_PROMISED, limit, CHECK.ask)
    mark = _named(limit, reference, promise.limit(ROUNDING_W)) if reference.named else _rated(limit, gpu.power_default_limit_w, reference, promise)
    if mark.verdict is Verdict.PASS and not promised:
        return Mark(Verdict.INCONCLUSIVE, mark.reason, Reason.NOT_PROMISED, limit, CHECK.ask)
    return mark


def _unknown(limit: float) -> Text:
    watts = number_text(limit)
    return Text(f"limited to {watts} W; what this card should have is not known", f"上限为 {watts} W；该卡应有多少未知")


def _named(limit: float, reference: _Reference, rounding_w: float) -> Mark:
    have, want = number_text(limit), number_text(reference.watts)
    if limit >= reference.watts - rounding_w:
        return Mark(Verdict.PASS, Text(f"limited to {have} W, {want} W were promised", f"上限 {have} W，承诺 {want} W"), "", limit)
    return Mark(Verdict.FAIL, Text(f"limited to {have} W, {want} W were promised", f"上限只有 {have} W，承诺 {want} W"), "capped", limit, _RAISE)


def _rated(limit: float, default: float | None, reference: _Reference, promise: Promise) -> Mark:
    """Against a rated figure: the board's own default may be another bin of the same product."""
    rated, same = reference.watts, promise.limit(SAME_BIN)
    other_bin = default is not None and abs(default - rated) > same * rated and _is_bin(default, reference.model, same)
    base = default if other_bin and default is not None else rated
    have, want = number_text(limit), number_text(base)
    told = Text(f"limited to {have} W, the rated power is {want} W", f"上限 {have} W，额定 {want} W")
    if limit < promise.limit(LOWERED) * base:
        return Mark(Verdict.FAIL, told, "capped", limit, _RAISE)
    if limit < promise.limit(FULL) * base:
        return Mark(Verdict.WARN, told, "lowered", limit, _RAISE)
    if other_bin:
        return Mark(Verdict.WARN, Text(
            f"the board's own default is {want} W: this product also comes with {number_text(rated)} W",
            f"板卡默认功耗为 {want} W：该型号另有 {number_text(rated)} W 的版本",
        ), "other_power_bin", limit)  # fmt: skip
    if default is not None and abs(default - rated) > same * rated:
        return Mark(Verdict.WARN, Text(
            f"limited to {have} W; the board's default of {number_text(default)} W is no listed figure (rated {number_text(rated)} W)",
            f"上限 {have} W；板卡默认 {number_text(default)} W 不在目录中（额定 {number_text(rated)} W）",
        ), "unlisted_default", limit)  # fmt: skip
    return Mark(Verdict.PASS, told, "", limit)


def _is_bin(default: float, model: GpuModel | None, same: float) -> bool:
    return model is not None and any(abs(default - w) <= same * w for w in model.listed("default_power_limit_w"))
