"""Do the journeys of a first day keep their budgets, counted click by click and key by key?

Typing is not counted; a key that is pressed to do something is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.app import Program
from gpulease_gui.gui.forms.import_wizard import DOUBTS, MAPPING, OUTCOME
from gpulease_gui.gui.language import Translations, current_language
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.services.composition import Services, open_services

from .opened import Hand, wait_for, window_on, words_of

LEFT, CTRL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def own(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(open_services(tmp_path / "own.db"), theme, english, tmp_path) as window:
        yield window


# -- language ----------------------------------------------------------------------------------------------------------------


def test_that_the_language_is_switched_and_back_in_two_clicks_each(own: MainWindow, hand: Hand, qtbot: QtBot) -> None:
    wait_for(qtbot, lambda: "Add a supplier" in words_of(own.shell))  # the overview was read
    english = set(words_of(own.shell))
    for words, language, budget in (("中文", Language.ZH, 2), ("English", Language.EN, 4)):
        bar = own.menuBar()
        view = next(action for action in bar.actions() if action.text().replace("&", "") in ("View", "视图"))
        hand.click(bar, bar.actionGeometry(view).center())
        menu = view.menu()
        assert isinstance(menu, QMenu) and menu.isVisible()
        entry = next(action for action in menu.actions() if action.text() == words)
        hand.click(menu, menu.actionGeometry(entry).center())
        qtbot.wait(10)
        assert current_language() is language and hand.clicks == budget
        shown = set(words_of(own.shell))
        assert ("总览" in shown) is (language is Language.ZH)
    assert set(words_of(own.shell)) == english, "two switches leave nothing behind"


def test_that_the_language_is_switched_in_two_keys_beside_typing(own: MainWindow, hand: Hand, qtbot: QtBot) -> None:
    panel = own.going.panel
    for words, language, budget in (("中文", Language.ZH, 2), ("english", Language.EN, 4)):
        hand.press(own, Qt.Key.Key_K, CTRL)
        wait_for(qtbot, lambda: bool(len(panel._places)))
        panel.field.insert(words)  # as an input method does
        hand.press(panel.field, Qt.Key.Key_Return)
        qtbot.wait(10)
        assert current_language() is language and hand.keys == budget


# -- first run ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("demo", "budget"), [(True, 1), (False, 2)], ids=["demo", "own"])
def test_that_the_first_run_needs_one_or_two_keys(
    demo: bool, budget: int, hand: Hand, theme: Theme, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    program = Program(qapp, tmp_path / "config")
    program.show()
    window, first = program.window, program.window.first_run
    first._folder.setText(str(tmp_path))
    qtbot.wait(10)
    if not demo:
        hand.press(window.focusWidget(), Qt.Key.Key_Tab)
    hand.press(window.focusWidget(), Qt.Key.Key_Return)
    wait_for(qtbot, lambda: program._services is not None)
    assert window.services.demo is demo and hand.keys <= budget
    program.close()
    window.close()
    window.deleteLater()
    program.deleteLater()


# -- a quote -----------------------------------------------------------------------------------------------------------------


def test_that_a_pasted_quote_is_saved_in_four_keys(own: MainWindow, hand: Hand, qtbot: QtBot) -> None:
    own.go("suppliers")
    page = own.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    QApplication.clipboard().setText("型号\t单价（元/卡/时）\nH100 80GB SXM\t12.5\n")
    hand.press(own.focusWidget() or own, Qt.Key.Key_V, CTRL)  # 1
    wizard = page.imports.wizard
    assert wizard is not None
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    wait_for(qtbot, lambda: wizard.focusWidget() is wizard.mapping.new_name)
    QTest.keyClicks(wizard.mapping.new_name, "Haven")
    for step in (DOUBTS, OUTCOME):  # 2, 3
        hand.press(wizard.focusWidget(), Qt.Key.Key_Return)
        wait_for(qtbot, lambda step=step: wizard.stack.currentIndex() == step)
    hand.press(wizard.focusWidget(), Qt.Key.Key_Return)  # 4
    wait_for(qtbot, lambda: page.crumbs() == ("Haven", ""))
    wait_for(qtbot, page.imported.isVisible)
    assert hand.keys == 4
    own.activateWindow()
    page.list.setFocus()
    wait_for(qtbot, own.isActiveWindow)
    QTest.keyClick(own, Qt.Key.Key_Z, CTRL)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    QTest.keyClick(own, Qt.Key.Key_Y, CTRL)
    wait_for(qtbot, lambda: page.crumbs()[:1] == ("Haven",))


def test_that_the_way_back_of_an_import_takes_nothing_else_back(own: MainWindow, services: Services, hand: Hand, qtbot: QtBot) -> None:
    own.go("suppliers")
    page = own.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    QApplication.clipboard().setText("型号\t单价（元/卡/时）\nH100 80GB SXM\t12.5\n")
    page.act("paste")
    wizard = page.imports.wizard
    assert wizard is not None
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    QTest.keyClicks(wizard.mapping.new_name, "Haven")
    for step in (DOUBTS, OUTCOME):
        QTest.keyClick(wizard, Qt.Key.Key_Return)
        wait_for(qtbot, lambda step=step: wizard.stack.currentIndex() == step)
    QTest.keyClick(wizard, Qt.Key.Key_Return)
    wait_for(qtbot, page.imported.isVisible)
    page.new_supplier()
    QTest.keyClicks(page.forms.supplier.name, "Mistral")
    QTest.keyClick(page.forms.supplier.name, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: len(page.found.suppliers) == 2)
    qtbot.mouseClick(page.imported.undo, LEFT)
    wait_for(qtbot, lambda: "Something else was done since" in " ".join(words_of(own.task_strip)))
    assert len(page.found.suppliers) == 2
