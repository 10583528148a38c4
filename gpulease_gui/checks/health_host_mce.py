"""Are the memory modules of the host sound?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.edac import Controller, Edac

CHECK = Check(
    id="health.host_mce",
    title=Text("Host memory errors", "主机内存错误"),
    why=Text(
        "A failing memory module of the host takes the whole node down in the middle of a run.",
        "主机内存条故障会在任务中途让整台节点宕机。",
    ),
    facts=("edac",),
    needs_promise=False,
)
_HIDDEN = Text("the kernel shows no memory error counters here", "内核在此不提供内存错误计数")
_ASK = Text("ask the supplier for the error counters of the host (ras-mc-ctl, BMC log)", "请供应商提供宿主机的内存错误计数（ras-mc-ctl、BMC 日志）")
_REPLACE = Text("ask the supplier to replace the memory module", "请供应商更换该内存条")


def judge(edac: Edac, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each memory controller; measured is the number of errors."""
    if not edac.visible or not edac.controllers:
        return (CHECK.finding(Verdict.INCONCLUSIVE, _HIDDEN, reason_code="not_visible", next_step=_ASK),)
    subjects = [_subject(controller) for controller in edac.controllers]
    verdict = worst(s.verdict for s in subjects)
    bad = sum(c.uncorrected or 0 for c in edac.controllers)
    light = sum(c.corrected or 0 for c in edac.controllers)
    return (CHECK.finding(
        verdict, Text(f"{bad} uncorrected and {light} corrected errors since start", f"启动以来 {bad} 次不可纠正、{light} 次可纠正错误"),
        measured=bad or light, unit="errors", subjects=subjects, reason_code=_CODES.get(verdict, ""),
        next_step=NO_TEXT if verdict is Verdict.PASS else _ASK if verdict is Verdict.INCONCLUSIVE else _REPLACE, better="less",
    ),)  # fmt: skip


_CODES = {Verdict.FAIL: "uncorrected_errors", Verdict.WARN: "corrected_errors", Verdict.INCONCLUSIVE: "unreadable"}


def _subject(controller: Controller) -> SubjectFinding:
    bad, light = controller.uncorrected, controller.corrected
    if bad:
        return SubjectFinding(controller.name, Verdict.FAIL, bad)
    if light:
        return SubjectFinding(controller.name, Verdict.WARN, light)
    return SubjectFinding(controller.name, Verdict.INCONCLUSIVE if bad is None or light is None else Verdict.PASS, light)
