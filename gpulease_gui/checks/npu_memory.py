"""Has every Ascend card its promised memory, and is it empty?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.npu_smi import NpuReport
from gpulease_gui.facts.npu_table import Chip

TERM = "npu.memory_gb"
MB_PER_GB = 1024  # npu-smi prints 65536 for 64 GB

RESERVED_GB = Threshold(
    "npu.memory", "reserved", 5.0, "GB", Text("a chip is in use above", "单芯片占用超过此值即有人使用"), ">", Origin.PUBLISHED,
    "vllm-project/vllm-ascend#2534: the system itself holds about 3 GB at idle; widened",
)  # fmt: skip
TOLERANCE = Threshold("npu.memory", "short", 0.03, SHARE, Text("the memory is short by more than", "显存比承诺少超过"), ">", high=0.5)

CHECK = Check(
    id="npu.memory",
    title=Text("NPU memory", "NPU 显存"),
    why=Text(
        "The 910B comes with 32 and with 64 GB under one name.",
        "910B 同名之下有 32 GB 和 64 GB 两种。",
    ),
    facts=("npu_smi",),
    terms=(TERM,),
    vendor=Vendor.ASCEND,
    ask=Text("How much memory has each NPU?", "每张 NPU 显存多大？"),
    thresholds=(TOLERANCE, RESERVED_GB),
)
_ASK = Text("ask the supplier for the promised cards", "请供应商更换为承诺的卡")
_BUSY = Text("ask the supplier who uses the memory, then run again", "请供应商说明显存占用者，然后重新检查")
_RUN = Text("run `npu-smi info` on the node and keep the whole output", "在节点上运行 `npu-smi info` 并保留完整输出")


def judge(report: NpuReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each card; measured is the smallest memory in GB (all chips of a card together)."""
    stated = promise.get(TERM)
    sizes = {npu: _size([c for c in report.chips if c.npu_id == npu]) for npu in dict.fromkeys(c.npu_id for c in report.chips)}
    known = [size for size in sizes.values() if size is not None]
    smallest = min(known, default=None)
    if stated is None:
        return (CHECK.not_promised(TERM, smallest, unit="GB"),)
    subjects = [_card(npu, size, report, stated, promise) for npu, size in sizes.items()]
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.INCONCLUSIVE
    if verdict is Verdict.PASS and report.cut_off:
        return (_finding(Verdict.INCONCLUSIVE, Text("the table ends early", "表格不完整"), stated, smallest, subjects, Reason.CUT_OFF, _RUN),)
    first = next((s.reason for s in subjects if s.verdict is verdict), NO_TEXT)
    code, step = _CODES.get(verdict, (stated.reason_code, NO_TEXT))
    return (_finding(verdict, first, stated, smallest, subjects, code, step),)


_CODES = {Verdict.FAIL: ("memory_short", _ASK), Verdict.WARN: ("memory_in_use", _BUSY), Verdict.INCONCLUSIVE: (str(Reason.UNREADABLE), _RUN)}


def _size(chips: list[Chip]) -> float | None:
    """GB of a card; None if a chip does not tell. A table without HBM tells plain memory."""
    totals = [chip.hbm_total_mb or chip.memory_total_mb for chip in chips]
    told = [total for total in totals if total]
    return sum(told) / MB_PER_GB if told and len(told) == len(totals) else None


def _card(npu: int, size: float | None, report: NpuReport, stated: Stated, promise: Promise) -> SubjectFinding:
    chips = [c for c in report.chips if c.npu_id == npu]
    name = chips[0].bus_id or f"{npu}"
    if size is None:
        return SubjectFinding(name, Verdict.INCONCLUSIVE, None, npu, Text("the memory was not told", "未给出显存"))
    told = Text(f"{number_text(size)} GB, {number_text(stated.number)} promised", f"{number_text(size)} GB，承诺 {number_text(stated.number)}")
    if size < stated.number * (1 - promise.limit(TOLERANCE)):
        return SubjectFinding(name, Verdict.FAIL, size, npu, told)
    used = sum(c.hbm_used_mb or 0 for c in chips)
    if used > promise.limit(RESERVED_GB) * MB_PER_GB * len(chips) and not report.process_count:
        busy = Text(f"{number_text(used / MB_PER_GB)} GB are in use, no process is listed", f"已用 {number_text(used / MB_PER_GB)} GB，却没有列出进程")
        return SubjectFinding(name, Verdict.WARN, size, npu, busy)
    return SubjectFinding(name, Verdict.PASS, size, npu, told)


def _finding(
    verdict: Verdict, reason: Text, stated: Stated, gb: float | None, subjects: list[SubjectFinding], code: str, step: Text
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=gb, unit="GB", subjects=subjects, reason_code=str(code),
        next_step=step, better="more",
    )  # fmt: skip
