"""How is a cell of a comparison drawn: promise, measurement, best, missing, red flag?"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.matrix import MatrixHeading, MatrixModel
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import row_height
from gpulease_gui.gui.widgets.inks import InkPot, Inks
from gpulease_gui.services.comparison import BEST_UNSURE, Cell, CellState, CompareRow

Index = QModelIndex | QPersistentModelIndex
NO_RATE = Text("no rate", "无汇率")
_MEASURED = Text("measured {0}", "实测 {0}")
_EDGE, _PAD, _ICON, _GAP = 16, 10, 13, 5


class MatrixDelegate(QStyledItemDelegate):
    """Draws both views of the matrix; hover by line. All words are plain text."""

    def __init__(self, rows: MatrixModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows, self._pot = rows, InkPot()
        self.hover = -1

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Rows of 28 that grow with the font."""
        return QSize(60, row_height(option.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        state: QStyle.StateFlag = option.state
        self.draw(painter, option.rect, option.font, (index.row(), index.column()),
                  selected=bool(state & QStyle.StateFlag.State_Selected), focused=bool(state & QStyle.StateFlag.State_HasFocus))  # fmt: skip

    def draw(self, painter: QPainter, rect: QRect, base: QFont, place: tuple[int, int], *, selected: bool = False, focused: bool = False) -> None:
        """Draw the cell at row and column into any rectangle: of a view, or of a picture that is saved."""
        inks, (row, column) = self._pot.of(base), place
        shown = self._rows.shown_at(row)
        painter.save()
        if isinstance(shown, MatrixHeading):
            _draw_heading(painter, rect, shown, column, inks)
        elif shown is not None:
            ground = "sel" if selected else "hover" if self.hover == row else ""
            _draw_cell(painter, rect, shown, column, inks, ground)
        if focused:
            painter.setPen(QPen(inks.colour("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -2, -2))
        painter.restore()


def _draw_heading(painter: QPainter, rect: QRect, heading: MatrixHeading, column: int, inks: Inks) -> None:
    painter.fillRect(rect, inks.colour("bg1"))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), inks.colour("border"))
    if column == 0:
        chevron = "chevron-down" if heading.is_open else "chevron-right"
        icons.paint(painter, QRectF(rect.left() + _EDGE - 4, rect.center().y() - 6, 14, 14), chevron, inks.palette.t3)
        inks.draw(painter, rect.adjusted(_EDGE + 14, 0, -4, 0), heading.group.title, "t1", 600)
    elif column == 1:
        differing, rows = heading.differing, heading.rows
        told = Text(f"{differing} differ", f"{differing} 行有差异")
        if not heading.is_open:
            told = Text(f"{rows} rows, {told.en}", f"{rows} 行，{told.zh}")
        inks.draw(painter, rect.adjusted(_PAD, 0, -4, 0), told, "t3")


def _draw_cell(painter: QPainter, rect: QRect, row: CompareRow, column: int, inks: Inks, ground: str) -> None:
    cell = row.cells[column - 1] if column else None
    broken = cell is not None and cell.claim is ClaimState.REFUTED
    token = "fail_bg" if broken and ground != "sel" else ground or ("bg1" if cell is None else "surface")
    painter.fillRect(rect, inks.colour(token))
    line = inks.colour("border")
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), line)
    painter.fillRect(QRect(rect.right(), rect.top(), 1, rect.height()), line)
    if cell is None:
        inks.draw(painter, rect.adjusted(_EDGE, 0, -_PAD, 0), row.label, "t2")
    else:
        _draw_value(painter, rect.adjusted(_PAD, 0, -6, 0), cell, inks)


def _draw_value(painter: QPainter, room: QRect, cell: Cell, inks: Inks) -> None:
    left = room.left()
    icon, tone = _mark(cell)
    if icon:
        icons.paint(painter, QRectF(left, room.center().y() - _ICON // 2, _ICON, _ICON), icon, inks.palette.colour(tone))
        left += _ICON + _GAP
    mark = _mark_that_fits(cell, room.right() - left, inks)
    tail = inks.width(say(mark), 0) + 20 if cell.best else 0
    left = _value_words(painter, QRect(left, room.top(), max(0, room.right() - left - tail), room.height()), cell, inks)
    if cell.best:
        tone = "t2" if cell.assumed else "pass"
        _triangle(painter, left + 8, room.center().y(), inks.colour(tone), hollow=bool(cell.assumed))
        inks.draw(painter, QRect(left + 18, room.top(), room.right() - left - 10, room.height()), mark, tone, 0)


def _mark_that_fits(cell: Cell, room: int, inks: Inks) -> Text:
    """The word of the best; where assumptions would cut the value off, their short word beside the hollow mark."""
    if not cell.best or not cell.assumed:
        return cell.mark
    fits = inks.width(say(cell.text), 400) + inks.width(say(cell.mark), 0) + 20 <= room
    return cell.mark if fits else BEST_UNSURE


def _value_words(painter: QPainter, room: QRect, cell: Cell, inks: Inks) -> int:
    """The value and what stands beside it; where it ends."""
    if cell.state is CellState.NOT_STATED:
        return _missing(painter, room, cell.text, inks)
    if cell.state is CellState.NOT_APPLICABLE:
        return inks.draw(painter, room, cell.text, "t3")
    if cell.claim is ClaimState.REFUTED and cell.measured.en:
        left = _struck(painter, room, cell.text, inks) + _GAP
        return inks.draw(painter, room.adjusted(left - room.left(), 0, 0, 0), cell.measured, "fail", 600)
    left = inks.draw(painter, room, cell.text, "t1")
    beside, tone = _beside(cell)
    if beside is not None:
        left = inks.draw(painter, room.adjusted(left + 6 - room.left(), 0, 0, 0), beside, tone)
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


def _missing(painter: QPainter, room: QRect, words: Text, inks: Inks) -> int:
    end = inks.draw(painter, room, words, "t3")
    y = room.center().y() + inks.under + 0.5
    painter.setPen(inks.dashes)
    painter.drawLine(QPointF(room.left(), y), QPointF(end, y))
    return end


def _struck(painter: QPainter, room: QRect, words: Text, inks: Inks) -> int:
    end = inks.draw(painter, room, words, "t2")
    painter.fillRect(QRect(room.left(), room.center().y() + 1, end - room.left(), 1), inks.colour("t2"))
    return end


def _triangle(painter: QPainter, left: int, middle: int, colour: QColor, *, hollow: bool) -> None:
    """The mark of the best, hollow where it rests on assumptions: drawn, because fonts may lack it."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1) if hollow else QPen(Qt.PenStyle.NoPen))
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else colour)
    painter.drawPolygon([QPointF(left, middle + 3.5), QPointF(left + 7, middle + 3.5), QPointF(left + 3.5, middle - 3)])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def draw_words(painter: QPainter, room: QRect, words: Text | str, colour: str, font: QFont) -> int:
    """One elided line in any font; where it ends. For what is drawn once, not by the hundred."""
    if room.width() <= 6:
        return room.left()
    painter.setFont(font)
    painter.setPen(QColor(colour))
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(" ".join(say(words).split()), Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
    return room.left() + metrics.horizontalAdvance(shown)
