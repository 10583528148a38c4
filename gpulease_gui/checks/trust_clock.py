"""Can a time that the node measured be believed?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.clock_ticks import ClockTest, ClockTicks

# A good clock is off by parts of a million; the line's sway comes on top of these shares.
SAME = Threshold("trust.clock", "same", 0.01, SHARE, Text("a clock runs alike within", "时钟快慢相差不超过"), "<=", high=0.5)
BENT = Threshold("trust.clock", "bent", 0.02, SHARE, Text("a clock is bent if it is off by more than", "时钟快慢相差超过此比例即不可信"), ">", high=0.5)
OFFSET_S = Threshold("trust.clock", "offset", 1.0, "s", Text("its time is off from", "时间偏差的下限"), ">=")

CHECK = Check(
    id="trust.clock",
    title=Text("Clock of the node", "节点时钟"),
    why=Text(
        "A clock that runs slow makes every benchmark on the node look fast.",
        "时钟走慢，节点上的所有跑分都会显得更快。",
    ),
    facts=("clock_ticks",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=0,
    writes=Text("nothing; reads the clock for 5 s", "不写入；读取时钟约 5 秒"),
    takes_s=5,
    thresholds=(SAME, BENT, OFFSET_S),
)


def judge(ticks: ClockTicks, promise: Promise) -> tuple[Finding, ...]:
    """One finding: seconds of the node for one of ours; the better of two tests."""
    if not ticks.tests and ticks.code == Reason.COMPUTER_SLEPT:
        return (_finding(Verdict.INCONCLUSIVE, _SLEPT, None, ticks.code, NO_TEXT),)
    if not ticks.tests:
        code = ticks.code or Reason.NOT_COLLECTED
        reason = Text(f"no stamps came: {ticks.trouble}", f"没有收到时间戳：{ticks.trouble}") if ticks.trouble else _NOTHING
        return (_finding(Verdict.INCONCLUSIVE, reason, None, code, _BY_HAND),)
    best = min(ticks.tests, key=_excess)
    reason, bent = _reason(best), promise.limit(BENT)
    if _excess(best) > bent:
        if len(ticks.tests) > 1:
            return (_finding(Verdict.FAIL, reason, best, "clock_bent", _BENT_STEP),)
        return (_finding(Verdict.WARN, reason, best, MEASURED_ONCE, _AGAIN),)
    if _excess(best) > promise.limit(SAME):
        return (_finding(Verdict.WARN, reason, best, "clock_bent", _AGAIN),)
    if best.jitter_s > bent * best.ours_s:
        return (_finding(Verdict.INCONCLUSIVE, reason, best, "line_unsteady", _NEARER),)
    if abs(best.offset_s) >= promise.limit(OFFSET_S):
        return (_finding(Verdict.WARN, reason, best, "clock_offset", _NTP),)
    return (_finding(Verdict.PASS, reason, best, "", NO_TEXT),)


def to_repeat(ticks: ClockTicks, promise: Promise) -> tuple[str, ...]:
    """`clock` when its only test would fail: it is measured once more at once."""
    return ("clock",) if len(ticks.tests) == 1 and _excess(ticks.tests[0]) > promise.limit(BENT) else ()


def _excess(test: ClockTest) -> float:
    """How far the ratio is off beyond what the line's sway explains, as a share."""
    return max(0.0, abs(test.ratio - 1.0) - test.jitter_s / test.ours_s)


def _reason(test: ClockTest) -> Text:
    node, ours = number_text(test.node_s, 3), number_text(test.ours_s, 3)
    sway, offset = number_text(test.jitter_s * 1000), number_text(round(test.offset_s, 2) + 0.0, 2)
    return Text(
        f"{node} s passed on the node while {ours} s passed here (line sways by {sway} ms); its time is {offset} s off ours",
        f"本机 {ours} 秒内节点走了 {node} 秒（线路抖动 {sway} 毫秒）；节点时间与本机相差 {offset} 秒",
    )


_SLEPT = Text("this computer slept or stood still while the stamps came", "接收时间戳期间本机休眠或停顿")
_NOTHING = Text("no stamps came", "没有收到时间戳")
_BY_HAND = Text(
    "Run sleep 60 on the node and time it with a watch of your own.", "请在节点上运行 sleep 60，并用自己的表计时。"
)
_BENT_STEP = Text(
    "Trust no benchmark of this node; look for LD_PRELOAD and faketime, and ask the supplier about paused machines.",
    "不要相信该节点的任何跑分；请检查 LD_PRELOAD 和 faketime，并询问供应商虚拟机是否被暂停。",
)
_AGAIN = Text("Measure again over a quiet line.", "请在线路空闲时复测。")
_NEARER = Text("Measure again from nearer by, or for longer (command line: --seconds 60).", "请换到更近的地方测，或延长时间（命令行：--seconds 60）。")
_NTP = Text("Set the node's clock: timedatectl set-ntp true, or chronyc makestep.", "请校准节点时钟：timedatectl set-ntp true 或 chronyc makestep。")


def _finding(verdict: Verdict, reason: Text, test: ClockTest | None, code: str, step: Text) -> Finding:
    measured = round(test.ratio, 4) if test else None
    return CHECK.finding(
        verdict, reason, measured=measured, subjects=(SubjectFinding("clock", verdict, measured),), reason_code=code,
        next_step=step, basis=Basis.MEASURED,
    )  # fmt: skip
