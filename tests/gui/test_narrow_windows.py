"""What do tables and panes keep in sight where a window is narrow?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.verification_table import FindingsTable, findings_table
from gpulease_gui.gui.widgets.cells import _Parts, _Pen
from gpulease_gui.gui.widgets.panes import ThinSplitter
from gpulease_gui.services.acceptance import Acceptance, NodeAcceptance
from gpulease_gui.services.composition import open_services

HEADS = ("State", "Node", "Endpoint", "Host key", "GPUs", "Clock, s", "Verified", "Last run")


def test_that_the_last_verdict_stays_in_sight_in_a_small_window_and_nothing_is_scrolled_sideways(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    demo = open_services(tmp_path / "demo.db", demo=True)
    demo.workspace.forbid_main_thread()
    window = make_window(nodes.PAGE)
    window.attach(demo)
    try:
        page = window._pages["nodes"]
        assert isinstance(page, NodesPage)
        qtbot.waitUntil(lambda: len(page.model.rows) == 9)
        seen = {}
        for width in (1440, 1280, 960):
            window.resize(width, 800)
            qtbot.waitUntil(lambda wanted=width: window.width() == wanted)
            qtbot.wait(0)
            assert page.table.horizontalScrollBar().maximum() == 0, width
            seen[width] = [head for place, head in enumerate(HEADS) if not page.table.isColumnHidden(place)]
        assert seen[1440] == list(HEADS)
        assert seen[1280] == ["State", "Node", "Endpoint", "Host key", "GPUs", "Last run"]
        assert seen[960][0:2] == ["State", "Node"] and seen[960][-1] == "Last run"
    finally:
        window.detach()
        demo.close()


@pytest.mark.parametrize(("failing", "said"), [(1, "n0 fails gpu.count"), (2, "n0 fails gpu.count and 1 more node fails"), (3, "n0 fails gpu.count and 2 more nodes fail")])
def test_that_one_more_node_fails_and_two_more_nodes_fail(failing: int, said: str) -> None:
    made = Acceptance(tuple(NodeAcceptance(f"n{number}", f"n{number}", Verdict.FAIL, ("gpu.count",)) for number in range(failing)))
    assert made.sentence.en == f"0 of {failing} accepted, {said}"


def test_that_no_pane_lies_over_another_in_the_smallest_window(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    """The list of nodes and the findings lay over the pane at their right: words of both were one on the other."""
    demo = open_services(tmp_path / "demo.db", demo=True)
    demo.workspace.forbid_main_thread()
    window = make_window(nodes.PAGE, verification.PAGE)
    window.attach(demo)
    try:
        for page in ("nodes", "verification"):
            window.go(page)
            shown = window.page
            assert shown is not None
            qtbot.waitUntil(lambda shown=shown: any(found.isVisible() for found in shown.findChildren(ThinSplitter)))
            for _ in range(2):  # the navigation gives way first
                window.resize(window.minimumSizeHint())
                qtbot.wait(50)
            assert window.width() < 960, "narrower than its panes"
            split = next(found for found in shown.findChildren(ThinSplitter) if found.isVisible() and found.orientation() is Qt.Orientation.Horizontal)
            panes = [split.widget(place).geometry() for place in range(split.count())]
            assert all(left.right() < right.left() for left, right in pairwise(panes)), page
    finally:
        window.detach()
        demo.close()


@pytest.mark.parametrize(("width", "heads"), [(900, ["Check", "Promised", "Measured", "Against promise", "Delta", "Verdict"]), (600, ["Check", "Promised", "Measured", "Verdict"])])
def test_that_the_names_of_checks_get_their_room_from_ruler_and_delta(width: int, heads: list[str], qtbot: QtBot) -> None:
    """In a window of 1280 the name of a check was `...`."""
    table = FindingsTable(findings_table({}), "findings")
    qtbot.addWidget(table)
    table.resize(width, 400)
    table.show()
    columns = table._table.columns
    assert [str(column.title) for place, column in enumerate(columns) if not table.isColumnHidden(place)] == heads
    assert table.columnWidth(0) >= 160


def test_that_the_note_of_a_narrow_cell_gives_way_to_its_text(qtbot: QtBot) -> None:
    """`not stated` was a dot before `implied NVSwitch`."""
    pen = _Pen(QApplication.font())
    parts = _Parts(Cell("not stated", note="implied NVSwitch", missing=True), pen)
    text, note = (pen.metrics().horizontalAdvance(words) for words in (parts.text, parts.note))
    parts.cut_note(pen, 20)
    assert parts.note.startswith("implied") and parts.note.endswith("…") and parts.around <= note + 6 - 20
    parts.cut_note(pen, note)
    assert (parts.text, parts.note, parts.around) == ("not stated", "", 0) and text > 0


def test_that_the_tip_of_a_cell_says_its_note_too(qtbot: QtBot) -> None:
    model = TableModel([Column[str]("Check", lambda row: Cell(row, note="node-a, node-b"))], lambda row: row)
    model.set_rows(["Network ports"])
    assert "Network ports node-a, node-b" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
