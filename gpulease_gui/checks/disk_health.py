"""Are the disks worn out or failing?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.smart import DiskWear, Smart

WORN = Threshold("disk.health", "worn", 80, "%", Text("a disk is worn from this share of its rated life", "额定寿命用到此比例即为老化"), ">=", low=1.0, high=255.0)
WORN_OUT = Threshold(
    "disk.health", "worn_out", 100, "%", Text("a disk is worn out from this share of its rated life", "额定寿命用到此比例即为耗尽"), ">=",
    Origin.SPEC, "NVM Express base specification: percentage used", low=1.0, high=255.0,
)  # fmt: skip

CHECK = Check(
    id="disk.health",
    title=Text("Disk wear and errors", "磁盘磨损与错误"),
    why=Text(
        "A disk past its rated life slows down and takes your checkpoints with it.",
        "超过寿命的磁盘会变慢，并可能带走您的检查点。",
    ),
    facts=("smart",),
    needs_promise=False,
    thresholds=(WORN, WORN_OUT),
)
_ASK = Text("ask the supplier for another disk, and keep copies elsewhere", "请供应商更换磁盘，并另存副本")
_ROOT = Text("ask for root, or for the output of `smartctl -a`", "请申请 root 权限，或索取 `smartctl -a` 输出")
_CODES = {Verdict.FAIL: "disk_failing", Verdict.WARN: "disk_worn", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}


def judge(smart: Smart, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each disk; measured is the most used share of a rated life in per cent."""
    if not smart.disks:
        none = Text("no disk is visible here", "此处看不到磁盘")
        return (CHECK.finding(Verdict.INCONCLUSIVE, none, reason_code="not_visible", next_step=_ROOT),)
    subjects = [_subject(disk, promise) for disk in smart.disks]
    verdict = worst(s.verdict for s in subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    used = max((d.used_percent for d in smart.disks if d.used_percent is not None), default=None)
    step = {Verdict.PASS: NO_TEXT, Verdict.NOT_APPLICABLE: NO_TEXT, Verdict.INCONCLUSIVE: _ROOT}.get(verdict, _ASK)
    return (CHECK.finding(
        verdict, Text(f"{first.id}: {first.reason.en}", f"{first.id}：{first.reason.zh}"), measured=used, unit="%", subjects=subjects,
        reason_code=_CODES.get(verdict, ""), next_step=step, better="less",
    ),)  # fmt: skip


def _subject(disk: DiskWear, promise: Promise) -> SubjectFinding:
    used, errors = disk.used_percent, disk.media_errors
    told = Text(
        f"{'?' if used is None else used} % of its life used, {'?' if errors is None else errors} media errors",
        f"寿命已用 {'?' if used is None else used}%，介质错误 {'?' if errors is None else errors} 次",
    )
    if not disk.asked:
        return SubjectFinding(disk.device, Verdict.INCONCLUSIVE, None, None, Text("may not be asked by this user", "当前用户无权查询"))
    if disk.passed is False or disk.warning_bits or (used is not None and used >= promise.limit(WORN_OUT)):
        return SubjectFinding(disk.device, Verdict.FAIL, used, None, told)
    if errors or (used is not None and used >= promise.limit(WORN)):
        return SubjectFinding(disk.device, Verdict.WARN, used, None, told)
    if used is None and disk.passed is None:
        return SubjectFinding(disk.device, Verdict.INCONCLUSIVE, None, None, Text("it tells nothing of its health", "未提供健康信息"))
    return SubjectFinding(disk.device, Verdict.PASS, used, None, told)
