"""How is a cell of a comparison drawn: promise, measurement, best, missing, red flag?"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.matrix import HEADING_ROLE, MATRIX_ROLE, MatrixCell, MatrixHeading
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, row_height, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.pdf.palette import Palette
from gpulease_gui.services.comparison import Cell, CellState

Index = QModelIndex | QPersistentModelIndex
BEST = Text("best", "最优")
NO_RATE = Text("no rate", "无汇率")
_MEASURED = Text("measured {0}", "实测 {0}")
_EDGE, _PAD, _ICON, _GAP = 16, 10, 13, 5
_V = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class MatrixDelegate(QStyledItemDelegate):
    """Draws both views of the matrix; hover by line. All words are plain text."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hover = -1
        self._base = QFont()
        self._fonts: dict[int, QFont] = {}
        self._caption = QFont()

    def _font(self, base: QFont, weight: int) -> QFont:
        if base != self._base or not self._fonts:
            self._base = QFont(base)
            self._fonts = {w: sized(base, TextSize.DENSE, w) for w in (400, 500, 600)}
            self._caption = sized(base, TextSize.CAPTION, 500)
        return self._fonts[weight]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Rows of 28 that grow with the font."""
        return QSize(60, row_height(option.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        state: QStyle.StateFlag = option.state
        self.draw(painter, option.rect, option.font, index, selected=bool(state & QStyle.StateFlag.State_Selected),
                  focused=bool(state & QStyle.StateFlag.State_HasFocus))  # fmt: skip

    def draw(self, painter: QPainter, rect: QRect, base: QFont, index: Index, *, selected: bool = False, focused: bool = False) -> None:
        """Draw one cell into any rectangle: of a view, or of a picture that is saved."""
        palette = colours()
        heading = index.data(HEADING_ROLE)
        painter.save()
        if heading is not None:
            self._draw_heading(painter, rect, base, heading, index.column(), palette)
        else:
            self._draw_cell(painter, rect, base, index.data(MATRIX_ROLE), index, palette, selected=selected)
        if focused:
            painter.setPen(QPen(QColor(palette.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -2, -2))
        painter.restore()

    def _draw_heading(self, painter: QPainter, rect: QRect, base: QFont, heading: MatrixHeading, column: int, palette: Palette) -> None:
        painter.fillRect(rect, QColor(palette.bg1))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
        if column == 0:
            chevron = "chevron-down" if heading.is_open else "chevron-right"
            icons.paint(painter, QRectF(rect.left() + _EDGE - 4, rect.center().y() - 6, 14, 14), chevron, palette.t3)
            room = rect.adjusted(_EDGE + 14, 0, -4, 0)
            draw_words(painter, room, heading.group.title, palette.t1, self._font(base, 600))
        elif column == 1:
            told = Text(f"{heading.differing} differ" if heading.is_open else f"{heading.rows} rows, {heading.differing} differ",
                        f"{heading.differing} 行有差异" if heading.is_open else f"{heading.rows} 行，{heading.differing} 行有差异")  # fmt: skip
            draw_words(painter, rect.adjusted(_PAD, 0, -4, 0), told, palette.t3, self._font(base, 400))

    def _draw_cell(self, painter: QPainter, rect: QRect, base: QFont, shown: MatrixCell, index: Index, palette: Palette, *, selected: bool) -> None:
        token = "sel" if selected else "hover" if self.hover == index.row() else "bg1" if shown.cell is None else "surface"
        broken = shown.cell is not None and shown.cell.claim is ClaimState.REFUTED
        painter.fillRect(rect, QColor(palette.colour("fail_bg" if broken and not selected else token)))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
        painter.fillRect(QRect(rect.right(), rect.top(), 1, rect.height()), QColor(palette.border))
        if shown.cell is None:
            draw_words(painter, rect.adjusted(_EDGE, 0, -_PAD, 0), shown.row.label, palette.t2, self._font(base, 400))
        else:
            self._draw_value(painter, rect.adjusted(_PAD, 0, -6, 0), base, shown.cell, palette)

    def _draw_value(self, painter: QPainter, room: QRect, base: QFont, cell: Cell, palette: Palette) -> None:
        left = room.left()
        icon, tone = _mark(cell)
        if icon:
            icons.paint(painter, QRectF(left, room.center().y() - _ICON // 2, _ICON, _ICON), icon, palette.colour(tone))
            left += _ICON + _GAP
        tail = QFontMetrics(self._caption).horizontalAdvance(say(BEST)) + 20 if cell.best else 0
        left = self._value_words(painter, QRect(left, room.top(), max(0, room.right() - left - tail), room.height()), base, cell, palette)
        if cell.best:
            _triangle(painter, left + 8, room.center().y(), palette.pass_)
            draw_words(painter, QRect(left + 18, room.top(), room.right() - left - 10, room.height()), BEST, palette.pass_, self._caption)

    def _value_words(self, painter: QPainter, room: QRect, base: QFont, cell: Cell, palette: Palette) -> int:
        """The value and what stands beside it; where it ends."""
        plain = self._font(base, 400)
        if cell.state is CellState.NOT_STATED:
            return _missing(painter, room, cell.text, plain, palette)
        if cell.state is CellState.NOT_APPLICABLE:
            return draw_words(painter, room, cell.text, palette.t3, plain)
        if cell.claim is ClaimState.REFUTED and cell.measured.en:
            left = _struck(painter, room, cell.text, plain, palette) + _GAP
            return draw_words(painter, room.adjusted(left - room.left(), 0, 0, 0), cell.measured, palette.fail, self._font(base, 600))
        left = draw_words(painter, room, cell.text, palette.t1, plain)
        beside, tone = _beside(cell)
        if beside is not None:
            left = draw_words(painter, room.adjusted(left + 6 - room.left(), 0, 0, 0), beside, palette.colour(tone), plain)
        return left


def _mark(cell: Cell) -> tuple[str, str]:
    if cell.claim is ClaimState.REFUTED:
        return "verdict-fail", "fail"
    if cell.flag.en:
        return "verdict-warn", "warn"
    return ("verdict-pass", "pass") if cell.claim is ClaimState.VERIFIED else ("", "")


def _beside(cell: Cell) -> tuple[Text | None, str]:
    """What stands after the value: a measurement of another figure, the agreed amount, or that it can't be converted."""
    if cell.measured.en and cell.measured.en not in cell.text.en:
        return Text(_MEASURED.en.format(cell.measured.en), _MEASURED.zh.format(cell.measured.zh)), "t3"
    if cell.state is CellState.NOT_CONVERTED:
        return NO_RATE, "warn"
    return (cell.original, "t3") if cell.original.en else (None, "t3")


