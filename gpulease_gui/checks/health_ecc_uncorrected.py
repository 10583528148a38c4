"""Did the memory of a card lose data?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import EccDefault
from gpulease_gui.catalog.identity import identify
from gpulease_gui.checks.cards import Mark, finding_of, observed
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

SRAM_LIMIT = Threshold(
    "health.ecc_uncorrected", "sram", 4, "errors", Text("a board is worth replacing above this many SRAM errors in its life", "板卡累计 SRAM 错误超过此数应更换"),
    ">", Origin.PUBLISHED, "NVIDIA GPU memory error management, RMA policy: more than 4 in an address bank; here in the whole card",
)  # fmt: skip

CHECK = Check(
    id="health.ecc_uncorrected",
    title=Text("Uncorrected ECC errors", "不可纠正 ECC 错误"),
    why=Text(
        "An uncorrected error kills the job or spoils its result. Volatile counts vanish with a reboot, aggregate ones stay.",
        "不可纠正错误会中断任务或破坏结果。易失计数重启即清零，累计计数会保留。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    partial=True,
    thresholds=(SRAM_LIMIT,),
)
_RESET = Text("ask the supplier to reset the GPU, then measure again; if it comes back, replace the card",
              "请供应商复位该 GPU 后重测；若再次出现则更换")  # fmt: skip
_REPLACE = Text("ask the supplier to replace the card", "请供应商更换该卡")
_SWITCH_ON = Text("ask the supplier to switch ECC on (`nvidia-smi -e 1` and a restart)", "请供应商开启 ECC（`nvidia-smi -e 1` 并重启）")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over the uncorrected counters of all cards; counts are errors."""
    marks = [(gpu, _mark(gpu, counts_errors(gpu, promise), int(promise.limit(SRAM_LIMIT)))) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="errors", better="less"),) if marks else ()


def _mark(gpu: Gpu, counts: bool, sram_limit: int) -> Mark:
    volatile, aggregate = gpu.ecc_uncorrected_volatile, gpu.ecc_uncorrected_aggregate
    sram, counted = gpu.ecc_uncorrected_aggregate_sram or 0, max(volatile or 0, aggregate or 0)
    if volatile:
        return Mark(Verdict.FAIL, Text(
            f"{volatile} uncorrected errors since the driver was loaded", f"驱动加载以来有 {volatile} 次不可纠正错误"
        ), "uncorrected_errors", counted, _RESET)  # fmt: skip
    if sram > sram_limit:
        return Mark(Verdict.FAIL, Text(
            f"{sram} uncorrected SRAM errors over the card's life, more than {sram_limit}",
            f"累计 {sram} 次不可纠正 SRAM 错误，超过 {sram_limit} 次",
        ), "sram_errors", counted, _REPLACE)  # fmt: skip
    if aggregate:
        return _old_errors(gpu, aggregate)
    if volatile is None or aggregate is None or any("ecc" in name for name in gpu.error_fields):
        return _uncounted(gpu, counts)
    return Mark(Verdict.PASS, Text("no uncorrected error, now or before", "当前与累计均无不可纠正错误"), "", 0)


def _old_errors(gpu: Gpu, aggregate: int) -> Mark:
    told = Text(f"{aggregate} uncorrected errors in the past", f"过去有 {aggregate} 次不可纠正错误")
    if (gpu.remap_failure or "").lower() == "yes":
        return Mark(Verdict.FAIL, Text(f"{told.en}, and their repair failed", f"{told.zh}，且修复失败"), "repair_failed", aggregate, _REPLACE)
    return Mark(Verdict.WARN, told, "old_errors", aggregate, _REPLACE)


def counts_errors(gpu: Gpu, promise: Promise) -> bool:
    """Whether this card as delivered counts errors, or the contract says that it must."""
    if promise.terms.get("gpu.ecc") is True:
        return True
    product = identify(promise.catalogue.gpus, observed(gpu)).product
    if product is not None and product.ecc_default is not None:
        return product.ecc_default is EccDefault.ON
    return not is_geforce(gpu)


def _uncounted(gpu: Gpu, counts: bool) -> Mark:
    mode = (gpu.ecc_mode_current or "").lower()
    if not counts and not gpu.error_fields and mode != "enabled":
        return Mark(Verdict.NOT_APPLICABLE, Text("as delivered, this card counts no ECC errors", "该卡出厂设置不统计 ECC 错误"))
    if mode == "disabled":
        return Mark(Verdict.INCONCLUSIVE, Text("ECC is switched off: nothing is counted", "ECC 已关闭：没有计数"), "ecc_off", None, _SWITCH_ON)
    return Mark(Verdict.INCONCLUSIVE, Text("the counters were not told", "未给出计数"), "unreadable")


def is_geforce(gpu: Gpu) -> bool:
    """Whether the driver calls the card a GeForce."""
    return "geforce" in f"{gpu.brand} {gpu.name}".lower()
