"""Where in the stored time does the chart look?

One metric of a day under the lanes, with its promise; the tinted range is what the lanes show, and can be dragged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRect, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.stored import Stored, between_recorded
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_scale import TimeScale, local
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.gui.widgets.lane_paint import Columns, paint_holes
from gpulease_gui.gui.widgets.lane_plot import Layer
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.pdf.paint import with_alpha

HEIGHT_PX = 36
DAY = Text("24 h", "24 小时")
SINCE = Text("since {time}, {metric}", "自 {time}，{metric}")
STORED_TIME = Text("Stored time", "已存储的时间")
_V = Qt.AlignmentFlag.AlignVCenter


class Navigator(Lively, QWidget):
    """The strip under the time axis. `picked` carries (start, end) in UTC seconds, dragged by hand."""

    picked = Signal(float, float)

    def __init__(self, row_width: Callable[[], int], parent: QWidget) -> None:
        super().__init__(parent)
        self._row_width = row_width
        self._stored: Stored | None = None
        self._seen = (0.0, 0.0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.view = pg.GraphicsView(self, useOpenGL=False, background=None)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.view.setCentralItem(self.box)
        self.curve, self.ground = (pg.PlotCurveItem(skipFiniteCheck=True, antialias=False, pen=None) for _ in range(2))
        self.promise = pg.InfiniteLine(angle=0, movable=False)
        self.range = pg.LinearRegionItem((0.0, 1.0), movable=True, swapMode="block")
        for part in (self.ground, self.curve, self.promise, self.range):
            self.box.addItem(part, ignoreBounds=True)
        self._holes = Layer(self._paint_holes, self.box, -10)
        self.range.sigRegionChanged.connect(self._dragged)
        self.hide()
        self.retheme()

    @property
    def stored(self) -> Stored | None:
        """What is shown."""
        return self._stored

    def show_stored(self, stored: Stored | None, promised: float | None) -> None:
        """Show another day; nothing is shown of a node of which nothing was stored."""
        self._stored = stored
        self.setVisible(stored is not None and len(stored.times_s) > 1)
        if stored is None or len(stored.times_s) < 2:
            return
        times, high = np.array(stored.times_s), np.array(stored.high)
        slice_s = (stored.span_s[1] - stored.span_s[0]) / 960
        broken = np.flatnonzero(np.diff(times) >= 2.5 * max(slice_s, float(np.median(np.diff(times))))) + 1
        joined = np.ones(len(times), np.int32)
        joined[[*(broken - 1), -1]] = 0
        # Times from the left edge: large numbers would lose the fraction of a pixel.
        times -= stored.span_s[0]
        self.curve.setData(times, high, connect=joined)
        # A ground is filled from point to point, joined or not: over a hole it lies at nought.
        ends, edges = np.repeat(broken, 2), np.column_stack((times[broken - 1], times[broken])).ravel()
        self.ground.setData(np.insert(times, ends, edges), np.insert(high, ends, 0.0))
        top = max(float(high.max()), promised or 0.0, 1e-9) * 1.1
        self.promise.setVisible(promised is not None)
        self.promise.setPos(promised or 0.0)
        self.box.setRange(xRange=(0.0, stored.span_s[1] - stored.span_s[0]), yRange=(0.0, top), padding=0, disableAutoRange=True)
        self.show_range(*self._seen)
        self.retranslate()

    def show_range(self, start_s: float, end_s: float) -> None:
        """Mark what the lanes show."""
        self._seen = (start_s, end_s)
        if self._stored is None:
            return
        self._place()  # the lanes above may have got another width after us
        origin = self._stored.span_s[0]
        with QSignalBlocker(self):
            self.range.setRegion((start_s - origin, end_s - origin))

    def _dragged(self, region: Any) -> None:
        if self._stored is not None and not self.signalsBlocked():
            first, last = region.getRegion()
            origin = self._stored.span_s[0]
            self._seen = (first + origin, last + origin)
            self.picked.emit(*self._seen)

    def retheme(self) -> None:
        """Pens and height."""
        palette = colours()
        self.view.setBackground(QColor(palette.plot))
        self.setFixedHeight(max(HEIGHT_PX, self.fontMetrics().height() + 12))
        line = QColor(palette.series[0].colour)
        self.curve.setPen(pg.mkPen(line, width=1))
        self.ground.setFillLevel(0.0)
        self.ground.setBrush(with_alpha(palette.series[0].colour, 0.25))
        self.promise.setPen(pg.mkPen(QColor(palette.ink), width=1))
        self.range.setBrush(with_alpha(palette.accent, 0.12))
        self.range.setHoverBrush(with_alpha(palette.accent, 0.20))
        for edge in self.range.lines:
            edge.setPen(pg.mkPen(QColor(palette.accent), width=1))
            edge.setHoverPen(pg.mkPen(QColor(palette.accent), width=3))
        self._place()

    def retranslate(self) -> None:
        """The accessible name."""
        self.setAccessibleName(say(STORED_TIME))
        self.update()

    def _place(self) -> None:
        plot = self._columns.plot(self.height()).adjusted(0, 2, 0, -2)
        if plot == self.view.geometry():
            return
        self.view.setGeometry(plot)
        self._holes.fit(plot.width(), plot.height())

    @property
    def _columns(self) -> Columns:
        """Those of the lanes above."""
        return Columns(self.font(), self._row_width())

    def _paint_holes(self, painter: QPainter, plot: QRect) -> None:
        """Before, between and after what was recorded, nothing is known."""
        stored = self._stored
        if stored is None or not stored.recorded_s:
            return
        scale = TimeScale.ending(stored.span_s[1], stored.span_s[1] - stored.span_s[0], plot.width())
        least_s = 2 * scale.seconds_per_px  # what is written down with the next block is no hole
        holes = [Hole(first, last, "") for first, last in between_recorded(stored.recorded_s, *stored.span_s) if last - first > least_s]
        paint_holes(painter, plot, holes, scale, 1.0, stored.span_s[1])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The strip stands under the plots."""
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        """How much time, and of what."""
        painter, palette = QPainter(self), colours()
        columns = self._columns
        painter.fillRect(self.rect(), QColor(palette.bg1))
        painter.fillRect(QRect(columns.name, 0, columns.plot_width, self.height()), QColor(palette.plot))
        painter.setPen(QPen(QColor(palette.border), 1))
        painter.drawLine(0, 0, self.width(), 0)
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        painter.setPen(QColor(palette.t3))
        painter.drawText(QRect(16, 0, columns.name - 16, self.height()), _V, say(DAY))
        if self._stored is not None:
            since = local(self._stored.span_s[0]).strftime("%m-%d %H:%M")
            words = say(SINCE).format(time=since, metric=say(self._stored.title))
            room = QRect(columns.readout + 16, 0, columns.readout_width - 20, self.height())
            painter.drawText(room, _V, painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width()))
