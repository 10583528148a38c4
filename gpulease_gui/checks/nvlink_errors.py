"""Do the NVLinks count errors?"""

from __future__ import annotations

from gpulease_gui.checks.card_links import unlisted
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.nvlink_errors import GpuCounts, NvlinkErrors
from gpulease_gui.facts.smi_xml import SmiReport

FEW_REPLAYS = Threshold(
    "nvlink.errors", "replays", 5, "replays", Text("warns above", "超过此次数即警告"), ">", Origin.ASSUMPTION, "as many link errors as imbue-ai/cluster-health warns of"
)

CHECK = Check(
    id="nvlink.errors",
    title=Text("NVLink errors", "NVLink 错误"),
    why=Text(
        "A link with errors repeats itself: collective operations slow down long before it fails.",
        "有错误的链路会不断重传：在断链之前，集合通信早已变慢。",
    ),
    facts=("nvlink_errors",),
    optional=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    thresholds=(FEW_REPLAYS,),
)
_AGAIN = Text("read the counters again after an hour of load; ask for a repair if they grow", "满载一小时后再读一次；若增长则要求维修")
_RUN = Text("run `nvidia-smi nvlink -e` on the node", "在节点上运行 `nvidia-smi nvlink -e`")


def judge(report: NvlinkErrors, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each GPU; measured is the sum of its errors since the driver was loaded."""
    subjects = [*(_subject(gpu, promise) for gpu in report.gpus), *unlisted(smi, report.gpus)]
    verdict = worst(s.verdict for s in subjects)
    if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE) and report.cut_off:
        cut = Text("the list of counters ends early", "计数列表不完整")
        return (CHECK.finding(Verdict.INCONCLUSIVE, cut, subjects=subjects, reason_code=Reason.CUT_OFF, next_step=_RUN),)
    first = next(s.reason for s in subjects if s.verdict is verdict)
    counts = [s.measured for s in subjects if isinstance(s.measured, int)]
    code = {Verdict.WARN: "link_errors", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}.get(verdict, "")
    step = {Verdict.WARN: _AGAIN, Verdict.INCONCLUSIVE: _RUN}.get(verdict, NO_TEXT)
    return (CHECK.finding(
        verdict, first, measured=max(counts, default=None), unit="errors", subjects=subjects, reason_code=code, next_step=step, better="less",
    ),)  # fmt: skip


def _subject(gpu: GpuCounts, promise: Promise) -> SubjectFinding:
    replays, hard = gpu.total("replay"), gpu.total("recovery", "crc", "malformed", "overrun", "integrity")
    if hard or replays:
        told = Text(f"{replays} replays, {hard} recoveries and CRC errors", f"重传 {replays} 次，恢复与 CRC 错误 {hard} 次")
        verdict = Verdict.WARN if hard or replays > promise.limit(FEW_REPLAYS) else Verdict.PASS
        return SubjectFinding(gpu.key, verdict, replays + hard, gpu.index, told)
    if not gpu.counts:
        said = " ".join(gpu.messages).lower()
        bare = "inactive" in said or "not have or support" in said or "mig mode" in said
        verdict = Verdict.NOT_APPLICABLE if bare else Verdict.INCONCLUSIVE
        return SubjectFinding(gpu.key, verdict, None, gpu.index, Text("no counter of this card is shown", "未显示该卡的计数"))
    if any(c.count is None or c.count < 0 for c in gpu.counts):
        return SubjectFinding(gpu.key, Verdict.INCONCLUSIVE, None, gpu.index, Text("a counter is no number", "有计数不是数字"))
    return SubjectFinding(gpu.key, Verdict.PASS, 0, gpu.index, Text("no error since the driver was loaded", "驱动加载以来没有错误"))
