"""How do dash, marker and colour of a series look?"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap, QPolygonF

from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.pdf.paint import hatch_brush
from gpulease_gui.pdf.palette import Palette, SeriesStyle

MARKER = 6.0
KEPT, IDLE = "kept", "idle"  # beside the tokens "fail" and "warn" of a strip


def style_of(number: int, palette: Palette) -> SeriesStyle:
    """The style of series n; there are eight."""
    return palette.series[number % len(palette.series)]


def line_pen(style: SeriesStyle, ratio: float = 1.0, width: float = 1.0) -> QPen:
    """A pen of 1 px, dashed as the series is."""
    pen = QPen(QColor(style.colour), width * ratio)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if style.dash:
        pen.setDashPattern([length / width for length in style.dash])
    return pen


def paint_marker(painter: QPainter, style: SeriesStyle, ground: str, x: float, y: float) -> None:
    """A kept picture of the marker, its middle at (x, y) device pixels of a pixmap without ratio."""
    painter.drawPixmap(QPointF(x, y), marker_pixmap(style.marker, style.colour, ground))


@lru_cache(maxsize=128)
def marker_pixmap(marker: str, colour: str, ground: str, ratio: float = 1.0) -> QPixmap:
    """The marker of a series, 10 px square for its 6 px, antialiased once."""
    side = round((MARKER + 4) * ratio)
    made = QPixmap(side, side)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(ratio, ratio)
    painter.translate(side / ratio / 2, side / ratio / 2)
    _draw_marker(painter, marker, colour, ground)
    painter.end()
    made.setDevicePixelRatio(ratio)
    return made


def _draw_marker(painter: QPainter, marker: str, colour: str, ground: str) -> None:
    half = MARKER / 2
    box = QRectF(-half, -half, MARKER, MARKER)
    is_open = marker.startswith("open")
    painter.setPen(QPen(QColor(colour), 1.3))
    painter.setBrush(QBrush(QColor(ground if is_open else colour)))
    if marker in ("disc", "open_disc"):
        painter.drawEllipse(box)
    elif marker in ("square", "open_square"):
        painter.drawRect(box.adjusted(0.4, 0.4, -0.4, -0.4))
    elif marker == "plus":
        painter.drawLine(QPointF(-half, 0), QPointF(half, 0))
        painter.drawLine(QPointF(0, -half), QPointF(0, half))
    elif marker == "cross":
        painter.drawLine(QPointF(-half, -half), QPointF(half, half))
        painter.drawLine(QPointF(-half, half), QPointF(half, -half))
    else:
        corners = {"triangle": [(0, -half), (half, half), (-half, half)],
                   "diamond": [(0, -half - 0.6), (half + 0.6, 0), (0, half + 0.6), (-half - 0.6, 0)]}  # fmt: skip
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in corners[marker]]))


def paint_key(painter: QPainter, left: float, middle: float, number: int, width: float = 22.0) -> None:
    """Dash and marker of a series, as the readout lists them."""
    palette = colours()
    style = style_of(number, palette)
    painter.setPen(line_pen(style, width=1.5))
    y = round(middle) + 0.5
    painter.drawLine(QPointF(left, y), QPointF(left + width, y))
    ratio = painter.device().devicePixelRatioF()
    picture = marker_pixmap(style.marker, style.colour, palette.bg1, ratio)
    painter.drawPixmap(QPointF(left + width / 2 - (MARKER + 4) / 2, y - (MARKER + 4) / 2), picture)


def paint_strip(painter: QPainter, rect: QRect, token: str) -> None:
    """A piece of the strip that tells how a promise fares: "fail" full, "warn" a double line, `KEPT` a thin line, `IDLE` a hairline.

    They differ in shape, so that they are told apart in grey too. "" is nothing.
    """
    palette, third = colours(), max(1, round(rect.height() / 3))
    if token == IDLE:
        painter.fillRect(QRect(rect.left(), rect.top() + rect.height() // 2, rect.width(), 1), QColor(palette.t3))
    elif token == KEPT:
        half = max(1, rect.height() // 2)
        painter.fillRect(QRect(rect.left(), rect.bottom() + 1 - half, rect.width(), half), QColor(palette.t3))
    elif token == "warn":
        for top in (rect.top(), rect.bottom() + 1 - third):
            painter.fillRect(QRect(rect.left(), top, rect.width(), third), QColor(palette.warn))
    elif token:
        painter.fillRect(rect, QColor(palette.colour(token)))


@lru_cache(maxsize=16)
def gap_brush(line: str, ground: str, ratio: float) -> QBrush:
    """The hatching of stretches without data."""
    return hatch_brush(line, ground, ratio)
