"""Does Ctrl+K find everything with a name, in both languages, and lead to it by mouse and by keyboard?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.pages.suppliers_panes import COMMERCIAL, FILES, SITES
from gpulease_gui.gui.theme.theme import Theme

from .opened import demo_services, fail_power, wait_for, window_on

CTRL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


@pytest.fixture
def demo(tmp_path: Path, theme: Theme, english: Translations) -> Iterator[MainWindow]:
    services = demo_services(tmp_path)
    fail_power(services)
    with window_on(services, theme, english, tmp_path) as window:
        yield window


def test_that_everything_with_a_name_is_found_in_both_languages_and_the_limit_is_said(demo: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    panel = demo.going.panel
    wait_for(qtbot, lambda: len(panel._places) > 200)
    wanted = {
        "northlight": "supplier", "北辰": "supplier", "nl-2026-0311": "offer", "nl-c-7741": "contract", "pcie-as-sxm": "node", "rjukan": "site",
        "贵安": "site", "微调 70b": "workload", "capped fail": "run", "capped 不符": "run", "bm-0047.pdf": "file", "计费粒度": "term",
        "billing granularity": "term", "gpu.power_w": "term", "IC-09": "item", "双精度": "item", "深色": "command", "报告": "page",
    }  # fmt: skip
    missing = [words for words, kind in wanted.items() if kind not in [str(place.kind) for place in panel._places.find(words)]]
    assert missing == []
    panel.field.setText("e")
    assert len(panel.found) == 60 and panel.more.isVisible() and panel.more.text().startswith("60 of ")
    panel.field.setText("rjukan")
    assert not panel.more.isVisible()


def test_that_records_are_read_ahead_of_the_first_ctrl_k(demo: MainWindow, qtbot: QtBot) -> None:
    panel = demo.going.panel
    assert not len(panel._places), "nothing is read before the first picture"
    wait_for(qtbot, lambda: len(panel._places) > 200)
    assert not panel.isVisible()
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    QTest.keyClicks(panel.field, "rjukan")
    assert [str(place.kind) for place in panel.found] == ["site"], "the first letters find records at once"


def test_that_nothing_is_said_to_be_missing_while_the_records_are_read(demo: MainWindow, qtbot: QtBot) -> None:
    panel = demo.going.panel
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    panel.field.setText("rjukan")  # no turn of the loop: the records can't have come
    assert (panel.found, panel.none.isVisible(), panel.none.text()) == ((), True, "Still reading the records…")
    wait_for(qtbot, lambda: [str(place.kind) for place in panel.found] == ["site"])
    assert not panel.none.isVisible()
    panel.field.setText("no such name")
    assert panel.none.text() == "Nothing is called so"


def test_that_a_site_a_file_and_a_term_are_shown_where_they_stand(demo: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    panel = demo.going.panel
    wait_for(qtbot, lambda: len(panel._places) > 200)
    QTest.keyClicks(panel.field, "tuas")
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    page = demo.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.desks.in_supplier and page.supplier_pane.tab == SITES and page.supplier_pane.sites.has_sites)
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    QTest.keyClicks(panel.field, "bm-0047.pdf")
    qtbot.mouseClick(panel.list.viewport(), LEFT, pos=panel.list.visualRect(panel.list.rows.index(0, 0)).center())
    wait_for(qtbot, lambda: page.deal_pane.tab == FILES and [f.file.name for f in page.deal_pane.files.lines.rows] == ["BM-0047.pdf"])
    QTest.keyClick(demo, Qt.Key.Key_K, CTRL)
    QTest.keyClicks(panel.field, "billing.granularity_s")
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.deal_pane.tab == COMMERCIAL and page.deal_pane.fields.view.rows.rowCount() == 2)
    assert page.crumbs()[-1] == "BM-0047", "a term is shown in the record that was in sight"
