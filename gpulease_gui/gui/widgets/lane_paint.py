"""How are the parts of a lane drawn around its lines?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_pens import gap_brush, paint_key
from gpulease_gui.gui.widgets.chart_scale import TimeScale, ValueScale
from gpulease_gui.gui.widgets.chart_spec import Coarser, Hole, LaneSpec, Promised, fixed, with_unit
from gpulease_gui.pdf.paint import with_alpha

NAME_PX, AXIS_PX, READOUT_PX = 104, 56, 228
_V = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = _V | Qt.AlignmentFlag.AlignLeft, _V | Qt.AlignmentFlag.AlignRight

CONTRACT = Text("Contract", "合同")
IMPLIED = Text("Model default", "型号默认")


class Columns:
    """Where the four columns of a lane lie; they grow with the font."""

    def __init__(self, font: QFont, width: int) -> None:
        scale = max(1.0, QFontMetrics(font).height() / 18)
        self.name, axis, readout = round(NAME_PX * scale), round(AXIS_PX * scale), round(READOUT_PX * scale)
        self.plot_width = max(40, width - self.name - axis - readout)
        self.axis = self.name + self.plot_width
        self.readout = self.axis + axis
        self.axis_width, self.readout_width = axis, readout

    def plot(self, height: int) -> QRect:
        """The plot of a row `height` px high."""
        return QRect(self.name, 0, self.plot_width, height)


def line_height(font: QFont) -> int:
    """The height of one line of the readout."""
    return max(20, QFontMetrics(font).height() + 2)


def promise_words(lane: LaneSpec, promised: Promised) -> str:
    """What stands on the contract line: whose figure, and the figure with its unit."""
    whose = IMPLIED if promised.implied else CONTRACT
    decimals = 0 if float(promised.value).is_integer() else lane.decimals or 1
    return f"{say(whose)} {with_unit(promised.value, lane.unit, decimals)}"


def paint_name(painter: QPainter, rect: QRect, font: QFont, lane: LaneSpec) -> None:
    """Name and unit at the left."""
    palette = colours()
    painter.fillRect(rect, QColor(palette.surface))
    room = rect.adjusted(16, 7, -6, 0)
    painter.setFont(sized(font, TextSize.DENSE, 500))
    painter.setPen(QColor(palette.t1))
    metrics = painter.fontMetrics()
    flags = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop)
    words = say(lane.title)
    height = min(metrics.boundingRect(QRect(0, 0, room.width(), 200), flags, words).height(), 2 * metrics.height())
    painter.drawText(QRect(room.left(), room.top(), room.width(), height + 2), flags, words)
    painter.setFont(sized(font, TextSize.CAPTION))
    painter.setPen(QColor(palette.t3))
    metrics, top = painter.fontMetrics(), room.top() + height + 1
    for line in (lane.unit, say(lane.subject)):
        if line:
            shown = metrics.elidedText(line, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(QRect(room.left(), top, room.width(), metrics.height()), _LEFT, shown)
            top += metrics.height() + 1


def paint_ground(painter: QPainter, plot: QRect, values: ValueScale, foot: int, ticks: Sequence[float]) -> None:
    """The plot's ground and grid; `foot` px at the bottom belong to the strip, `ticks` are px from the plot's left."""
    palette = colours()
    painter.fillRect(plot, QColor(palette.plot))
    painter.setPen(QPen(QColor(palette.grid), 1))
    height = plot.height() - foot
    for value in values.ticks:
        y = plot.top() + min(round(values.y(value, height)), height - 1) + 0.5
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right() + 1, y))
    for tick in ticks:
        x = plot.left() + round(tick) + 0.5
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom() + 1))


def paint_tolerance(painter: QPainter, plot: QRect, promised: Promised, values: ValueScale, foot: int) -> None:
    """The band around the promise, with dotted edges."""
    ink, height = colours().ink, plot.height() - foot
    top, bottom = (
        plot.top() + round(values.y(promised.value * (1 + sign * promised.tolerance), height)) for sign in (1, -1)
    )
    top = max(plot.top(), top)
    if bottom - top < 3:
        return
    painter.fillRect(QRect(plot.left(), top, plot.width(), bottom - top), with_alpha(ink, 0.08))
    edge = QPen(with_alpha(ink, 0.55), 1)  # with less the light theme has no contrast of 3 to the band, which is all that tells how far it goes
    edge.setDashPattern([2, 3])
    painter.setPen(edge)
    for y in (top, bottom):
        painter.drawLine(QPointF(plot.left(), y + 0.5), QPointF(plot.right() + 1, y + 0.5))


def paint_promise(painter: QPainter, plot: QRect, font: QFont, words: str, y: int, over: int) -> None:
    """The contract line at `y`, and its words at the left over `over`, the upper edge of the band."""
    palette = colours()
    painter.setFont(sized(font, TextSize.CAPTION, 600))
    metrics = painter.fontMetrics()
    text = QRect(plot.left() + 6, max(plot.top(), over - metrics.height() - 1), metrics.horizontalAdvance(words) + 4, metrics.height())
    painter.fillRect(text.adjusted(-3, 0, 1, 0), with_alpha(palette.plot, 0.85))
    painter.setPen(QColor(palette.ink))
    painter.drawText(text, _LEFT, words)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(QRectF(plot.left(), y - 0.75, plot.width(), 1.5), QColor(palette.ink))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_holes(painter: QPainter, plot: QRect, holes: Sequence[Hole], scale: TimeScale, ratio: float, now_s: float) -> None:
    """Stretches without data: hatched from top to foot, nothing drawn across."""
    palette = colours()
    for hole in holes:
        left = max(0.0, scale.x(hole.start_s) / ratio)
        right = min(float(plot.width()), scale.x(now_s if hole.end_s is None else hole.end_s) / ratio)
        if right <= left:
            continue
        area = QRectF(plot.left() + round(left), plot.top(), max(2, round(right) - round(left)), plot.height())
        brush = QBrush(gap_brush(palette.hatch, palette.surface2, ratio))
        painter.setBrushOrigin(QPointF(plot.left() + round(scale.x(hole.start_s) / ratio), plot.top()))
        painter.fillRect(area, brush)
        painter.setBrushOrigin(QPointF(0, 0))


def paint_coarser(painter: QPainter, plot: QRect, coarser: Sequence[Coarser], scale: TimeScale, ratio: float) -> None:
    """Stretches of which only summaries are left: a quiet ground, a hairline where they begin and end."""
    palette = colours()
    for one in coarser:
        left, right = scale.x(one.start_s) / ratio, scale.x(one.end_s) / ratio
        if right <= 0 or left >= plot.width():
            continue
        first, last = plot.left() + round(max(0.0, left)), plot.left() + round(min(float(plot.width()), right))
        painter.fillRect(QRect(first, plot.top(), last - first, plot.height()), with_alpha(palette.t3, 0.07))
        for x in (left, right):
            if 0 < x < plot.width():
                painter.fillRect(QRect(plot.left() + round(x), plot.top(), 1, plot.height()), QColor(palette.border2))


def paint_held(painter: QPainter, plot: QRect, first: float, last: float, token: str) -> None:
    """A stretch that concerns this lane: a bar at its top, dotted ends (px from the plot's left)."""
    colour = QColor(colours().colour(token))
    left, right = plot.left() + round(first), plot.left() + round(last)
    painter.fillRect(QRect(left, plot.top(), right - left, 3), colour)
    pen = QPen(colour, 1)
    pen.setDashPattern([2, 3])
    painter.setPen(pen)
    for x in (left, right):
        painter.drawLine(QPointF(x + 0.5, plot.top()), QPointF(x + 0.5, plot.bottom()))


def paint_chosen(painter: QPainter, plot: QRect, first: float, last: float) -> None:
    """A chosen range of time (px from the plot's left), with its edges."""
    accent = colours().accent
    left, right = plot.left() + round(first), plot.left() + round(last)
    painter.fillRect(QRect(left, plot.top(), right - left, plot.height()), with_alpha(accent, 0.09))
    for x in (left, right):
        painter.fillRect(QRect(x, plot.top(), 1, plot.height()), QColor(accent))


def paint_cursor(painter: QPainter, plot: QRect, x: float) -> None:
    """The dashed line of the one cursor."""
    pen = QPen(QColor(colours().t2), 1)
    pen.setDashPattern([3, 3])
    painter.setPen(pen)
    painter.drawLine(QPointF(plot.left() + round(x) + 0.5, plot.top()), QPointF(plot.left() + round(x) + 0.5, plot.bottom()))


def tick_decimals(ticks: Sequence[float]) -> int:
    """As few decimals as tell the figures of an axis as they are: a half of 0.05 is 0.025, not 0.03."""
    return next((n for n in range(4) if all(abs(round(tick, n) - tick) <= 1e-6 * abs(tick) for tick in ticks)), 4)


def axis_figure(value: float, largest: float, decimals: int = 0) -> str:
    """A figure of an axis, short enough for it: in thousands where the largest is ten of them, in millions where it is one; nought has no decimals."""
    if not value:
        return "0"
    if largest < 10_000:
        return fixed(value, decimals)
    size, sign = (1_000_000, "M") if largest >= 1_000_000 else (1000, "k")
    return f"{value / size:.4g}\N{THIN SPACE}{sign}"


def paint_axis(painter: QPainter, rect: QRect, font: QFont, lane: LaneSpec, values: ValueScale, foot: int) -> None:
    """The value axis: three figures, and the flag of the promise."""
    palette = colours()
    painter.fillRect(rect, QColor(palette.surface))
    painter.setFont(sized(font, TextSize.CAPTION))
    metrics, height = painter.fontMetrics(), rect.height() - foot
    flag_y = round(values.y(lane.promised.value, height)) if lane.promised else None
    painter.setPen(QColor(palette.t3))
    decimals = tick_decimals(values.ticks)
    for tick in values.ticks:
        y = round(values.y(tick, height))
        if flag_y is not None and abs(y - flag_y) < metrics.height():
            continue
        top = max(rect.top(), min(y - metrics.height() // 2, rect.top() + rect.height() - metrics.height()))
        painter.drawText(QRect(rect.left() + 10, top, rect.width() - 12, metrics.height()), _LEFT, axis_figure(tick, max(values.ticks), decimals))
    if lane.promised is not None and flag_y is not None:
        _paint_flag(painter, rect, font, lane, lane.promised, flag_y)


def _paint_flag(painter: QPainter, rect: QRect, font: QFont, lane: LaneSpec, promised: Promised, y: int) -> None:
    palette = colours()
    painter.setFont(sized(font, TextSize.CAPTION, 600))
    metrics = painter.fontMetrics()
    half = metrics.height() / 2
    middle = max(rect.top() + half, min(float(y), rect.bottom() - half))
    left, right = float(rect.left()), float(rect.right() - 5)
    corners = [(left, middle), (left + 5, middle - half), (right, middle - half), (right, middle + half), (left + 5, middle + half)]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.ink))
    painter.drawPolygon(QPolygonF([QPointF(px, py) for px, py in corners]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QColor(palette.plot))
    words = fixed(promised.value, 0 if float(promised.value).is_integer() else lane.decimals or 1)
    if metrics.horizontalAdvance(words) > right - left - 10:
        words = axis_figure(promised.value, promised.value)
    painter.drawText(QRectF(left + 9, middle - half, right - left - 9, 2 * half), _LEFT, words)


class Line:
    """One line of the readout: a series (or a mark), what it is, its value."""

    __slots__ = ("icon", "name", "number", "strong", "token", "value")

    def __init__(self, name: str, value: str, *, number: int | None = None, icon: str = "", token: str = "t1", strong: bool = False) -> None:
        self.name, self.value, self.number, self.icon, self.token, self.strong = name, value, number, icon, token, strong


def paint_pairs(painter: QPainter, rect: QRect, font: QFont, lines: Sequence[Line], foot: tuple[str, str]) -> None:
    """GPUs in two columns, then the lowest and the spread under a hairline."""
    palette, height = colours(), line_height(font)
    rows = (len(lines) + 1) // 2
    half = (rect.width() - 32 + 16) // 2
    for place, line in enumerate(lines):
        column, row = divmod(place, rows)
        box = QRect(rect.left() + 16 + column * half, rect.top() + 5 + row * height, half - 16, height)
        paint_line(painter, box, font, line)
    y = rect.top() + 5 + rows * height + 3
    painter.fillRect(QRect(rect.left() + 16, y, rect.width() - 32, 1), QColor(palette.border))
    painter.setFont(sized(font, TextSize.CAPTION))
    painter.setPen(QColor(palette.t2))
    under = QRect(rect.left() + 16, y + 2, rect.width() - 32, height)
    painter.drawText(under, _LEFT, foot[0])
    painter.drawText(under, _RIGHT, foot[1])


def paint_list(painter: QPainter, rect: QRect, font: QFont, lines: Sequence[Line]) -> None:
    """Named curves, one a row."""
    height = line_height(font)
    for row, line in enumerate(lines):
        paint_line(painter, QRect(rect.left() + 16, rect.top() + 5 + row * height, rect.width() - 32, height), font, line)


def paint_line(painter: QPainter, box: QRect, font: QFont, line: Line) -> None:
    """Dash and marker, name, value at the right."""
    palette = colours()
    middle = box.center().y()
    if line.number is not None:
        paint_key(painter, box.left(), middle, line.number)
    elif line.icon == "promise":
        _paint_small_flag(painter, box.left(), middle)
    elif line.icon:
        icons.paint(painter, QRectF(box.left() + 4, middle - 6, 14, 14), line.icon, palette.colour(line.token))
    painter.setFont(sized(font, TextSize.DENSE, 600 if line.strong else 500))
    metrics = painter.fontMetrics()
    width = metrics.horizontalAdvance(line.value)
    painter.setPen(QColor(palette.colour(line.token)))
    painter.drawText(box, _RIGHT, line.value)
    painter.setFont(sized(font, TextSize.DENSE))
    painter.setPen(QColor(palette.t2 if line.token == "t1" else palette.colour(line.token)))
    room = box.adjusted(30, 0, -width - 6, 0)
    painter.drawText(room, _LEFT, painter.fontMetrics().elidedText(line.name, Qt.TextElideMode.ElideRight, room.width()))


def _paint_small_flag(painter: QPainter, left: int, middle: int) -> None:
    ink = QColor(colours().ink)
    painter.fillRect(QRect(left, middle, 22, 1), ink)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    corners = [(left, middle - 4), (left + 8, middle - 4), (left + 12, middle + 0.5), (left + 8, middle + 5), (left, middle + 5)]
    painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_trouble(painter: QPainter, rect: QRect, font: QFont, words: str) -> None:
    """Why a lane has nothing to draw, in words."""
    palette = colours()
    painter.fillRect(rect, QColor(palette.plot))
    icons.paint(painter, QRectF(rect.left() + 12, rect.center().y() - 7, 14, 14), "info", palette.t3)
    painter.setFont(sized(font, TextSize.DENSE))
    painter.setPen(QColor(palette.t2))
    room = rect.adjusted(34, 0, -12, 0)
    painter.drawText(room, _LEFT, painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width()))
