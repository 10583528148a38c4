"""Which acts does the menu of a row of nodes offer?"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say

PAIRS = Text("Measure between nodes…", "节点间测量…")
_WORDS = {
    "verify": Text("Verify", "验收"), "connect": Text("Test connection", "测试连接"), "watch": Text("Watch live", "实时监控"),
    "pairs": PAIRS, "edit": Text("Edit…", "编辑…"), "delete": Text("Remove", "移除"),
}  # fmt: skip


def open_row_menu(parent: QWidget, chosen: int, act: Callable[[str], None], at: QPoint) -> None:
    """Show the menu for `chosen` selected rows; `act` gets the id of what was picked."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for action, words in _WORDS.items():
        if action == "pairs" and chosen < 2:
            continue
        line = QAction(say(words), menu)
        line.triggered.connect(lambda _=False, wanted=action: act(wanted))
        menu.addAction(line)
    menu.popup(at)
