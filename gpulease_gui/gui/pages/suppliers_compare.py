"""How are offers ticked in the list of suppliers and compared?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.panes import Pane, hairline

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.gui.pages.suppliers_deals import DealsView


class CompareFoot(Pane):
    """Stands under the list as soon as an offer or contract is ticked: compare them, or take the ticks away."""

    def __init__(self, frame: Frame, deals: DealsView) -> None:
        super().__init__(1)
        self._frame, self._list = frame, deals
        self.compare = Button("", icon="nav-compare")
        self.clear = IconButton("close", Text("Take all ticks away", "取消全部勾选"), size=14)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(6)
        row.addWidget(self.compare, 1)
        row.addWidget(self.clear)
        self.column.addWidget(hairline())
        self.column.addLayout(row)
        deals.ticked.connect(self._toggle)
        self.compare.clicked.connect(lambda: frame.go("compare", *deals.deals.ticked))
        self.clear.clicked.connect(self._clear)
        self._show()

    def _toggle(self, key: str) -> None:
        self._list.deals.toggle(key)
        self._show()

    def _clear(self) -> None:
        for key in tuple(self._list.deals.ticked):
            self._list.deals.toggle(key)
        self._show()
        self._list.setFocus()

    def _show(self) -> None:
        count = len(self._list.deals.ticked)
        self.setVisible(bool(count))
        more = Text("Tick one more to compare", "再勾选一份即可对比")
        self.compare.set_words(Text(f"Compare {count}", f"对比 {count} 份") if count > 1 else more)
        self.compare.setEnabled(count > 1)
