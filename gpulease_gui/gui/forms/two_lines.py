"""How does a list show a subject with a second line under it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import Words, plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.ticks import TICK, paint_tick
from gpulease_gui.pdf.palette import Palette

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_EDGE, _ICON = 16, 14
_V = Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: title, second line, something at the right. A `heading` is one line high on a darker ground.

    `checked` draws a tick box in front; None draws none.
    """

    key: str
    title: Words
    note: Words = ""
    right: Words = ""
    icon: str = ""
    tone: str = "t3"
    heading: bool = False
    checked: bool | None = None


class LinesModel(QStringListModel):
    """Entries in the order given.

    A view asks for the index of every entry at each layout, and so for their number: asked in Python, that is 6 us an entry.
    A list of strings counts them in Qt; the strings are empty.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: tuple[Line, ...] = ()

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Show other entries; the same ones are left alone."""
        if tuple(lines) != self.lines:
            with self.others(len(lines)):
                self.lines = tuple(lines)

    @contextmanager
    def others(self, count: int) -> Iterator[None]:
        """Inside, the entries become others, `count` of them."""
        self.beginResetModel()
        yield
        more = count - self.rowCount()
        self.blockSignals(True)  # one reset says it all
        if more > 0:
            self.insertRows(0, more)
        elif more < 0:
            self.removeRows(0, -more)
        self.blockSignals(False)
        self.endResetModel()

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Entries are chosen, never edited or dragged."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self.rowCount()

    def line_at(self, place: int) -> Line | None:
        """The entry at a place; None outside."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The entry for the delegate; its words for assistive tools and tooltips."""
        line = self.line_at(index.row()) if index.isValid() else None
        if line is None:
            return None
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return say(line.title)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return " ".join(say(part) for part in (line.title, line.note, line.right) if say(part))
        if role == Qt.ItemDataRole.CheckStateRole and line.checked is not None:
            return Qt.CheckState.Checked if line.checked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip("\n".join(say(part) for part in (line.title, line.note) if say(part)))
        return None

    def place_of(self, key: str) -> int:
        """Where an entry stands; -1 when it is not there."""
        return next((place for place, line in enumerate(self.lines) if line.key == key), -1)


def deal_height(font: QFont) -> int:
    """How high an entry of two lines is."""
    title, second = QFontMetrics(sized(font, TextSize.DENSE)), QFontMetrics(sized(font, TextSize.CAPTION))
    return max(28, title.height() + second.height() + 8)


class LinesDelegate(QStyledItemDelegate):
    """Draws entries; all text is plain."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """26 for headings, two lines for the rest; both grow with the font."""
        font: QFont = option.font
        title = QFontMetrics(sized(font, TextSize.DENSE)).height()
        line: Line = index.data(LINE_ROLE)
        if line.heading:
            return QSize(120, max(28, title + 10))
        second = QFontMetrics(sized(font, TextSize.CAPTION)).height() if say(line.note) else 0
        return QSize(120, max(28, title + second + 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, mark, both lines, what stands at the right."""
        line: Line = index.data(LINE_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        font: QFont = option.font
        palette = colours()
        painter.save()
        _paint_ground(painter, rect, state, palette, heading=line.heading)
        left = rect.left() + _EDGE
        if line.checked is not None:
            paint_tick(painter, left, rect.center().y(), ticked=line.checked)
            left += TICK + 8
        if line.icon:
            top = rect.center().y() - _ICON // 2 + 1
            icons.paint(painter, QRectF(left, top, _ICON, _ICON), line.icon, palette.colour(line.tone))
            left += _ICON + 8
        _paint_words(painter, QRect(left, rect.top(), rect.right() - _EDGE - left, rect.height()), line, font, palette)
        painter.restore()


def _paint_ground(painter: QPainter, rect: QRect, state: QStyle.StateFlag, palette: Palette, *, heading: bool) -> None:
    selected, hovered = bool(state & QStyle.StateFlag.State_Selected), bool(state & QStyle.StateFlag.State_MouseOver)
    token = "sel" if selected else "hover" if hovered else "bg1" if heading else "surface"
    painter.fillRect(rect, QColor(palette.colour(token)))
    if selected:
        painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(palette.accent))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(QColor(palette.accent), 1))
        painter.drawRect(rect.adjusted(0, 0, -1, -2))


def _paint_words(painter: QPainter, room: QRect, line: Line, font: QFont, palette: Palette) -> None:
    title_font = sized(font, TextSize.DENSE, 600 if line.heading else 500)
    note_font = sized(font, TextSize.CAPTION if not line.heading else TextSize.DENSE)
    right = say(line.right)
    right_width = QFontMetrics(title_font).horizontalAdvance(right) if right else 0
    words = room.adjusted(0, 0, -(right_width + 10) if right else 0, 0)
    note = say(line.note)
    above, below = QFontMetrics(title_font).height(), QFontMetrics(note_font).height() if note else 0
    top = room.top() + (room.height() - above - (0 if line.heading else below)) // 2
    painter.setFont(sized(font, TextSize.DENSE))
    painter.setPen(QColor(palette.t1))
    painter.drawText(QRect(room.left(), top, room.width(), above), _V | Qt.AlignmentFlag.AlignRight, right)
    if line.heading:
        width = _draw(painter, words, say(line.title), title_font, palette.t1)
        _draw(painter, words.adjusted(width + 8, 0, 0, 0), note, note_font, palette.t3)
    elif note:
        _draw(painter, QRect(words.left(), top, words.width(), above), say(line.title), title_font, palette.t1)
        _draw(painter, QRect(room.left(), top + above, room.width(), below), note, note_font, palette.t3)
    else:
        _draw(painter, words, say(line.title), title_font, palette.t1)


def _draw(painter: QPainter, rect: QRect, words: str, font: QFont, colour: str) -> int:
    """One elided line; says how wide it is."""
    if rect.width() <= 0 or not words:
        return 0
    painter.setFont(font)
    painter.setPen(QColor(colour))
    shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, _V | Qt.TextFlag.TextSingleLine, shown)
    return painter.fontMetrics().horizontalAdvance(shown)


class LinesView(Lively, QListView):
    """A list of two-line entries with keyboard, selection and hover. `ticked` carries an entry whose box was hit, or Space on it."""

    ticked = Signal(str)

    def __init__(self, name: Words, *, rows: LinesModel | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.rows = rows or LinesModel()
        self.rows.setParent(self)
        self.setModel(self.rows)
        self.setItemDelegate(LinesDelegate(self))
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.retranslate()

    @property
    def current(self) -> Line | None:
        """The current entry."""
        return self.rows.line_at(self.currentIndex().row())

    def choose(self, key: str) -> bool:
        """Make an entry current; False when it is not shown."""
        place = self.rows.place_of(key)
        if place < 0:
            return False
        self.setCurrentIndex(self.rows.index(place, 0))
        self.scrollTo(self.rows.index(place, 0))
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a tick box ticks and chooses nothing."""
        index = self.indexAt(event.position().toPoint())
        line = self.rows.line_at(index.row()) if index.isValid() else None
        if line is not None and line.checked is not None and event.position().x() < _EDGE + TICK + 6:
            self.ticked.emit(line.key)
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space ticks the current entry where it has a box."""
        line = self.current
        if event.key() == Qt.Key.Key_Space and line is not None and line.checked is not None:
            self.ticked.emit(line.key)
            return
        super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Draw in the window's language."""
        self.setAccessibleName(say(self._name))
        self.viewport().update()

    def retheme(self) -> None:
        """Heights follow the font."""
        self.scheduleDelayedItemsLayout()
