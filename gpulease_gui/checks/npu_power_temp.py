"""Are the Ascend chips cool enough?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.npu_smi import NpuReport
from gpulease_gui.facts.npu_table import Chip

WARM_C = Threshold("npu.power_temp", "warm", 85.0, "°C", Text("a chip is hot from", "芯片偏热的下限"), ">=", high=150.0)
HOT_C = Threshold("npu.power_temp", "hot", 95.0, "°C", Text("a chip is too hot above", "芯片过热的下限"), ">", high=150.0)
BUSY_PERCENT = Threshold("npu.power_temp", "busy", 50.0, "%", Text("a chip is under load from this use on", "利用率达到此值算作满载"), ">=", high=100.0)

CHECK = Check(
    id="npu.power_temp",
    title=Text("NPU temperature", "NPU 温度"),
    why=Text("A chip that is too hot slows itself down.", "过热的芯片会自行降频。"),
    facts=("npu_smi",),
    needs_promise=False,
    vendor=Vendor.ASCEND,
    thresholds=(WARM_C, HOT_C, BUSY_PERCENT),
)
_COOL = Text("ask the supplier about the cooling of this node", "请供应商检查该节点的散热")
_LOAD = Text("run the check again while a job keeps the NPUs busy", "在 NPU 满载运行任务时重新检查")
_CODES = {Verdict.FAIL: ("too_hot", _COOL), Verdict.WARN: ("hot", _COOL)}


def judge(report: NpuReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each chip; measured is the highest temperature in degrees C."""
    subjects = [_chip(chip, promise) for chip in report.chips]
    hottest = max((c.temperature_c for c in report.chips if c.temperature_c is not None), default=None)
    told = [s for s in subjects if s.verdict is not Verdict.INCONCLUSIVE]
    if len(told) < len(subjects) and not any(s.verdict in (Verdict.FAIL, Verdict.WARN) for s in told):
        unknown = Text("a temperature was not told", "有芯片未给出温度")
        return (_finding(Verdict.INCONCLUSIVE, unknown, hottest, subjects, Reason.UNREADABLE, _LOAD),)
    verdict = worst(s.verdict for s in told)
    words = Text(f"the hottest chip has {number_text(hottest or 0)} °C", f"最热芯片 {number_text(hottest or 0)} °C")
    if verdict in (Verdict.FAIL, Verdict.WARN):
        return (_finding(verdict, words, hottest, subjects, *_CODES[verdict]),)
    if not any((c.aicore_percent or 0.0) >= promise.limit(BUSY_PERCENT) for c in report.chips):
        idle = Text(f"{words.en} at idle: this tells nothing of load", f"空闲时{words.zh}，不能说明满载情况")
        return (_finding(Verdict.INCONCLUSIVE, idle, hottest, subjects, "no_load", _LOAD),)
    return (_finding(Verdict.PASS, Text(f"{words.en} under load", f"满载时{words.zh}"), hottest, subjects, "", NO_TEXT),)


def _chip(chip: Chip, promise: Promise) -> SubjectFinding:
    name, now = chip.bus_id or f"{chip.npu_id}/{chip.chip_id or 0}", chip.temperature_c
    if now is None or not 0 < now < 150:
        return SubjectFinding(name, Verdict.INCONCLUSIVE, None, chip.npu_id)
    verdict = Verdict.FAIL if now > promise.limit(HOT_C) else Verdict.WARN if now >= promise.limit(WARM_C) else Verdict.PASS
    return SubjectFinding(name, verdict, now, chip.npu_id)


def _finding(
    verdict: Verdict, reason: Text, hottest: float | None, subjects: list[SubjectFinding], code: str, step: Text
) -> Finding:
    return CHECK.finding(
        verdict, reason, measured=hottest, unit="°C", subjects=subjects, reason_code=str(code), next_step=step, better="less"
    )
