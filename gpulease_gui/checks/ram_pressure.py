"""Did the memory of the host ever run short?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.load_now import LoadNow

CHECK = Check(
    id="ram.pressure",
    title=Text("Memory shortage", "内存压力"),
    why=Text(
        "A host that swaps, or kills programs for want of memory, is sold out.",
        "使用交换分区或因内存不足杀进程的主机，说明已经超卖。",
    ),
    facts=("load_now",),
    needs_promise=False,
)
_ASK = Text("ask the supplier what uses the memory; run again while your own job runs", "请供应商说明内存占用；并在自己的任务运行时再查")
_RUN = Text("run `cat /proc/swaps /proc/vmstat` on the node", "在节点上运行 `cat /proc/swaps /proc/vmstat`")


def judge(load: LoadNow, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the swap in use in MiB. What was killed before may have been a job of anybody."""
    used, killed = load.swap_used_kib, load.oom_kills
    if killed:
        told = Text(f"{killed} programs were killed for want of memory since start", f"启动以来因内存不足杀掉 {killed} 个进程")
        return (_finding(Verdict.WARN, told, used, "oom_kills", _ASK),)
    if used:
        told = Text(f"{number_text(used / 1024)} MiB are swapped out", f"已换出 {number_text(used / 1024)} MiB")
        return (_finding(Verdict.WARN, told, used, "swapping", _ASK),)
    if used is None or killed is None:
        unknown = Text("swap and killed programs were not both told", "交换分区或被杀进程数未给出")
        return (_finding(Verdict.INCONCLUSIVE, unknown, used, Reason.UNREADABLE, _RUN),)
    return (_finding(Verdict.PASS, Text("nothing swapped, nothing killed", "没有换出，也没有进程被杀"), used),)


def _finding(verdict: Verdict, reason: Text, used_kib: int | None, code: str = "", step: Text = NO_TEXT) -> Finding:
    mib = round(used_kib / 1024, 1) if used_kib is not None else None
    return CHECK.finding(verdict, reason, measured=mib, unit="MiB", reason_code=code, next_step=step, better="less")
