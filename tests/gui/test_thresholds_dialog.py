"""Can every figure be found, moved with a reason and taken back in the window, and does a finding show its own?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpulease_gui.checks.check import rules
from gpulease_gui.checks.thresholds import NOTHING_MOVED, Moved, Thresholds
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.thresholds_dialog import ThresholdsDialog
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.verification_figures import FiguresLine
from gpulease_gui.services.composition import Services
from gpulease_gui.services.thresholds import effective, threshold_history

from .opened import cells, wait_for


@pytest.fixture
def dialog(make_window: Callable[..., MainWindow], services: Services, qtbot: QtBot) -> Iterator[ThresholdsDialog]:
    """The dialog as the menu opens it."""
    services.workspace.forbid_main_thread()
    window = make_window()
    window.attach(services)
    spec = next(spec for spec, _ in window.menus.shown() if spec.id == "thresholds")
    window.menus.wanted.emit(spec)
    (opened,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, ThresholdsDialog)]
    wait_for(qtbot, lambda: len(opened.model.rows) > 60 and opened.about.text() != "")
    yield opened
    opened.close()
    opened.deleteLater()


def type_into(dialog: ThresholdsDialog, value: str, why: str) -> None:
    dialog.value.setText(value)
    dialog.why.setText(why)
    QTest.mouseClick(dialog.keep, Qt.MouseButton.LeftButton)


def test_that_a_figure_is_found_moved_with_a_reason_and_taken_back(dialog: ThresholdsDialog, services: Services, qtbot: QtBot) -> None:
    dialog.search.setText("thermal hot above")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert cells(dialog.table, 0) == ["GPU temperatures", "a card is hot above", "its memory is hot above"]
    assert (dialog.value.text(), dialog.back.isEnabled()) == ("83 °C", False)
    assert dialog.bounds.text() == "Shipped: 83 °C (assumption). Allowed: 0 °C – 150 °C."
    type_into(dialog, "88 °C", "a hot hall")
    wait_for(qtbot, dialog.back.isEnabled)
    assert cells(dialog.table, 1)[1] == "> 88 °C" and cells(dialog.table, 2)[1] == "set here"
    assert dialog.note.text() == "It counts from the next run on."
    now = services.query(effective).result()
    assert [(key, moved.value) for key, moved in now.moved.items()] == [(("thermal.gpu", "hot"), 88.0)]
    QTest.mouseClick(dialog.back, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: not dialog.back.isEnabled())
    assert services.query(effective).result() == NOTHING_MOVED
    moves = services.query(lambda c: threshold_history(c, "thermal.gpu", "hot")).result()
    assert [(m.value, m.why) for m in moves] == [(None, ""), (88.0, "a hot hall")]


@pytest.mark.parametrize(
    ("value", "why", "says"),
    [
        ("hot", "because", "is no value of thermal.gpu hot"),
        ("400", "because", "It may be 0 °C to 150 °C"),
        ("88", " ", "A moved figure needs a reason"),
    ],
)
def test_that_a_wrong_value_is_refused_beside_its_field(
    dialog: ThresholdsDialog, services: Services, qtbot: QtBot, value: str, why: str, says: str
) -> None:
    assert dialog.table.choose(("thermal.gpu", "hot"))
    type_into(dialog, value, why)
    wait_for(qtbot, lambda: says in dialog.value_field.error.text())
    assert services.query(effective).result() == NOTHING_MOVED


def test_that_the_dialog_speaks_chinese(dialog: ThresholdsDialog, english: Translations, qtbot: QtBot) -> None:
    english.switch(Language.ZH)
    wait_for(qtbot, lambda: dialog.windowTitle() == "判定阈值")
    assert {"显卡偏热的下限", "板卡累计 SRAM 错误超过此数应更换"} <= set(cells(dialog.table, 0))


def test_that_a_finding_names_the_moved_figure_first_and_leads_to_the_dialog(qtbot: QtBot) -> None:
    line = FiguresLine()
    qtbot.addWidget(line)
    thermal = rules()["thermal.gpu"].check.thresholds
    moved = Thresholds({("thermal.gpu", "spread"): Moved(30.0, "mixed racks (user, 2026-06-01)")})
    line.show_figures(moved.judged_by(thermal, None))
    words = line.words.text()
    assert words.startswith("Judged by: uneven if above the coolest card of the node by more than: > 30 °C (set here: mixed racks")
    assert words.endswith("; 4 more")
    line.show_figures(())
    assert line.isHidden()
