"""How are checklist items answered, waived, and moved by a run?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.checklist import ChecklistItem
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.services.acting import recorder
from gpulease_gui.store import answers, deals, nodes, runs
from gpulease_gui.store.journal import Recorder

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class Given:
    """What is written into one or many items at once; None leaves that part as it is."""

    state: AnswerState | None = None
    value: AnswerValue | None = None
    note: str | None = None
    evidence: tuple[str, ...] | None = None
    measured: Decimal | None = None


def answer_items(db: Database, subject: Subject, items: Sequence[str], given: Given, why: str = "") -> int:
    """Answer one or many items alike: one transaction, one step back; how many changed.

    Raises UsageError for an unknown deal, not applicable without a reason (note or `why`), a measured figure outside 0 to 1.
    """
    _refuse(given, why)
    acting = recorder(db, why)
    put_answers(acting, deals.enter(db, subject), items, given)
    return acting.finish(_answer_words(given, items))


def put_answers(acting: Recorder, deal: int, items: Iterable[str], given: Given) -> None:
    """The same within an act."""
    before = answers.list_answers(acting.db.conn, deal)
    for item in items:
        blank = Answer(item, AnswerState.NOT_ASKED, AnswerValue.UNKNOWN, acting.at, acting.by)
        acting.put("answer", (deal, item), answers.answer_document(_given(before.get(item, blank), given, acting)))


def _given(before: Answer, given: Given, acting: Recorder) -> Answer:
    state = given.state or before.state
    answered = state not in (AnswerState.NOT_ASKED, AnswerState.ASKED)
    value = given.value or (before.value if answered else AnswerValue.UNKNOWN)
    note = before.note if given.note is None else given.note.strip()
    evidence = before.evidence if given.evidence is None else given.evidence
    after = replace(before, state=state, value=value, note=note, evidence=evidence, measured=given.measured or before.measured)
    if state is not before.state or value is not before.value:
        # What a person answers is no longer what a run found.
        after = replace(after, basis=None, run_id=None)
    return before if after == before else replace(after, at=acting.at, by=acting.by)


def _refuse(given: Given, why: str) -> None:
    if given.state is AnswerState.NOT_APPLICABLE and not ((given.note or "").strip() or why.strip()):
        raise UsageError(Text("a reason is needed", "需要理由"), next_step=Text("write why the item does not apply", "请写明此项为何不适用"))
    if given.measured is not None and not 0 <= given.measured <= 1:
        raise UsageError(Text(f"{given.measured} is no part of the whole", f"{given.measured} 不是比例"), next_step=Text("write a figure from 0 to 1", "请填写 0 至 1 的数"))


def _answer_words(given: Given, items: Sequence[str]) -> Text:
    many = len(items)
    one, en_items, zh_items = (items[0] if many == 1 else ""), f"{many} items", f"{many} 项"
    if given.state is AnswerState.NOT_APPLICABLE:
        return Text(f"mark {one or en_items} not applicable", f"标记 {one or zh_items}为不适用")
    return Text(f"answer {one or en_items}", f"填写 {one or zh_items}")


def ask_items(db: Database, subject: Subject, items: Sequence[str]) -> int:
    """Note that these items were asked (the letter was sent): those that are still unknown; how many. One step back."""
    known = answers.list_answers(db.conn, deals.enter(db, subject))
    unasked = [item for item in items if item not in known or known[item].state is AnswerState.NOT_ASKED]
    acting = recorder(db)
    put_answers(acting, deals.enter(db, subject), unasked, Given(AnswerState.ASKED))
    return acting.finish(Text(f"ask {len(unasked)} items", f"询问 {len(unasked)} 项"))


def waive_items(db: Database, subject: Subject, items: Sequence[str], waiver: Waiver) -> int:
    """Let open or failed items pass, by whom, why and up to which day: one step back; how many changed.

    Raises UsageError when a name or a reason is missing, or the last day is over (on this computer's calendar).
    """
    acting = recorder(db)
    kept = Waiver(waiver.by.strip(), waiver.reason.strip(), waiver.expires)
    if not kept.by or not kept.reason:
        raise UsageError(Text("a waiver needs a name and a reason", "豁免需要姓名与理由"), next_step=Text("write who takes the risk, and why", "请写明由谁承担风险及原因"))
    if kept.expires < acting.at.astimezone().date():
        raise UsageError(Text(f"{kept.expires} is over: such a waiver would never count", f"{kept.expires} 已过：此豁免不会生效"), next_step=Text("choose today or a later day as its last day", "请选择今天或以后作为最后一天"))
    deal = deals.enter(db, subject)
    for item in items:
        acting.put("waiver", (deal, item), answers.waiver_document(kept, acting.at))
    return acting.finish(Text(f"waive {len(items)} items", f"豁免 {len(items)} 项"))


def end_waivers(db: Database, subject: Subject, items: Sequence[str]) -> int:
    """Take waivers back: one step; how many there were."""
    acting, deal = recorder(db), deals.enter(db, subject)
    for item in items:
        acting.put("waiver", (deal, item), None)
    return acting.finish(Text("end waivers", "取消豁免"))


def choose_template(db: Database, subject: Subject, template_id: str, scenario: str) -> None:
    """Which template and use the checklist of a deal follows, as one step; answers stay."""
    acting = recorder(db)
    acting.put("setup", (deals.enter(db, subject),), {"template_id": template_id, "scenario": scenario})
    acting.finish(Text("choose the template", "选择清单模板"))


# -- what a run finds ------------------------------------------------------------------------------------------------------


def apply_run(db: Database, run_id: str, items: Mapping[str, ChecklistItem]) -> tuple[str, ...]:
    """Move the items of the run's contract by what it found; the ids that changed. Not a step that can be taken back.

    Raises UsageError for an unknown run. A run without a contract moves nothing.
    """
    run = runs.get_run(db.conn, run_id)
    if run.contract_id is None:
        return ()
    name = nodes.get_node(db.conn, run.node_id).name
    acting = Recorder(db, name, run.finished_at or run.started_at, f"run on {name}")
    deal = deals.enter(db, Subject(HolderOf.CONTRACT, run.contract_id))
    known, by_check = answers.list_answers(db.conn, deal), _by_check(db.conn, run_id)
    moved: list[str] = []
    for item in items.values():
        found = answer_found(item, by_check)
        if found is None or not _may_move(db.conn, known.get(item.id), found[0], run.node_id):
            continue
        after = _moved(known.get(item.id), item, found, acting, run_id)
        if acting.put("answer", (deal, item.id), answers.answer_document(after)):
            moved.append(item.id)
    acting.settle()
    return tuple(moved)


def _by_check(connection: sqlite3.Connection, run_id: str) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for stored in runs.list_current_findings(connection, run_id):
        if stored.finding.verdict is not Verdict.NOT_APPLICABLE:
            found.setdefault(stored.finding.check, []).append(stored.finding)
    return found


def answer_found(
    item: ChecklistItem, by_check: Mapping[str, Sequence[Finding]]
) -> tuple[AnswerState, Basis, tuple[str, ...]] | None:
    """What the findings of a run say of an item: refuted by any fail, verified when every check of it passed.

    None where the run says too little: a warning, an open question, or a check of the item that was not run. The basis
    is measured only if all of it was.
    """
    asked = [check for check in item.checks if check in rules()]
    said = [finding for check in asked for finding in by_check.get(check, ())]
    failed = [finding for finding in said if finding.verdict is Verdict.FAIL]
    if failed:
        return AnswerState.REFUTED, Basis.MEASURED, _evidence(failed)
    whole = bool(asked) and all(by_check.get(check) for check in asked)
    if not whole or any(finding.verdict is not Verdict.PASS for finding in said):
        return None
    measured = all(any(f.basis is Basis.MEASURED for f in by_check[check]) for check in asked)
    return AnswerState.VERIFIED, Basis.MEASURED if measured else Basis.REPORTED, _evidence(said)


def _evidence(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sha for finding in findings for sha in finding.evidence))


def _may_move(connection: sqlite3.Connection, before: Answer | None, state: AnswerState, node_id: str) -> bool:
    """What was marked as not applicable stays; what one node refuted, only that node verifies again."""
    if before is not None and before.state is AnswerState.NOT_APPLICABLE:
        return False
    if before is None or before.state is not AnswerState.REFUTED or state is AnswerState.REFUTED or before.run_id is None:
        return True
    return runs.get_run(connection, before.run_id).node_id == node_id


def _moved(
    before: Answer | None, item: ChecklistItem, found: tuple[AnswerState, Basis, tuple[str, ...]], acting: Recorder, run_id: str
) -> Answer:
    state, basis, evidence = found
    value = AnswerValue.NO if state is AnswerState.REFUTED else AnswerValue.YES
    note = before.note if before else ""
    return Answer(item.id, state, value, acting.at, acting.by, basis, None, note, evidence, run_id)
