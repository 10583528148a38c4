"""How does a comparison behave as a table: frozen first column and head, folding, moving, pinning, keyboard?"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.matrix import MatrixModel
from gpulease_gui.gui.theme.sizes import row_height
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.matrix_cells import MatrixDelegate
from gpulease_gui.gui.widgets.matrix_head import MatrixHead

_LABELS, _LEAST, _MOST = 200, 140, 260


class MatrixTable(Lively, QTableView):
    """One of the two views. `folded` carries the key of a heading, `moved` how far (-1, 1), `left` that Tab goes on."""

    toggled = Signal(str, bool)
    moved = Signal(int)
    pin_wanted = Signal()
    copy_wanted = Signal()
    opened = Signal()
    hovered = Signal(int)

    def __init__(self, rows: MatrixModel, name: Words, delegate: MatrixDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows, self._name, self._cells = rows, name, delegate
        self.head = MatrixHead(rows, self)
        self.setHorizontalHeader(self.head)
        self.setItemDelegate(delegate)
        self.setModel(rows)
        self.setShowGrid(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else Qt draws all cells anew at each step of a scroll
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(20)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.retranslate()
        self.retheme()

    def retranslate(self) -> None:
        """Draw in the window's language."""
        self.setAccessibleName(say(self._name))
        self.viewport().update()
        self.head.viewport().update()

    def retheme(self) -> None:
        """Heights follow the font."""
        self.verticalHeader().setDefaultSectionSize(row_height(QFont(self.font())))
        self.head.setFixedHeight(self.head.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground where no cell is, then the cells."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), QColor(colours().surface))
        painter.end()
        super().paintEvent(event)

    def copy(self) -> None:
        """Edit > Copy: the whole comparison as a table."""
        self.copy_wanted.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The line under the pointer is tinted."""
        self.hovered.emit(self.indexAt(event.position().toPoint()).row())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No line is under the pointer."""
        self.hovered.emit(-1)
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a heading folds its lines."""
        heading = self._rows.heading_at(self.indexAt(event.position().toPoint()).row())
        if heading is not None and event.button() is Qt.MouseButton.LeftButton:
            self.toggled.emit(heading.group.key, heading.is_open)
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+Shift+arrows move the column, Ctrl+Shift+P pins it; Left, Right, Enter and Space fold a heading."""
        heading = self._rows.heading_at(self.currentIndex().row())
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.modifiers() == Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier and self._column_key(key):
            return
        elif heading is not None and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.toggled.emit(heading.group.key, key == Qt.Key.Key_Left)
        elif heading is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.toggled.emit(heading.group.key, heading.is_open)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def _column_key(self, key: int) -> bool:
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.moved.emit(-1 if key == Qt.Key.Key_Left else 1)
        elif key == Qt.Key.Key_P:
            self.pin_wanted.emit()
        else:
            return False
        return True


class Matrix(QWidget):
    """Two views over one model: the labels and the pinned offers stay at the left, the others scroll.

    `chosen` says that another cell or head is current; `column_moved` carries from and to (columns, labels are 0);
    `menu_wanted` carries a column and where on the screen.
    """

    chosen = Signal()
    column_moved = Signal(int, int)
    pin_wanted = Signal(int)
    menu_wanted = Signal(int, QPoint)
    copy_wanted = Signal()
    opened = Signal()

    def __init__(self, rows: MatrixModel, name: Words, labels: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = rows
        rows.setParent(self)
        self.delegate = MatrixDelegate(rows, self)
        self.frozen, self.main = MatrixTable(rows, labels, self.delegate, self), MatrixTable(rows, name, self.delegate, self)
        self.frozen.setSelectionModel(self.main.selectionModel())
        self.pinned: frozenset[int] = frozenset()
        self._kept: tuple[object, int] | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.frozen)
        row.addWidget(self.main, 1)
        self.setFocusProxy(self.main)
        self.frozen.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.frozen.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # the keyboard walks both halves from the other one
        self.main.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        for view in (self.frozen, self.main):
            self._connect(view)
        self.frozen.verticalScrollBar().valueChanged.connect(self.main.verticalScrollBar().setValue)
        self.main.verticalScrollBar().valueChanged.connect(self.frozen.verticalScrollBar().setValue)
        self.main.horizontalScrollBar().rangeChanged.connect(lambda low, high: self._same_height(high > low))
        self.main.head.setSectionsMovable(True)
        self.main.head.sectionMoved.connect(self._dragged)
        rows.modelAboutToBeReset.connect(self._keep)
        rows.modelReset.connect(self._bring_back)
        self.main.selectionModel().currentChanged.connect(self._current_changed)

    def _connect(self, view: MatrixTable) -> None:
        view.toggled.connect(lambda key, folded: self.rows.fold(key, folded=folded))
        view.moved.connect(self.move_current)
        view.pin_wanted.connect(lambda: self.pin_wanted.emit(self.column))
        view.copy_wanted.connect(self.copy_wanted)
        view.opened.connect(self.opened)
        view.hovered.connect(self._hover)
        view.head.picked.connect(self.choose_column)
        view.customContextMenuRequested.connect(lambda at, view=view: self._menu(view, view.indexAt(at).column(), view.viewport().mapToGlobal(at)))
        view.head.customContextMenuRequested.connect(lambda at, view=view: self._menu(view, view.head.logicalIndexAt(at), view.head.mapToGlobal(at)))

    # -- what the page calls ---------------------------------------------------------------------------------------------------

    @property
    def column(self) -> int:
        """The current column: 0 the labels, then the offers."""
        return max(0, self.main.currentIndex().column())

    def choose_column(self, column: int) -> None:
        """Make an offer current on the line that is current."""
        row = self.main.currentIndex().row()
        if row < 0:
            row = 1 if self.rows.rowCount() > 1 else 0
        self.main.setCurrentIndex(self.rows.index(row, max(1, column)))

    def pin(self, deals: Iterable[int]) -> None:
        """Keep these offers beside the labels."""
        self.pinned = frozenset(deals)
        for view in (self.frozen, self.main):
            view.head.pinned = self.pinned
        self.fit()

    def move_current(self, step: int) -> None:
        """Move the current offer by one place."""
        column, count = self.column, self.rows.columnCount()
        if column > 0 and 0 < column + step < count:
            self.column_moved.emit(column, column + step)

    def fit(self) -> None:
        """Hide in each view what the other shows; widths follow the room and the font."""
        look = self.rows.look
        heads = look.comparison.heads if look is not None else ()
        scale = max(1.0, self.fontMetrics().height() / 18)
        labels = round(_LABELS * scale)
        room = self.width() - labels - self.main.verticalScrollBar().sizeHint().width()
        each = min(round(_MOST * scale), max(round(_LEAST * scale), room // max(1, len(heads))))
        frozen = labels
        self.frozen.setColumnWidth(0, labels)
        self.main.setColumnHidden(0, True)
        for column, head in enumerate(heads, 1):
            is_pinned = head.row.deal in self.pinned
            self.frozen.setColumnHidden(column, not is_pinned)
            self.main.setColumnHidden(column, is_pinned)
            self.frozen.setColumnWidth(column, each)
            self.main.setColumnWidth(column, each)
            frozen += each if is_pinned else 0
        self.frozen.setFixedWidth(min(frozen, max(labels, round(self.width() * 0.7))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Columns share the room."""
        super().resizeEvent(event)
        self.fit()

    # -- keeping both views together ---------------------------------------------------------------------------------------------

    def _same_height(self, scrolls: bool) -> None:
        """The frozen view keeps as much room below as the other one's scroll bar takes."""
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.frozen.setHorizontalScrollBarPolicy(policy)

    def _keep(self) -> None:
        index = self.main.currentIndex()
        self._kept = (self.rows.key_at(index.row()), index.column()) if index.isValid() else None

    def _bring_back(self) -> None:
        """The same line stays current and in sight when lines fold or filters change."""
        self.fit()
        if self._kept is None or not self.rows.rowCount():
            return
        place = self.rows.place_of(self._kept[0])
        column = min(self._kept[1], self.rows.columnCount() - 1)
        if column >= 0:
            self.main.setCurrentIndex(self.rows.index(max(place, 0), column))

    def _hover(self, row: int) -> None:
        if row == self.delegate.hover:
            return
        for view in (self.frozen, self.main):
            for place in {row, self.delegate.hover} - {-1}:
                view.viewport().update(0, view.rowViewportPosition(place), view.viewport().width(), view.rowHeight(place))
        self.delegate.hover = row

    def _current_changed(self, current: QModelIndex) -> None:
        for view in (self.frozen, self.main):
            if view.head.current != current.column():
                view.head.current = current.column()
                view.head.viewport().update()
        self.chosen.emit()

    def _dragged(self, logical: int, old: int, new: int) -> None:
        """A head was dragged: the model takes the order over, the header goes back to its own."""
        self.main.head.blockSignals(True)
        self.main.head.moveSection(new, old)
        self.main.head.blockSignals(False)
        if new > 0:
            self.column_moved.emit(logical, new)

    def _menu(self, view: MatrixTable, column: int, at: QPoint) -> None:
        self.menu_wanted.emit(column, at)
