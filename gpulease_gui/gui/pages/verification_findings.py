"""What stands in the middle: totals, filters, the table of findings?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.verification_state import FindingRow, Picture
from gpulease_gui.gui.pages.verification_table import FilterBar, FindingsTable, TotalsLine, findings_table
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.gui.widgets.table import TableView

RERUN = Text("Run this check again", "重新执行此检查")


class FindingsPane(Pane):
    """The middle pane; `chosen` is told of each row that becomes the current one.

    `rerun_wanted` carries the id of a check that is to be asked again, `compare_wanted` that the changes are to be shown.
    """

    rerun_wanted = Signal(str)
    compare_wanted = Signal()

    def __init__(self, terms: Mapping[str, Term], chosen: Callable[[FindingRow | None], None], *,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(2, parent=parent)
        self.setMinimumWidth(480)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        self.trouble = Band("fail", "", "", close)
        close.clicked.connect(self.trouble.hide)
        self.trouble.hide()
        self.drifts = {is_broken: self._drift_band("fail" if is_broken else "warn") for is_broken in (True, False)}
        self.totals = TotalsLine()
        self.filters = FilterBar()
        self.model = findings_table(terms)
        self.table = FindingsTable(self.model, Text("Findings", "检查结果"))
        self.table.chosen.connect(chosen)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._menu)
        self.filters.chosen.connect(self.model.only)
        for part in (self.trouble, *self.drifts.values(), self.totals, self.filters):
            self.column.addWidget(part)
        self.column.addWidget(self.table, 1)

    def show_picture(self, picture: Picture) -> None:
        """Draw a run as it is now."""
        self.model.set_rows(picture.rows)
        self.totals.show_picture(picture)
        self.filters.show_picture(picture)

    def _drift_band(self, tone: str) -> Band:
        show = Button(Text("Show differences", "查看差异"), small=True)
        show.clicked.connect(self.compare_wanted)
        band = Band(tone, "", "", show)
        band.hide()
        return band

    def show_drift(self, headline: Words, sentence: Words, is_broken: bool) -> None:
        """What changed since the node was accepted, red where it breaks that; no headline hides it."""
        for broken, band in self.drifts.items():
            band.tell(headline, sentence)
            band.setVisible(bool(say(headline)) and broken is is_broken)

    def _menu(self, at: QPoint) -> None:
        row = self.table.current_row
        if row is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        again = QAction(say(RERUN), menu)
        again.setEnabled(not row.is_rerunning)
        again.triggered.connect(lambda: self.rerun_wanted.emit(row.info.id))
        menu.addAction(again)
        menu.popup(self.table.viewport().mapToGlobal(at))

    def start_anew(self) -> None:
        """Another node or run: no trouble, no filter."""
        self.trouble.hide()
        self.filters.reset()

    def show_group(self, key: str) -> None:
        """Bring the first line of a group into sight, its heading above it."""
        first = next((row for row in self.model.rows if row.info.group.en == key), None)
        if first is not None and self.table.choose(first.key):
            place = self.model.place_of(first.key)
            self.table.scrollTo(self.model.index(max((place or 0) - 1, 0), 0), TableView.ScrollHint.PositionAtTop)
