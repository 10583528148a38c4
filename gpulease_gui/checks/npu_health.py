"""Does every Ascend chip report itself healthy?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_smi import NpuReport
from gpulease_gui.facts.npu_table import Chip

CHECK = Check(
    id="npu.health",
    title=Text("NPU health", "NPU 健康状态"),
    why=Text(
        "A chip with an alarm computes slowly, wrongly or not at all.", "告警的芯片会变慢、算错，或根本无法工作。"
    ),
    facts=("npu_smi",),
    needs_promise=False,
    vendor=Vendor.ASCEND,
)

_VERDICTS = {"OK": Verdict.PASS, "WARNING": Verdict.WARN, "ALARM": Verdict.FAIL, "CRITICAL": Verdict.FAIL}


def judge(report: NpuReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each chip; a word that nobody knows is no health."""
    subjects = [_subject(chip) for chip in report.chips]
    verdict = worst(s.verdict for s in subjects)
    sick = [s for s in subjects if s.verdict is not Verdict.PASS]
    if not sick and report.cut_off:
        return (CHECK.finding(
            Verdict.INCONCLUSIVE, _CUT, measured="OK", subjects=subjects, reason_code=Reason.CUT_OFF, next_step=_RUN
        ),)  # fmt: skip
    named = ", ".join(f"{s.id}: {s.measured or '-'}" for s in sick[:8])
    reason = Text(
        f"{len(sick)} of {len(subjects)} chips are not OK ({named})",
        f"{len(subjects)} 个芯片中 {len(sick)} 个异常（{named}）",
    )
    measured = next((s.measured for s in subjects if s.verdict is verdict), None)
    return (CHECK.finding(
        verdict, reason if sick else _ALL_OK, measured=measured, subjects=subjects,
        reason_code="npu_alarm" if sick else "",
        next_step=_ASK if sick else NO_TEXT,
    ),)  # fmt: skip


def _subject(chip: Chip) -> SubjectFinding:
    name = chip.bus_id or f"{chip.npu_id}/{chip.chip_id if chip.chip_id is not None else 0}"
    verdict = _VERDICTS.get((chip.health or "").strip().upper(), Verdict.INCONCLUSIVE)
    return SubjectFinding(name, verdict, chip.health, chip.npu_id)


_ALL_OK = Text("every chip reports OK", "所有芯片均报告 OK")
_CUT = Text("the shown chips report OK, but the table ends early", "已显示的芯片均为 OK，但表格不完整")
_RUN = Text("Run npu-smi info on the node and keep the whole output.", "请在节点上运行 npu-smi info 并保留完整输出。")
_ASK = Text(
    "Run npu-smi info -t health -i N on the node, and ask the supplier for a repair or another node.",
    "请在节点上运行 npu-smi info -t health -i N，并请供应商维修或更换节点。",
)
