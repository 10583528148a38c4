"""Does a card work while nobody of us uses it?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, worst_mark
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.idle_watch import IdleLook, IdleWatch, Traffic
from gpulease_gui.facts.smi_xml import SmiReport

# Assumptions: the two percent are the noise of the counter, monitoring moves less than 50 MB/s over the bus.
QUIET = Threshold("iso.idle_activity", "quiet", 2, "%", Text("busy above this use", "利用率超过此值视为在忙"), ">", high=100)
OFTEN = Threshold("iso.idle_activity", "often", 0.2, SHARE, Text("shared from this share of busy looks", "在忙采样达到此比例视为共用"), ">=", high=1)
MONITOR = Threshold("iso.idle_activity", "bus", 50, "MB/s", Text("shared above this bus traffic", "总线流量超过此值视为共用"), ">")
FEWEST = 10  # looks without which nothing is said

CHECK = Check(
    id="iso.idle_activity",
    title=Text("Cards rest when idle", "空闲时无活动"),
    why=Text(
        "A card that computes or moves data while you do nothing is shared with somebody.",
        "您什么都没做，显卡却在计算或传输数据，说明有人在共用。",
    ),
    facts=("idle_watch",),
    optional=("smi_xml",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    vendor=Vendor.NVIDIA,
    takes_s=75,
    thresholds=(QUIET, OFTEN, MONITOR),
    writes=Text("nothing; leave the cards alone meanwhile", "不写入；期间请勿使用显卡"),
)
_ASK = Text("end your own jobs and run again; then ask the supplier who uses these cards", "结束自己的任务后重新检查；若仍如此，请供应商说明谁在使用这些卡")
_AGAIN = Text("run it again for a whole minute", "请完整运行一分钟")


def judge(watch: IdleWatch, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the share of looks of the busiest card that showed work, in percent."""
    shared = promise.terms.get("tenancy") == "shared" or promise.terms.get("gpu.whole") is False
    own = any(gpu.processes for gpu in report.gpus) if report else None
    marks = [(looks[0], _mark(looks, watch.bus(looks[0].index), own, shared, promise)) for looks in watch.cards()]
    worst = worst_mark([mark for _, mark in marks], "less")
    subjects = [SubjectFinding(x.uuid or f"gpu{x.index}", m.verdict, m.measured, x.index, m.reason) for x, m in marks]
    return (CHECK.finding(
        worst.verdict, worst.reason, measured=worst.measured, unit="%", subjects=subjects, reason_code=worst.code,
        next_step=worst.next_step, basis=Basis.MEASURED, better="less",
    ),)  # fmt: skip


def _mark(looks: tuple[IdleLook, ...], bus: tuple[Traffic, ...], own: bool | None, shared: bool, promise: Promise) -> Mark:
    told = [x for x in looks if x.util_percent is not None]
    if len(told) < FEWEST:
        few = Text(f"only {len(told)} looks told how busy the card was", f"只有 {len(told)} 次采样给出了利用率")
        return Mark(Verdict.INCONCLUSIVE, few, "too_few_looks", None, _AGAIN, Basis.MEASURED)
    busy = sum((x.util_percent or 0.0) > promise.limit(QUIET) for x in told)
    share = round(busy / len(told) * 100, 1)
    moved = min((max(t.rx_mb_s, t.tx_mb_s) for t in bus), default=0.0)
    watts = max((x.power_w for x in looks if x.power_w is not None), default=None)
    reason = _words(busy, len(told), moved, watts)
    if share < promise.limit(OFTEN) * 100 and moved <= promise.limit(MONITOR):
        return Mark(Verdict.WARN if busy else Verdict.PASS, reason, "brief_activity" if busy else "", share, _ASK if busy else NO_TEXT, Basis.MEASURED)
    if own:
        mine = Text(f"{reason.en}; a listed process runs", f"{reason.zh}；有已列出的进程在运行")
        return Mark(Verdict.INCONCLUSIVE, mine, "own_work", share, _ASK, Basis.MEASURED)
    awake = all((x.persistence or "").lower() == "enabled" for x in looks)
    sure = awake and own is False and not shared
    return Mark(Verdict.FAIL if sure else Verdict.WARN, reason, "works_for_others", share, _ASK, Basis.MEASURED)


def _words(busy: int, total: int, moved: float, watts: float | None) -> Text:
    power = f", {number_text(watts, 0)} W" if watts is not None else ""
    bus = number_text(moved, 0)
    return Text(
        f"busy in {busy} of {total} looks, at least {bus} MB/s over the bus all the time{power}",
        f"{total} 次采样中有 {busy} 次在忙，总线持续不低于 {bus} MB/s{power.replace(', ', '，')}",
    )
