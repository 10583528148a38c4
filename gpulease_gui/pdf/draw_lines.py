"""How is a stretch of readings drawn against the contract line?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.pdf.axis import nice_step, tick_text, ticks
from gpulease_gui.pdf.curves import MOST_LINES, Slot, band_of, runs_of
from gpulease_gui.pdf.paint import paint_hatch, with_alpha
from gpulease_gui.pdf.palette import SeriesStyle
from gpulease_gui.pdf.pieces import Piece
from gpulease_gui.pdf.sheet import SMALL, WIDTH, Lines, Sheet
from gpulease_gui.reports.blank_words import blank_text
from gpulease_gui.reports.document import Blank, Curve, LineChart

_PLOT_HEIGHT = 104.0
_AXIS = 34.0
_TOP = 12.0
_AIR = 1.15
_TIMES = 6
_CONTRACT_PEN = 1.5
# Above the plot, where only some curves were not read.
_PART_HEIGHT = 5.0
_MOST_PARTS = 6
_TIME_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The plot's rectangle and its scales."""

    rect: QRectF
    start_s: float
    end_s: float
    top: float

    def x(self, at_s: float) -> float:
        return self.rect.left() + (at_s - self.start_s) / max(self.end_s - self.start_s, 1e-9) * self.rect.width()

    def y(self, value: float) -> float:
        return self.rect.bottom() - min(max(value, 0.0), self.top) / self.top * self.rect.height()


def line_pieces(chart: LineChart, sheet: Sheet) -> list[Piece]:
    """One piece: caption, plot with axes, legend."""
    caption = sheet.set(sheet.say(chart.caption), WIDTH, points=SMALL, token="t3")
    legend = _legend(chart, sheet)
    legend_height = sum(max(sample.height, 10.0) for _, sample in legend)
    height = caption.height + _TOP + _PLOT_HEIGHT + 14 + legend_height

    def draw(painter: QPainter, x: float, y: float) -> None:
        caption.draw(painter, x, y)
        plot = QRectF(x + _AXIS, y + caption.height + _TOP, WIDTH - _AXIS, _PLOT_HEIGHT)
        _draw_plot(painter, chart, _Frame(plot, chart.start_s, chart.end_s, _top(chart)), sheet)
        _draw_legend(painter, x + _AXIS, plot.bottom() + 14, legend, sheet)

    return [Piece(height, draw, gap=6)]


def _top(chart: LineChart) -> float:
    values = [max(curve.high) for curve in chart.curves if curve.high]
    values += [chart.contract] if chart.contract is not None else []
    return max(values, default=0.0) * _AIR or 1.0


def _draw_plot(painter: QPainter, chart: LineChart, frame: _Frame, sheet: Sheet) -> None:
    painter.save()
    _draw_grid(painter, chart, frame, sheet)
    for blank in chart.blanks:
        _draw_blank(painter, blank, chart, frame, sheet)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if len(chart.curves) > MOST_LINES:
        _draw_band(painter, band_of(chart), frame, sheet)
    else:
        for number, curve in enumerate(chart.curves):
            _draw_curve(painter, curve, chart.blanks, frame, _pen(sheet.palette.series[number]))
    _draw_contract(painter, chart, frame, sheet)
    painter.restore()


def _draw_grid(painter: QPainter, chart: LineChart, frame: _Frame, sheet: Sheet) -> None:
    rect = frame.rect
    for value in ticks(frame.top, 4):
        painter.setPen(QPen(sheet.colour("grid" if value else "border2"), 0.5))
        painter.drawLine(QPointF(rect.left(), frame.y(value)), QPointF(rect.right(), frame.y(value)))
        words = sheet.set(tick_text(value), _AXIS - 6, points=SMALL, token="t3", align=Qt.AlignmentFlag.AlignRight)
        words.draw(painter, rect.left() - _AXIS, frame.y(value) - words.height / 2)
    for at_s, words_of_time in _times(chart):
        words = sheet.set(words_of_time, 60, points=SMALL, token="t3")
        painter.setPen(QPen(sheet.colour("border2"), 0.5))
        painter.drawLine(QPointF(frame.x(at_s), rect.bottom()), QPointF(frame.x(at_s), rect.bottom() + 2.5))
        left = min(frame.x(at_s) - words.natural_width / 2, rect.right() - words.natural_width)
        words.draw(painter, left, rect.bottom() + 3)


def _times(chart: LineChart) -> list[tuple[float, str]]:
    """About six round moments with their words in our zone."""
    span = max(chart.end_s - chart.start_s, 1.0)
    rough = span / _TIMES
    step = float(next((s for s in _TIME_STEPS_S if s >= rough), nice_step(span, _TIMES)))
    local = chart.start_s + chart.utc_offset_s
    first = -(-local // step) * step
    form = "%H:%M:%S" if step < 60 else "%H:%M"
    moments = [first + n * step for n in range(int((local + span - first) / step) + 1)]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(m - chart.utc_offset_s, (epoch + timedelta(seconds=m)).strftime(form)) for m in moments]


def _draw_blank(painter: QPainter, blank: Blank, chart: LineChart, frame: _Frame, sheet: Sheet) -> None:
    """Over the whole plot with its words; of some curves along the upper edge, and the legend tells it."""
    left, right = frame.x(max(blank.start_s, frame.start_s)), frame.x(min(blank.end_s, frame.end_s))
    rect = QRectF(left, frame.rect.top(), max(right - left, 1.5), frame.rect.height())
    if blank.curves:
        rect = QRectF(left, frame.rect.top() - _PART_HEIGHT, rect.width(), _PART_HEIGHT)
    _hatch(painter, rect, sheet)
    if blank.curves:
        return
    reason = sheet.say(blank_text(blank, chart.utc_offset_s))
    words = sheet.set(reason, 150, points=SMALL, token="t2", max_lines=2)
    room_right = frame.rect.right() - rect.right() - 6
    at = rect.right() + 4 if room_right > words.natural_width else max(frame.rect.left(), left - 4 - words.natural_width)
    painter.fillRect(QRectF(at - 1, frame.rect.center().y() - 1, words.natural_width + 2, words.height + 1), sheet.colour("plot"))
    words.draw(painter, at, frame.rect.center().y())


