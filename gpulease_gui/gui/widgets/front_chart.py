"""Which offers does nothing beat in both score and cost? A small chart."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.matrix_cells import draw_words
from gpulease_gui.pdf.palette import Palette

_LEFT, _RIGHT, _TOP, _FOOT = 30, 12, 12, 28


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """An offer by its column: its proven score, its cost, and whether nothing beats it (`leads`)."""

    number: int
    name: str
    score: float
    cost: float
    leads: bool


class FrontChart(Lively, QWidget):
    """Cost to the right, score upwards; the front is joined by steps of ink, beaten offers are pale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: tuple[FrontPoint, ...] = ()
        self._unit = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def show_points(self, points: tuple[FrontPoint, ...], unit: str) -> None:
        """Show other offers; `unit` of the cost."""
        self._points, self._unit = points, unit
        self.setVisible(len(points) > 1)
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        """Say for assistive tools who is on the front."""
        names = ", ".join(point.name for point in self._points if point.leads)
        self.setAccessibleName(say(Text(f"Score and cost; nothing beats {names}", f"得分与成本；未被超越：{names}")))

    def sizeHint(self) -> QSize:
        """As wide as the inspector, as high as a few lines."""
        return QSize(240, 9 * self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        """Still readable."""
        return QSize(160, self.sizeHint().height())

    def _place(self, point: FrontPoint, plot: QRectF) -> QPointF:
        most = max(p.cost for p in self._points) * 1.1 or 1.0
        return QPointF(plot.left() + point.cost / most * plot.width(), plot.bottom() - point.score / 100 * plot.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Grid, front, points with their names."""
        painter, palette = QPainter(self), colours()
        plot = QRectF(_LEFT, _TOP, self.width() - _LEFT - _RIGHT, self.height() - _TOP - _FOOT)
        painter.fillRect(plot, QColor(palette.plot))
        caption = sized(self.font(), TextSize.CAPTION)
        for score in (0, 50, 100):
            y = plot.bottom() - score / 100 * plot.height()
            painter.fillRect(QRectF(plot.left(), round(y), plot.width(), 1), QColor(palette.grid))
            draw_words(painter, QRect(2, int(y) - 8, _LEFT - 4, 16), str(score), palette.t3, caption)
        foot = QRect(_LEFT, int(plot.bottom()) + 10, int(plot.width()), _FOOT - 10)
        draw_words(painter, foot, Text(f"cost, {self._unit} →", f"成本，{self._unit} →"), palette.t3, caption)
        self._paint_front(painter, plot, palette)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for point in self._points:
            self._paint_point(painter, plot, point, palette)

    def _paint_front(self, painter: QPainter, plot: QRectF, palette: Palette) -> None:
        front = sorted((p for p in self._points if p.leads), key=lambda p: p.cost)
        painter.setPen(QPen(QColor(palette.ink), 1.5))
        for before, after in zip(front, front[1:], strict=False):
            one, other = self._place(before, plot), self._place(after, plot)
            painter.drawLine(one, QPointF(other.x(), one.y()))
            painter.drawLine(QPointF(other.x(), one.y()), other)

    def _paint_point(self, painter: QPainter, plot: QRectF, point: FrontPoint, palette: Palette) -> None:
        """A disc with the number of the column: filled on the front, an outline where another offer beats it."""
        at = self._place(point, plot)
        painter.setPen(QPen(QColor(palette.accent if point.leads else palette.t3), 1.5))
        painter.setBrush(QColor(palette.accent if point.leads else palette.plot))
        painter.drawEllipse(at, 8, 8)
        painter.setFont(sized(self.font(), TextSize.CAPTION, 600))
        painter.setPen(QColor(palette.ton if point.leads else palette.t2))
        painter.drawText(QRectF(at.x() - 9, at.y() - 9, 18, 18), Qt.AlignmentFlag.AlignCenter, str(point.number))
        painter.setBrush(Qt.BrushStyle.NoBrush)
