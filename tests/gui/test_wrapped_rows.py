"""Is everything of a row to be read where the row is too narrow for it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.pages.suppliers_panes import DealPane
from gpulease_gui.gui.pages.verification_table import FilterBar, TotalsLine
from gpulease_gui.gui.widgets.wrap import WrapLayout
from gpulease_gui.services.composition import open_services


def boxes(count: int, width: int, *, is_last_right: bool = False) -> list[QRect]:
    """The places of widgets of 100 x 20 in a row of that width."""
    holder = QWidget()
    row = WrapLayout(holder, gap_px=10, row_gap_px=5, is_last_right=is_last_right)
    row.setContentsMargins(0, 0, 0, 0)
    parts = [QWidget() for _ in range(count)]
    for part in parts:
        part.setFixedSize(100, 20)
        row.addWidget(part)
    row.setGeometry(QRect(0, 0, width, row.heightForWidth(width)))
    assert row.heightForWidth(width) == max(part.geometry().bottom() for part in parts) + 1
    return [part.geometry() for part in parts]


def test_that_what_a_row_does_not_hold_begins_another_one(qtbot: QtBot) -> None:
    assert [(box.x(), box.y()) for box in boxes(3, 320)] == [(0, 0), (110, 0), (220, 0)]
    assert [(box.x(), box.y()) for box in boxes(3, 319)] == [(0, 0), (110, 0), (0, 25)]
    assert [(box.x(), box.y()) for box in boxes(3, 50)] == [(0, 0), (0, 25), (0, 50)]


def test_that_the_last_one_stands_right_only_beside_others(qtbot: QtBot) -> None:
    assert [box.x() for box in boxes(3, 500, is_last_right=True)] == [0, 110, 400]
    assert [(box.x(), box.y()) for box in boxes(3, 300, is_last_right=True)] == [(0, 0), (110, 0), (0, 25)]


def framed(part: QWidget, width: int, qtbot: QtBot) -> None:
    """Show a part at the top of a pane of that width."""
    pane = QWidget()
    column = QVBoxLayout(pane)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(part)
    column.addStretch()
    qtbot.addWidget(pane)
    pane.resize(width, 400)
    pane.show()
    part._keeps = pane  # type: ignore[attr-defined]


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("width", [630, 480])
def test_that_counts_coverage_and_filters_are_whole_at_1280_and_1024(width: int, language: Language, english: Translations, qtbot: QtBot) -> None:
    """It said: Coverage 66 %: 2 of 3 prom."""
    english.switch(language)
    line, bar = TotalsLine(), FilterBar()
    for verdict, badge in line.badges.items():
        badge.set_state(verdict, Text(f"29 {verdict}", f"29 {verdict}"))
    line.coverage.set_words(Text("Coverage 66 %: 2 of 3 promises · 85 of 85 checks", "覆盖率 66 %：2 / 3 项承诺 · 85 / 85 项检查"))
    for chip in bar.chips.values():
        chip.set_count(29)
    for whole, parts in ((line, [*line.badges.values(), line.coverage]), (bar, list(bar.chips.values()))):
        framed(whole, width, qtbot)
        assert all(part.width() >= part.sizeHint().width() and part.geometry().right() < whole.width() - 15 for part in parts)
        assert max(part.geometry().bottom() for part in parts) < whole.height()


@pytest.mark.parametrize(("width", "is_below"), [(980, False), (640, True), (480, True)])
def test_that_a_deal_has_its_name_and_its_facts_whole_in_any_window(width: int, is_below: bool, qtbot: QtBot, tmp_path: Path) -> None:
    """In the smallest window: USD 1.79 /, and no name at all."""
    services = open_services(tmp_path / "w.db")
    pane = DealPane(services.catalogue)
    services.close()
    for fact, said in ((pane.price, "USD 1.79 / GPU-hour"), (pane.effective, "USD 7.16"), (pane.hidden, "300.00 %"), (pane.term, "2026-11-15 – 2027-02-14")):
        fact.tell(said)
    pane.badge.set_state(Verdict.FAIL)
    pane.title.set_words("VC-2026-118")
    qtbot.addWidget(pane)
    pane.resize(width, 400)
    pane.show()
    qtbot.waitUntil(lambda: pane.title.width() >= 150)
    for label in (pane.price.value, pane.effective.value, pane.hidden.value, pane.term.value, pane.badge):
        assert label.width() >= label.sizeHint().width() and label.mapTo(pane, label.rect().bottomRight()).x() < width
    assert (pane.price.mapTo(pane, pane.price.rect().topLeft()).y() > pane.title.geometry().bottom()) is is_below
