"""Is the line between selected nodes measured only after a confirmation, and who is slow named in a matrix?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.gui.forms import pairs_dialog
from gpulease_gui.gui.forms.pairs_dialog import PairsDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.composition import Services, open_services

LONG = 40_000


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setattr(pairs_dialog, "DEMO_SECONDS", 1)
    opened = open_services(tmp_path / "demo.db", demo=True)
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


@pytest.fixture
def page(demo: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> NodesPage:
    window = make_window(nodes.PAGE)
    window.resize(1440, 900)
    window.attach(demo)
    window.go("nodes")
    found = window._pages["nodes"]
    assert isinstance(found, NodesPage)
    qtbot.waitUntil(lambda: found.model.place_of("demo-honest") is not None)
    return found


def dialog_for(page: NodesPage, qtbot: QtBot, *ids: str) -> PairsDialog:
    selection = page.table.selectionModel()
    selection.clearSelection()
    for id_ in ids:
        index = page.model.index(page.model.place_of(id_) or 0, 0)
        selection.select(index, selection.SelectionFlag.Select | selection.SelectionFlag.Rows)
    assert page.pairs in page.buttons()
    page.act("pairs")
    qtbot.waitUntil(lambda: any(d.isVisible() for d in page.window().findChildren(PairsDialog)))
    return next(d for d in page.window().findChildren(PairsDialog) if d.isVisible())


def test_that_nothing_is_measured_before_the_confirmation(page: NodesPage, qtbot: QtBot) -> None:
    assert page.pairs not in page.buttons()
    dialog = dialog_for(page, qtbot, "demo-honest", "demo-slow-net-a", "demo-slow-net-b")
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert "3 in 3 rounds; pairs of a round share no node" in said and dialog.cancel.isDefault()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible() and dialog.report is None


def test_that_the_matrix_names_what_was_measured(page: NodesPage, qtbot: QtBot) -> None:
    dialog = dialog_for(page, qtbot, "demo-slow-net-a", "demo-slow-net-b")
    assert dialog._promised is not None  # both nodes stand under one contract
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.report is not None, timeout=LONG)
    report = dialog.report
    assert report is not None and report.verdict is Verdict.FAIL and report.blame.all_low
    cell = dialog.model.cell(dialog.model.index(0, 2))
    assert cell is not None and 20 < float(str(cell.text)) < 30
    assert "every pair is below the promise" in dialog.said.text()
    QTest.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


def test_that_a_cancel_keeps_what_was_measured(page: NodesPage, qtbot: QtBot) -> None:
    dialog = dialog_for(page, qtbot, "demo-honest", "demo-slow-net-a", "demo-slow-net-b")
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(dialog._rates) == 1, timeout=LONG)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: dialog.report is not None, timeout=LONG)
    report = dialog.report
    assert report is not None and report.cancelled and report.blame.unmeasured
    assert any(result.rate is not None for result in report.results)
    dialog.reject()
