"""Is a quote from the clipboard saved in four clicks, with its doubts asked, and taken back in one?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.exchange_desk import MergeDesk, export_workspace, write_bundle
from gpulease_gui.gui.forms.import_pages import _where
from gpulease_gui.gui.forms.import_wizard import DOUBTS, MAPPING, OUTCOME, SOURCE, ImportWizard
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.services.commerce_edit import save_supplier
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.exchange import export_bundle
from gpulease_gui.services.importing_desk import Source
from gpulease_gui.services.importing_draft import LARGEST
from gpulease_gui.store.suppliers import list_suppliers
from gpulease_gui.store.workspace import Workspace

from .guards import StallGuard
from .opened import AT, cells, wait_for, window_on, words_of

LEFT = Qt.MouseButton.LeftButton
QUOTE = "报价单号\t型号\t卡数\t单价（元/卡/时，含税）\t带宽\nQ1\tH100 80GB SXM\t8\t12.5\t100G\nQ2\tH20\t8\t十一\t100Gbps\n"


@pytest.fixture
def own(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(open_services(tmp_path / "own.db"), theme, english, tmp_path) as window:
        yield window


def suppliers(window: MainWindow, qtbot: QtBot) -> SuppliersPage:
    window.go("suppliers")
    page = window.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    return page


def pasted(page: SuppliersPage, qtbot: QtBot, text: str = QUOTE) -> ImportWizard:
    QApplication.clipboard().setText(text)
    qtbot.mouseClick(page.first_quote, LEFT)
    wizard = page.imports.wizard
    assert wizard is not None
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    return wizard


def test_that_a_pasted_quote_is_saved_in_four_clicks_and_taken_back_in_one(own: MainWindow, qtbot: QtBot, stalls: StallGuard) -> None:
    with stalls.allow("first build of the page, the dialog and its table"):
        page = suppliers(own, qtbot)
        wizard = pasted(page, qtbot)  # the first click
    assert cells(wizard.mapping.table, 2) == ["Quote no.", "GPU model and variant", "GPUs per node", "Price", "Node-to-node bandwidth"]
    assert not wizard.next.isEnabled(), "whose offers these are is not said yet"
    qtbot.keyClicks(wizard.mapping.new_name, "Haven")
    qtbot.mouseClick(wizard.next, LEFT)  # the second
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == DOUBTS)
    (chooser,) = wizard.doubts.choosers
    assert chooser.accessibleName().startswith("Bits or bytes") and not wizard.next.isEnabled()
    QTest.keyClick(chooser, Qt.Key.Key_Down)
    chooser.activated.emit(chooser.currentIndex())
    qtbot.mouseClick(wizard.next, LEFT)  # the third
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == OUTCOME)
    assert cells(wizard.outcome.table, 0) == ["pasted!D3", "pasted!A2"] and cells(wizard.outcome.table, 1) == ["error", "new"]
    assert wizard.next.text() == "Save 1 offer" and "1 row with an error, left out" in words_of(wizard)
    with stalls.allow("the page of the imported offer is built, then painted whole, twice"):
        qtbot.mouseClick(wizard.next, LEFT)  # the fourth
        wait_for(qtbot, lambda: page.crumbs() == ("Haven", "Q1"))
        wait_for(qtbot, page.deal_pane.isVisible)
        assert page.imported.isVisible() and page.imported.headline.text() == "1 offer was imported"
        qtbot.mouseClick(page.imported.undo, LEFT)
        wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)


def test_that_a_column_and_the_row_of_headings_can_be_set_by_hand(own: MainWindow, qtbot: QtBot) -> None:
    wizard = pasted(suppliers(own, qtbot), qtbot, "规格\t单价(元/卡/时)\nH100\t12\nH800\t13\n")
    wizard.mapping.table.choose(0)
    wizard.mapping.target.choose("gpu.model")
    wizard.mapping.target.picked.emit("gpu.model")
    assert cells(wizard.mapping.table, 2) == ["GPU model and variant", "Price"]
    wizard.mapping.header.picked.emit("")
    assert cells(wizard.mapping.table, 1) == ["–", "–"] and not wizard.mapping.complete
    wizard.reject()


def test_that_a_dropped_file_is_imported_and_a_hostile_one_says_why_not(own: MainWindow, qtbot: QtBot, tmp_path: Path, stalls: StallGuard) -> None:
    with stalls.allow("first build of the page"):
        page = suppliers(own, qtbot)
    bad = tmp_path / "quote.xlsx"
    bad.write_bytes(b"PK\x03\x04 torn")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(bad))])
    entered = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier.NoModifier)
    page.dragEnterEvent(entered)
    assert entered.isAccepted()
    with stalls.allow("first build of the dialog"):
        page.dropEvent(QDropEvent(QPoint(9, 9), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier.NoModifier))
        wizard = page.imports.wizard
        assert wizard is not None
        wait_for(qtbot, wizard.trouble.isVisible)
    assert wizard.trouble.text().startswith("the workbook is damaged") and wizard.stack.currentIndex() == SOURCE
    good = tmp_path / "quote.csv"
    good.write_bytes("型号,单价(元/卡/时)\nH100,12\n".encode("gb18030"))
    with stalls.allow("first build of the table"):
        wizard.open_file(good)
        wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    assert wizard.mapping.encoding.current == "gb18030"
    wizard.mapping.encoding.choose("big5")
    wizard.mapping.encoding.picked.emit("big5")
    wait_for(qtbot, lambda: wizard.mapping.encoding.current == "big5" or wizard.trouble.isVisible())
    wizard.reject()


def test_that_the_import_speaks_both_languages(own: MainWindow, qtbot: QtBot, english: Translations) -> None:
    wizard = pasted(suppliers(own, qtbot), qtbot)
    english.switch(Language.ZH)
    wait_for(qtbot, lambda: wizard.windowTitle() == "导入报价")
    assert "每一列是什么？" in words_of(wizard) and "GPU 型号与版本" in words_of(wizard)
    wizard.reject()


def test_that_the_journey_works_without_a_mouse(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    QApplication.clipboard().setText("型号\t单价（元/卡/时）\nH100 80GB SXM\t12.5\n")
    page.first_quote.setFocus()
    QTest.keyClick(page.first_quote, Qt.Key.Key_Space)
    wizard = page.imports.wizard
    assert wizard is not None
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    wizard.mapping.new_name.setFocus()
    QTest.keyClicks(wizard.mapping.new_name, "Haven")
    for step in (DOUBTS, OUTCOME):
        QTest.keyClick(wizard, Qt.Key.Key_Return)
        wait_for(qtbot, lambda step=step: wizard.stack.currentIndex() == step)
    QTest.keyClick(wizard, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", ""))


def test_that_a_dropped_bundle_shows_what_it_changes_before_it_is_merged(own: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    there = Workspace.open(tmp_path / "there.db")
    there.submit(lambda db: save_supplier(db, Supplier("s9", "Haven <b>x</b>"))).result()
    with there.read() as connection:
        (tmp_path / "b.json").write_bytes(export_bundle(connection, at=AT, demo=False))
    there.close()
    page = suppliers(own, qtbot)
    page.imports.open_bundle(tmp_path / "b.json")
    wait_for(qtbot, lambda: page.imports.merging is not None)
    dialog = page.imports.merging
    assert dialog is not None and "1 new, 0 changed" in words_of(dialog)
    qtbot.mouseClick(dialog.merge, LEFT)
    wait_for(qtbot, lambda: page.imported.headline.text() == "1 record was merged" and page.crumbs() == ("Haven <b>x</b>",))
    page.imports.open_bundle(tmp_path / "quote.csv")
    wait_for(qtbot, own.trouble_band.isVisible)


def test_that_a_supplier_that_is_picked_brings_the_mapping_of_its_last_table(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    first = pasted(page, qtbot, "规格\t单价(元/卡/时)\nA100 80G\t12\n")
    first.mapping.table.choose(0)
    first.mapping.target.choose("gpu.model")
    first.mapping.target.picked.emit("gpu.model")
    qtbot.keyClicks(first.mapping.new_name, "Haven")
    qtbot.mouseClick(first.next, LEFT)
    wait_for(qtbot, lambda: first.stack.currentIndex() == DOUBTS)
    assert first.doubts.complete, "a product that the name leaves open has its family for an answer"
    qtbot.mouseClick(first.next, LEFT)
    wait_for(qtbot, lambda: first.stack.currentIndex() == OUTCOME)
    assert cells(first.outcome.table, 1) == ["look here", "new"] and "1 cell to look at, imported" in words_of(first)
    qtbot.mouseClick(first.next, LEFT)
    frame = first._frame
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", ""))
    again = ImportWizard(frame)
    qtbot.addWidget(again)
    again.open_text("单价(元/卡/时)\t规格\n12\tA100 80G\n")
    wait_for(qtbot, lambda: again.stack.currentIndex() == MAPPING)
    assert cells(again.mapping.table, 2) == ["Price", "left out"]
    haven = next(s.id for s in again.mapping.loaded.suppliers)
    again.mapping.supplier.choose(haven)
    again.mapping.supplier.picked.emit(haven)
    wait_for(qtbot, lambda: cells(again.mapping.table, 2) == ["Price", "GPU model and variant"])
    qtbot.mouseClick(again.next, LEFT)
    wait_for(qtbot, lambda: again.stack.currentIndex() == DOUBTS)
    qtbot.mouseClick(again.next, LEFT)
    wait_for(qtbot, lambda: again.stack.currentIndex() == OUTCOME)
    assert "Every offer stands in the workspace already, just so." in words_of(again) and not again.next.isEnabled()
    again.reject()


def test_that_the_menu_writes_the_workspace_and_a_merge_tells_what_stays_and_what_may_give_way(own: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    services = own.services
    services.change(lambda db: save_supplier(db, Supplier("s1", "Haven")), "supplier").result()
    dialog = export_workspace(own, own)
    said = " ".join(map(str, words_of(dialog)))
    assert "Left out: trust in host keys" in said and "nodes, runs with their outputs" in said
    dialog.reject()
    write_bundle(own, path)
    wait_for(qtbot, path.exists)
    services.change(lambda db: save_supplier(db, Supplier("s1", "Haven West")), "supplier").result()
    done: list[Text] = []
    desk = MergeDesk(own, own, lambda words, _: done.append(words))
    desk.open_bundle(path)
    wait_for(qtbot, lambda: desk.dialog is not None)
    merging = desk.dialog
    assert merging is not None and "1 record that was changed here later than in the file stays" in " ".join(map(str, words_of(merging))) and not merging.merge.isEnabled()
    qtbot.mouseClick(merging.all_theirs, LEFT, pos=QPoint(8, merging.all_theirs.height() // 2))
    assert merging.merge.isEnabled()
    qtbot.mouseClick(merging.merge, LEFT)
    wait_for(qtbot, lambda: done == [Text("1 record was merged", "已合并 1 条记录")])
    assert services.query(lambda c: [s.name for s in list_suppliers(c)]).result() == ["Haven"]


def test_that_what_was_pasted_says_where_it_stands_in_the_language_of_the_window() -> None:
    assert (_where("pasted!B2").en, _where("pasted!B2").zh, _where("Sheet1!B2").zh) == ("pasted!B2", "粘贴!B2", "Sheet1!B2")


def test_that_a_file_of_a_draft_is_read_on_the_users_word_and_a_text_too_long_is_said_not_to_be_kept(
    own: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    quote = tmp_path / "quote.csv"
    quote.write_text("gpu,USD per GPU hour\nH100,12\n", "utf-8")
    first = ImportWizard(own)
    first.open_file(quote)
    wait_for(qtbot, lambda: first.stack.currentIndex() == MAPPING)
    first.mapping.encoding.choose("gb18030")
    first.mapping.encoding.picked.emit("gb18030")
    wait_for(qtbot, lambda: first.mapping.loaded.source.encoding == "gb18030")
    first.drafts.write()
    again = ImportWizard(own)
    for wizard in (again, first):
        qtbot.addWidget(wizard)
    wait_for(qtbot, lambda: not again.chosen.isHidden())
    assert (again.stack.currentIndex(), again.chosen.text(), again.mapping.table_shown) == (SOURCE, "File: quote.csv", None)
    qtbot.mouseClick(again.next, LEFT)
    wait_for(qtbot, lambda: again.stack.currentIndex() == MAPPING)
    assert again.mapping.loaded.source == first.mapping.loaded.source == Source(quote, encoding="gb18030", delimiter=",")
    again._show(SOURCE)
    again.edit.setPlainText("x" * (LARGEST + 1))
    assert not again.too_large.isHidden() and again.chosen.isHidden() and again.words_now()[:2] == ("", "")
    for wizard in (again, first):
        wizard.reject()
