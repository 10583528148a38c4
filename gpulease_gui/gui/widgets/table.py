"""How does a table behave: hover by row, sort by head, links, folding, copying?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gpulease_gui.domain.right_of_way import RightOfWay
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.theme.sizes import row_height
from gpulease_gui.gui.widgets.cells import CellDelegate
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively

_FEW_WORDS = 96  # px at least of a column that takes what is left
_USUAL_HEIGHT = 18  # of the base font, at which the widths of columns are given


class TableView(Lively, QTableView):
    """The one table of the window.

    `chosen` carries the current row (or None), `acted` a row and the action word of the cell that was clicked,
    `opened` a row on Enter or double click. While it is drawn it holds `way`: a page whose rows come from many threads
    gives it that of its workspace.
    """

    chosen = Signal(object)
    acted = Signal(object, str)
    opened = Signal(object)

    def __init__(self, table: TableModel[Any], name: Words, *, many: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table, self._name = table, name
        self._cramped = False
        self.way = RightOfWay()
        table.setParent(self)
        self._cells = CellDelegate(self)
        self._cells.clicked.connect(self._clicked)
        self.setItemDelegate(self._cells)
        self.setModel(table)
        self._set_up_looks()
        self._set_up_behaviour(many=many)
        self._set_up_heads()
        table.layoutChanged.connect(self._fit_headings)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self.retranslate()
        self._fit()

    def _set_up_looks(self) -> None:
        self.setShowGrid(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def _set_up_behaviour(self, *, many: bool) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if many else modes.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)

    def _set_up_heads(self) -> None:
        rows, heads = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setMinimumSectionSize(20)
        heads.setHighlightSections(False)
        heads.setSectionsClickable(True)
        heads.setSortIndicatorClearable(True)
        heads.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        for place, column in enumerate(self._table.columns):
            mode = QHeaderView.ResizeMode.Stretch if column.stretch else QHeaderView.ResizeMode.Interactive
            heads.setSectionResizeMode(place, mode)

    # -- what pages call ------------------------------------------------------------------------------------------

    @property
    def current_row(self) -> Any:
        """The current row, or None."""
        return self._table.row_at(self.currentIndex().row())

    @property
    def selected_rows(self) -> tuple[Any, ...]:
        """All selected rows from top to bottom."""
        # By ranges: Qt's selectedRows asks the model for the flags of every cell of every row.
        chosen = self.selectionModel().selection().toList()
        places = sorted({place for part in chosen for place in range(part.top(), part.bottom() + 1)})
        return tuple(row for place in places if (row := self._table.row_at(place)) is not None)

    def choose(self, key: Hashable) -> bool:
        """Make the row of `key` current and bring it into sight; False when it is not shown."""
        place = self._table.place_of(key)
        if place is None:
            return False
        self.setCurrentIndex(self._table.index(place, 0))
        self.scrollTo(self._table.index(place, 0))
        return True

    def choose_first(self) -> None:
        """Make the first row current (never a heading)."""
        for place in range(self._table.rowCount()):
            if self._table.row_at(place) is not None:
                self.setCurrentIndex(self._table.index(place, 0))
                return

    def set_comfortable(self, *, comfortable: bool) -> None:
        """Rows of 34 px in place of 28."""
        self._cells.comfortable = comfortable
        self._fit()

    def set_pane(self) -> None:
        """Stand on the ground of a side pane."""
        self.setProperty("pane", "1")
        self._cells.ground = "bg1"

    def copied_text(self) -> str:
        """The selected rows as tab-separated text, heads first; what stands in a cell never breaks a row."""
        lines = [[say(column.title) for column in self._table.columns]]
        lines += [[_copied(column.cell(row)) for column in self._table.columns] for row in self.selected_rows]
        return "\n".join("\t".join(" ".join(part.split()) for part in line) for line in lines)

    # -- language, theme, font ------------------------------------------------------------------------------------------

    def retranslate(self) -> None:
        """Say heads and cells in the window's language."""
        self.setAccessibleName(say(self._name))
        self._table.retranslate()

    def retheme(self) -> None:
        """Row heights and widths follow the font."""
        self._fit()

    def _fit(self) -> None:
        font = QFont(self.font())
        self.verticalHeader().setDefaultSectionSize(row_height(font, 34 if self._cells.comfortable else 28))
        scale = max(1.0, QFontMetrics(font).height() / _USUAL_HEIGHT)
        heads = self.horizontalHeader()
        for place, column in enumerate(self._table.columns):
            if not column.stretch and heads.sectionSize(place) != round(column.width * scale):
                heads.resizeSection(place, round(column.width * scale))
        self._give_room()
        self._fit_headings()

    def _give_room(self) -> None:
        """A column that takes what is left keeps room for a few words; where there is none, the table is moved sideways."""
        heads, columns = self.horizontalHeader(), self._table.columns
        scale = max(1.0, QFontMetrics(self.font()).height() / _USUAL_HEIGHT)
        wide = {place: round(min(column.width, _FEW_WORDS) * scale) for place, column in enumerate(columns) if column.stretch and not heads.isSectionHidden(place)}
        taken = sum(heads.sectionSize(place) for place in range(len(columns)) if place not in wide and not heads.isSectionHidden(place))
        cramped = self.viewport().width() - taken < sum(wide.values())
        if cramped == self._cramped:
            return
        self._cramped = cramped
        for place, least in wide.items():
            heads.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive if cramped else QHeaderView.ResizeMode.Stretch)
            if cramped:
                heads.resizeSection(place, least)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Some hundred calls of Qt, after each of which Python is to be had again: not while others have it all the time."""
        with self.way.held():
            super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Columns share another width."""
        super().resizeEvent(event)
        self._give_room()

    def _fit_headings(self) -> None:
        """Headings reach over all columns and are 2 px lower."""
        self._cells.hover = QModelIndex()
        places = set(self._table.heading_places())
        if not places and self.rowSpan(0, 0) <= 1 and self.columnSpan(0, 0) <= 1:
            return
        self.clearSpans()
        rows = self.verticalHeader()
        usual = rows.defaultSectionSize()
        for place in range(self._table.rowCount()):
            wanted = usual - 2 if place in places else usual
            if rows.sectionSize(place) != wanted:
                rows.resizeSection(place, wanted)
            if place in places and len(self._table.columns) > 1:
                self.setSpan(place, 0, 1, len(self._table.columns))

    # -- mouse and keys -----------------------------------------------------------------------------------------------

    def _hover_at(self, index: QModelIndex) -> None:
        if index == self._cells.hover:
            return
        for row in {index.row(), self._cells.hover.row()} - {-1}:
            top = self.rowViewportPosition(row)
            self.viewport().update(0, top, self.viewport().width(), self.rowHeight(row))
        self._cells.hover = QModelIndex(index)
        cell = self._table.cell(index) if index.isValid() else None
        over_link = cell is not None and bool(cell.action)
        shape = Qt.CursorShape.PointingHandCursor if over_link else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The row under the pointer is tinted."""
        self._hover_at(self.indexAt(event.position().toPoint()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No row is under the pointer."""
        self._hover_at(QModelIndex())
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a heading folds its rows."""
        heading = self._table.heading_at(self.indexAt(event.position().toPoint()).row())
        if heading is not None:
            self._table.fold(heading.group.key, folded=heading.is_open)
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy as a table; Left and Right fold and open a heading; Enter opens."""
        heading = self._table.heading_at(self.currentIndex().row())
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.copied_text())
        elif heading is not None and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._table.fold(heading.group.key, folded=event.key() == Qt.Key.Key_Left)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_row is not None:
            self.opened.emit(self.current_row)
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the row."""
        row = self._table.row_at(self.indexAt(event.position().toPoint()).row())
        if row is not None and event.button() is Qt.MouseButton.LeftButton:
            self.opened.emit(row)
        super().mouseDoubleClickEvent(event)

    def _clicked(self, index: QModelIndex, action: str) -> None:
        row = self._table.row_at(index.row())
        if row is not None:
            self.acted.emit(row, action)

    def _current_changed(self, current: QModelIndex) -> None:
        self.chosen.emit(self._table.row_at(current.row()))


class SparingTable(TableView):
    """In a narrow window it goes without the `spare` columns, named the most important first, rather than being scrolled sideways."""

    spare: tuple[int, ...] = ()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width has room for other columns."""
        self._spare()
        super().resizeEvent(event)

    def retheme(self) -> None:
        """Larger letters want more room, too."""
        super().retheme()
        self._spare()
        self._give_room()

    def _spare(self) -> None:
        columns, scale = self._table.columns, max(1.0, self.fontMetrics().height() / _USUAL_HEIGHT)
        room = self.viewport().width() - scale * sum(column.width for place, column in enumerate(columns) if place not in self.spare)
        for place in self.spare:
            room -= scale * columns[place].width
            self.setColumnHidden(place, room < 0)


def _copied(cell: Cell) -> str:
    return " ".join(part for part in (say(cell.text), say(cell.note)) if part)
