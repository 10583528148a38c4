"""Does the wizard name what it does not import, and say which answers are those of an earlier import?"""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpulease_gui.gui.forms.import_wizard import DOUBTS, MAPPING, OUTCOME, ImportWizard
from gpulease_gui.gui.main_window import MainWindow

from .opened import wait_for, words_of
from .test_import_wizard import own, pasted, suppliers

__all__ = ["own"]
LEFT = Qt.MouseButton.LeftButton
QUOTE = "型号\t单价（元/卡/时）\t带宽\tColour\nH100 80GB SXM\t12.5\t100G\tred\n"


def test_that_the_wizard_names_what_it_leaves_out_and_whose_answer_it_took(own: MainWindow, qtbot: QtBot) -> None:
    page = suppliers(own, qtbot)
    first = pasted(page, qtbot, QUOTE)
    assert "not imported: Colour (1 row filled)" in words_of(first.mapping)
    qtbot.keyClicks(first.mapping.new_name, "Haven")
    qtbot.mouseClick(first.next, LEFT)
    wait_for(qtbot, lambda: first.stack.currentIndex() == DOUBTS)
    first.doubts.choosers[0].choose("bits")
    first.doubts.answered.emit("带宽|rate", "bits")
    qtbot.mouseClick(first.next, LEFT)
    wait_for(qtbot, lambda: first.stack.currentIndex() == OUTCOME)
    assert "not imported: Colour (1 row filled)" in words_of(first.outcome)
    qtbot.mouseClick(first.next, LEFT)
    wait_for(qtbot, lambda: page.crumbs()[:1] == ("Haven",))
    again = ImportWizard(first._frame)
    qtbot.addWidget(again)
    again.open_text(QUOTE)
    wait_for(qtbot, lambda: again.stack.currentIndex() == MAPPING)
    haven = again.mapping.loaded.suppliers[0].id
    again.mapping.supplier.choose(haven)
    again.mapping.supplier.picked.emit(haven)
    wait_for(qtbot, lambda: "带宽|rate" in again.mapping.loaded.layout.remembered.get("", {}))
    qtbot.mouseClick(again.next, LEFT)
    wait_for(qtbot, lambda: again.stack.currentIndex() == DOUBTS)
    assert again.doubts.complete and any("remembered from the last import" in str(words) for words in words_of(again.doubts))
    again._go_back()
    again.mapping.supplier.choose("new")
    again.mapping.supplier.picked.emit("new")
    assert dict(again.mapping.loaded.layout.remembered) == {"Haven": {"带宽|rate": "bits"}}, "a new supplier is asked"
    again.reject()
