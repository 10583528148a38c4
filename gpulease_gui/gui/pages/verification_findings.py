"""What stands in the middle: totals, filters, the table of findings?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.verification_state import FindingRow, Picture
from gpulease_gui.gui.pages.verification_table import FilterBar, TotalsLine, findings_table
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import IconButton
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.gui.widgets.table import TableView


class FindingsPane(Pane):
    """The middle pane; `chosen` is told of each row that becomes the current one."""

    def __init__(self, terms: Mapping[str, Term], chosen: Callable[[FindingRow | None], None], *,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(2, parent=parent)
        self.setMinimumWidth(480)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        self.trouble = Band("fail", "", "", close)
        close.clicked.connect(self.trouble.hide)
        self.trouble.hide()
        self.totals = TotalsLine()
        self.filters = FilterBar()
        self.model = findings_table(terms)
        self.table = TableView(self.model, Text("Findings", "检查结果"))
        self.table.chosen.connect(chosen)
        self.filters.chosen.connect(self.model.only)
        for part in (self.trouble, self.totals, self.filters):
            self.column.addWidget(part)
        self.column.addWidget(self.table, 1)

    def show_picture(self, picture: Picture) -> None:
        """Draw a run as it is now."""
        self.model.set_rows(picture.rows)
        self.totals.show_picture(picture)
        self.filters.show_picture(picture)

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
