"""How is a cell of a table drawn and clicked?"""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.models.cell import Cell, GroupRow
from gpulease_gui.gui.models.table import CELL_ROLE, GROUP_ROLE, TableModel
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, points, row_height
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.badge import paint_verdict
from gpulease_gui.gui.widgets.cell_pictures import CellPictures
from gpulease_gui.pdf.fonts import code_font
from gpulease_gui.pdf.paint import paint_ruler, paint_stack
from gpulease_gui.pdf.palette import Palette

Index = QModelIndex | QPersistentModelIndex
CHECK = "check"
_EDGE, _PAD, _ICON, _GAP = 16, 8, 14, 6
_V = Qt.AlignmentFlag.AlignVCenter
_SEEN = (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus).value


class _Pen:
    """Fonts of one view, kept while its base font stays."""

    def __init__(self, base: QFont) -> None:
        self.base = base
        size = points(base, TextSize.DENSE)
        self._fonts: dict[tuple[int, bool, float], QFont] = {}
        self._metrics: dict[tuple[int, bool, float], QFontMetrics] = {}
        self.dense, self.caption = size, points(base, TextSize.CAPTION)

    def metrics(self, weight: int = 400, *, code: bool = False, size: float = 0.0) -> QFontMetrics:
        """How wide words are in a font of this view."""
        wanted = (weight, code, size or self.dense)
        made = self._metrics.get(wanted)
        if made is None:
            made = self._metrics[wanted] = QFontMetrics(self.font(weight, code=code, size=size))
        return made

    def font(self, weight: int = 400, *, code: bool = False, size: float = 0.0) -> QFont:
        """A font of this view."""
        wanted = (weight, code, size or self.dense)
        made = self._fonts.get(wanted)
        if made is None:
            made = code_font(self.dense * 0.96) if code else QFont(self.base)
            if not code:
                made.setPointSizeF(wanted[2])
            made.setWeight(QFont.Weight(weight))
            self._fonts[wanted] = made
        return made


