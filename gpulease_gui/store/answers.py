"""How are checklist answers and waivers kept, by deal and item, and read for many deals at once?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.finding import Basis
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.store.codec import json_text, utc_from, utc_text
from gpulease_gui.store.kept import Document, in_time, key_text

_ANSWER = "SELECT item_id, state, value, answered_at, answered_by, basis, measured, note, evidence, run_id FROM answers"


def list_answers(connection: sqlite3.Connection, deal: int) -> dict[str, Answer]:
    """The answers of one deal by item; an item that nobody touched is absent (not asked)."""
    return {row[0]: _answer(row) for row in connection.execute(f"{_ANSWER} WHERE deal_id = ?", (deal,))}


def answers_of(connection: sqlite3.Connection, deals: Sequence[int]) -> dict[int, dict[str, tuple[AnswerState, AnswerValue]]]:
    """State and value of every answered item of some deals (a window of a list, or those that are compared)."""
    found: dict[int, dict[str, tuple[AnswerState, AnswerValue]]] = {deal: {} for deal in deals}
    marks = ", ".join("?" * len(deals))
    rows = connection.execute(f"SELECT deal_id, item_id, state, value FROM answers WHERE deal_id IN ({marks})", tuple(deals))
    for deal, item, state, value in rows:
        found[deal][item] = _STATES[state], _VALUES[value]
    return found


def answer_column(connection: sqlite3.Connection, item: str) -> dict[int, tuple[AnswerState, AnswerValue]]:
    """State and value of one item in every deal that answered it: a column to sort or filter by, from the index alone."""
    rows = connection.execute("SELECT deal_id, state, value FROM answers WHERE item_id = ?", (item,))
    return {deal: (_STATES[state], _VALUES[value]) for deal, state, value in rows}


_STATES = {str(state): state for state in AnswerState}
_VALUES = {str(value): value for value in AnswerValue}


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer that was replaced (UTC), by whom and why."""

    answer: Answer
    replaced_at: datetime
    replaced_by: str
    why: str


def list_answer_history(connection: sqlite3.Connection, deal: int, item: str) -> tuple[AnswerChange, ...]:
    """The answers that were replaced, oldest first; the one that counts is not among them."""
    rows = connection.execute(
        "SELECT document, replaced_at, replaced_by, why FROM earlier_versions WHERE kind = 'answer' AND record_key = ? "
        f"ORDER BY {in_time('replaced_at', 'entry', 'earlier_versions')}",
        (key_text((deal, item)),),
    )
    return tuple(AnswerChange(_from_document(item, json.loads(text)), utc_from(at), by, why) for text, at, by, why in rows)


def answer_document(answer: Answer) -> Document:
    """How the journal keeps an answer; its key is (deal, item)."""
    return {
        "state": answer.state, "value": answer.value, "basis": answer.basis,
        "measured": None if answer.measured is None else format(answer.measured, "f"), "note": answer.note,
        "evidence": json_text(list(answer.evidence)), "run_id": answer.run_id, "answered_at": utc_text(answer.at),
        "answered_by": answer.by,
    }  # fmt: skip


def _from_document(item: str, said: dict[str, Any]) -> Answer:
    return _answer((
        item, said["state"], said["value"], said["answered_at"], said["answered_by"], said["basis"], said["measured"],
        said["note"], said["evidence"], said["run_id"],
    ))  # fmt: skip


def _answer(row: tuple[Any, ...]) -> Answer:
    item, state, value, at, by, basis, measured, note, evidence, run_id = row
    return Answer(
        item, AnswerState(state), AnswerValue(value), utc_from(at), by, None if basis is None else Basis(basis),
        None if measured is None else Decimal(measured), note, tuple(json.loads(evidence)), run_id,
    )  # fmt: skip


def list_waivers(connection: sqlite3.Connection, deal: int) -> Mapping[str, Waiver]:
    """The waivers of a deal by item, expired ones too: whether one counts is asked of it."""
    rows = connection.execute("SELECT item_id, given_by, reason, expires FROM waivers WHERE deal_id = ?", (deal,))
    return {item: Waiver(by, reason, date.fromisoformat(expires)) for item, by, reason, expires in rows}


def waiver_document(waiver: Waiver, at: datetime) -> Document:
    """How the journal keeps a waiver; its key is (deal, item). `at` is UTC."""
    return {"given_by": waiver.by, "reason": waiver.reason, "expires": waiver.expires.isoformat(), "given_at": utc_text(at)}
