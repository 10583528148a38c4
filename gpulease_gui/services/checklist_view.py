"""What is answered, open, waived and refuted in the checklist of an offer or contract?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.checklist import DIMENSIONS, ChecklistItem, Importance
from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.commercial import Field, FieldKind, HolderOf, Stated, Subject
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.services.checklist_templates import Template, items_of, template_in
from gpulease_gui.services.commerce import DealFacts, deal_in
from gpulease_gui.services.deal_tags import applies, tags_of

if TYPE_CHECKING:
    import sqlite3


class Outcome(StrEnum):
    """What a line of the checklist comes to, worst first; what colours and filters go by."""

    FAIL = "fail"
    UNKNOWN = "unknown"
    PARTLY = "partly"
    WAIVED = "waived"
    PASS = "pass"
    NOT_APPLICABLE = "not_applicable"


OUTCOME_WORDS: Mapping[Outcome, Text] = {
    Outcome.FAIL: Text("fails", "不符"),
    Outcome.UNKNOWN: Text("unknown", "未知"),
    Outcome.PARTLY: Text("partly", "部分符合"),
    Outcome.WAIVED: Text("waived", "已豁免"),
    Outcome.PASS: Text("passes", "通过"),
    Outcome.NOT_APPLICABLE: Text("not applicable", "不适用"),
}


@dataclass(frozen=True, slots=True)
class ChecklistRow:
    """One item. `answer` is what was entered, found by a run, or follows from stated terms (`derived`); None = nothing.

    `fields` are the commercial terms that answer it. `waived` says whether the waiver counts today.
    """

    item: ChecklistItem
    answer: Answer | None
    derived: bool
    waiver: Waiver | None
    waived: bool
    fields: tuple[Field, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is an answer."""
        return self.answer is not None and self.answer.known

    @property
    def outcome(self) -> Outcome:
        """What the line comes to."""
        found = _plain_outcome(self.answer)
        return Outcome.WAIVED if self.waived and found in (Outcome.FAIL, Outcome.UNKNOWN) else found


def _plain_outcome(answer: Answer | None) -> Outcome:
    if answer is None or not answer.known:
        return Outcome.UNKNOWN
    if answer.state is AnswerState.NOT_APPLICABLE:
        return Outcome.NOT_APPLICABLE
    if answer.state is AnswerState.REFUTED:
        return Outcome.FAIL
    return {AnswerValue.YES: Outcome.PASS, AnswerValue.PARTLY: Outcome.PARTLY, AnswerValue.NO: Outcome.FAIL}.get(
        answer.value, Outcome.UNKNOWN
    )


@dataclass(frozen=True, slots=True)
class ChecklistView:
    """The checklist of a deal. Rows by dimension; `hidden` items do not concern it (tags) and count nowhere."""

    facts: DealFacts
    template: Template
    scenario: str
    rows: tuple[ChecklistRow, ...]
    hidden: tuple[ChecklistItem, ...]

    @property
    def counts(self) -> Mapping[str, Mapping[Outcome, int]]:
        """Dimension -> outcome -> how many."""
        found = {dimension: Counter[Outcome]() for dimension in DIMENSIONS}
        for row in self.rows:
            found.setdefault(row.item.dimension, Counter())[row.outcome] += 1
        return found

    @property
    def totals(self) -> Mapping[Outcome, int]:
        """Outcome -> how many."""
        return Counter(row.outcome for row in self.rows)

    @property
    def open_musts(self) -> tuple[ChecklistRow, ...]:
        """Musts that fail or are unknown, and are not waived."""
        bad = (Outcome.FAIL, Outcome.UNKNOWN)
        return tuple(row for row in self.rows if row.item.severity is Importance.MUST and row.outcome in bad)

    def row(self, item_id: str) -> ChecklistRow:
        """The line of an item. Raises KeyError."""
        return next(row for row in self.rows if row.item.id == item_id)


def checklist_in(
    connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue, day: date, scenario: str | None = None
) -> ChecklistView:
    """The checklist of an offer or contract as of `day`, for `scenario` (None = the deal's own, "" = every use).

    Raises UsageError for an unknown deal.
    """
    facts = deal_in(connection, subject, day)
    return checklist_of(facts, template_in(connection, facts.row.template_id), catalogue, scenario)


def checklist_of(facts: DealFacts, template: Template, catalogue: Catalogue, scenario: str | None = None) -> ChecklistView:
    """The same from facts that were read already."""
    use = (facts.row.scenario or template.scenario) if scenario is None else scenario
    tags = tags_of(facts, catalogue)
    items = items_of(catalogue.checklist, template, use)
    by_item = _fields_by_item(catalogue, facts.row.kind)
    rows = tuple(_row(item, facts, by_item.get(item.id, ())) for item in items if applies(item.applies_if, tags))
    return ChecklistView(facts, template, use, rows, tuple(i for i in items if not applies(i.applies_if, tags)))


def _fields_by_item(catalogue: Catalogue, kind: HolderOf) -> Mapping[str, tuple[Field, ...]]:
    found: dict[str, list[Field]] = {}
    for field in catalogue.fields.values():
        if kind in field.holders or HolderOf.SUPPLIER in field.holders:
            for item in field.items:
                found.setdefault(item, []).append(field)
    return {item: tuple(fields) for item, fields in found.items()}


def _row(item: ChecklistItem, facts: DealFacts, fields: tuple[Field, ...]) -> ChecklistRow:
    entered, waiver = facts.answers.get(item.id), facts.waivers.get(item.id)
    derived = None if entered is not None and entered.known else _derived(item, facts, fields)
    waived = waiver is not None and waiver.counts(facts.day)
    return ChecklistRow(item, derived or entered, derived is not None, waiver, waived, fields)


# A derived answer was given by nobody at no time.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Here a disclosed term is what is asked for; elsewhere a stated value is only one part of the answer.
_DISCLOSED = ("billing", "sla", "commercial", "scheduling_isolation")


def _derived(item: ChecklistItem, facts: DealFacts, fields: tuple[Field, ...]) -> Answer | None:
    """What the stated terms answer: yes when all of an item's fields are filled, partly when some are."""
    said = [(field, stated) for field in fields if (stated := _stated(facts, field)) is not None]
    if item.dimension not in _DISCLOSED or not said:
        return None
    whole = len(said) == len(fields)
    bad = item.dimension != "billing" and any(_is_bad(field, stated) for field, stated in said)
    value = AnswerValue.NO if bad and len(fields) == 1 else AnswerValue.YES if whole and not bad else AnswerValue.PARTLY
    evidence = tuple(dict.fromkeys(stated.evidence for _, stated in said if stated.evidence))
    return Answer(item.id, _state(facts, said), value, _EPOCH, "", evidence=evidence)


def _stated(facts: DealFacts, field: Field) -> Stated | None:
    stated = facts.commercial(field.key).stated.get(field.key)
    return None if stated is None or stated.value is None else stated


def _is_bad(field: Field, stated: Stated) -> bool:
    if field.kind is FieldKind.YES_NO:
        return field.better in ("yes", "no") and stated.value is not (field.better == "yes")
    return field.better == "more" and stated.value == 0


def _state(facts: DealFacts, said: list[tuple[Field, Stated]]) -> AnswerState:
    """As well proven as the weakest of the terms: in the contract, by a document, or by the supplier's word alone."""
    outside = [stated for field, stated in said if field.key not in facts.written]
    if not outside:
        return AnswerState.IN_CONTRACT
    return AnswerState.ANSWERED if any(stated.is_claim for stated in outside) else AnswerState.EVIDENCED