class CellDelegate(QStyledItemDelegate):
    """Draws every kind of cell, its hover and its selection; `clicked` carries the index and the cell's action."""

    clicked = Signal(QModelIndex, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hover = QModelIndex()
        self.comfortable = False
        self.ground = "surface"
        self._pens = _Pen(QFont())
        self._pictures = CellPictures()

    def _pen(self, font: QFont) -> _Pen:
        if font != self._pens.base:
            self._pens = _Pen(QFont(font))
        return self._pens

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Rows of 28, or 34 where the user wants air; both grow with the font."""
        font: QFont = option.font
        return QSize(60, row_height(font, 34 if self.comfortable else 28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        font: QFont = option.font
        palette, pen = colours(), self._pen(font)
        heading, cell = _content(index)
        if heading is not None:
            painter.save()
            self._paint_heading(painter, rect, heading, palette, pen, first=index.column() == 0)
            painter.restore()
        elif cell is not None:
            self._put(painter, rect, index, state, cell, palette, pen)

    def _put(self, painter: QPainter, rect: QRect, index: Index, state: QStyle.StateFlag, cell: Cell, palette: Palette,
             pen: _Pen) -> None:  # fmt: skip
        """Draw a cell, or put down what was drawn before for one that shows the same."""

        def draw(painter: QPainter, rect: QRect) -> None:
            painter.save()
            self._paint_ground(painter, rect, index, state, palette, cell)
            self._paint_cell(painter, self.inner(rect, index), index, cell, palette, pen)
            if state & QStyle.StateFlag.State_HasFocus:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)  # it stays within the cell
                painter.setPen(QPen(QColor(palette.accent), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(rect.adjusted(0, 0, -1, -2))
            painter.restore()

        if cell.ruler is not None or cell.promises is not None:
            draw(painter, rect)
            return
        hovered = self.hover.isValid() and self.hover.row() == index.row()
        shows = (cell, index.column(), state.value & _SEEN, hovered, bool(cell.action) and self.hover == index)
        self._pictures.put(painter, rect, (id(palette), pen, self.ground, current_language()), shows, draw)

    @staticmethod
    def inner(rect: QRect, index: Index) -> QRect:
        """Where the content lies: 8 px from the neighbours, 16 px from the edges of the table."""
        left = _EDGE if index.column() == 0 else _PAD
        right = _EDGE if index.column() == index.model().columnCount() - 1 else _PAD
        return rect.adjusted(left, 0, -right, -1)

    def _paint_ground(self, painter: QPainter, rect: QRect, index: Index, state: QStyle.StateFlag, palette: Palette,
                      cell: Cell) -> None:  # fmt: skip
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = self.hover.isValid() and self.hover.row() == index.row()
        token = "sel" if selected else "hover" if hovered else self.ground
        painter.fillRect(rect, QColor(palette.colour(token)))
        if cell.ground:
            painter.fillRect(rect, QColor(palette.colour(cell.ground)))
        if selected and index.column() == 0:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(palette.accent))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))

    def _paint_heading(self, painter: QPainter, rect: QRect, heading: GroupRow, palette: Palette, pen: _Pen, *,
                       first: bool) -> None:  # fmt: skip
        painter.fillRect(rect, QColor(palette.bg1))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
        if not first:
            return
        left, middle = rect.left() + _EDGE, rect.center().y()
        chevron = "chevron-down" if heading.is_open else "chevron-right"
        icons.paint(painter, QRectF(left, middle - 6, 14, 14), chevron, palette.t3)
        left += 14 + _GAP + 2
        left += self._words(painter, rect, left, heading.group.title, palette.t1, pen.font(600)) + 10
        if heading.group.note:
            left += self._words(painter, rect, left, heading.group.note, palette.t3, pen.font()) + 10
        for badge, count in heading.tallies:
            colour = palette.colour(badge.token)
            icons.paint(painter, QRectF(left, middle - 6, 13, 13), badge.icon, colour)
            left += 13 + 5
            left += self._words(painter, rect, left, str(count), colour, pen.font(500)) + 12

    @staticmethod
    def _words(painter: QPainter, rect: QRect, left: int, words: Text | str, colour: str, font: QFont) -> int:
        """Draw words at `left`; says how wide they are."""
        painter.setFont(font)
        painter.setPen(QColor(colour))
        said = say(words)
        painter.drawText(QRect(left, rect.top(), rect.right() - left, rect.height()), _V, said)
        return painter.fontMetrics().horizontalAdvance(said)

    def _paint_cell(self, painter: QPainter, inner: QRect, index: Index, cell: Cell, palette: Palette, pen: _Pen) -> None:
        if cell.checked is not None:
            _paint_check(painter, inner, palette, checked=cell.checked)
            inner = inner.adjusted(_ICON + _PAD + 2, 0, 0, 0)
        if cell.ruler is not None:
            width = min(112, inner.width())
            paint_ruler(painter, QRect(inner.left(), inner.center().y() - 7, width, 16), cell.ruler, palette)
        elif cell.promises is not None:
            paint_stack(painter, QRect(inner.left(), inner.center().y() - 4, inner.width(), 10), cell.promises, palette)
        elif cell.badge is not None:
            painter.setFont(pen.font())
            paint_verdict(painter, QRectF(inner), cell.badge, filled=cell.filled, word=say(cell.text))
        else:
            self._paint_text(painter, inner, index, cell, palette, pen)

    def _paint_text(self, painter: QPainter, inner: QRect, index: Index, cell: Cell, palette: Palette, pen: _Pen) -> None:
        font = pen.font(cell.weight, code=cell.code)
        metrics = pen.metrics(cell.weight, code=cell.code)
        parts = _Parts(cell, pen)
        room = max(inner.width() - parts.around, 0)
        shown, width = parts.text, metrics.horizontalAdvance(parts.text)
        if width > room and parts.note:
            parts.cut_note(pen, parts.around + width - inner.width())
            room = max(inner.width() - parts.around, 0)
        if width > room:
            shown = metrics.elidedText(parts.text, Qt.TextElideMode.ElideRight, room)
            width = metrics.horizontalAdvance(shown)
        left = inner.right() + 1 - parts.around - width if _to_the_right(index) else inner.left()
        if cell.icon:
            tone = palette.colour(_token(cell.icon_tone))
            icons.paint(painter, QRectF(left, inner.center().y() - _ICON // 2 + 1, _ICON, _ICON), cell.icon, tone)
            left += _ICON + _GAP
        if parts.struck:
            left += _struck(painter, inner, left, parts.struck, palette, pen.font()) + 5
        painter.setFont(font)
        colour = palette.t3 if cell.missing else palette.colour(_token(cell.tone))
        painter.setPen(QColor(colour))
        painter.drawText(QRect(left, inner.top(), width + 1, inner.height()), _V, shown)
        base = inner.center().y() + metrics.height() // 2 - metrics.descent() + 3
        if cell.missing:
            _line(painter, left, base, width, palette.ctl, dashed=True)
        elif cell.action and self.hover == index:
            _line(painter, left, base, width, colour, dashed=False)
        left += width
        if parts.note:
            left += 6 + self._words(painter, inner, left + 6, parts.note, palette.t3, pen.font())
        if parts.tag:
            _tag(painter, inner, left + 8, parts.tag, palette, pen.font(size=pen.caption))

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on a link or a check box; everything else is the view's."""
        if event.type() is QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            cell: Cell | None = index.data(CELL_ROLE)
            if cell is not None and event.button() is Qt.MouseButton.LeftButton:
                action = CHECK if cell.checked is not None else cell.action
                if action:
                    self.clicked.emit(index, action)
                    return True
        return False


_FEW_LETTERS = 4


class _Parts:
    """The words of a cell and how much room all but the text take."""

    def __init__(self, cell: Cell, pen: _Pen) -> None:
        self.text = say(cell.text)
        self.note = say(cell.note) if cell.note else ""
        self.tag = say(cell.tag) if cell.tag else ""
        self.struck = say(cell.struck) if cell.struck else ""
        self.around = _ICON + _GAP if cell.icon else 0
        self.around += pen.metrics().horizontalAdvance(self.note) + 6 if self.note else 0
        self.around += pen.metrics(size=pen.caption).horizontalAdvance(self.tag) + 18 if self.tag else 0
        self.around += pen.metrics().horizontalAdvance(self.struck) + 5 if self.struck else 0

    def cut_note(self, pen: _Pen, lacking: int) -> None:
        """The note gives way to the text, which lacks so many pixels; a few letters of it say nothing."""
        metrics = pen.metrics()
        before = metrics.horizontalAdvance(self.note)
        left = metrics.elidedText(self.note, Qt.TextElideMode.ElideRight, before - lacking) if before > lacking else ""
        self.note = left if len(left) > _FEW_LETTERS else ""
        self.around -= before - metrics.horizontalAdvance(self.note) if self.note else before + 6


def _content(index: Index) -> tuple[GroupRow | None, Cell | None]:
    """The heading or the cell at `index`; our own model is asked directly, which halves what a cell costs."""
    model = index.model()
    if isinstance(model, TableModel):
        heading = model.heading_at(index.row())
        return heading, None if heading is not None else model.cell(index)
    return index.data(GROUP_ROLE), index.data(CELL_ROLE)


def _token(tone: str) -> str:
    return f"t{tone}" if tone in ("1", "2", "3") else tone


def _to_the_right(index: Index) -> bool:
    model = index.model()
    if isinstance(model, TableModel):
        return model.columns[index.column()].number
    side = model.headerData(index.column(), Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
    return bool(int(side or 0) & int(Qt.AlignmentFlag.AlignRight))


def _line(painter: QPainter, left: int, y: int, width: int, colour: str, *, dashed: bool) -> None:
    line = QPen(QColor(colour), 1)
    if dashed:
        line.setDashPattern([3, 2])
    painter.setPen(line)
    painter.drawLine(QPointF(left, y + 0.5), QPointF(left + width, y + 0.5))


def _struck(painter: QPainter, inner: QRect, left: int, words: str, palette: Palette, font: QFont) -> int:
    width = CellDelegate._words(painter, inner, left, words, palette.t2, font)
    painter.fillRect(QRect(left, inner.center().y() + 1, width, 1), QColor(palette.t2))
    return width


def _tag(painter: QPainter, inner: QRect, left: int, words: str, palette: Palette, font: QFont) -> None:
    painter.setFont(font)
    metrics = painter.fontMetrics()
    width, height = metrics.horizontalAdvance(words) + 8, metrics.height()
    box = QRectF(left + 0.5, inner.center().y() - height // 2 + 0.5, width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(palette.border2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(QColor(palette.t2))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _paint_check(painter: QPainter, inner: QRect, palette: Palette, *, checked: bool) -> None:
    box = QRectF(inner.left() + 0.5, inner.center().y() - 6.5, 13, 13)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(palette.accent if checked else palette.ctl))
    painter.setBrush(QColor(palette.accent if checked else palette.surface))
    painter.drawRoundedRect(box, 3, 3)
    if checked:
        icons.paint(painter, QRectF(box.left() + 1, box.top() + 1, 12, 12), "check", palette.ton)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
