"""Which offers are compared: a list with ticks that reads only the lines in sight?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.matrix_cells import draw_words
from gpulease_gui.gui.widgets.ticks import paint_tick
from gpulease_gui.services.compare_page import PickId, PickLine, pickable_in, picked_lines

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_WINDOW, _SOON_MS = 64, 15
_READING = Text("…", "…")


class PickModel(QAbstractListModel):
    """All numbers, the lines of a few. `missing` carries places whose line was asked for and is not read yet."""

    missing = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.picks: tuple[PickId, ...] = ()
        self.lines: dict[int, PickLine] = {}
        self.ticked: dict[Subject, None] = {}

    def show_picks(self, picks: tuple[PickId, ...]) -> None:
        """Offer other records; lines are read anew."""
        self.beginResetModel()
        self.picks, self.lines = picks, {}
        self.endResetModel()

    def take(self, lines: Sequence[PickLine]) -> None:
        """Lines that were read."""
        self.lines.update({line.row.deal: line for line in lines})
        self.redraw()

    def redraw(self) -> None:
        """Draw all lines in sight anew."""
        if self.picks:
            self.dataChanged.emit(self.index(0), self.index(len(self.picks) - 1))

    def line_at(self, place: int) -> PickLine | None:
        """The line at a place; None while it is being read."""
        return self.lines.get(self.picks[place].deal) if 0 <= place < len(self.picks) else None

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """How many offers and contracts there are."""
        return 0 if parent.isValid() else len(self.picks)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words of a line; asking for one that was not read asks for its window."""
        if not index.isValid() or index.row() >= len(self.picks):
            return None
        line = self.line_at(index.row())
        if line is None:
            if role == Qt.ItemDataRole.DisplayRole:
                self.missing.emit(index.row())
            return say(_READING) if role == Qt.ItemDataRole.DisplayRole else None
        row = line.row
        if role == Qt.ItemDataRole.DisplayRole:
            return say(row.supplier)
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if row.subject in self.ticked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            ticked = say(Text("ticked", "已勾选") if row.subject in self.ticked else Text("not ticked", "未勾选"))
            return f"{say(row.supplier)} {say(line.words)} {ticked}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{row.supplier}\n{say(line.words)}\n{row.title}")
        return None


class _PickDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        font: QFont = option.font
        two = QFontMetrics(sized(font, TextSize.DENSE)).height() + QFontMetrics(sized(font, TextSize.CAPTION)).height()
        return QSize(120, max(38, two + 8))

    def _several(self) -> bool:
        """One line that is chosen is the current one; several are chosen to be ticked together."""
        view = self.parent()
        return isinstance(view, QListView) and len(view.selectionModel().selectedIndexes()) > 1

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        palette, rect, font = colours(), option.rect, option.font
        said, ticked = str(index.data()), index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
        model = index.model()
        line = model.line_at(index.row()) if isinstance(model, PickModel) else None
        painter.save()
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected) and self._several()
        painter.fillRect(rect, QColor(palette.accent_bg if ticked else palette.hover if hovered or chosen else palette.surface))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
        paint_tick(painter, rect.left() + 16, rect.center().y(), ticked=ticked)
        above, below = QFontMetrics(sized(font, TextSize.DENSE)).height(), QFontMetrics(sized(font, TextSize.CAPTION)).height()
        top = rect.top() + (rect.height() - above - below) // 2
        room = QRect(rect.left() + 40, top, rect.width() - 52, above)
        draw_words(painter, room, said, palette.t1, sized(font, TextSize.DENSE, 500))
        if line is not None:
            note = room.translated(0, above)
            note.setHeight(below)
            draw_words(painter, note, line.words, palette.t2 if ticked else palette.t3, sized(font, TextSize.CAPTION))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.accent), 1))
            painter.drawRect(rect.adjusted(0, 0, -1, -2))
        painter.restore()


class PickList(Lively, QListView):
    """The list; a click or Space ticks, Space all lines that Shift chose. `ticked` carries a record and whether it is ticked now."""

    ticked = Signal(object, bool)

    def __init__(self, frame: Frame, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame, self._words = frame, ""
        self.rows = PickModel()
        self.rows.setParent(self)
        self.setModel(self.rows)
        self.setItemDelegate(_PickDelegate(self))
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self._wanted: set[int] = set()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._soon.timeout.connect(self._read_window)
        self.rows.missing.connect(self._want)
        self.retranslate()

    @property
    def chosen(self) -> tuple[Subject, ...]:
        """The ticked records in the order in which they were ticked."""
        return tuple(self.rows.ticked)

    def choose(self, subjects: Iterable[Subject]) -> None:
        """Tick exactly these, without telling anyone."""
        self.rows.ticked = dict.fromkeys(subjects)
        self.rows.redraw()

    def refresh(self, words: str | None = None) -> None:
        """Read which records there are; with `words` only those that hold them."""
        self._words = self._words if words is None else words
        if self._frame.is_open:
            asked = self._words
            future = self._frame.services.query(lambda connection: pickable_in(connection, asked))
            self._frame.bridge.when_done(future, lambda picks: self._took(asked, picks))

    def _took(self, asked: str, picks: tuple[PickId, ...]) -> None:
        if asked == self._words:
            current = self.currentIndex().row()
            self.rows.show_picks(picks)
            if picks:
                self.setCurrentIndex(self.rows.index(min(max(current, 0), len(picks) - 1)))

    def _want(self, place: int) -> None:
        self._wanted.add(place // _WINDOW)
        if not self._soon.isActive():
            self._soon.start()

    def _read_window(self) -> None:
        windows, self._wanted = self._wanted, set()
        picks = [pick for n in sorted(windows) for pick in self.rows.picks[n * _WINDOW : (n + 1) * _WINDOW]]
        if picks and self._frame.is_open:
            gpus = self._frame.services.catalogue.gpus
            future = self._frame.services.query(lambda connection: picked_lines(connection, picks, gpus))
            self._frame.bridge.when_done(future, self.rows.take)

    def tick(self, place: int) -> None:
        """Tick or untick a line."""
        line = self.rows.line_at(place)
        if line is None:
            return
        row = line.row
        on = row.subject not in self.rows.ticked
        if on:
            self.rows.ticked[row.subject] = None
        else:
            self.rows.ticked.pop(row.subject)
        self.rows.redraw()
        self.ticked.emit(row.subject, on)

    def tick_chosen(self) -> None:
        """Tick the lines that are chosen together; where all are ticked already, untick them."""
        places = sorted({index.row() for index in self.selectedIndexes()} | {self.currentIndex().row()})
        lines = {place: line for place in places if (line := self.rows.line_at(place)) is not None}
        unticked = [place for place, line in lines.items() if line.row.subject not in self.rows.ticked]
        for place in unticked or lines:
            self.tick(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click anywhere on a line ticks it."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            self.tick(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space and Enter tick the current line, or those that are chosen with Shift."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.tick_chosen()
            return
        super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Say the name; lines follow by themselves."""
        self.setAccessibleName(say(Text("Offers and contracts to compare", "可对比的报价与合同")))
        self.viewport().update()

    def retheme(self) -> None:
        """Heights follow the font."""
        self.scheduleDelayedItemsLayout()
