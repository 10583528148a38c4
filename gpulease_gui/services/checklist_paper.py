"""What does a contract's report say of its checklist?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.checklist import DIMENSIONS, IMPORTANCE_WORDS
from gpulease_gui.catalog.scenarios import Scenario, load_scenarios
from gpulease_gui.domain.answer import ANSWER_WORDS, VALUE_WORDS, AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.scoring import Score
from gpulease_gui.reports.facts import ChecklistFacts, ChecklistLine
from gpulease_gui.services.checklist_view import ChecklistRow, Outcome, checklist_in
from gpulease_gui.services.commerce_score import score_of, weights_in
from gpulease_gui.services.compare_table import STATUS_WORDS

if TYPE_CHECKING:
    import sqlite3

_VERDICTS: Mapping[Outcome, Verdict] = {
    Outcome.FAIL: Verdict.FAIL, Outcome.UNKNOWN: Verdict.INCONCLUSIVE, Outcome.PARTLY: Verdict.WARN, Outcome.PASS: Verdict.PASS,
    Outcome.NOT_APPLICABLE: Verdict.NOT_APPLICABLE,
}  # fmt: skip
_EVERY_USE = Text("every use", "不限场景")


def checklist_facts(connection: sqlite3.Connection, contract_id: str, catalogue: Catalogue, day: date) -> ChecklistFacts:
    """The checklist of a contract as of `day`, with its score. Raises UsageError for an unknown contract."""
    view = checklist_in(connection, Subject(HolderOf.CONTRACT, contract_id), catalogue, day)
    scenario = _scenario(view.scenario)
    score = score_of(view, weights_in(connection, scenario)).score
    use = scenario.title if scenario is not None else _EVERY_USE
    return ChecklistFacts(tuple(_line(row) for row in view.rows), use, STATUS_WORDS[score.status], _span(score))


def _scenario(use: str) -> Scenario | None:
    return load_scenarios().scenarios.get(use) if use else None


def _span(score: Score) -> Text:
    if score.score_low is None or score.score_high is None:
        return Text("no score: nothing applies", "无得分：没有适用的条目")
    low, high, part = f"{score.score_low:.1f}", f"{score.score_high:.1f}", f"{(score.coverage or Decimal(0)) * 100:.0f}\u2009%"
    return Text(f"{low} to {high} of 100, coverage {part}", f"{low} 至 {high}（满分 100），覆盖率 {part}")


def _line(row: ChecklistRow) -> ChecklistLine:
    item, answer = row.item, row.answer
    said = answer is not None and bool(answer.by)
    return ChecklistLine(
        item.id, DIMENSIONS.get(item.dimension, foreign(item.dimension)), IMPORTANCE_WORDS[item.severity], item.text, answer_words(row),
        _VERDICTS.get(row.outcome), answer.by if answer is not None else "", answer.at if answer is not None and said else None,
        answer.note if answer is not None else "", _waiver(row),
    )  # fmt: skip


def answer_words(row: ChecklistRow) -> Text:
    """Value and state of an answer, such as: yes · in the contract."""
    answer = row.answer
    if answer is None:
        return ANSWER_WORDS[AnswerState.NOT_ASKED]
    state, value = ANSWER_WORDS[answer.state], VALUE_WORDS[answer.value]
    silent = answer.value is AnswerValue.UNKNOWN or answer.state in (AnswerState.NOT_APPLICABLE, AnswerState.NOT_ASKED, AnswerState.ASKED)
    return state if silent else Text(f"{value.en} · {state.en}", f"{value.zh} · {state.zh}")


def _waiver(row: ChecklistRow) -> Text | None:
    waiver = row.waiver
    if waiver is None or not row.waived:
        return None
    return Text(f"waived to {waiver.expires} by {waiver.by}: {waiver.reason}", f"{waiver.by} 豁免至 {waiver.expires}：{waiver.reason}")
