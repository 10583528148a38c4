"""How are titles, the verdict box, pairs, lists and lines to sign on drawn?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.paint import paint_icon
from gpulease_gui.pdf.pieces import Piece
from gpulease_gui.pdf.sheet import BODY, CELL, SMALL, WIDTH, Lines, Sheet
from gpulease_gui.reports.document import (
    Heading,
    Items,
    Marks,
    Pair,
    Pairs,
    Paragraph,
    SignOff,
    SubHeading,
    Title,
    VerdictBox,
)

TITLE, SECTION, NODE = 17.0, 11.0, 9.5
_RIGHT = Qt.AlignmentFlag.AlignRight
TITLE_WIDTH = WIDTH * 0.68
_BOX_LEFT = 176.0
_PAD = 12.0
_GAP = 10.0


def title_pieces(block: Title, sheet: Sheet) -> list[Piece]:
    """Name in both languages at the left, lines at the right, a rule of ink."""
    name = sheet.set(sheet.say(block.text), TITLE_WIDTH, points=TITLE, bold=True)
    other = sheet.set(sheet.other(block.text), TITLE_WIDTH, points=CELL, token="t3")
    right = [sheet.set(sheet.say(line), WIDTH - TITLE_WIDTH, points=SMALL, token="t2", align=_RIGHT) for line in block.lines]
    height = name.height + other.height + 12

    def draw(painter: QPainter, x: float, y: float) -> None:
        name.draw(painter, x, y)
        other.draw(painter, x, y + name.height + 1)
        bottom = y + name.height + other.height
        for lines in reversed(right):
            bottom -= lines.height
            lines.draw(painter, x + TITLE_WIDTH, bottom)
        sheet.rule(painter, x, y + height - 1.5, WIDTH, "ink", 1.5)

    return [Piece(height, draw)]


def box_pieces(block: VerdictBox, sheet: Sheet) -> list[Piece]:
    """The conclusion on its tint, the identity beside it."""
    badge = badge_of(block.verdict)
    caption = sheet.set(sheet.say(block.caption), _BOX_LEFT - 2 * _PAD, points=SMALL, token="t2")
    word = sheet.set(sheet.say(badge.word), _BOX_LEFT - 2 * _PAD - 22, points=TITLE, token=badge.token, bold=True)
    details = [sheet.set(sheet.say(line), _BOX_LEFT - 2 * _PAD, points=SMALL, token="t2") for line in block.details]
    left = 2 * _PAD + caption.height + word.height + 2 + sum(lines.height + 1 for lines in details)
    rows = _pair_rows(block.pairs, sheet, WIDTH - _BOX_LEFT - 2 * _PAD, 2, CELL)
    height = max(left, 2 * _PAD + sum(row.height for row in rows))

    def draw(painter: QPainter, x: float, y: float) -> None:
        painter.fillRect(QRectF(x, y, _BOX_LEFT, height), sheet.colour(badge.tint))
        _stack(painter, x + _PAD, y + _PAD, [caption])
        top = y + _PAD + caption.height + 1
        side = word.first_height * 0.72
        paint_icon(
            painter, QRectF(x + _PAD, top + (word.first_height - side) / 2, side, side), badge.icon, sheet.palette.colour(badge.token)
        )
        word.draw(painter, x + _PAD + 22, top)
        _stack(painter, x + _PAD, top + word.height + 1, details, 1)
        top = y + _PAD
        for row in rows:
            row.draw(painter, x + _BOX_LEFT + _PAD, top)
            top += row.height
        painter.setPen(QPen(sheet.colour("border2"), 0.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(x, y, WIDTH, height))

    return [Piece(height, draw, gap=12)]


def _stack(painter: QPainter, x: float, y: float, all_lines: Sequence[Lines], gap: float = 0.0) -> None:
    for lines in all_lines:
        lines.draw(painter, x, y)
        y += lines.height + gap


def heading_pieces(block: Heading, sheet: Sheet) -> list[Piece]:
    """Number and heading, the other language behind it in grey."""
    number = sheet.set(str(block.number), 18, points=SECTION, bold=True)
    name = sheet.set(sheet.say(block.text), WIDTH - 20, points=SECTION, bold=True)
    other = sheet.set(sheet.other(block.text), WIDTH - 34 - name.natural_width, points=CELL, token="t3")

    def draw(painter: QPainter, x: float, y: float) -> None:
        number.draw(painter, x, y)
        name.draw(painter, x + 18, y)
        other.draw(painter, x + 18 + name.natural_width + 8, y + name.first_height - other.first_height - 1.2)

    return [Piece(name.height + 3, draw, gap=18, keep=True)]


def sub_pieces(block: SubHeading, sheet: Sheet) -> list[Piece]:
    """The node's name with its verdict, a note at the right."""
    name = sheet.set(sheet.say(block.text), WIDTH * 0.55, points=NODE, bold=True)
    note = sheet.set(sheet.say(block.note), WIDTH * 0.25, points=SMALL, token="t3", align=_RIGHT)
    height = name.height + 4

    def draw(painter: QPainter, x: float, y: float) -> None:
        name.draw(painter, x, y + 2)
        note.draw(painter, x + WIDTH * 0.75, y + 3)
        if block.state is not None:
            sheet.badge(painter, x + name.natural_width + 10, y, height, badge_of(block.state))

    return [Piece(height, draw, gap=8, keep=True)]


