"""Which offer or contract is meant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.search import SearchBox
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.checklist_page import DealsFound, find_deals
from gpulease_gui.store.deals import DealRow

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_KINDS = {HolderOf.CONTRACT: Text("Contracts", "合同"), HolderOf.OFFER: Text("Offers", "报价")}


class DealPicker(FactDialog):
    """A list that narrows as words are typed; it is read on a worker, 200 lines at most. `picked` carries a DealRow."""

    picked = Signal(object)

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        title = Text("Choose an offer or contract", "选择报价或合同")
        super().__init__(title, title, icon="search", parent=parent)
        self._frame = frame
        self._asked = ""
        self.facts.hide()
        self.setMinimumSize(680, 460)
        self.search = SearchBox(Text("Number, supplier, model…", "编号、供应商、型号…"))
        self.search.searched.connect(self.load)
        self.model: TableModel[DealRow] = TableModel(_columns(), lambda row: row.deal, group=_group)
        self.table = TableView(self.model, title)
        self.table.opened.connect(self._take)
        self.table.setMinimumHeight(260)
        self.count = PlainLabel("", size="caption", level="3")
        for widget in (self.search, self.table, self.count):
            self.column.addWidget(widget, 1 if widget is self.table else 0)
        self.fill()
        self.add_button(Button(CANCEL), rejects=True)
        self.choose = self.add_button(Button(Text("Choose", "选定"), kind="primary"), default=True)
        self.choose.clicked.connect(lambda: self._take(self.table.current_row))
        self.load("")
        self.search.setFocus()

    def load(self, words: str) -> None:
        """Look for other words."""
        self._asked = words
        found = self._frame.services.query(lambda connection: find_deals(connection, words))
        self._frame.bridge.when_done(found, lambda rows: self._show(words, rows))

    def _show(self, words: str, found: DealsFound) -> None:
        if words != self._asked:
            return
        self.model.set_rows(found.rows)
        self.table.choose_first()
        more = found.total - len(found.rows)
        self.count.set_words(
            Text(f"{more} more: type to narrow the list", f"另有 {more} 条：请输入以缩小范围") if more
            else Text(f"{found.total} in all", f"共 {found.total} 条")
        )  # fmt: skip

    def _take(self, row: DealRow | None) -> None:
        if row is not None:
            self.picked.emit(row)
            self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down move in the list while words are typed; Enter takes the current line."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not self.table.hasFocus():
            self.table.setFocus()
            self.table.keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self.table.current_row)
        else:
            super().keyPressEvent(event)


def _group(row: DealRow) -> Group:
    return Group(row.kind, _KINDS[row.kind])


def _columns() -> tuple[Column[DealRow], ...]:
    return (
        Column(Text("Number", "编号"), lambda row: Cell(foreign(row.number), weight=500), width=130),
        Column(Text("Supplier", "供应商"), lambda row: Cell(foreign(row.supplier), tone="2"), width=150),
        Column(Text("What", "内容"), lambda row: Cell(foreign(row.title), tone="2") if row.title else NOTHING, width=160, stretch=True),
        Column(Text("Model", "型号"), lambda row: Cell(foreign(row.gpu_model), tone="2") if row.gpu_model else NOTHING, width=110),
        Column(Text("Answered", "已答"), lambda row: Cell(str(row.answered)), width=80, number=True),
    )  # fmt: skip
