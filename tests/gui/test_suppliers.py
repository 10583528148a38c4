"""Can a supplier, its offer, its promises and the contract be written down by mouse and by keyboard?"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.gpu_picker import GpuPicker
from gpulease_gui.gui.forms.term_cells import SOURCE, VALUE
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.overview import OverviewPage
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.pages.suppliers_deals import MANY
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.services.claims_view import TermRow
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.deal_list import ALL, BY_MODEL, DealList, deal_list_of
from gpulease_gui.store.deal_list import DealColumns, SupplierLine

from .guards import StallGuard
from .opened import demo_services, fail_power, measured, wait_for, window_on, words_of

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def own(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(open_services(tmp_path / "own.db"), theme, english, tmp_path) as window:
        yield window


@pytest.fixture
def demo(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(demo_services(tmp_path), theme, english, tmp_path) as window:
        yield window


def suppliers(window: MainWindow, qtbot: QtBot, *path: str) -> SuppliersPage:
    window.go("suppliers", *path)
    page = window.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is not page.waiting)
    if page.stack.currentWidget() is page.deal_pane:
        wait_for(qtbot, lambda: page.inspector.row is not None)
    return page


def click(button: QWidget, qtbot: QtBot) -> None:
    assert button.isVisible() and button.isEnabled()
    qtbot.mouseClick(button, LEFT)


def row(page: SuppliersPage, key: str) -> TermRow:
    return next(row for row in page.deal_pane.terms.rows.rows if row.term.key == key)


def cell(page: SuppliersPage, key: str, column: int = VALUE) -> str:
    rows = page.deal_pane.terms.rows
    place = rows.place_of(key)
    assert place is not None
    return str(rows.index(place, column).data())


def edit(page: SuppliersPage, key: str, column: int = VALUE) -> QWidget:
    """Open the editor of a term by the keyboard."""
    terms = page.deal_pane.terms
    terms.setFocus()
    assert terms.choose(key)
    terms.setCurrentIndex(terms.rows.index(terms.currentIndex().row(), column))
    QTest.keyClick(terms, Qt.Key.Key_F2)
    return page.deal_pane.terms.editors.open_editors[-1]


def typed(page: SuppliersPage, key: str, words: str, qtbot: QtBot) -> None:
    """Type a value, press Enter and wait until the store has it."""
    before = row(page, key).value
    editor = edit(page, key)
    QTest.keyClicks(editor, words)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: row(page, key).value != before)


def with_offer(page: SuppliersPage, qtbot: QtBot) -> None:
    """A supplier and an offer, by the forms."""
    page.new_supplier()
    QTest.keyClicks(page.forms.supplier.name, "Haven")
    QTest.keyClick(page.forms.supplier.name, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    page.new_offer()
    QTest.keyClicks(page.forms.offer.number, "Q-7")
    QTest.keyClick(page.forms.offer.number, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.deal_pane and page.inspector.row is not None)


# -- the journey -----------------------------------------------------------------------------------------------------------


def test_that_an_empty_page_leads_to_a_contract_with_its_promises_by_the_mouse(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    assert page.stack.currentWidget() is page.empty and not page.list.isVisible()
    click(page.empty.findChild(Button), qtbot)
    click(page.forms.supplier.band.save, qtbot)
    assert page.forms.supplier._name.error.isVisible(), "a supplier without a name is refused"
    qtbot.keyClicks(page.forms.supplier.name, "Haven")
    click(page.forms.supplier.band.save, qtbot)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    click(page.add_offer, qtbot)
    qtbot.keyClicks(page.forms.offer.number, "Q-7")
    qtbot.keyClicks(page.forms.offer.price.amount, "16.20")
    click(page.forms.offer.band.save, qtbot)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.deal_pane and page.inspector.row is not None)
    typed(page, "gpu.count", "8", qtbot)
    click(page.accept, qtbot)
    assert page.forms.contract.price.amount.text() == "16.20"
    qtbot.keyClicks(page.forms.contract.number, "HT-7")
    qtbot.keyClicks(page.forms.contract.end, "2027-02-30")
    click(page.forms.contract.band.save, qtbot)
    assert page.forms.contract._end.error.text() == "Write the date as 2026-12-31"
    page.forms.contract.end.setText("2027-02-28")
    click(page.forms.contract.band.save, qtbot)
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", "HT-7") and row(page, "gpu.count").value == 8)
    assert row(page, "gpu.count").state is ClaimState.ANSWERED
    page.deal_pane.terms.choose("gpu.count")
    wait_for(qtbot, lambda: "me · taken over from offer Q-7" in words_of(page.inspector))
    assert page.found.deals.number == ("Q-7", "HT-7")


def test_that_the_same_is_done_without_a_mouse(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    QTest.keyClick(own, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert page.stack.currentWidget() is page.forms.supplier and page.forms.supplier.name.hasFocus()
    QTest.keyClicks(page.forms.supplier.name, "Haven")
    QTest.keyClick(own, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    page.add_offer.setFocus()
    QTest.keyClick(page.add_offer, Qt.Key.Key_Space)
    QTest.keyClicks(page.forms.offer.number, "Q-7")
    QTest.keyClick(page.forms.offer.number, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.deal_pane and page.inspector.row is not None)
    typed(page, "cuda.min", "12.4", qtbot)
    assert cell(page, "cuda.min") == "12.4"


# -- editors -----------------------------------------------------------------------------------------------------------------


def test_that_a_model_is_found_by_parts_of_its_name_and_chosen_by_the_keyboard(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    picker = edit(page, "gpu.model")
    assert isinstance(picker, GpuPicker)
    QTest.keyClicks(picker, "h100 sxm5 80")
    assert [line.key for line in picker.drop.view.rows.lines] == ["nvidia-h100-sxm5-80gb"]
    QTest.keyClick(picker, Qt.Key.Key_Down)
    QTest.keyClick(picker, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: row(page, "gpu.model").value == "nvidia-h100-sxm5-80gb")
    assert cell(page, "gpu.model") == "H100 SXM5 80GB"
    assert row(page, "gpu.power_w").implied == 700
    page.deal_pane.terms.choose("gpu.power_w")
    wait_for(qtbot, lambda: any("Implied by the GPU model: 700 W" in words for words in words_of(page.inspector)))


def test_that_a_model_is_chosen_by_a_click_and_by_an_alias(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    picker = edit(page, "gpu.model")
    assert isinstance(picker, GpuPicker)
    QTest.keyClicks(picker, "NVIDIA H100 80GB HBM3")
    view = picker.drop.view
    assert view.rows.lines[0].key == "nvidia-h100-sxm5-80gb"
    qtbot.mouseClick(view.viewport(), LEFT, pos=view.visualRect(view.rows.index(0, 0)).center())
    wait_for(qtbot, lambda: row(page, "gpu.model").value == "nvidia-h100-sxm5-80gb")


def test_that_a_family_may_be_promised_and_says_what_stays_open(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    typed(page, "gpu.model", "H100", qtbot)
    place = page.deal_pane.terms.rows.place_of("gpu.model")
    assert place is not None
    shown = page.deal_pane.terms.rows.cell(page.deal_pane.terms.rows.index(place, VALUE))
    assert shown is not None and str(shown.tip) == "a family: form factor and memory stay open"


def test_that_terms_that_exclude_each_other_are_marked_beside_the_value(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    typed(page, "gpu.model", "H100 PCIe 80GB", qtbot)
    typed(page, "gpu.memory_gb", "94", qtbot)
    rows = page.deal_pane.terms.rows
    place = rows.place_of("gpu.memory_gb")
    assert place is not None
    shown = rows.cell(rows.index(place, VALUE))
    assert shown is not None and shown.icon == "verdict-warn" and "gpu.memory_gb = 94" in str(shown.tip)
    assert page.deal_pane.terms.choose("gpu.memory_gb")
    wait_for(qtbot, lambda: page.inspector.torn.isVisible())
    wait_for(qtbot, lambda: any("gpu.memory_gb = 94, but " in words for words in words_of(page.inspector.torn)))
    typed(page, "gpu.memory_gb", "80", qtbot)
    wait_for(qtbot, lambda: row(page, "gpu.memory_gb").conflict is None and not page.inspector.torn.isVisible())


@pytest.mark.parametrize(("key", "words", "said"), [
    ("gpu.count", "4096", "4096 cannot be meant: possible is 1 – 128 GPUs"),
    ("gpu.count", "7.5", "7.5 is no whole number"),
    ("gpu.count", "eight", "“eight” is no number; the unit is GPUs"),
    ("network.gbit_s", "12.5 GB/s", "The unit here is always Gbit/s, not “GB/s”: convert first, then type the number alone"),
    ("driver.min", "latest", "“latest” is no version: write digits and dots, such as 12.4"),
    ("gpu.model", "h100 sxm5", "This fits 4 products; choose one: "),
    ("gpu.model", "Voodoo 2", "No product is called “Voodoo 2”; type less, or choose from the list"),
])  # fmt: skip
def test_that_a_value_that_cannot_be_meant_is_refused_with_words_and_stays_in_the_editor(
    own: MainWindow, qtbot: QtBot, key: str, words: str, said: str
) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    editor = edit(page, key)
    assert isinstance(editor, QLineEdit)
    QTest.keyClicks(editor, words)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    complaint = page.deal_pane.terms.editors.complaint
    assert complaint.isVisible() and complaint.words.text().startswith(said)
    assert editor.isVisible() and editor.text() == words
    own.go("overview")
    assert own.page is page, "typed words are not thrown away by leaving"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not complaint.isVisible() and row(page, key).value is None
    own.go("overview")
    assert isinstance(own.page, OverviewPage)


def test_that_the_unit_itself_may_be_typed_with_the_number(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    typed(page, "disk.read_mb_s", "6,000 MB/s", qtbot)
    assert row(page, "disk.read_mb_s").value == 6000


def test_that_yes_no_has_three_states_and_a_choice_is_kept_when_it_is_picked(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    editor = edit(page, "gpu.ecc")
    assert isinstance(editor, QComboBox)
    assert [editor.itemText(n) for n in range(editor.count())] == ["not stated", "yes", "no"]
    editor.setCurrentIndex(2)
    editor.activated.emit(2)
    wait_for(qtbot, lambda: row(page, "gpu.ecc").value is False)
    assert cell(page, "gpu.ecc") == "no"


def test_that_what_nobody_said_is_a_word_and_clearing_brings_it_back_and_can_be_undone(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    assert cell(page, "gpu.count") == "not stated"
    typed(page, "gpu.count", "8", qtbot)
    page.deal_pane.terms.choose("gpu.count")
    page.deal_pane.terms.setFocus()
    QTest.keyClick(own, Qt.Key.Key_Delete)
    wait_for(qtbot, lambda: cell(page, "gpu.count") == "not stated")
    assert page.undo.headline.text() == "GPUs per node: 8 GPUs → not stated"
    click(page.undo.undo, qtbot)
    wait_for(qtbot, lambda: cell(page, "gpu.count") == "8")


def test_that_a_source_typed_in_its_cell_is_a_document_and_hearsay_is_told_apart(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    typed(page, "gpu.count", "8", qtbot)
    editor = edit(page, "gpu.count", SOURCE)
    QTest.keyClicks(editor, "annex A, line 3")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: row(page, "gpu.count").state is ClaimState.EVIDENCED)
    page.deal_pane.terms.choose("gpu.count")
    wait_for(qtbot, lambda: page.inspector.source.words.text() == "annex A, line 3")
    said = next(b for b in page.inspector.source.kind._group.buttons() if b.text() == "Spoken")
    qtbot.mouseClick(said, LEFT)
    click(page.inspector.source.save, qtbot)
    wait_for(qtbot, lambda: row(page, "gpu.count").state is ClaimState.ANSWERED)
    assert row(page, "gpu.count").written is False


def test_that_a_question_can_be_marked_as_asked(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    page.deal_pane.terms.choose("rdma.ports")
    wait_for(qtbot, lambda: page.inspector.row is not None and page.inspector.row.term.key == "rdma.ports")

    def buttons() -> list[Button]:
        return [b for b in page.inspector.findChildren(Button) if b.accessibleName() == "Mark as asked" and b.isVisible()]

    wait_for(qtbot, lambda: bool(buttons()))
    click(buttons()[0], qtbot)
    wait_for(qtbot, lambda: row(page, "rdma.ports").state is ClaimState.ASKED)


# -- records -----------------------------------------------------------------------------------------------------------------


def test_that_an_unsaved_form_keeps_the_user_until_it_is_saved_or_discarded(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    with_offer(page, qtbot)
    click(page.edit_button, qtbot)
    QTest.keyClicks(page.forms.offer.offer_title, "eight cards")
    own.go("overview")
    assert own.page is page and page.forms.offer.band.isVisible()
    page.open_key(f"supplier/{page.found.suppliers[0].id}")
    assert page.stack.currentWidget() is page.forms.offer and page.forms.offer.offer_title.text() == "eight cards"
    click(page.forms.offer.band.discard, qtbot)
    assert page.stack.currentWidget() is page.deal_pane


def test_that_a_supplier_is_removed_and_brought_back(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    page.new_supplier()
    QTest.keyClicks(page.forms.supplier.name, "Haven")
    page.forms.supplier.save()
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    page.act("delete")
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    click(page.undo.undo, qtbot)
    wait_for(qtbot, lambda: [supplier.name for supplier in page.found.suppliers] == ["Haven"])


def test_that_a_supplier_goes_to_the_trash_with_its_deals_and_all_come_back_at_once(demo: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(demo, qtbot)
    supplier, before = page.found.suppliers[0], page.found
    page.open_key(f"supplier/{supplier.id}")
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    page.act("delete")
    wait_for(qtbot, lambda: supplier not in page.found.suppliers)
    assert supplier.id not in page.found.deals.supplier_id
    assert page.undo.headline.text() == f"{supplier.name} is in the trash"
    click(page.undo.undo, qtbot)
    wait_for(qtbot, lambda: page.found.deals == before.deals)
    assert page.found.suppliers == before.suppliers


def test_that_a_hostile_name_stays_plain_text(own: MainWindow, qtbot: QtBot) -> None:
    name = "<img src=x onerror=alert(1)><b>Ever\u202egreen\u200b</b>"
    page = suppliers(own, qtbot)
    page.new_supplier()
    page.forms.supplier.name.setText(name)
    page.forms.supplier.save()
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.supplier_pane)
    assert page.found.suppliers[0].name == name
    shown = "<img src=x onerror=alert(1)><b>Ever⟨U+202E⟩green⟨U+200B⟩</b>"
    assert page.supplier_pane.title.text() == shown
    assert page.list.rows.index(0, 0).data() == shown
    labels = [label for label in own.findChildren(QLabel) if "Ever" in label.text()]
    assert labels and all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)
    assert "<img" not in str(page.list.rows.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))


# -- a contract with runs --------------------------------------------------------------------------------------------------------


def test_that_a_contract_shows_what_was_found_beside_what_was_promised(demo: MainWindow, qtbot: QtBot) -> None:
    fail_power(demo.services)
    page = suppliers(demo, qtbot, "contract", "demo-contract-BM-0047-1")
    assert [cell(page, "gpu.power_w", column) for column in range(1, 7)] == [
        "700", row(page, "gpu.power_w").claim.source, "1", "refuted", "350", "Fail",  # type: ignore[union-attr]
    ]  # fmt: skip
    page.deal_pane.terms.choose("gpu.power_w")
    wait_for(qtbot, lambda: "350 W in place of 700 W" in words_of(page.inspector))
    assert page.inspector.head.ruler.isVisible()
    page.open_key("offer/demo-offer-BM-0047")
    wait_for(qtbot, lambda: page.deal_pane.terms.isColumnHidden(5))


def test_that_language_and_theme_switch_twice_and_leave_nothing_behind(demo: MainWindow, qtbot: QtBot) -> None:
    fail_power(demo.services)
    page = suppliers(demo, qtbot, "contract", "demo-contract-BM-0047-1")
    wait_for(qtbot, lambda: page.inspector.history.isVisible())
    qtbot.wait(1)
    before = words_of(page)
    demo.speak(Language.ZH)
    demo.wear(ThemeMode.DARK)
    qtbot.wait(1)
    chinese = words_of(page)
    ours = {"GPU model and variant", "Promised", "not stated", "refuted", "Source", "History", "Verified by", "Written", "no"}
    assert ours - {"no"} <= set(before) and not ours & set(chinese)
    assert {"GPU 型号与版本", "未说明", "实测不符", "沿革"} <= set(chinese)
    demo.speak(Language.EN)
    demo.wear(ThemeMode.LIGHT)
    qtbot.wait(1)
    assert words_of(page) == before


def test_that_reading_and_typing_never_hold_the_window(demo: MainWindow, qtbot: QtBot, stalls: StallGuard) -> None:
    with measured(stalls):
        with stalls.allow("first build of the page"):
            page = suppliers(demo, qtbot, "contract", "demo-contract-BM-0047-1")
            wait_for(qtbot, lambda: page.desks._has_risks)
            qtbot.wait(120)
        for key in ("gpu.power_w", "ram_gb", "gpu.count"):
            page.deal_pane.terms.choose(key)
            qtbot.wait(30)
        with stalls.allow("Qt draws the whole table anew when the keyboard comes and goes"):
            editor = edit(page, "gpu.count")
            qtbot.wait(30)
        for letter in "128":
            QTest.keyClicks(editor, letter)
            qtbot.wait(5)
        with stalls.allow("Qt draws the whole table anew when the keyboard comes and goes"):
            QTest.keyClick(editor, Qt.Key.Key_Escape)
            qtbot.wait(30)


@dataclass(frozen=True, slots=True)
class WatchedList(DealList):
    """Notes which threads search it."""

    threads: list[threading.Thread] = field(default_factory=list, compare=False)

    def holding(self, order: Sequence[int], words: str, chip: str = ALL) -> list[int]:
        self.threads.append(threading.current_thread())
        return super(WatchedList, self).holding(order, words, chip)


def long_list(count: int) -> WatchedList:
    """Two suppliers with offers of two kinds of cards in turn."""
    sides = [tuple(f"{word}{number}" for number in range(count)) for word in ("o", "8 x ", "Q-")]
    models = tuple("h100" if number % 2 else "l40s" for number in range(count))
    none, owners = (None,) * count, tuple(f"s{number % 2}" for number in range(count))
    columns = DealColumns(("offer",) * count, sides[0], owners, sides[1], sides[2], ("",) * count, none, none, none, models, ("",) * count)
    whole = deal_list_of([SupplierLine("s0", "Haven", "CN"), SupplierLine("s1", "North", "CN")], columns, {}, {}, date(2026, 12, 1))
    return WatchedList(**{name: getattr(whole, name) for name in DealList.__dataclass_fields__})


def test_that_a_long_list_is_searched_by_a_worker_and_the_last_words_count(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    qtbot.waitUntil(lambda: own.bridge.is_at_rest)
    found = long_list(2 * MANY)
    page._take(found)
    shown = page.list.deals
    assert shown.count == 2 * MANY + 2
    found.threads.clear()
    for words in ("h100", "h100 haven", "l40s haven"):
        page.search(words)
    qtbot.waitUntil(lambda: own.bridge.is_at_rest)
    assert threading.main_thread() not in found.threads and len(found.threads) == 3
    assert shown.count == MANY + 1 and shown.words == "l40s haven"
    page.search("l40s")
    page.list._narrow(order=BY_MODEL)
    qtbot.waitUntil(lambda: own.bridge.is_at_rest)
    assert shown.count == MANY, "what was found for the other order is let go"