def _hatch(painter: QPainter, rect: QRectF, sheet: Sheet) -> None:
    paint_hatch(painter, rect, sheet.palette.hatch, sheet.palette.surface2, step=5)


def _draw_contract(painter: QPainter, chart: LineChart, frame: _Frame, sheet: Sheet) -> None:
    if chart.contract is None:
        return
    y = frame.y(chart.contract)
    painter.fillRect(QRectF(frame.rect.left(), y - _CONTRACT_PEN / 2, frame.rect.width(), _CONTRACT_PEN), sheet.colour("ink"))
    words = sheet.set(sheet.say(chart.contract_words), 200, points=SMALL, bold=True)
    words.draw(painter, frame.rect.right() - words.natural_width, y - _CONTRACT_PEN - words.height)


def _pen(style: SeriesStyle, width: float = 0.9) -> QPen:
    pen = QPen(QColor(style.colour), width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if style.dash:
        pen.setDashPattern([dash / width for dash in style.dash])
    return pen


def _draw_curve(painter: QPainter, curve: Curve, blanks: Sequence[Blank], frame: _Frame, pen: QPen) -> None:
    painter.setPen(pen)
    for part in runs_of(curve, blanks):
        points = [QPointF(frame.x(at), frame.y(value)) for at, value in part]
        if len(points) == 1:
            painter.drawPoint(points[0])
        painter.drawPolyline(QPolygonF(points))


def _draw_band(painter: QPainter, parts: Sequence[Sequence[Slot]], frame: _Frame, sheet: Sheet) -> None:
    style = sheet.palette.series[0]
    for part in parts:
        upper = [QPointF(frame.x(s.at_s), frame.y(s.high)) for s in part]
        lower = [QPointF(frame.x(s.at_s), frame.y(s.low)) for s in reversed(part)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_alpha(style.colour, 0.2))
        painter.drawPolygon(QPolygonF([*upper, *lower]))
        painter.setPen(_pen(style))
        painter.drawPolyline(QPolygonF([QPointF(frame.x(s.at_s), frame.y(s.median)) for s in part]))


# What a line of it explains: that of a curve, or hatching.
_Legend = list[tuple[QPen | None, Lines]]


def _legend(chart: LineChart, sheet: Sheet) -> _Legend:
    """A line for each curve with its range and mean, one line for a band; then the gaps of single curves."""
    return _curves_told(chart, sheet) + _parts_told(chart, sheet)


def _parts_told(chart: LineChart, sheet: Sheet) -> _Legend:
    parts = [blank for blank in chart.blanks if blank.curves]
    words = [blank_text(blank, chart.utc_offset_s) for blank in parts[:_MOST_PARTS]]
    if more := len(parts) - len(words):
        words.append(Text(f"{more} more gaps of some of the lines", f"另有 {more} 处仅部分曲线未读取"))
    return [(None, sheet.set(sheet.say(one), WIDTH - _AXIS - 28, points=SMALL, token="t2")) for one in words]


def _curves_told(chart: LineChart, sheet: Sheet) -> _Legend:
    room = WIDTH - _AXIS - 28
    if len(chart.curves) > MOST_LINES:
        low, high = min(min(c.low) for c in chart.curves if c.low), max(max(c.high) for c in chart.curves if c.high)
        span = f"{_number(low)} – {_number(high)} {chart.unit}"
        count = len(chart.curves)
        words = Text(
            f"{count} lines: band from the lowest to the highest reading, line = median; {span}",
            f"{count} 条曲线：色带为最低至最高读数，线为中位数；{span}",
        )
        return [(_pen(sheet.palette.series[0]), sheet.set(sheet.say(words), room, points=SMALL, token="t2"))]
    return [
        (_pen(sheet.palette.series[n]), sheet.set(sheet.say(_summary(c, chart.unit)), room, points=SMALL, token="t2"))
        for n, c in enumerate(chart.curves) if c.low
    ]  # fmt: skip


def _number(value: float) -> str:
    """With one decimal if it has one; a trace is 0, not 0.0."""
    return number_text(round(value, 1))


def _summary(curve: Curve, unit: str) -> Text:
    mean = sum((low + high) / 2 for low, high in zip(curve.low, curve.high, strict=True)) / len(curve.low)
    span = f"{_number(min(curve.low))} – {_number(max(curve.high))} {unit}"
    name = f"{curve.name}: " if curve.name else ""
    name_zh = f"{curve.name}：" if curve.name else ""
    return Text(f"{name}mean {_number(mean)}, range {span}", f"{name_zh}均值 {_number(mean)}，范围 {span}")


def _draw_legend(painter: QPainter, x: float, y: float, legend: _Legend, sheet: Sheet) -> None:
    for pen, lines in legend:
        middle = y + lines.first_height / 2
        if pen is None:
            _hatch(painter, QRectF(x, middle - _PART_HEIGHT / 2, 20, _PART_HEIGHT), sheet)
        else:
            painter.setPen(pen)
            painter.drawLine(QPointF(x, middle), QPointF(x + 20, middle))
        lines.draw(painter, x + 26, y)
        y += max(lines.height, 10.0)
