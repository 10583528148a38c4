"""Does the node get the processor time that it is rented for?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.cpu_limits import CpuLimits
from gpulease_gui.facts.cpu_load import CpuLoad, LoadTest

# Per cent of all ticks, and of the processors that we may use.
STEAL_OK = Threshold("cpu.steal", "steal_warn", 1.0, "%", Text("stolen time warns from", "被抢占时间达到此值即警告"), ">=", high=100.0)
STEAL_BAD = Threshold("cpu.steal", "steal_fail", 5.0, "%", Text("stolen time fails above", "被抢占时间超过此值即不符"), ">", high=100.0)
SHARE_OK = Threshold("cpu.steal", "share", 90.0, "%", Text("the load should get at least", "负载应实得至少"), ">=", high=100.0)

CHECK = Check(
    id="cpu.steal",
    title=Text("CPU time stolen", "CPU 被抢占时间"),
    why=Text(
        "Where more processors are sold than there are, the hypervisor takes them away while data is loaded.",
        "CPU 超卖时，虚拟化平台会在加载数据时把处理器拿走。",
    ),
    facts=("cpu_load",),
    optional=("cpu_limits",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("nothing; all processors work for 20 s", "不写入；全部 CPU 满载约 20 秒"),
    takes_s=20,
    thresholds=(STEAL_OK, STEAL_BAD, SHARE_OK),
)


def judge(load: CpuLoad, limits: CpuLimits | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: stolen time in per cent under full load, and beside it what our loops really got; the better test."""
    good = [test for test in load.tests if test.steal_percent is not None]
    if not good:
        return (_none(load),)
    best = min(good, key=lambda test: test.steal_percent or 0.0)
    steal, share = best.steal_percent or 0.0, _share(best, limits)
    reason = _reason(best, share)
    if steal > promise.limit(STEAL_BAD):
        return (_bad(reason, steal, len(good)),)
    if steal >= promise.limit(STEAL_OK):
        return (_finding(Verdict.WARN, reason, steal, "stolen", _OVERSOLD),)
    if share is not None and share < promise.limit(SHARE_OK):
        return (_finding(Verdict.WARN, reason, steal, "share_low", _BUSY),)
    if share is None:
        # A container of an oversold host shows no steal: without the share a zero proves nothing.
        return (_finding(Verdict.INCONCLUSIVE, reason, steal, "share_unknown", _BY_HAND),)
    return (_finding(Verdict.PASS, reason, steal, "", NO_TEXT),)


def to_repeat(load: CpuLoad, promise: Promise) -> tuple[str, ...]:
    """`load` when its only test would fail: it is measured once more at once."""
    good = [test for test in load.tests if test.steal_percent is not None]
    return ("load",) if len(good) == 1 and (good[0].steal_percent or 0.0) > promise.limit(STEAL_BAD) else ()


def _share(test: LoadTest, limits: CpuLimits | None) -> float | None:
    """What the loops got, of what a quota lets them have."""
    if test.share_percent is None:
        return None
    quota = limits.quota_cores if limits else None
    allowed = min(1.0, quota / test.cpus) if quota and test.cpus else 1.0
    return min(100.0, test.share_percent / allowed)


def _bad(reason: Text, steal: float, count: int) -> Finding:
    if count > 1:
        return _finding(Verdict.FAIL, reason, steal, "stolen", _OVERSOLD)
    return _finding(Verdict.WARN, reason, steal, MEASURED_ONCE, _AGAIN)


def _reason(test: LoadTest, share: float | None) -> Text:
    steal = number_text(round(test.steal_percent or 0.0, 2), 2)
    cpus = number_text(test.cpus) if test.cpus is not None else "?"
    length = number_text(round(test.seconds)) if test.seconds is not None else "?"
    got = number_text(share, 0) if share is not None else "?"
    return Text(
        f"{steal} % stolen with all {cpus} processors loaded for {length} s; the load got {got} % of its time",
        f"{cpus} 个处理器满载 {length} 秒，被抢占 {steal}%；负载实得 {got}% 的时间",
    )


def _none(load: CpuLoad) -> Finding:
    last = load.tests[-1] if load.tests else None
    said = last.trouble if last else ""
    code = (last.code if last else "") or (Reason.UNREADABLE if last else Reason.NOT_COLLECTED)
    reason = Text(f"no processor time was read: {said}", f"没有读到 CPU 时间：{said}") if said else _UNTOLD
    return _finding(Verdict.INCONCLUSIVE, reason, None, str(code), _BY_HAND)


_UNTOLD = Text("the kernel does not tell stolen time", "内核没有给出被抢占时间")
_BY_HAND = Text(
    "Load all processors by hand and watch the column st in vmstat 1.", "请手动让全部处理器满载，用 vmstat 1 观察 st 列。"
)
_AGAIN = Text("Measure again: a neighbour may have been busy for a moment.", "请复测：可能只是邻居一时繁忙。")
_OVERSOLD = Text(
    "Ask the supplier for dedicated processors, and how many are sold for each real one.",
    "请供应商提供独占 CPU，并说明超售比例。",
)
_BUSY = Text(
    "Stop your own work on the node and measure again; else ask the supplier who else uses these processors.",
    "请先停掉节点上自己的任务再测；若仍如此，请问供应商还有谁在用这些处理器。",
)


def _finding(verdict: Verdict, reason: Text, steal: float | None, code: str, step: Text) -> Finding:
    measured = round(steal, 2) if steal is not None else None
    return CHECK.finding(
        verdict, reason, measured=measured, unit="%", subjects=(SubjectFinding("cpu", verdict, measured),),
        reason_code=code, next_step=step, basis=Basis.MEASURED, better="less",
    )  # fmt: skip
