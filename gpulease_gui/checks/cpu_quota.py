"""May all promised processors really be used?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.cpu_limits import CpuLimits
from gpulease_gui.facts.environment import Environment

TERM = "cpu.cores"

CHECK = Check(
    id="cpu.quota",
    title=Text("CPU cores usable", "可用 CPU 核数"),
    why=Text(
        "A container can show all processors of the machine and still be throttled to a few of them.",
        "容器里可以看到整机的 CPU，却只允许使用其中一小部分。",
    ),
    facts=("cpu_limits",),
    optional=("environment",),
    terms=(TERM,),
    ask=Text(
        "How many CPU cores may be used, and are they cores or hardware threads?",
        "可用多少 CPU 核？按物理核还是线程计？",
    ),
)


def judge(limits: CpuLimits, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the tightest of quota, CPU set, affinity and nproc against cpu.cores (logical processors)."""
    usable, stated = limits.usable, promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, usable, unit="cores"),)
    if usable is None:
        return (_finding(Verdict.INCONCLUSIVE, stated, None, _UNTOLD, "unreadable", _RUN_NPROC),)
    if usable < stated.number:
        return (_finding(Verdict.FAIL, stated, usable, _short(limits, usable, stated), "cpu_limited", _ASK_LIFT),)
    if not limits.quota_read and (environment is None or environment.is_container):
        return (_finding(Verdict.INCONCLUSIVE, stated, usable, _hidden(usable), "limit_unreadable", _RUN_LOAD),)
    return (_finding(Verdict.PASS, stated, usable, _enough(limits, usable), stated.reason_code),)


def _short(limits: CpuLimits, usable: float, stated: Stated) -> Text:
    have, want = number_text(usable), number_text(stated.number)
    if limits.quota_cores == usable:
        seen = number_text(limits.nproc) if limits.nproc is not None else "?"
        return Text(
            f"a quota allows {have} cores of the promised {want} (nproc shows {seen})",
            f"配额只允许使用 {have} 核，承诺 {want} 核（nproc 显示 {seen}）",
        )
    return Text(f"{have} cores may be used, {want} were promised", f"可用 {have} 核，承诺 {want} 核")


def _enough(limits: CpuLimits, usable: float) -> Text:
    have = number_text(usable)
    if limits.threads_per_core is not None and limits.threads_per_core > 1:
        cores = number_text(usable / limits.threads_per_core)
        return Text(
            f"{have} logical processors may be used: {cores} cores of {limits.threads_per_core} threads each",
            f"可用 {have} 个逻辑处理器，即 {cores} 个物理核，每核 {limits.threads_per_core} 线程",
        )
    return Text(f"{have} cores may be used, no quota below that", f"可用 {have} 核，没有更低的配额")


def _hidden(usable: float) -> Text:
    have = number_text(usable)
    return Text(
        f"{have} processors are shown, but the control group that could limit them can't be read",
        f"显示 {have} 个处理器，但无法读取可能限制它们的 cgroup",
    )


_UNTOLD = Text("the node names no processor count", "节点没有给出处理器数量")
_RUN_NPROC = Text("Run nproc and cat /proc/self/status on the node.", "请在节点上运行 nproc 和 cat /proc/self/status。")
_RUN_LOAD = Text(
    "Ask the supplier for the CPU limit of this container, or load all processors and watch them.",
    "请供应商说明该容器的 CPU 限额，或对全部处理器加压观察。",
)
_ASK_LIFT = Text(
    "Ask the supplier to lift the limit (docker --cpus, cgroup cpu.max, cpuset) or to correct the offer.",
    "请供应商取消限额（docker --cpus、cgroup cpu.max、cpuset）或更正报价。",
)


def _finding(
    verdict: Verdict, stated: Stated, usable: float | None, reason: Text, code: str, step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=usable, unit="cores", reason_code=code,
        next_step=step, better="more",
    )  # fmt: skip
