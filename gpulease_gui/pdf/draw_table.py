"""How is a table drawn, so that heads repeat and no row splits?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.paint import Ruler as PaintedRuler
from gpulease_gui.pdf.paint import paint_ruler
from gpulease_gui.pdf.pieces import Piece
from gpulease_gui.pdf.sheet import CELL, SMALL, WIDTH, Lines, Sheet
from gpulease_gui.reports.document import Cell, Column, ColumnKind, Mark, Ruler, Table, Words

ROW = 18.5
_GUTTER = 8.0
_RULER_HEIGHT = 9
_AIR = 7.0


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a column stands."""

    x: float
    width: float
    column: Column


def table_pieces(table: Table, sheet: Sheet) -> list[Piece]:
    """The head, then each row; an empty table has none."""
    if not table.rows:
        return []
    slots = _slots(table.columns)
    head = _head(slots, sheet)
    rows = [_row(slots, row, sheet, head) for row in table.rows]
    # The head never stands alone at the foot of a page.
    return [Piece(head.height, head.draw, gap=4, keep=True), *rows]


def _slots(columns: Sequence[Column]) -> list[_Slot]:
    room = WIDTH - _GUTTER * (len(columns) - 1)
    total = sum(column.weight for column in columns)
    slots, x = [], 0.0
    for column in columns:
        width = room * column.weight / total
        slots.append(_Slot(x, width, column))
        x += width + _GUTTER
    return slots


def _align(column: Column) -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignRight if column.kind is ColumnKind.NUMBER else Qt.AlignmentFlag.AlignLeft


def _head(slots: Sequence[_Slot], sheet: Sheet) -> Piece:
    cells = [
        sheet.set(sheet.say(s.column.head), s.width, points=CELL, bold=True, align=_align(s.column)) for s in slots
    ]
    height = max(lines.height for lines in cells) + 6

    def draw(painter: QPainter, x: float, y: float) -> None:
        for slot, lines in zip(slots, cells, strict=True):
            lines.draw(painter, x + slot.x, y + height - 3 - lines.height)
        sheet.rule(painter, x, y + height - 1, WIDTH, "ink", 0.9)

    return Piece(height, draw)


def _row(slots: Sequence[_Slot], row: Sequence[Cell], sheet: Sheet, head: Piece) -> Piece:
    cells = [_cell(slot, cell, sheet) for slot, cell in zip(slots, row, strict=True)]
    height = max(ROW, max((c.height for c in cells if isinstance(c, Lines)), default=0.0) + _AIR)

    def draw(painter: QPainter, x: float, y: float) -> None:
        for slot, cell in zip(slots, cells, strict=True):
            _draw_cell(painter, x + slot.x, y, slot, cell, sheet)
        sheet.rule(painter, x, y + height - 0.5, WIDTH, "border", 0.5)

    return Piece(height, draw, head=head)


def _cell(slot: _Slot, cell: Cell, sheet: Sheet) -> Lines | Mark | Ruler:
    if isinstance(cell, Words):
        points = SMALL if slot.column.kind is ColumnKind.HASH else CELL
        return sheet.tone(cell.text, cell.tone, slot.width, points=points, align=_align(slot.column))
    return cell


def _draw_cell(painter: QPainter, x: float, y: float, slot: _Slot, cell: Lines | Mark | Ruler, sheet: Sheet) -> None:
    if isinstance(cell, Lines):
        cell.draw(painter, x, y + max(_AIR / 2, (ROW - cell.first_height) / 2) - 0.5)
    elif isinstance(cell, Mark):
        sheet.badge(painter, x, y + 1.5, ROW - 3.5, badge_of(cell.state))
    else:
        _draw_ruler(painter, x, y, slot.width, cell, sheet)


def _draw_ruler(painter: QPainter, x: float, y: float, width: float, ruler: Ruler, sheet: Sheet) -> None:
    token = "t3" if ruler.verdict is Verdict.PASS else badge_of(ruler.verdict).token
    rect = QRect(0, 0, int(width), _RULER_HEIGHT)
    painter.save()
    painter.translate(x, y + (ROW - _RULER_HEIGHT) / 2)
    paint_ruler(painter, rect, PaintedRuler(ruler.promised, ruler.measured, token), sheet.palette)
    painter.restore()
