"""Are the repairs of a card's memory done, and did they work?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import is_before_ampere
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.health_ecc_uncorrected import is_geforce
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

SPARE_ROWS = Threshold(
    "health.row_remap", "spare_rows", 512, "rows", Text("no spare is left from this many lost rows", "损失达到此行数即无备用行"), ">=",
    Origin.SPEC, "NVIDIA GPU memory error management, RMA policy: 512 remappings, 8 for each bank", low=1.0, high=512.0,
)  # fmt: skip

CHECK = Check(
    id="health.row_remap",
    title=Text("Row remapping", "显存行重映射"),
    why=Text(
        "Ampere and newer swap bad memory rows for spares. A failed or waiting swap means the next error hits the job.",
        "Ampere 及更新的卡用备用行替换坏行。替换失败或待生效时，下一次错误就会落到任务上。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    partial=True,
    thresholds=(SPARE_ROWS,),
)
_RESET = Text("ask the supplier to reset the GPU so that the repair takes effect, then run again", "请供应商复位该 GPU 使修复生效，然后重新验收")
_REPLACE = Text("ask the supplier to replace the card", "请供应商更换该卡")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over the remapped rows of all cards; the count is rows lost to uncorrectable errors."""
    marks = [(gpu, _mark(gpu, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="rows", better="less"),) if marks else ()


def _mark(gpu: Gpu, promise: Promise) -> Mark:
    bad, good = gpu.remapped_rows_uncorrectable, gpu.remapped_rows_correctable
    pending, failed = (gpu.remap_pending or "").lower(), (gpu.remap_failure or "").lower()
    if failed in ("yes", "1"):
        return Mark(Verdict.FAIL, Text("a repair of the memory failed", "显存修复失败"), "remap_failed", bad, _REPLACE)
    if bad is not None and bad >= promise.limit(SPARE_ROWS):
        return Mark(Verdict.FAIL, Text(f"{bad} rows are lost: no spare is left", f"已损失 {bad} 行，备用行用尽"), "no_spares", bad, _REPLACE)
    if pending in ("yes", "1"):
        return _waiting(bad)
    if failed not in ("no", "0") or pending not in ("no", "0") or bad is None:
        return _untold(gpu, promise)
    if bad or good:
        return Mark(Verdict.WARN, Text(
            f"{bad} rows were replaced after uncorrectable errors, {good or 0} after correctable ones; all repairs worked",
            f"因不可纠正错误替换 {bad} 行，因可纠正错误替换 {good or 0} 行；修复均成功",
        ), "repaired_rows", bad)  # fmt: skip
    return Mark(Verdict.PASS, Text("no row was ever replaced", "从未替换过行"), "", 0)


def _waiting(bad: int | None) -> Mark:
    if bad == 0:
        return Mark(Verdict.WARN, Text("a repair waits for a reset", "有修复待复位后生效"), "remap_pending", bad, _RESET)
    return Mark(Verdict.FAIL, Text(
        f"a repair after {'?' if bad is None else bad} uncorrectable errors waits for a reset",
        f"{'?' if bad is None else bad} 处不可纠正错误的修复待复位后生效",
    ), "remap_pending", bad, _RESET)  # fmt: skip


def _untold(gpu: Gpu, promise: Promise) -> Mark:
    silent = (gpu.remap_pending, gpu.remap_failure, gpu.remapped_rows_uncorrectable) == (None, None, None)
    if silent and not gpu.error_fields and (is_geforce(gpu) or is_before_ampere(gpu, promise)):
        return Mark(Verdict.NOT_APPLICABLE, Text("this card has no row remapping", "该卡没有行重映射功能"))
    return Mark(Verdict.INCONCLUSIVE, Text("the remapped rows were not told", "未给出行重映射信息"), "unreadable")
