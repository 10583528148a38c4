"""How do two costs run over the hours of a month, and where do they meet?

Lines by pyqtgraph; axes, legend and marks are painted, in the look of the lanes.
"""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_lines import Chart
from gpulease_gui.gui.widgets.chart_pens import line_pen, marker_pixmap, paint_key, style_of
from gpulease_gui.gui.widgets.lane_plot import Layer
from gpulease_gui.gui.widgets.lively import Lively

_HEAD, _AXIS, _FOOT = 24, 72, 20
_TIMES, _LEVELS = 6, 4
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_APART = 110  # px between the markers of a line
_V = Qt.AlignmentFlag.AlignVCenter


class LineChart(Lively, QWidget):
    """A small chart with its axis at the right; the sentence is its accessible name."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chart: Chart | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, _HEAD, _AXIS, _FOOT)
        self._view = pg.GraphicsView(self, useOpenGL=False, background=None)
        self._view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._box = pg.ViewBox(enableMenu=False)
        self._box.setMouseEnabled(x=False, y=False)
        self._view.setCentralItem(self._box)
        self._layers = (Layer(self._paint_ground, self._box, -10), Layer(self._paint_marks, self._box, 10))
        self._curves: list[pg.PlotCurveItem] = []
        column.addWidget(self._view)

    def set_chart(self, chart: Chart | None) -> None:
        """Show another chart; None shows an empty ground."""
        self._chart = chart
        lines = chart.lines if chart else ()
        while len(self._curves) < len(lines):
            curve = pg.PlotCurveItem(skipFiniteCheck=True)
            self._curves.append(curve)
            self._box.addItem(curve)
        for number, curve in enumerate(self._curves):
            curve.setVisible(number < len(lines))
            if chart is not None and number < len(lines):
                curve.setData(np.array(chart.xs), np.array(lines[number].values))
        if chart is not None:
            self._box.setRange(xRange=(0, chart.xs[-1]), yRange=(0, self._top), padding=0, disableAutoRange=True)
        self.retheme()
        self.retranslate()

    @property
    def chart(self) -> Chart | None:
        """What is shown."""
        return self._chart

    @property
    def _top(self) -> float:
        lines = self._chart.lines if self._chart else ()
        return max((value for line in lines for value in line.values), default=0.0) * 1.12 or 1.0

    def sizeHint(self) -> QSize:
        """A lane with its legend and its hours."""
        return QSize(420, 190)

    def minimumSizeHint(self) -> QSize:
        """Room for the legend."""
        return QSize(280, 170)

    def retheme(self) -> None:
        """Pens follow the theme."""
        for number, curve in enumerate(self._curves):
            pen = line_pen(style_of(number, colours()))
            pen.setCosmetic(True)  # else it is one unit of each axis thick
            curve.setPen(pen)
        self.update()

    def retranslate(self) -> None:
        """Name the picture for assistive tools."""
        self.setAccessibleName(say(self._chart.sentence) if self._chart else "")
        self.update()
        self._view.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The layers are as large as the plot."""
        super().resizeEvent(event)
        for layer in self._layers:
            layer.fit(self.width() - _AXIS, self.height() - _HEAD - _FOOT)

    @property
    def _levels(self) -> list[float]:
        """Round values of the grid, at most four."""
        top = self._top
        size = 10.0 ** math.floor(math.log10(top / _LEVELS))
        step = next(size * part for part in _ROUND if size * part * _LEVELS >= top * 0.999)
        return [step * n for n in range(1, int(top / step) + 1)]

    @property
    def _times(self) -> list[float]:
        """Round places of the grid, six or so."""
        last = self._chart.xs[-1] if self._chart else 1.0
        step = max(1.0, math.floor(last / _TIMES / 10) * 10)
        return [step * n for n in range(int(last / step) + 1)]

    def _x(self, place: float, width: int) -> int:
        return round(place / self._chart.xs[-1] * width) if self._chart else 0

    def _y(self, value: float, height: int) -> int:
        return round(height - value / self._top * height)

    def _paint_ground(self, painter: QPainter, room: QRect) -> None:
        palette = colours()
        painter.fillRect(room, QColor(palette.plot))
        for place in self._times[1:]:
            painter.fillRect(self._x(place, room.width()), 0, 1, room.height(), QColor(palette.grid))
        for level in self._levels:
            painter.fillRect(0, self._y(level, room.height()), room.width(), 1, QColor(palette.grid))

    def _paint_marks(self, painter: QPainter, room: QRect) -> None:
        chart, palette = self._chart, colours()
        if chart is None:
            return
        for number, line in enumerate(chart.lines):
            picture = marker_pixmap(style_of(number, palette).marker, style_of(number, palette).colour, palette.plot)
            for x in range(_APART // 2, room.width(), _APART):
                value = float(np.interp(x / room.width() * chart.xs[-1], chart.xs, line.values))
                painter.drawPixmap(x - 5, self._y(value, room.height()) - 5, picture)
        if chart.now is not None:
            pen = QPen(QColor(palette.t2), 1)
            pen.setDashPattern([4, 3])
            painter.setPen(pen)
            x = min(self._x(chart.now, room.width()), room.width() - 1)
            painter.drawLine(x, 0, x, room.height())
        if chart.mark is not None:
            self._paint_meeting(painter, room, chart.mark, say(chart.mark_words))

    def _paint_meeting(self, painter: QPainter, room: QRect, mark: float, words: str) -> None:
        palette, x = colours(), self._x(mark, room.width())
        painter.fillRect(QRectF(x - 0.75, 0, 1.5, room.height()), QColor(palette.ink))
        painter.setFont(sized(self.font(), TextSize.CAPTION, 600))
        metrics = painter.fontMetrics()
        width, height = metrics.horizontalAdvance(words) + 12, metrics.height() + 4
        left = x + 1 if x + width < room.width() else x - width
        painter.fillRect(left, 4, width, height, QColor(palette.ink))
        painter.setPen(QColor(palette.plot))
        painter.drawText(QRect(left + 6, 4, width - 6, height), _V, words)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Legend above, values at the right, hours below."""
        chart, palette, painter = self._chart, colours(), QPainter(self)
        if chart is None:
            return
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        self._paint_legend(painter, chart)
        plot = QRect(0, _HEAD, self.width() - _AXIS, self.height() - _HEAD - _FOOT)
        painter.setPen(QColor(palette.t3))
        painter.fillRect(plot.right() + 1, plot.top(), 1, plot.height(), QColor(palette.border))
        painter.fillRect(0, plot.bottom() + 1, plot.width(), 1, QColor(palette.border))
        levels = self._levels
        decimals = 0 if not levels or levels[0] >= 10 or all(level.is_integer() for level in levels) else 1 if levels[0] >= 0.5 else 3
        for value in levels:
            y = plot.top() + self._y(value, plot.height())
            painter.drawText(QRect(plot.right() + 8, y - 9, _AXIS - 8, 18), _V, f"{value:,.{decimals}f}")
        self._paint_times(painter, plot, chart)

    def _paint_times(self, painter: QPainter, plot: QRect, chart: Chart) -> None:
        places = self._times
        for place in places:
            x, words = self._x(place, plot.width()), f"{place:.0f}"
            side = Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignHCenter
            painter.drawText(QRect(x if place == 0 else x - 40, plot.bottom() + 3, 80, _FOOT - 3), side | _V, words)
        painter.drawText(QRect(plot.right() + 14, plot.bottom() + 3, _AXIS - 14, _FOOT - 3), _V, say(chart.x_unit))

    def _paint_legend(self, painter: QPainter, chart: Chart) -> None:
        palette, left = colours(), 0.0
        room = (self.width() - _AXIS - 8) / max(len(chart.lines), 1)
        for number, line in enumerate(chart.lines):
            paint_key(painter, left, _HEAD / 2, number)
            painter.setPen(QColor(palette.t2))
            words = painter.fontMetrics().elidedText(say(line.name), Qt.TextElideMode.ElideRight, int(room - 40))
            painter.drawText(QRectF(left + 28, 0, room - 32, _HEAD), _V, words)
            left += min(room, painter.fontMetrics().horizontalAdvance(words) + 48)
        painter.setPen(QColor(palette.t3))
        unit = QRectF(self.width() - _AXIS + 8, 0, _AXIS - 8, _HEAD)
        painter.drawText(unit, _V, chart.y_unit)
