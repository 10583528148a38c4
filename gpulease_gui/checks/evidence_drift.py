"""Is the node still set as it was when it was accepted?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.history import ACCEPT_FIRST, FIRST_RUN, NO_BASELINE, NO_HISTORY, NO_HISTORY_WORDS, History
from gpulease_gui.checks.machine import (
    BREAK_PERCENT,
    IDENTITY_KINDS,
    NOTE_PERCENT,
    Change,
    FallLimits,
    Machine,
    changes,
    machine_of,
    not_told,
)
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="evidence.drift",
    title=Text("Unchanged since acceptance", "验收后未降配"),
    why=Text(
        "A node can be weakened after acceptance: a lower power limit, less memory, links down, another driver.",
        "验收之后节点可能被悄悄降配：调低功耗上限、减少显存、断开链路、更换驱动。",
    ),
    facts=("smi_xml",),
    optional=("nvlink",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    thresholds=(NOTE_PERCENT, BREAK_PERCENT),
)
NOT_TOLD = "not_told"
_READ_AGAIN = Text(
    "run it again; what stays silent, read by hand on the node and compare with the accepted run",
    "请重新运行；仍读不到的项目，请在节点上手动读取并与验收时的记录对照",
)
_ASK = Text("ask the supplier to restore what was accepted", "请供应商恢复验收时的配置")


def judge(report: SmiReport, nvlink: NvlinkReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over power limits, memory, links, VBIOS and driver; the cards themselves are trust.identity_pin's."""
    history = promise.history
    if history is None:
        return (CHECK.finding(Verdict.INCONCLUSIVE, NO_HISTORY_WORDS, reason_code=NO_HISTORY),)
    if history.pinned is None:
        return (CHECK.finding(Verdict.INCONCLUSIVE, FIRST_RUN, reason_code=NO_BASELINE, next_step=ACCEPT_FIRST),)
    return (_compared(history, history.pinned, machine_of(report, None, nvlink), promise),)


def _compared(history: History, pinned: Machine, now: Machine, promise: Promise) -> Finding:
    before = {card.key for card in pinned.cards if card.key}
    same = sum(1 for card in now.cards if card.key in before)
    if not same:
        words = Text("none of the accepted cards is here, so no setting can be compared", "已没有验收时的卡，无法比较配置")
        return CHECK.finding(Verdict.INCONCLUSIVE, words, reason_code=Reason.INCONSISTENT)
    day = f"{history.pinned_at:%Y-%m-%d}" if history.pinned_at else "–"
    falls = FallLimits(promise.limit(NOTE_PERCENT), promise.limit(BREAK_PERCENT))
    seen = [c for c in changes(pinned, now, falls) if c.kind not in IDENTITY_KINDS and c.verdict is not Verdict.PASS]
    silent = not_told(pinned, now)
    if seen or silent:
        return _changed(day, seen, silent)
    return CHECK.finding(Verdict.PASS, Text(f"{same} cards set as on {day}", f"{same} 张卡的配置与 {day} 一致"), measured=0)


def _changed(day: str, seen: list[Change], silent: tuple[Text, ...]) -> Finding:
    """What is different now, and what was known on `day` and is not told now: a fail stands, a pass would be a guess."""
    verdict = worst([*(change.verdict for change in seen), *(Verdict.INCONCLUSIVE for _ in silent)])
    untold = Text("not told now: " + ", ".join(t.en for t in silent), "本次未读到：" + "、".join(t.zh for t in silent))
    parts = [c.words for c in seen[:3]]
    if more := len(seen) - len(parts):
        parts.append(Text(f"{more} more changes", f"另有 {more} 项变化"))
    parts += [untold] if silent else []
    words = Text(f"since {day}: " + "; ".join(t.en for t in parts), f"自 {day} 以来：" + "；".join(t.zh for t in parts))
    subjects = [SubjectFinding(c.subject, c.verdict, c.after, None, c.words) for c in seen if c.subject]
    code, step = (NOT_TOLD, _READ_AGAIN) if verdict is Verdict.INCONCLUSIVE else (seen[0].kind, _ASK)
    return CHECK.finding(verdict, words, measured=len(seen), subjects=subjects, reason_code=code, next_step=step)
