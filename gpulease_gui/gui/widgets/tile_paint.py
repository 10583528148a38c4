"""How is the small picture of one node drawn?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_pens import gap_brush, paint_strip
from gpulease_gui.gui.widgets.tile_spec import Rank, Tile, TileFigure
from gpulease_gui.pdf.paint import paint_ruler
from gpulease_gui.pdf.palette import Palette

PAD, STRIP_PX, LEAST_LINE_PX = 10, 4, 56
_RULER_PX = 12
_V = Qt.AlignmentFlag.AlignVCenter
_ELIDE = Qt.TextElideMode.ElideRight


class TileFonts:
    """The fonts of a tile and how high their lines are."""

    def __init__(self, base: QFont) -> None:
        self.base = base
        self.name, self.caption = sized(base, TextSize.BODY, 600), sized(base, TextSize.CAPTION)
        self.figure, self.strong = sized(base, TextSize.DENSE, 500), sized(base, TextSize.DENSE, 600)
        self.line = QFontMetrics(self.caption).height() + 2
        self.head = max(18, QFontMetrics(self.name).height() + 2)
        self.value = QFontMetrics(self.strong).height() + 1

    @property
    def height(self) -> int:
        """The least height of a tile."""
        return 2 * PAD + self.head + self.line + 4 + self.line + self.value + _RULER_PX + 8 + LEAST_LINE_PX + STRIP_PX + 4


def paint_tile(painter: QPainter, rect: QRect, tile: Tile, fonts: TileFonts, *, hover: bool, chosen: bool, current: bool) -> None:
    """Draw a whole tile in `rect`."""
    palette = colours()
    _paint_frame(painter, rect, tile, palette, hover=hover, chosen=chosen, current=current)
    inner = rect.adjusted(PAD, PAD - 2, -PAD, -PAD)
    top = _paint_head(painter, inner, tile, fonts, palette)
    top = _paint_figures(painter, QRect(inner.left(), top, inner.width(), 0), tile.figures, fonts, palette)
    plot = QRect(inner.left(), top, inner.width(), inner.bottom() + 1 - top)
    _paint_line(painter, plot, tile, palette)


def _paint_frame(painter: QPainter, rect: QRect, tile: Tile, palette: Palette, *, hover: bool, chosen: bool, current: bool) -> None:
    edge = palette.fail if tile.rank <= Rank.LOST else palette.border2 if tile.loud else palette.border
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.accent if current else edge), 2 if current else 1))
    painter.setBrush(QColor(palette.sel if chosen else palette.hover if hover else palette.surface))
    inset = 1.0 if current else 0.5
    painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), 4, 4)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_head(painter: QPainter, rect: QRect, tile: Tile, fonts: TileFonts, palette: Palette) -> int:
    """Mark, name, supplier, and in words how it fares; answers where the next thing begins."""
    row = QRect(rect.left(), rect.top(), rect.width(), fonts.head)
    icons.paint(painter, QRectF(row.left(), row.center().y() - 6, 14, 14), tile.badge.icon, palette.colour(tile.badge.token))
    painter.setFont(fonts.caption)
    metrics = painter.fontMetrics()
    note = metrics.elidedText(tile.note, _ELIDE, row.width() // 2 - 16)
    painter.setPen(QColor(palette.t3))
    painter.drawText(row, _V | Qt.AlignmentFlag.AlignRight, note)
    name = row.adjusted(20, 0, -metrics.horizontalAdvance(note) - 8, 0)
    painter.setFont(fonts.name)
    painter.setPen(QColor(palette.t1))
    painter.drawText(name, _V, painter.fontMetrics().elidedText(tile.name, _ELIDE, name.width()))
    said = QRect(rect.left(), row.bottom() + 1, rect.width(), fonts.line)
    painter.setFont(fonts.caption)
    painter.setPen(QColor(palette.colour(tile.badge.token) if tile.loud else palette.t2))
    painter.drawText(said, _V, state_words(tile, painter.fontMetrics(), said.width()))
    return said.bottom() + 5


def state_words(tile: Tile, metrics: QFontMetrics, room: int) -> str:
    """How the node fares, in so many words as fit; cut only where there are no fewer."""
    whole, short = say(tile.words), say(tile.short)
    if short and metrics.horizontalAdvance(whole) > room >= metrics.horizontalAdvance(short):
        return short
    return metrics.elidedText(whole, _ELIDE, room)


def _paint_figures(painter: QPainter, rect: QRect, figures: Sequence[TileFigure], fonts: TileFonts, palette: Palette) -> int:
    """The figures side by side, each as wide as it needs to be, with its ruler under it."""
    left, top = rect.left(), rect.top()
    widths = _shares([_width(one, fonts) for one in figures], rect.width())
    for one, width in zip(figures, widths, strict=True):
        box = QRect(left, top, width - 6, fonts.line)
        painter.setFont(fonts.caption)
        painter.setPen(QColor(palette.t3))
        painter.drawText(box, _V, painter.fontMetrics().elidedText(say(one.caption), _ELIDE, box.width()))
        _paint_value(painter, QRect(left, top + fonts.line, width - 6, fonts.value), one, fonts, palette)
        if one.ruler is not None:
            paint_ruler(painter, QRect(left, top + fonts.line + fonts.value, width - 10, _RULER_PX), one.ruler, palette)
        left += width
    return top + fonts.line + fonts.value + _RULER_PX + 6


def _paint_value(painter: QPainter, box: QRect, one: TileFigure, fonts: TileFonts, palette: Palette) -> None:
    painter.setFont(fonts.strong if one.token != "t1" else fonts.figure)
    painter.setPen(QColor(palette.colour(one.token)))
    painter.drawText(box, _V, one.value)
    unit = box.adjusted(painter.fontMetrics().horizontalAdvance(one.value) + 3, 0, 0, 0)
    painter.setFont(fonts.caption)
    painter.setPen(QColor(palette.t3))
    painter.drawText(unit, _V, one.unit)


def _width(one: TileFigure, fonts: TileFonts) -> int:
    value = QFontMetrics(fonts.strong).horizontalAdvance(one.value) + 3 + QFontMetrics(fonts.caption).horizontalAdvance(one.unit)
    return max(value, QFontMetrics(fonts.caption).horizontalAdvance(say(one.caption)), 32) + 6


def _shares(needs: Sequence[int], room: int) -> list[int]:
    """What is left over is given to all alike; what is missing is taken from all alike."""
    spare = room - sum(needs)
    return [need + spare // len(needs) for need in needs] if needs else []


def _paint_line(painter: QPainter, rect: QRect, tile: Tile, palette: Palette) -> None:
    """Ground, stretches without data, promise, line; at the foot the strip."""
    plot = rect.adjusted(0, 0, 0, -STRIP_PX - 3)
    painter.fillRect(plot, QColor(palette.bg1))
    count = len(tile.line)
    if not count:
        painter.fillRect(plot, gap_brush(palette.hatch, palette.surface2, painter.device().devicePixelRatioF()))
        return
    edges = [plot.left() + round(place * plot.width() / count) for place in range(count + 1)]
    _paint_gaps(painter, plot, tile.line, edges, palette)
    if tile.promise is not None:
        y = round(plot.bottom() - tile.promise * (plot.height() - 1))
        painter.fillRect(QRect(plot.left(), y, plot.width(), 1), QColor(palette.ink))
    _paint_curve(painter, plot, tile, palette)
    for place, token in enumerate(tile.strip):
        if token:
            foot = QRect(edges[place], rect.bottom() + 1 - STRIP_PX, edges[place + 1] - edges[place], STRIP_PX)
            paint_strip(painter, foot, token)


def _paint_gaps(painter: QPainter, plot: QRect, line: Sequence[float | None], edges: Sequence[int], palette: Palette) -> None:
    brush: QBrush | None = None
    place = 0
    while place < len(line):
        end = place
        while end < len(line) and line[end] is None:
            end += 1
        if end > place:
            brush = brush or gap_brush(palette.hatch, palette.surface2, painter.device().devicePixelRatioF())
            painter.fillRect(QRect(edges[place], plot.top(), edges[end] - edges[place], plot.height()), brush)
        place = max(end, place + 1)


def _paint_curve(painter: QPainter, plot: QRect, tile: Tile, palette: Palette) -> None:
    """One line for each stretch with data: nothing is drawn across a gap."""
    colour = palette.series[0].colour if tile.loud else palette.t3
    painter.setPen(QPen(QColor(colour), 1.2))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    step, height = plot.width() / len(tile.line), plot.height() - 1
    run: list[QPointF] = []
    for place, share in enumerate((*tile.line, None)):
        if share is not None:
            run.append(QPointF(plot.left() + (place + 0.5) * step, plot.bottom() - min(1.0, max(0.0, share)) * height))
            continue
        if len(run) == 1:
            run.append(run[0] + QPointF(step / 2, 0))
        if run:
            painter.drawPolyline(QPolygonF(run))
        run = []
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
