"""Does the count of processors come from the kernel?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.cpu_state import CpuState

SLACK = Threshold(
    "trust.cpu_present", "slack", 4, "processors", Text("a tool may count more than the kernel by", "工具可比内核多计"), "<=", Origin.PUBLISHED,
    "Datura-ai/lium-io: cpu_truth.py",
)  # fmt: skip

CHECK = Check(
    id="trust.cpu_present",
    title=Text("Processor count is genuine", "处理器数量真实"),
    why=Text(
        "A wrapper around lscpu can add cores; the kernel's own list can't be talked into it.",
        "包装 lscpu 可以虚增核数，内核自己的列表却骗不了。",
    ),
    facts=("cpu_state",),
    needs_promise=False,
    level=0,
    thresholds=(SLACK,),
)
_ASK = Text("show the supplier both counts and ask for an explanation", "向供应商出示两个数量并要求解释")
_RUN = Text("run `cat /sys/devices/system/cpu/present; lscpu` on the node", "在节点上运行 `cat /sys/devices/system/cpu/present; lscpu`")


def judge(cpu: CpuState, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the kernel's count of logical processors, subjects are the sources."""
    verdict, reason, code, step = _judged(cpu, promise)
    sources = (("present", cpu.present), ("online", cpu.online), ("/proc/cpuinfo", cpu.cpuinfo), ("lscpu", cpu.lscpu))
    subjects = [SubjectFinding(name, verdict, count) for name, count in sources if count is not None]
    return (CHECK.finding(verdict, reason, measured=cpu.present, unit="processors", subjects=subjects, reason_code=str(code), next_step=step),)


def _judged(cpu: CpuState, promise: Promise) -> tuple[Verdict, Text, str, Text]:
    told = [n for n in (cpu.lscpu, cpu.cpuinfo) if n is not None]
    if cpu.present is None or not told:
        return Verdict.INCONCLUSIVE, Text("kernel and tools did not both tell a count", "内核与工具未同时给出数量"), Reason.UNREADABLE, _RUN
    most = max(told)
    if most > cpu.present + promise.limit(SLACK):
        return Verdict.FAIL, Text(f"tools show {most} processors, the kernel has {cpu.present}", f"工具显示 {most} 个处理器，内核只有 {cpu.present} 个"), Reason.INCONSISTENT, _ASK
    if cpu.online is not None and cpu.online < cpu.present:
        return Verdict.WARN, Text(f"{cpu.online} of {cpu.present} processors are on", f"{cpu.present} 个处理器中只启用 {cpu.online} 个"), "some_offline", _ASK
    return Verdict.PASS, Text(f"{cpu.present} processors, as the kernel lists", f"{cpu.present} 个处理器，与内核一致"), "", NO_TEXT
