"""Is one machine sold as two nodes?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.history import NO_HISTORY, NO_HISTORY_WORDS, Elsewhere, History
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="trust.duplicate_node",
    title=Text("Not sold twice", "没有一机两卖"),
    why=Text(
        "One machine can be rented out under two names; a card has one UUID and can be in one place only.",
        "同一台机器可能以两个名义出租；一张卡只有一个 UUID，只能在一个地方。",
    ),
    facts=("smi_xml",),
    optional=("environment",),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("ask the supplier for a second machine, or for the price of one", "请供应商补足另一台机器，或只按一台计费")
_VERIFY = Text("verify the other node now; if it still shows the card, both are one machine", "请立即验收另一节点；若仍见到该卡，则两者是同一台机器")
_CLONED = Text("a cloned system image gives two machines one id; ask for an own id if it matters", "克隆的系统镜像会使两台机器编号相同；如有需要请供应商更正")


def judge(report: SmiReport, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is how many cards another node showed too."""
    history = promise.history
    if history is None:
        return (CHECK.finding(Verdict.INCONCLUSIVE, NO_HISTORY_WORDS, reason_code=NO_HISTORY),)
    marks = {mark: gpu.key for gpu in report.gpus for mark in (gpu.uuid, gpu.serial) if mark}
    if not marks:
        words = Text("the cards tell neither UUID nor serial number", "各卡没有给出 UUID 或序列号")
        return (CHECK.finding(Verdict.INCONCLUSIVE, words, reason_code=Reason.UNREADABLE),)
    sliced = {gpu.key for gpu in report.gpus if gpu.mig_mode_current == "Enabled"}
    shared = [s for s in history.elsewhere if s.kind in ("uuid", "serial") and marks.get(s.value) and s.still_there and s.rented]
    whole = [s for s in shared if marks[s.value] not in sliced]
    if whole:
        return (_shared_cards(history, whole, marks),)
    return (_machine(history, environment) or _alone(len(report.gpus), shared),)


def _shared_cards(history: History, shared: list[Elsewhere], marks: dict[str, str]) -> Finding:
    now = [seen for seen in shared if history.at_the_same_time(seen)]
    verdict = Verdict.FAIL if now else Verdict.WARN
    found = {marks[seen.value]: seen for seen in (now or shared)}
    first = next(iter(found.values()))
    names_en, names_zh = ", ".join(_nodes(found.values())), "、".join(_nodes(found.values()))
    words = Text(
        f"{len(found)} cards are in {names_en} too (seen there on {first.day})",
        f"{len(found)} 张卡同时出现在 {names_zh}（{first.day} 在那里见到）",
    )
    subjects = [
        SubjectFinding(key, verdict, seen.node, None, Text(f"in {seen.node} too", f"也在 {seen.node}"))
        for key, seen in found.items()
    ]
    code = "sold_twice" if now else "seen_elsewhere"
    return CHECK.finding(verdict, words, measured=len(found), subjects=subjects, reason_code=code, next_step=_ASK if now else _VERIFY)


def _nodes(seen: Iterable[Elsewhere]) -> list[str]:
    return list(dict.fromkeys(s.node for s in seen))[:3]


def _machine(history: History, environment: Environment | None) -> Finding | None:
    """No card is shared, but the system says that it is another node's. Containers of one host share its boot."""
    ids = (environment.boot_id, environment.machine_id) if environment else ()
    same = [s for s in history.elsewhere if s.kind in ("boot_id", "machine_id") and s.value in ids and s.rented and s.still_there]
    if not same or (environment and environment.is_container):
        return None
    names_en, names_zh = ", ".join(_nodes(same)), "、".join(_nodes(same))
    words = Text(f"the system has the id of {names_en}, the cards are others", f"系统编号与 {names_zh} 相同，但卡不同")
    return CHECK.finding(Verdict.WARN, words, measured=0, reason_code="same_system", next_step=_CLONED)


def _alone(cards: int, slices: list[Elsewhere]) -> Finding:
    words = Text(f"none of the {cards} cards is in another node", f"{cards} 张卡都不在其他节点中")
    if slices:
        words = Text("slices of cards that other nodes share, as sold", "这些卡以切片方式与其他节点共享")
    return CHECK.finding(Verdict.PASS, words, measured=0)
