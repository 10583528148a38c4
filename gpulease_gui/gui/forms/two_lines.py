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
_STATE = QStyle.StateFlag
# As numbers: an operation on an enum of Qt takes as long as drawing a word.
_AT_LEFT = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_AT_RIGHT = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.AlignmentFlag.AlignRight)
_CHOSEN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_SELECTED, _HOVERED, _FOCUSED = (flag.value for flag in (_STATE.State_Selected, _STATE.State_MouseOver, _STATE.State_HasFocus))


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
        return _CHOSEN

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


class _Fonts:
    """What one view writes with, kept while its own font stays: plain, titles, headings, notes, each with its metrics."""

    def __init__(self, base: QFont) -> None:
        self.base = QFont(base)
        fonts = (
            sized(base, TextSize.DENSE), sized(base, TextSize.DENSE, 500), sized(base, TextSize.DENSE, 600), sized(base, TextSize.CAPTION),
        )  # fmt: skip
        self.plain, self.title, self.heading, self.note = ((font, QFontMetrics(font)) for font in fonts)


class LinesDelegate(QStyledItemDelegate):
    """Draws entries; all text is plain."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._kept = _Fonts(parent.font())

    def _fonts(self, font: QFont) -> _Fonts:
        if font != self._kept.base:
            self._kept = _Fonts(font)
        return self._kept

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """26 for headings, two lines for the rest; both grow with the font."""
        fonts = self._fonts(option.font)
        title = fonts.plain[1].height()
        line: Line = index.data(LINE_ROLE)
        if line.heading:
            return QSize(120, max(28, title + 10))
        second = fonts.note[1].height() if say(line.note) else 0
        return QSize(120, max(28, title + second + 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, mark, both lines, what stands at the right."""
        line: Line = index.data(LINE_ROLE)
        rect: QRect = option.rect
        palette, left = colours(), rect.left() + _EDGE
        painter.save()
        _paint_ground(painter, rect, option.state.value, palette, heading=line.heading)
        if line.checked is not None:
            paint_tick(painter, left, rect.center().y(), ticked=line.checked)
            left += TICK + 8
        if line.icon:
            top = rect.center().y() - _ICON // 2 + 1
            icons.paint(painter, QRectF(left, top, _ICON, _ICON), line.icon, palette.colour(line.tone))
            left += _ICON + 8
        _paint_words(painter, QRect(left, rect.top(), rect.right() - _EDGE - left, rect.height()), line, self._fonts(option.font), palette)
        painter.restore()


def _paint_ground(painter: QPainter, rect: QRect, state: int, palette: Palette, *, heading: bool) -> None:
    token = "sel" if state & _SELECTED else "hover" if state & _HOVERED else "bg1" if heading else "surface"
    painter.fillRect(rect, QColor(palette.colour(token)))
    if state & _SELECTED:
        painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(palette.accent))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
    if state & _FOCUSED:
        painter.setPen(QPen(QColor(palette.accent), 1))
        painter.drawRect(rect.adjusted(0, 0, -1, -2))


def _paint_words(painter: QPainter, room: QRect, line: Line, fonts: _Fonts, palette: Palette) -> None:
    title, second = (fonts.heading, fonts.plain) if line.heading else (fonts.title, fonts.note)
    right, note = say(line.right), say(line.note)
    words = room.adjusted(0, 0, -(title[1].horizontalAdvance(right) + 10), 0) if right else room
    above, below = title[1].height(), second[1].height() if note else 0
    top = room.top() + (room.height() - above - (0 if line.heading else below)) // 2
    if right:
        painter.setFont(fonts.plain[0])
        painter.setPen(QColor(palette.t1))
        painter.drawText(QRect(room.left(), top, room.width(), above), _AT_RIGHT, right)
    if line.heading:
        width = _draw(painter, words, say(line.title), title, palette.t1)
        _draw(painter, words.adjusted(width + 8, 0, 0, 0), note, second, palette.t3)
    elif note:
        _draw(painter, QRect(words.left(), top, words.width(), above), say(line.title), title, palette.t1)
        _draw(painter, QRect(room.left(), top + above, room.width(), below), note, second, palette.t3)
    else:
        _draw(painter, words, say(line.title), title, palette.t1)


def _draw(painter: QPainter, rect: QRect, words: str, font: tuple[QFont, QFontMetrics], colour: str) -> int:
    """One elided line; says how wide it is."""
    room = rect.width()
    if room <= 0 or not words:
        return 0
    painter.setFont(font[0])
    painter.setPen(QColor(colour))
    width = font[1].horizontalAdvance(words)
    if width > room:
        words = font[1].elidedText(words, Qt.TextElideMode.ElideRight, room)
        width = font[1].horizontalAdvance(words)
    painter.drawText(rect, _AT_LEFT, words)
    return width


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
