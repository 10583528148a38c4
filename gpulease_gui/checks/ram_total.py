"""Is the promised main memory there, and may all of it be used?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.memory_limits import MemoryLimits

TERM = "ram_gb"

# The kernel and the firmware keep up to 3 % of the modules that were sold; more than 7 % is a missing module.
_AZURE = "Azure/azurehpc-health-checks: nd96isr_h200_v5.conf allows 3 to 7 % below"
PASS_SHORT = Threshold("ram.total", "pass_short", 0.03, SHARE, Text("passes if short by at most", "少于承诺不超过此比例即通过"), "<=", Origin.PUBLISHED, _AZURE, high=0.5)
WARN_SHORT = Threshold("ram.total", "fail_short", 0.07, SHARE, Text("fails if short by more than", "少于承诺超过此比例即不符"), ">", Origin.PUBLISHED, _AZURE, high=0.5)

CHECK = Check(
    id="ram.total",
    title=Text("Main memory usable", "可用内存"),
    why=Text(
        "A container can show the memory of the whole machine and be killed at a small part of it.",
        "容器里可以看到整机内存，却可能只用到一小部分就被强制结束。",
    ),
    facts=("memory_limits",),
    optional=("environment",),
    terms=(TERM,),
    ask=Text("How much main memory may be used per node?", "每节点可用内存是多少？"),
    thresholds=(PASS_SHORT, WARN_SHORT),
)


def judge(limits: MemoryLimits, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the smaller of MemTotal and memory.max in GiB against ram_gb (1 GB as sold = 1 GiB)."""
    usable, stated = limits.usable_gib, promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, _rounded(usable), unit="GiB"),)
    if usable is None:
        return (_finding(Verdict.INCONCLUSIVE, stated, None, _UNTOLD, "unreadable", _RUN_FREE),)
    short = round(1 - usable / stated.number, 6) if stated.number > 0 else 0.0
    reason = _reason(limits, usable, stated, short)
    if short > promise.limit(WARN_SHORT):
        return (_finding(Verdict.FAIL, stated, usable, reason, "memory_short", _ASK_MORE),)
    if not limits.limit_read and (environment is None or environment.is_container):
        return (_finding(Verdict.INCONCLUSIVE, stated, usable, _HIDDEN, "limit_unreadable", _ASK_LIMIT),)
    if short > promise.limit(PASS_SHORT):
        return (_finding(Verdict.WARN, stated, usable, reason, "memory_short", _ASK_MORE),)
    return (_finding(Verdict.PASS, stated, usable, reason, stated.reason_code),)


def _reason(limits: MemoryLimits, usable: float, stated: Stated, short: float) -> Text:
    have, want = number_text(usable), number_text(stated.number)
    source = "MemTotal"
    if limits.limit_gib == usable and limits.total_gib is not None and limits.total_gib > usable:
        source = f"memory.max; MemTotal {number_text(limits.total_gib)} GiB"
    if short <= 0:
        return Text(f"{have} GiB usable ({source}), {want} promised", f"可用 {have} GiB（{source}），承诺 {want} GB")
    percent = number_text(short * 100)
    return Text(
        f"{have} GiB usable ({source}), {percent} % below the promised {want}",
        f"可用 {have} GiB（{source}），比承诺的 {want} GB 少 {percent}%",
    )


def _rounded(gib: float | None) -> float | None:
    return round(gib, 1) if gib is not None else None


_UNTOLD = Text("the node names no memory size", "节点没有给出内存大小")
_HIDDEN = Text(
    "the machine's memory is shown, but the limit of this container can't be read",
    "显示了整机内存，但无法读取该容器的内存限额",
)
_RUN_FREE = Text("Run cat /proc/meminfo on the node.", "请在节点上运行 cat /proc/meminfo。")
_ASK_LIMIT = Text("Ask the supplier for the memory limit of this container.", "请供应商说明该容器的内存限额。")
_ASK_MORE = Text(
    "Ask the supplier to raise the limit or to replace missing memory modules.", "请供应商提高限额或补齐缺失的内存条。"
)


def _finding(
    verdict: Verdict, stated: Stated, usable: float | None, reason: Text, code: str, step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=_rounded(usable), unit="GiB", reason_code=code,
        next_step=step, better="more",
    )  # fmt: skip
