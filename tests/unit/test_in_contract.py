"""What stands in a contract, and what is only the supplier's word that was taken over from the offer?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.economics.scoring import EvidenceKind
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.checklist_edit import Given, answer_items
from gpulease_gui.services.checklist_view import ChecklistRow, checklist_in
from gpulease_gui.services.commerce_score import item_of
from gpulease_gui.store.workspace import Workspace

CATALOGUE = load_catalogue()
OFFER, SIGNED, ALONE = Subject(HolderOf.OFFER, "o1"), Subject(HolderOf.CONTRACT, "c1"), Subject(HolderOf.CONTRACT, "c2")
SAID = Stated(86400, source="quote p. 2")


@pytest.fixture
def change(tmp_path) -> Iterator[Callable]:
    workspace = Workspace.open(tmp_path / "w.db")

    def change(work: Callable) -> object:
        return workspace.submit(work).result()

    change.workspace = workspace  # type: ignore[attr-defined]
    change(lambda db: edit.save_supplier(db, Supplier("s1", "Haven")))
    change(lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7")))
    state(change, OFFER, {"sla.replace_s": SAID, "sla.target": Stated(Decimal("0.99"), evidence="a1")})
    change(lambda db: answer_items(db, OFFER, ["SU-01"], Given(AnswerState.ANSWERED, AnswerValue.YES)))
    change(lambda db: edit.accept_offer(db, "o1", Contract("c1", "s1", "HT-1", "o1")))
    yield change
    workspace.close()


def state(change: Callable, subject: Subject, terms: dict[str, Stated]) -> None:
    change(lambda db: edit.state_fields(db, subject, terms, CATALOGUE))


def row(change: Callable, item: str, subject: Subject = SIGNED) -> ChecklistRow:
    with change.workspace.read() as connection:
        return checklist_in(connection, subject, CATALOGUE, date(2026, 6, 1)).row(item)


def test_that_what_was_taken_over_is_as_well_proven_as_in_the_offer(change):
    for item in ("SL-04", "SL-01", "SU-01"):
        signed, offered = row(change, item), row(change, item, OFFER)
        assert (signed.answer.state, item_of(signed).evidence) == (offered.answer.state, item_of(offered).evidence)
    assert item_of(row(change, "SL-04")).evidence is EvidenceKind.CLAIM


@pytest.mark.parametrize(("said", "kind"), [
    (replace(SAID, source="contract 4.2"), EvidenceKind.CONTRACT),
    (replace(SAID, evidence="scan"), EvidenceKind.CONTRACT),
    (replace(SAID, value=7200), EvidenceKind.CONTRACT),
    (replace(SAID, note="read again"), EvidenceKind.CLAIM),
    (replace(SAID, source=""), EvidenceKind.CLAIM),
])  # fmt: skip
def test_that_what_is_entered_on_the_contract_stands_in_it(said, kind, change):
    state(change, SIGNED, {"sla.replace_s": said})
    assert item_of(row(change, "SL-04")).evidence is kind


def test_that_a_contract_without_an_offer_states_its_terms_itself(change):
    change(lambda db: edit.save_contract(db, Contract("c2", "s1", "HT-2")))
    state(change, ALONE, {"sla.replace_s": SAID})
    assert row(change, "SL-04", ALONE).answer.state is AnswerState.IN_CONTRACT


def test_that_an_offer_that_is_corrected_later_does_not_make_the_old_word_a_clause(change):
    state(change, OFFER, {"sla.replace_s": replace(SAID, value=3600)})
    assert item_of(row(change, "SL-04")).evidence is EvidenceKind.CLAIM
