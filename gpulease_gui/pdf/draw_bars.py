"""How are measured rates drawn beside their promises?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.units import number_text
from gpulease_gui.pdf.axis import tick_text, ticks
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.pieces import Piece
from gpulease_gui.pdf.sheet import CELL, SMALL, WIDTH, Sheet
from gpulease_gui.reports.document import Bar, BarChart

_LABEL = 178.0
_VALUES = 96.0
_PLOT = WIDTH - _LABEL - _VALUES - 16
_BAR = 7.0
_TICK = 2.0
_AIR = 1.08
_BARS_A_PIECE = 18


def bar_pieces(chart: BarChart, sheet: Sheet) -> list[Piece]:
    """A caption, then charts of at most 18 bars on one scale, each with its axis."""
    top = max((value for bar in chart.bars for value in (bar.measured, bar.promised) if value is not None), default=0.0)
    if top <= 0:
        top = 1.0
    caption = sheet.set(sheet.say(chart.caption), WIDTH, points=SMALL, token="t3")
    parts = [chart.bars[n : n + _BARS_A_PIECE] for n in range(0, len(chart.bars), _BARS_A_PIECE)]
    return [
        Piece(caption.height + 2, caption.draw, gap=5, keep=True),
        *(_part(bars, top * _AIR, chart.unit, sheet) for bars in parts),
    ]


def _part(bars: Sequence[Bar], top: float, unit: str, sheet: Sheet) -> Piece:
    rows = [_row(bar, top, unit, sheet) for bar in bars]
    body = sum(row.height for row in rows)
    marks = [(value, sheet.set(tick_text(value), 60, points=SMALL, token="t3")) for value in ticks(top, 5)]
    unit_lines = sheet.set(sheet.clean(unit), 60, points=SMALL, token="t3")
    height = body + unit_lines.height + 4

    def draw(painter: QPainter, x: float, y: float) -> None:
        left = x + _LABEL + 8
        for value, lines in marks:
            at = left + value / top * _PLOT
            painter.setPen(QPen(sheet.colour("grid" if value else "border2"), 0.5))
            painter.drawLine(QPointF(at, y), QPointF(at, y + body))
            lines.draw(painter, at - lines.natural_width / 2, y + body + 2)
        unit_lines.draw(painter, left + _PLOT + 8, y + body + 2)
        for row in rows:
            row.draw(painter, x, y)
            y += row.height

    return Piece(height, draw, gap=2)


def _row(bar: Bar, top: float, unit: str, sheet: Sheet) -> Piece:
    label = sheet.set(sheet.say(bar.label), _LABEL, points=CELL)
    failed = bar.verdict is Verdict.FAIL
    measured = "–" if bar.measured is None else number_text(bar.measured)
    promised = "" if bar.promised is None else f" / {number_text(bar.promised)}"
    values = sheet.set(
        f"{measured}{promised} {sheet.clean(unit)}", _VALUES, points=CELL, token="fail" if failed else "t1", bold=failed,
        align=Qt.AlignmentFlag.AlignRight,
    )  # fmt: skip
    height = max(label.height, 15.0) + 4
    judged = bar.promised is not None and bar.verdict is not Verdict.PASS
    token = badge_of(bar.verdict).token if judged else "t3"

    def draw(painter: QPainter, x: float, y: float) -> None:
        middle = y + height / 2
        label.draw(painter, x, middle - label.height / 2)
        values.draw(painter, x + WIDTH - _VALUES, middle - values.height / 2)
        left = x + _LABEL + 8
        if bar.measured is not None:
            painter.fillRect(QRectF(left, middle - _BAR / 2, max(1.0, bar.measured / top * _PLOT), _BAR), sheet.colour(token))
        if bar.promised is not None:
            at = left + bar.promised / top * _PLOT
            painter.fillRect(QRectF(at - _TICK / 2, y, _TICK, height), sheet.colour("ink"))

    return Piece(height, draw)
