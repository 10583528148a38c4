"""Does a table whose cells are put down from pictures look as one that is drawn?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, action_cell, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets import cell_pictures
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of

CELLS = (
    NOTHING, Cell(Text("read", "已识别"), icon="check", icon_tone="pass"), state_cell(badge_of(Verdict.FAIL)),
    action_cell(Text("decide", "待决定"), "go"), Cell("12", weight=600, tone="warn", note="of 100", tag="new"), Cell("words that do not fit in"),
    Cell("x", checked=True), Cell("61", struck="99", ground="bg1"),
)  # fmt: skip


def table(qtbot: QtBot) -> TableView:
    columns = [Column[int](f"c{place}", lambda row, place=place: CELLS[(row + place) % len(CELLS)], width=90, number=place == 2) for place in range(4)]
    model = TableModel(columns, lambda row: row)
    view = TableView(model, "cells", many=True)
    qtbot.addWidget(view)
    model.set_rows(range(9))
    view.resize(420, 320)
    view.show()
    qtbot.waitExposed(view)
    view.setCurrentIndex(model.index(2, 1))
    return view


def picture(view: TableView) -> QImage:
    return view.viewport().grab().toImage()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[TableView], QImage]:
    """The same view, each of its cells drawn on the screen itself."""

    def grab(view: TableView) -> QImage:
        with monkeypatch.context() as changed:
            changed.setattr(cell_pictures, "WIDEST", 0)
            return picture(view)

    return grab


def test_that_what_is_put_down_is_what_would_be_drawn_in_every_state_theme_and_language(
    qtbot: QtBot, drawn: Callable[[TableView], QImage], theme: Theme, english: Translations
) -> None:
    view = table(qtbot)
    seen = []
    for change in (
        lambda: None, lambda: view.selectRow(4), lambda: QTest.mouseMove(view.viewport(), QPoint(30, 3 * 28 + 8)),
        lambda: theme.choose(ThemeMode.DARK), lambda: english.switch(Language.ZH), lambda: view.set_comfortable(comfortable=True),
        lambda: theme.choose(ThemeMode.LIGHT), lambda: english.switch(Language.EN),
    ):  # fmt: skip
        change()
        QApplication.sendPostedEvents(None, QEvent.Type.LanguageChange)
        assert picture(view) == picture(view) == drawn(view)
        seen.append(picture(view))
    assert all(before != after for before, after in zip(seen, seen[1:], strict=False))


def test_that_a_cell_that_was_drawn_is_not_drawn_again(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    view = table(qtbot)
    picture(view)
    made: list[object] = []
    draw = cell_pictures._drawn
    monkeypatch.setattr(cell_pictures, "_drawn", lambda *words: made.append(words) or draw(*words))
    picture(view)
    assert made == []
    view.selectRow(5)
    picture(view)
    assert 0 < len(made) <= 8  # the rows that lost and got the selection


def test_that_pictures_take_no_more_than_their_room(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_pictures, "_MOST_BYTES", 90 * 28 * 4 * 5)
    view = table(qtbot)
    assert picture(view) == picture(view)
    kept = view._cells._pictures
    assert 0 < kept._bytes <= 90 * 28 * 4 * 7


def test_that_nothing_is_kept_where_a_picture_would_be_blurred(qtbot: QtBot) -> None:
    view = table(qtbot)
    picture(view)
    kept = view._cells._pictures
    before = len(kept._kept)
    image = QImage(630, 480, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(1.5)
    painter = QPainter(image)
    view.viewport().render(painter, QPoint())
    painter.end()
    assert before == len(kept._kept) > 0
    assert image.pixelColor(15, 15) == view.grab().toImage().pixelColor(10, 10 + view.horizontalHeader().height())
    assert Qt.GlobalColor.black != image.pixelColor(300, 100)
