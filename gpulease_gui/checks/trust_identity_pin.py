"""Is this the machine that was accepted?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.history import ACCEPT_FIRST, FIRST_RUN, NO_BASELINE, NO_HISTORY, NO_HISTORY_WORDS, History
from gpulease_gui.checks.machine import IDENTITY_KINDS, Change, ChangeKind, Machine, changes, machine_of
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="trust.identity_pin",
    title=Text("Same machine as accepted", "与验收时是同一台机器"),
    why=Text(
        "A supplier may swap cards or the whole machine after acceptance; UUIDs and serial numbers show it.",
        "供应商可能在验收后换卡或换机；UUID 和序列号会暴露。",
    ),
    facts=("smi_xml",),
    optional=("environment",),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("ask the supplier what was exchanged and why; accept the new cards only with a note in the contract",
            "请供应商说明更换了什么及原因；有书面记录后再接受新卡")  # fmt: skip
_TELL = Text("ask the supplier for the reason if nobody announced it", "如未事先通知，请供应商说明原因")
_NO_MARKS = Text("the cards tell neither UUID nor serial number", "各卡没有给出 UUID 或序列号")


def judge(report: SmiReport, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is how many of the accepted cards are still there."""
    history = promise.history
    if history is None:
        return (CHECK.finding(Verdict.INCONCLUSIVE, NO_HISTORY_WORDS, reason_code=NO_HISTORY),)
    if history.pinned is None:
        return (CHECK.finding(Verdict.INCONCLUSIVE, FIRST_RUN, reason_code=NO_BASELINE, next_step=ACCEPT_FIRST),)
    now = machine_of(report, environment, host_key=history.host_key)
    if not any(card.key for card in now.cards) or not any(card.key for card in history.pinned.cards):
        return (CHECK.finding(Verdict.INCONCLUSIVE, _NO_MARKS, reason_code=Reason.UNREADABLE),)
    return (_compared(history, history.pinned, now),)


def _compared(history: History, pinned: Machine, now: Machine) -> Finding:
    seen = [change for change in changes(pinned, now) if change.kind in IDENTITY_KINDS]
    known = {card.key for card in pinned.cards if card.key}
    still = sum(1 for card in now.cards if card.key in known)
    day = f"{history.pinned_at:%Y-%m-%d}" if history.pinned_at else "–"
    if not seen:
        words = Text(f"the same {still} cards as accepted on {day}", f"与 {day} 验收时相同的 {still} 张卡")
        return CHECK.finding(Verdict.PASS, words, measured=still, promised=len(known))
    verdict = worst(_verdict(change, history) for change in seen)
    en, zh = "; ".join(c.words.en for c in seen[:3]), "；".join(c.words.zh for c in seen[:3])
    more = len(seen) - 3
    words = Text(f"since {day}: {en}" + (f" and {more} more" if more > 0 else ""),
                 f"自 {day} 以来：{zh}" + (f"，另有 {more} 项" if more > 0 else ""))  # fmt: skip
    subjects = [SubjectFinding(c.subject, _verdict(c, history), c.after, None, c.words) for c in seen if c.subject]
    step = _ASK if verdict is Verdict.FAIL else _TELL
    return CHECK.finding(
        verdict, words, measured=still, promised=len(known), subjects=subjects, reason_code=seen[0].kind, next_step=step
    )


def _verdict(change: Change, history: History) -> Verdict:
    """Without a contract nobody promised to keep this very machine."""
    if change.kind is ChangeKind.CARD_ADDED or not history.contracted:
        return Verdict.WARN
    return change.verdict
