"""Is the node still set as it was when it was accepted?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.history import ACCEPT_FIRST, FIRST_RUN, NO_BASELINE, NO_HISTORY, NO_HISTORY_WORDS, History
from gpulease_gui.checks.machine import (
    BREAK_PERCENT,
    IDENTITY_KINDS,
    NOTE_PERCENT,
    FallLimits,
    Machine,
    changes,
    machine_of,
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
    thresholds=(NOTE_PERCENT, BREAK_PERCENT),
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
    if not seen:
        words = Text(f"{same} cards set as on {day}", f"{same} 张卡的配置与 {day} 一致")
        return CHECK.finding(Verdict.PASS, words, measured=0)
    verdict = worst(change.verdict for change in seen)
    more = len(seen) - 3
    words = Text(
        f"since {day}: " + "; ".join(c.words.en for c in seen[:3]) + (f" and {more} more" if more > 0 else ""),
        f"自 {day} 以来：" + "；".join(c.words.zh for c in seen[:3]) + (f"，另有 {more} 项" if more > 0 else ""),
    )
    subjects = [SubjectFinding(c.subject, c.verdict, c.after, None, c.words) for c in seen if c.subject]
    return CHECK.finding(verdict, words, measured=len(seen), subjects=subjects, reason_code=seen[0].kind, next_step=_ASK)
