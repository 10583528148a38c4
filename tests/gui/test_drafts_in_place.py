"""Does what was typed into a cell, a source, an evidence or a note, and not entered yet, come back after a crash?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.gui.forms.in_place import InPlaceView
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.checklist import PAGE as CHECKLIST
from gpulease_gui.gui.pages.checklist import ChecklistPage
from gpulease_gui.gui.pages.suppliers import PAGE as SUPPLIERS
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.services.checklist_edit import Given, answer_items
from gpulease_gui.services.composition import Services
from gpulease_gui.services.directory import state_term
from gpulease_gui.store.answers import list_answers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.deals import deal_number
from gpulease_gui.store.records import Draft
from gpulease_gui.store.settings import list_drafts, save_draft
from gpulease_gui.store.term_versions import get_terms

from .opened import wait_for
from .test_suppliers_commercial import OFFER, fill, opened

BACK = "Brought back: typed "
Windows = Callable[..., MainWindow]


@pytest.fixture
def filled(services: Services) -> Services:
    fill(services)
    services.change(lambda db: state_term(db, Holder.offer("o1"), "gpu.count", 8, services.catalogue, source="page 2")).result(10)
    services.change(lambda db: answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.YES, "by phone"))).result(10)
    services.workspace.forbid_main_thread()
    return services


@contextmanager
def crash(services: Services, window: MainWindow, qtbot: QtBot, kind: str, end: Callable[[], None]) -> Iterator[None]:
    """What stands in the store while words are typed stands there again after it, as if the window had been killed in between."""
    wait_for(qtbot, lambda: [draft.kind for draft in drafts(services)] == [kind])
    (kept,) = drafts(services)
    end()
    wait_for(qtbot, lambda: drafts(services) == ())
    window.detach()
    services.change(lambda db: save_draft(db, kept)).result(10)
    yield
    wait_for(qtbot, lambda: drafts(services) == ())


def drafts(services: Services) -> tuple[Draft, ...]:
    return services.query(list_drafts).result(10)


def suppliers(make_window: Windows, services: Services, qtbot: QtBot, part: str) -> SuppliersPage:
    window = make_window(SUPPLIERS)
    window.resize(1440, 900)
    window.attach(services)
    page = opened(window, qtbot, part)
    wait_for(qtbot, lambda: window.bridge.is_at_rest)
    return page


def table_of(page: SuppliersPage, part: str) -> InPlaceView:
    return page.deal_pane.fields.view if part == "fields" else page.deal_pane.terms


@pytest.mark.parametrize(("part", "kind", "key", "words"), [("fields", "field_cell", "billing.min_billed_s", "36 h"), ("terms", "term_cell", "gpu.count", "16")])
def test_that_a_half_typed_cell_is_open_again_with_its_words(
    filled: Services, make_window: Windows, qtbot: QtBot, part: str, kind: str, key: str, words: str
) -> None:
    page = suppliers(make_window, filled, qtbot, part)
    view = table_of(page, part)
    assert view.choose(key)
    view.edit_column(1)
    QTest.keyClicks(view.editors.open_editors[0], words)
    window = page.window()
    assert isinstance(window, MainWindow)
    with crash(filled, window, qtbot, kind, lambda: QTest.keyClick(view.editors.open_editors[0], Qt.Key.Key_Escape)):
        again = suppliers(make_window, filled, qtbot, part)
        view = table_of(again, part)
        wait_for(qtbot, lambda: bool(view.editors.open_editors))
        editor, band = view.editors.open_editors[0], again.deal_pane.fields.back if part == "fields" else again.deal_pane.back
        assert isinstance(editor, QLineEdit) and editor.text() == words
        assert band.isVisible() and band.headline.text().startswith(BACK)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        wait_for(qtbot, lambda: not band.isVisible())
    if part == "fields":
        assert filled.query(lambda c: get_terms(c, OFFER)).result(10).value(key) == 129600
    else:
        wait_for(qtbot, lambda: next(row.value for row in view.rows.rows if row.term.key == key) == 16)


def test_that_the_words_of_a_source_and_of_an_evidence_come_back_beside_their_term(filled: Services, make_window: Windows, qtbot: QtBot) -> None:
    page = suppliers(make_window, filled, qtbot, "terms")
    page.deal_pane.terms.choose("gpu.count")
    source = page.desks.term_inspector.source
    wait_for(qtbot, lambda: source.words.text() == "page 2")
    QTest.keyClicks(source.words, " and 3")
    window = page.window()
    assert isinstance(window, MainWindow)
    with crash(filled, window, qtbot, "source", lambda: [QTest.keyClick(source.words, Qt.Key.Key_Backspace) for _ in range(6)][0]):
        page = suppliers(make_window, filled, qtbot, "terms")
        page.deal_pane.terms.choose("gpu.count")
        source = page.desks.term_inspector.source
        wait_for(qtbot, lambda: source.words.text() == "page 2 and 3")
        assert source.back.isVisible() and source.back.text().startswith(BACK) and source.save.isVisible()
        source.save.click()
        assert not source.back.isVisible()


def test_that_words_that_are_still_being_saved_come_back_with_their_term(filled: Services, make_window: Windows, qtbot: QtBot) -> None:
    page = suppliers(make_window, filled, qtbot, "fields")
    view, busy = page.deal_pane.fields.view, threading.Event()
    proof = page.desks.field_inspector.proof
    view.choose("billing.min_billed_s")
    wait_for(qtbot, lambda: proof.source.text() == "4.2")
    filled.workspace.submit(lambda _: busy.wait(60))
    try:
        QTest.keyClicks(proof.wording, "at least one d")
        view.choose("billing.whole_node_only")
        wait_for(qtbot, lambda: proof.source.text() == "")
        view.choose("billing.min_billed_s")
        wait_for(qtbot, lambda: proof.source.text() == "4.2")
        filled.query(lambda connection: None).result(10)
    finally:
        busy.set()
    wait_for(qtbot, lambda: proof.wording.toPlainText() == "at least one d")
    assert proof.back.isVisible()


def test_that_the_wording_of_a_supplier_comes_back_beside_its_term_and_stays_with_it(filled: Services, make_window: Windows, qtbot: QtBot) -> None:
    page = suppliers(make_window, filled, qtbot, "fields")
    view = page.deal_pane.fields.view
    view.choose("billing.min_billed_s")
    proof = page.desks.field_inspector.proof
    wait_for(qtbot, lambda: proof.source.text() == "4.2")
    proof.wording.setFocus()
    QTest.keyClicks(proof.wording, "at least one d")
    view.choose("billing.whole_node_only")
    wait_for(qtbot, lambda: proof.source.text() == "")
    assert proof.wording.toPlainText() == ""
    view.choose("billing.min_billed_s")
    wait_for(qtbot, lambda: proof.wording.toPlainText() == "at least one d")
    assert proof.back.isVisible()
    window = page.window()
    assert isinstance(window, MainWindow)
    with crash(filled, window, qtbot, "evidence", proof.save.click):
        page = suppliers(make_window, filled, qtbot, "fields")
        page.deal_pane.fields.view.choose("billing.min_billed_s")
        proof = page.desks.field_inspector.proof
        wait_for(qtbot, lambda: proof.wording.toPlainText() == "at least one d")
        QTest.keyClicks(proof.wording, "!")
        proof.save.click()  # also where the draft is found after that


def test_that_a_note_of_the_checklist_comes_back_beside_its_items(filled: Services, make_window: Windows, qtbot: QtBot) -> None:
    def shown() -> ChecklistPage:
        window = make_window(CHECKLIST)
        window.attach(filled)
        window.go("checklist", HolderOf.OFFER, "o1")
        page = window.page
        assert isinstance(page, ChecklistPage)
        wait_for(qtbot, lambda: page.seen is not None)
        page.table.choose("BI-03")
        wait_for(qtbot, lambda: page.desk.items == ("BI-03",) and window.bridge.is_at_rest)
        return page

    page = shown()
    note = page.inspector.note
    note.setFocus()
    QTest.keyClicks(note, "Lin s")
    window = page.window()
    assert isinstance(window, MainWindow)
    with crash(filled, window, qtbot, "note", lambda: note.setPlainText("by phone")):
        again = shown()
        note = again.inspector.note
        wait_for(qtbot, lambda: note.toPlainText() == "Lin sby phone")
        assert again.inspector.back.isVisible() and again.inspector.back.text().startswith(BACK) and note.dirty
        QTest.keyClick(note, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert not again.inspector.back.isVisible()
    said = filled.query(lambda c: list_answers(c, deal_number(c, OFFER) or 0)["BI-03"].note).result(10)
    assert said == "Lin sby phone" and QApplication.focusWidget() is not None
