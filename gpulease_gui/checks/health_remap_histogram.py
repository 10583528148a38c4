"""How many spare rows has the memory of a card left?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import is_before_ampere
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.health_ecc_uncorrected import is_geforce
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="health.remap_histogram",
    title=Text("Spare memory rows left", "剩余备用显存行"),
    why=Text(
        "A bank without spare rows can't be repaired again: the card was worn by those before you.",
        "备用行用尽的存储体无法再修复：该卡已被前任租户用旧。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_REPLACE = Text("ask the supplier to replace the card", "请供应商更换该卡")
_WATCH = Text("keep this reading; ask for another card if the count grows", "请保存该读数；若数量增加则要求换卡")
_READ = Text("run `nvidia-smi -q -d ROW_REMAPPER` on the node", "在节点上运行 `nvidia-smi -q -d ROW_REMAPPER`")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the number of banks with few or no spare rows."""
    marks = [(gpu, _mark(gpu, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="banks", better="less"),) if marks else ()


def _mark(gpu: Gpu, promise: Promise) -> Mark:
    if gpu.remap_banks is None:
        return _silent(gpu, promise)
    full, high, partial, low, none = gpu.remap_banks
    worn = partial + low + none
    if min(gpu.remap_banks) < 0 or sum(gpu.remap_banks) == 0:
        return Mark(Verdict.INCONCLUSIVE, Text("these bank counts can't be", "存储体数量不可能如此"), "unreadable", None, _READ)
    if none and (gpu.remap_failure or "").lower() in ("yes", "1"):
        told = Text(f"{none} banks have no spare row left and a repair failed", f"{none} 个存储体备用行用尽，且修复失败")
        return Mark(Verdict.FAIL, told, "no_spares", worn, _REPLACE)
    if worn:
        told = Text(
            f"{none} banks have no spare row left, {low} few, {partial} some", f"{none} 个存储体备用行用尽，{low} 个很少，{partial} 个部分剩余"
        )
        return Mark(Verdict.WARN, told, "spares_used", worn, _WATCH)
    return Mark(Verdict.PASS, Text(
        f"all {full + high} banks have nearly all spare rows", f"{full + high} 个存储体备用行基本完整"
    ), "", 0)  # fmt: skip


def _silent(gpu: Gpu, promise: Promise) -> Mark:
    broken = any("remap" in name for name in gpu.error_fields)
    if not broken and (is_before_ampere(gpu, promise) or is_geforce(gpu)):
        return Mark(Verdict.NOT_APPLICABLE, Text("this card has no spare rows", "该卡没有备用行"))
    return Mark(Verdict.INCONCLUSIVE, Text("the spare rows were not told", "未给出备用行信息"), "unreadable", None, _READ)
