"""Does a power limit stay where it was set?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, worst_mark
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.idle_watch import IdleLook, IdleWatch

# A limit is told in hundredths of a watt.
SAME_W = Threshold("power.limit_sticks", "same", 0.5, "W", Text("a limit stays if it moves by at most", "上限变动不超过此值即为不变"), "<=", high=50.0)

CHECK = Check(
    id="power.limit_sticks",
    title=Text("Power limit stays put", "功耗上限保持不变"),
    why=Text(
        "With persistence off the driver unloads when idle and forgets the limit, though setting it seemed to work.",
        "未开持久模式时，驱动空闲即卸载，设好的功耗上限会悄悄丢失。",
    ),
    facts=("idle_watch",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    vendor=Vendor.NVIDIA,
    takes_s=75,
    writes=Text("nothing; leave the cards alone meanwhile", "不写入；期间请勿使用显卡"),
    thresholds=(SAME_W,),
)
_RESTORE = Text("ask the supplier who sets the limit, and to keep it at the board's default", "请供应商说明谁在改动上限，并保持板卡默认值")
_SWITCH_ON = Text("switch persistence on (`nvidia-smi -pm 1`), else the limit is lost when the card rests",
                  "开启持久模式（`nvidia-smi -pm 1`），否则空闲后上限会丢失")  # fmt: skip
_READ = Text("run `nvidia-smi -q -d POWER` twice, a minute apart", "相隔一分钟运行两次 `nvidia-smi -q -d POWER`")


def judge(watch: IdleWatch, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the last limit of the worst card in W."""
    marks = [(looks[0], _mark(looks, promise.limit(SAME_W))) for looks in watch.cards()]
    worst = worst_mark([mark for _, mark in marks], "more")
    subjects = [SubjectFinding(x.uuid or f"gpu{x.index}", m.verdict, m.measured, x.index, m.reason) for x, m in marks]
    return (CHECK.finding(
        worst.verdict, worst.reason, measured=worst.measured, unit="W", subjects=subjects, reason_code=worst.code,
        next_step=worst.next_step, basis=Basis.MEASURED, better="more",
    ),)  # fmt: skip


def _mark(looks: tuple[IdleLook, ...], same_w: float) -> Mark:
    first, last = looks[0].limit_w, looks[-1].limit_w
    if first is None or last is None or len(looks) < 2:
        untold = Text("the limit was not told twice", "未能两次读到功耗上限")
        return Mark(Verdict.INCONCLUSIVE, untold, "unreadable", last, _READ, Basis.MEASURED)
    told = Text(f"{number_text(first)} W, a minute later {number_text(last)} W", f"先为 {number_text(first)} W，一分钟后为 {number_text(last)} W")
    lowest = min(x.limit_w for x in looks if x.limit_w is not None)
    default = looks[-1].default_limit_w
    if lowest < first - same_w:
        below = default is None or lowest < default - same_w
        return Mark(Verdict.FAIL if below else Verdict.WARN, told, "limit_fell", last, _RESTORE, Basis.MEASURED)
    if last > first + same_w:
        return Mark(Verdict.WARN, told, "limit_rose", last, _RESTORE, Basis.MEASURED)
    if (looks[-1].persistence or "").lower() != "enabled":
        off = Text(f"{told.en}; persistence is off or was not told", f"{told.zh}；持久模式未开或未给出")
        return Mark(Verdict.WARN, off, "persistence_off", last, _SWITCH_ON, Basis.MEASURED)
    return Mark(Verdict.PASS, told, "", last, NO_TEXT, Basis.MEASURED)
