"""How do the lines of a lane stand in a pyqtgraph view, and what does the mouse do there?

One view with one box per lane. Its axes are ours (painted columns), its x range is seconds before the right edge, so that
it stays as it is while live; the layers paint in pixels, since the live tail is a kept picture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gpulease_gui.gui.widgets.chart_scale import ValueScale

pg.setConfigOptions(antialias=False)

_ZOOM = 1.25
_RANGE = Qt.KeyboardModifier.ShiftModifier
Draw = Callable[[QPainter, QRect], None]


class LanePlot(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """The plot of one lane. Below: ground, promise band and gaps; then the lines; above: the promise, range and cursor.

    `hovered` carries px from the left or None, `dragged` seconds, `zoomed` (factor, px from the left), `chosen` (first px,
    last px) of a range.
    """

    hovered = Signal(object)
    dragged = Signal(float)
    zoomed = Signal(float, float)
    chosen = Signal(float, float)

    def __init__(self, layers: tuple[Draw, Draw, Draw], parent: QWidget) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.box = _Box(self)
        self.setCentralItem(self.box)
        self._shape: tuple[float, ValueScale] | None = None
        self._layers = [Layer(draw, self.box, depth) for draw, depth in zip(layers, (-10, 0, 10), strict=True)]

    def show_range(self, window_s: float, values: ValueScale) -> None:
        """Let the box stand for so many seconds and these values; nothing happens while both stay."""
        if self._shape != (window_s, values):
            self._shape = (window_s, values)
            self.box.setRange(
                xRange=(-window_s, 0.0), yRange=(values.bottom, values.top), padding=0, disableAutoRange=True
            )

    def again(self) -> None:
        """Paint all layers at the next turn."""
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The layers are as large as the view."""
        super().resizeEvent(event)
        for layer in getattr(self, "_layers", ()):
            layer.fit(self.width(), self.height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cursor of all lanes follows the pointer."""
        self.hovered.emit(event.position().x())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Without a pointer the readout shows the newest values."""
        self.hovered.emit(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl and the wheel zoom in the box; the wheel alone scrolls the lanes."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            event.accept()
        else:
            event.ignore()


class _Box(pg.ViewBox):  # type: ignore[misc]
    """A box that tells what the mouse wants: all lanes move together, by the chart that holds them."""

    def __init__(self, view: LanePlot) -> None:
        super().__init__(enableMenu=False)
        self._view = view
        self.setMouseEnabled(x=True, y=False)

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Drag the time, or with Shift choose a range of it."""
        event.accept()
        if event.modifiers() & _RANGE:
            self._view.chosen.emit(event.buttonDownPos().x(), event.pos().x())
        else:
            self._view.dragged.emit(self.mapToView(event.lastPos()).x() - self.mapToView(event.pos()).x())

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom around the pointer."""
        event.accept()
        if event.delta():
            self._view.zoomed.emit(1 / _ZOOM if event.delta() > 0 else _ZOOM, event.pos().x())

    def mouseClickEvent(self, event: Any) -> None:
        """There is no menu."""
        event.ignore()

    def keyPressEvent(self, event: Any) -> None:
        """Keys go to the chart."""
        event.ignore()


class Layer(pg.GraphicsObject):  # type: ignore[misc]
    """A part of a plot that paints in pixels."""

    def __init__(self, draw: Draw, box: pg.ViewBox, depth: int) -> None:
        super().__init__()
        self._draw, self._size = draw, QRect()
        self.setParentItem(box)
        self.setZValue(depth)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def fit(self, width: int, height: int) -> None:
        """Fill a view of this size."""
        self.prepareGeometryChange()
        self._size = QRect(0, 0, width, height)

    def boundingRect(self) -> QRectF:
        """The whole view."""
        return QRectF(self._size)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw it."""
        self._draw(painter, self._size)
