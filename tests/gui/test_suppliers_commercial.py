"""Can commercial terms, prices and files be written down, taken back and found again, by mouse and by keyboard?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Offer, Supplier
from gpulease_gui.gui.forms.field_cells import EVIDENCE, VALUE
from gpulease_gui.gui.forms.field_form import PlainChoice
from gpulease_gui.gui.forms.rows_dialog import RowsDialog
from gpulease_gui.gui.forms.trash_dialog import TrashDialog
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.pages.suppliers_fields import OPEN, STATED
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.services.commerce_edit import save_offer, save_supplier, state_fields
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.fields_view import FieldRow, field_history_in
from gpulease_gui.store.settings import list_drafts
from gpulease_gui.store.term_versions import get_terms

from .guards import StallGuard
from .opened import measured, wait_for, window_on, words_of

OFFER = Subject(HolderOf.OFFER, "o1")
CTRL = Qt.KeyboardModifier.ControlModifier


def fill(services: Services) -> None:
    """One supplier with one offer that states two terms."""
    offer = Offer("o1", "s1", "Q-7", "8 x H100", Money(Decimal("16.20"), "CNY"))
    terms = {"billing.min_billed_s": Stated(86400, source="4.2"), "billing.whole_node_only": Stated(True)}
    services.workspace.submit(lambda db: save_supplier(db, Supplier("s1", "Haven", "CN"))).result()
    services.workspace.submit(lambda db: save_offer(db, offer)).result()
    services.workspace.submit(lambda db: state_fields(db, OFFER, terms, services.catalogue)).result()


@pytest.fixture
def window(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    services = open_services(tmp_path / "own.db")
    fill(services)
    with window_on(services, theme, english, tmp_path) as shown:
        yield shown


def opened(window: MainWindow, qtbot: QtBot, part: str = "fields") -> SuppliersPage:
    """The page at a part of the offer."""
    window.go("suppliers", "offer", "o1", part)
    page = window.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.current is not None and page.stack.currentWidget() is page.deal_pane)
    if part == "fields":
        wait_for(qtbot, lambda: bool(page.deal_pane.fields.view.rows.rows))
    return page


def row(page: SuppliersPage, key: str) -> FieldRow:
    return next(row for row in page.deal_pane.fields.view.rows.rows if row.key == key)


def edit(page: SuppliersPage, key: str, column: int = VALUE) -> QWidget:
    """Open the editor of a term by the keyboard."""
    view = page.deal_pane.fields.view
    view.setFocus()
    assert view.choose(key)
    view.setCurrentIndex(view.rows.index(view.currentIndex().row(), column))
    QTest.keyClick(view, Qt.Key.Key_F2)
    return view.editors.open_editors[-1]


def typed(page: SuppliersPage, key: str, words: str, qtbot: QtBot) -> None:
    before = row(page, key).value
    editor = edit(page, key)
    QTest.keyClicks(editor, words)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: row(page, key).value != before)


def cell(page: SuppliersPage, key: str, column: int = VALUE) -> str:
    rows = page.deal_pane.fields.view.rows
    place = rows.place_of(key)
    assert place is not None
    return str(rows.index(place, column).data())


# -- terms -------------------------------------------------------------------------------------------------------------------


def test_that_yes_no_and_not_stated_are_three_answers_and_each_act_is_taken_back_by_its_words(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    assert (cell(page, "billing.whole_node_only"), cell(page, "billing.auto_renew")) == ("yes", "not stated")
    editor = edit(page, "billing.auto_renew")
    assert isinstance(editor, QComboBox) and [editor.itemText(n) for n in range(editor.count())] == ["not stated", "yes", "no"]
    editor.setCurrentIndex(2)
    editor.activated.emit(2)
    wait_for(qtbot, lambda: cell(page, "billing.auto_renew") == "no")
    wait_for(qtbot, lambda: page.undo.headline.text() == "Renews by itself: not stated → no")
    actions = {spec.id: action for spec, action in window.menus.shown()}
    wait_for(qtbot, lambda: actions["undo"].text() == "Undo: change Renews by itself")
    assert [keys.toString() for keys in actions["redo"].shortcuts()] == ["Ctrl+Shift+Z", "Ctrl+Y"]
    actions["undo"].trigger()
    wait_for(qtbot, lambda: cell(page, "billing.auto_renew") == "not stated")
    wait_for(qtbot, lambda: actions["redo"].text() == "Redo: change Renews by itself")
    actions["redo"].trigger()
    wait_for(qtbot, lambda: cell(page, "billing.auto_renew") == "no")


def test_that_a_time_needs_its_unit_and_a_wrong_word_stays_in_the_editor(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    editor = edit(page, "billing.min_billed_s")
    assert isinstance(editor, QLineEdit) and editor.text() == "1 d"
    QTest.keyClicks(editor, "90")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    complaint = page.deal_pane.fields.view.editors.complaint
    assert complaint.words.text() == "“90” has no unit of time: write such as 30 s, 10 min, 24 h or 7 d"
    window.go("overview")
    assert window.page is page, "typed words are not thrown away by leaving"
    editor.selectAll()
    QTest.keyClicks(editor, "1 d 12 h")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: row(page, "billing.min_billed_s").value == 129600)
    assert cell(page, "billing.min_billed_s") == "36 h"
    page.deal_pane.fields.view.choose("billing.min_billed_s")
    wait_for(qtbot, lambda: "1 d → 36 h" in words_of(page.desks.field_inspector))
    assert "not stated → 1 d" in words_of(page.desks.field_inspector)


def test_that_chips_and_the_search_narrow_the_terms_and_delete_makes_one_not_stated(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    pane = page.deal_pane.fields
    pane.chips.choose(STATED)
    shown = [r.key for n in range(pane.view.rows.rowCount()) if (r := pane.view.rows.row_at(n)) is not None]
    assert shown == ["billing.min_billed_s", "billing.whole_node_only"]
    pane.view.choose("billing.whole_node_only")
    pane.view.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Delete)
    wait_for(qtbot, lambda: row(page, "billing.whole_node_only").value is None)
    pane.chips.choose(OPEN)
    page.search("whole node")
    wait_for(qtbot, lambda: pane.view.rows.place_of("billing.whole_node_only") is not None)
    assert pane.view.rows.rowCount() == 2, "the heading and the one that fits"


def test_that_a_list_of_steps_is_pasted_from_a_spreadsheet_and_a_bad_cell_is_named(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    view = page.deal_pane.fields.view
    assert view.choose("sla.tiers")
    view.setCurrentIndex(view.rows.index(view.currentIndex().row(), VALUE))
    QTest.keyClick(view, Qt.Key.Key_F2)
    wait_for(qtbot, lambda: page.desks.fields.dialog is not None and page.desks.fields.dialog.isVisible())
    dialog = page.desks.fields.dialog
    assert dialog is not None
    QApplication.clipboard().setText("99.5 %\t10 %\n95 %\t130 %\n")
    QTest.keyClick(dialog.table, Qt.Key.Key_V, CTRL)
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert dialog.error.text() == "Line 2, Credit: “130 %” is more than the whole: write 6 % or 0.06"
    dialog.rows.setData(dialog.rows.index(1, 1), "30 %")
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: cell(page, "sla.tiers") == "99.5 % 10 %; 95 % 30 %")
    assert row(page, "sla.tiers").value == (
        (("below", Decimal("0.995")), ("credit", Decimal("0.10"))), (("below", Decimal("0.95")), ("credit", Decimal("0.30"))),
    )  # fmt: skip


def test_that_half_a_list_of_steps_is_there_again_when_its_dialog_was_never_closed(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    services = page.frame.services
    view, desk = page.deal_pane.fields.view, page.desks.fields
    assert view.choose("sla.tiers")

    def steps() -> RowsDialog:
        view.setCurrentIndex(view.rows.index(view.currentIndex().row(), VALUE))
        QTest.keyClick(view, Qt.Key.Key_F2)
        wait_for(qtbot, lambda: desk.dialog is not None and desk.dialog.isVisible())
        assert desk.dialog is not None
        return desk.dialog

    left = steps()
    left.rows.setData(left.rows.index(0, 0), "99.5 %")
    wait_for(qtbot, lambda: [draft.kind for draft in services.query(list_drafts).result()] == ["rows"])
    left.hide()  # as after a crash: nobody saved it or gave it up
    again = steps()
    wait_for(qtbot, lambda: again.rows.cells[0][0] == "99.5 %")
    assert again.band.headline.text().startswith("Brought back") and again is not left
    again.reject()
    wait_for(qtbot, lambda: not services.query(list_drafts).result())


# -- files and prices --------------------------------------------------------------------------------------------------------


def test_that_a_file_becomes_the_evidence_of_a_term_and_leaves_as_the_same_bytes(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    content = b"%PDF-1.7 quote " * 4000
    (tmp_path / "quote.pdf").write_bytes(content)
    (tmp_path / "large.bin").write_bytes(b"")
    page = opened(window, qtbot, "files")
    page.deal_pane.turn_to(3)
    page.desks.files.attach([tmp_path / "quote.pdf"])
    wait_for(qtbot, lambda: len(page.deal_pane.files.lines.rows) == 1)
    line = page.deal_pane.files.lines.rows[0]
    assert (line.file.name, line.file.kind, line.size) == ("quote.pdf", "application/pdf", len(content))
    page.desks.files.attach([tmp_path / "large.bin"])
    wait_for(qtbot, lambda: window.trouble_band.headline.text() == "large.bin is empty")
    page.desks.files.write(line, tmp_path / "out.pdf")
    wait_for(qtbot, (tmp_path / "out.pdf").exists)
    assert (tmp_path / "out.pdf").read_bytes() == content
    page.deal_pane.turn_to(1)
    wait_for(qtbot, lambda: bool(page.deal_pane.fields.view.rows.rows) and bool(page.deal_pane.fields.view.editors.files))
    editor = edit(page, "billing.min_billed_s", EVIDENCE)
    assert isinstance(editor, PlainChoice) and [editor.itemText(n) for n in range(editor.count())] == ["claim only", "quote.pdf"]
    editor.setCurrentIndex(1)
    editor.activated.emit(1)
    wait_for(qtbot, lambda: cell(page, "billing.min_billed_s", EVIDENCE) == "quote.pdf")
    assert cell(page, "billing.min_billed_s", 4) == "in writing"


def test_that_a_new_price_ends_the_one_before_and_both_stay_on_record(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot, "prices")
    wait_for(qtbot, lambda: page.desks.prices.sheet is not None and len(page.desks.prices.sheet.lines) == 1)
    QTest.mouseClick(page.deal_pane.prices.add, Qt.MouseButton.LeftButton)
    form = page.forms.price
    form.price.amount.setText("3.6万元/卡/月")
    form.first.setText("2026-11-01")
    form.tax.choose("no")
    form.rate.setText("6 %")
    QTest.keyClicks(form.why, "new quote")
    form.save()
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.deal_pane and len(page.deal_pane.prices.lines.rows) == 2)
    old, new = (line.price for line in page.deal_pane.prices.lines.rows)
    assert (old.money, old.valid_to) == (Money(Decimal("16.20"), "CNY"), date(2026, 10, 31))
    assert (new.money, new.unit, new.tax_included, new.tax_rate) == (Money(Decimal("36000"), "CNY"), "gpu_month", False, Decimal("0.06"))
    assert "new quote" in words_of(page.deal_pane.prices)


def test_that_accepting_takes_commercial_terms_prices_and_their_history_along(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    page.accept_offer()
    QTest.keyClicks(page.forms.contract.number, "HT-9")
    page.forms.contract.save()
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", "HT-9"))
    wait_for(qtbot, lambda: page.key.startswith("contract/") and page.desks.subject is not None and page.desks.subject.kind is HolderOf.CONTRACT)
    subject = page.desks.subject
    assert subject is not None
    terms = window.services.query(lambda c: get_terms(c, subject)).result()
    assert terms.stated == {"billing.min_billed_s": Stated(86400, source="4.2"), "billing.whole_node_only": Stated(True)}
    history = window.services.query(lambda c: field_history_in(c, subject, "billing.min_billed_s")).result()
    assert [(change.before, change.why) for change in history] == [(None, "taken over from the offer")]


def test_that_red_flags_are_listed_with_their_reasons(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    wait_for(qtbot, lambda: "Hidden minimum" in words_of(page.desks.risk_pane))
    assert "every start or order is charged 24 h at least" in words_of(page.desks.risk_pane)


# -- drafts, trash, Ctrl+K -----------------------------------------------------------------------------------------------------


def test_that_typed_words_outlive_a_crash_and_are_gone_once_saved(theme: Theme, english: Translations, tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "own.db")
    fill(services)
    with window_on(services, theme, english, tmp_path) as first:
        page = opened(first, qtbot)
        page.edit()
        QTest.keyClicks(page.forms.offer.note, "one day only")
        wait_for(qtbot, lambda: len(services.query(list_drafts).result()) == 1)
    again = open_services(tmp_path / "own.db")
    with window_on(again, theme, english, tmp_path) as second:
        page = opened(second, qtbot)
        page.edit()
        form = page.forms.offer
        wait_for(qtbot, lambda: form.note.toPlainText() == "one day only")
        assert form.dirty and form.band.headline.text().startswith("Brought back: typed ")
        form.save()
        wait_for(qtbot, lambda: again.query(list_drafts).result() == ())
        wait_for(qtbot, lambda: page.current is not None and page.current[1] is not None and page.current[1].record.note == "one day only")


def test_that_a_deleted_offer_comes_back_from_the_trash_with_its_terms(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    page.list.setFocus()
    page.act("delete")
    wait_for(qtbot, lambda: not len(page.found))
    assert page.undo.isVisible() and page.undo.headline.text() == "Q-7 is in the trash"
    window._act_here("trash")
    dialog = window.findChild(TrashDialog)
    assert dialog is not None
    wait_for(qtbot, lambda: dialog.restore.isEnabled())
    assert [(entry.kind, entry.name) for entry in dialog.rows.rows] == [("offer", "Q-7 8 x H100")]
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.found.deals.number == ("Q-7",))
    wait_for(qtbot, lambda: dialog.none.isVisible())
    dialog.reject()
    assert window.services.query(lambda c: get_terms(c, OFFER)).result().value("billing.min_billed_s") == 86400


def test_that_the_trash_is_emptied_only_after_a_question_that_says_how_much_goes(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    page.list.setFocus()
    page.act("delete")
    wait_for(qtbot, lambda: not len(page.found))
    dialog = TrashDialog(window, parent=window)
    wait_for(qtbot, lambda: dialog.empty.isEnabled())
    asked = dialog.ask_empty()
    assert asked.sure.text() == "Empty 1 record"
    QTest.keyClick(asked, Qt.Key.Key_Return)
    assert len(dialog.rows.rows) == 1 and not asked.isVisible(), "Return keeps them"
    asked = dialog.ask_empty()
    asked.sure.click()
    wait_for(qtbot, lambda: not dialog.rows.rows and dialog.none.isVisibleTo(dialog) and not dialog.empty.isEnabled())
    kept = window.services.query(lambda c: c.execute("SELECT count(*) FROM trash").fetchone()).result(10)
    assert kept == (1,), "the history keeps it"
    dialog.reject()


def test_that_ctrl_k_goes_to_an_offer_a_page_and_a_command_by_a_few_letters(window: MainWindow, qtbot: QtBot) -> None:
    window.go("overview")
    panel = window.going.panel
    QTest.keyClick(window, Qt.Key.Key_K, CTRL)
    assert panel.isVisible() and panel.field.hasFocus()
    QTest.keyClicks(panel.field, "haven q-7")
    wait_for(qtbot, lambda: [place.title for place in panel.found] == ["8 x H100"])
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    page = window.page
    assert isinstance(page, SuppliersPage) and not panel.isVisible()
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", "Q-7"))
    QTest.keyClick(window, Qt.Key.Key_K, CTRL)
    panel.field.setText("报告")
    assert [str(place.page) for place in panel.found][0] == "reports"
    panel.field.setText("dark theme")
    assert [place.page for place in panel.found] == ["theme_dark"]
    panel.field.setText("no such thing anywhere")
    assert panel.none.isVisible() and panel.found == ()
    QTest.keyClick(panel.field, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_that_commercial_terms_never_hold_the_window(window: MainWindow, qtbot: QtBot, stalls: StallGuard) -> None:
    with measured(stalls):
        with stalls.allow("first build of the page"):
            page = opened(window, qtbot, "terms")
            wait_for(qtbot, lambda: page.desks._has_risks and bool(words_of(page.desks.risk_pane)))
            qtbot.wait(80)
        with stalls.allow("first build of the commercial terms"):
            page.deal_pane.turn_to(1)
            wait_for(qtbot, lambda: bool(page.deal_pane.fields.view.rows.rows))
            qtbot.wait(80)
        for key in ("offer.stock", "offer.region", "offer.channel"):
            page.deal_pane.fields.view.choose(key)
            qtbot.wait(30)
        with stalls.allow("first build of the prices"):
            page.deal_pane.turn_to(2)
            qtbot.wait(80)
        with stalls.allow("Qt draws the whole table anew when it comes back into sight"):
            page.deal_pane.turn_to(1)
            qtbot.wait(60)