def draw_words(painter: QPainter, room: QRect, words: Text | str, colour: str, font: QFont) -> int:
    """One elided line; where it ends."""
    if room.width() <= 6:
        return room.left()
    painter.setFont(font)
    painter.setPen(QColor(colour))
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(" ".join(say(words).split()), Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, _V, shown)
    return room.left() + metrics.horizontalAdvance(shown)


def _missing(painter: QPainter, room: QRect, words: Text, font: QFont, palette: Palette) -> int:
    end = draw_words(painter, room, words, palette.t3, font)
    metrics = QFontMetrics(font)
    y = room.center().y() + metrics.height() // 2 - metrics.descent() + 3.5
    line = QPen(QColor(palette.ctl), 1)
    line.setDashPattern([3, 2])
    painter.setPen(line)
    painter.drawLine(QPointF(room.left(), y), QPointF(end, y))
    return end


def _struck(painter: QPainter, room: QRect, words: Text, font: QFont, palette: Palette) -> int:
    end = draw_words(painter, room, words, palette.t2, font)
    painter.fillRect(QRect(room.left(), room.center().y() + 1, end - room.left(), 1), QColor(palette.t2))
    return end


def _triangle(painter: QPainter, left: int, middle: int, colour: str) -> None:
    """The mark of the best: drawn, because fonts may lack it."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawPolygon([QPointF(left, middle + 3.5), QPointF(left + 7, middle + 3.5), QPointF(left + 3.5, middle - 3)])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