def paragraph_pieces(block: Paragraph, sheet: Sheet) -> list[Piece]:
    """Sentences in the full width."""
    lines = sheet.tone(block.text, block.tone, WIDTH, points=CELL)
    return [Piece(lines.height, lines.draw, gap=5)]


def items_pieces(block: Items, sheet: Sheet) -> list[Piece]:
    """Numbered items, each kept whole."""
    return [_item(number, sheet.set(sheet.say(item), WIDTH - 20, points=CELL), sheet) for number, item in enumerate(block.items, 1)]


def _item(number: int, lines: Lines, sheet: Sheet) -> Piece:
    label = sheet.set(str(number), 14, points=CELL, token="t3", align=_RIGHT)

    def draw(painter: QPainter, x: float, y: float) -> None:
        label.draw(painter, x, y)
        lines.draw(painter, x + 20, y)

    return Piece(lines.height + 2, draw, gap=3)


def pairs_pieces(block: Pairs, sheet: Sheet) -> list[Piece]:
    """Labels and values in columns."""
    rows = _pair_rows(block.pairs, sheet, WIDTH, block.columns, CELL)
    return [Piece(row.height, row.draw, gap=4 if number == 0 else 0) for number, row in enumerate(rows)]


def _pair_rows(pairs: Sequence[Pair], sheet: Sheet, width: float, columns: int, points: float) -> list[Piece]:
    room = width / columns
    labels = [sheet.set(sheet.say(pair.label), room * 0.45, points=points, token="t2") for pair in pairs]
    indents = [max((label.natural_width for label in labels[c::columns]), default=0.0) + _GAP for c in range(columns)]
    cells = [
        (label, sheet.tone(pair.value.text, pair.value.tone, room - indents[n % columns] - _GAP, points=points), indents[n % columns])
        for n, (pair, label) in enumerate(zip(pairs, labels, strict=True))
    ]
    return [_pair_row(cells[n : n + columns], room) for n in range(0, len(cells), columns)]


def _pair_row(cells: Sequence[tuple[Lines, Lines, float]], room: float) -> Piece:
    height = max(max(label.height, value.height) for label, value, _ in cells) + 5

    def draw(painter: QPainter, x: float, y: float) -> None:
        for place, (label, value, indent) in enumerate(cells):
            label.draw(painter, x + place * room, y)
            value.draw(painter, x + place * room + indent, y)

    return Piece(height, draw)


def marks_pieces(block: Marks, sheet: Sheet) -> list[Piece]:
    """The marks side by side."""

    def draw(painter: QPainter, x: float, y: float) -> None:
        for state in block.states:
            badge = badge_of(state)
            sheet.badge(painter, x, y, 14, badge, SMALL)
            x += sheet.badge_width(badge, SMALL, filled=badge.loud) + 12

    return [Piece(14, draw, gap=6)]


def sign_pieces(block: SignOff, sheet: Sheet) -> list[Piece]:
    """One column a party: its name, then lines to write on."""
    room = (WIDTH - 24) / len(block.parties)
    heads = [
        sheet.set(f"{sheet.say(p.label)}  {sheet.say(p.value.text)}".rstrip(), room, points=BODY, bold=True) for p in block.parties
    ]
    fields = [sheet.set(sheet.say(field), room * 0.45, points=CELL, token="t2") for field in block.fields]
    top = max(lines.height for lines in heads) + 6
    step = 30.0

    def draw(painter: QPainter, x: float, y: float) -> None:
        for place, lines in enumerate(heads):
            left = x + place * (room + 24)
            lines.draw(painter, left, y)
            for number, field in enumerate(fields):
                base = y + top + step * (number + 1)
                field.draw(painter, left, base - field.first_height - 1)
                painter.setPen(QPen(sheet.colour("ctl"), 0.6))
                painter.drawLine(QPointF(left + field.natural_width + 8, base), QPointF(left + room, base))

    return [Piece(top + step * len(fields) + 6, draw, gap=10)]
