"""What does a promise look like beside a measured line, before anything was measured?"""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.pdf.paint import paint_hatch, with_alpha
from gpulease_gui.pdf.palette import Palette

_TITLE = Text("Network, Gbit/s", "网络，Gbit/s")
_SPAN = Text("30 min, an example", "30 分钟，示例")
_PROMISE = Text("contract 100 Gbit/s", "合同 100 Gbit/s")
_GAP_WORDS = Text("no data", "无数据")
_BELOW_WORDS = Text("below promise", "低于承诺")
_HEAD, _AXIS, _STRIP = 30, 96, 4
_TOP = 132.0  # Gbit/s at the upper edge
_KEPT_UNTIL, _GAP_FROM, _GAP_TO = 0.04, 0.44, 0.49  # parts of the 30 minutes


def _rate(part: float) -> float:
    """The example's rate at a part of its time: full for a moment, then a quarter, two pauses of the job."""
    ripple = 0.7 * math.sin(part * 190) + 0.5 * math.sin(part * 431)
    if part < _KEPT_UNTIL:
        return 98 + ripple
    if 0.18 < part < 0.20 or 0.57 < part < 0.59:
        return 2.0
    return 24.6 + ripple


class ExampleChart(Lively, QWidget):
    """One lane with contract line, gap and contract strip, drawn from a formula; it is no data of anybody's."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        """Name the picture for assistive tools."""
        self.setAccessibleName(f"{say(_TITLE)}, {say(_PROMISE)}, {say(_BELOW_WORDS)}")
        self.update()

    def sizeHint(self) -> QSize:
        """Head and plot."""
        return QSize(600, 190)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw head, grid, promise, line, gap, strip, flag."""
        palette, painter = colours(), QPainter(self)
        plot = QRectF(0, _HEAD, self.width() - _AXIS, self.height() - _HEAD)
        painter.fillRect(QRectF(0, _HEAD, self.width(), plot.height()), QColor(palette.plot))
        self._paint_head(painter, palette)
        self._paint_grid(painter, plot, palette)
        self._paint_promise(painter, plot, palette)
        self._paint_line(painter, plot, palette)
        gap = QRectF(plot.left() + plot.width() * _GAP_FROM, plot.top(), plot.width() * (_GAP_TO - _GAP_FROM), plot.height())
        paint_hatch(painter, gap, palette.hatch, palette.surface2)
        self._paint_strip(painter, plot, gap, palette)

    def _y(self, plot: QRectF, rate: float) -> float:
        return plot.bottom() - _STRIP - 4 - rate / _TOP * (plot.height() - _STRIP - 4)

    def _paint_head(self, painter: QPainter, palette: Palette) -> None:
        painter.fillRect(QRectF(0, 0, self.width(), _HEAD), QColor(palette.surface))
        painter.setFont(sized(self.font(), TextSize.DENSE, 600))
        painter.setPen(QColor(palette.t1))
        title = say(_TITLE)
        painter.drawText(QRectF(16, 0, 400, _HEAD), Qt.AlignmentFlag.AlignVCenter, title)
        left = 16 + painter.fontMetrics().horizontalAdvance(title) + 8
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        painter.setPen(QColor(palette.t3))
        painter.drawText(QRectF(left, 0, 300, _HEAD), Qt.AlignmentFlag.AlignVCenter, say(_SPAN))
        right = self.width() - 16.0
        for words, token in ((_BELOW_WORDS, "fail"), (_GAP_WORDS, "")):
            width = painter.fontMetrics().horizontalAdvance(say(words))
            painter.drawText(QRectF(right - width, 0, width + 1, _HEAD), Qt.AlignmentFlag.AlignVCenter, say(words))
            swatch = QRectF(right - width - 22, _HEAD / 2 - 2, 16, 4)
            if token:
                painter.fillRect(swatch, QColor(palette.colour(token)))
            else:
                paint_hatch(painter, swatch.adjusted(0, -2, 0, 2), palette.hatch, palette.surface2, step=4)
            right -= width + 22 + 14
        painter.fillRect(QRectF(0, _HEAD - 1, self.width(), 1), QColor(palette.border))

    def _paint_grid(self, painter: QPainter, plot: QRectF, palette: Palette) -> None:
        for part in range(1, 6):
            painter.fillRect(QRectF(round(plot.width() * part / 6), plot.top(), 1, plot.height()), QColor(palette.grid))
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        painter.setPen(QColor(palette.t3))
        for rate in (0, 50):
            y = round(self._y(plot, rate))
            painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), QColor(palette.grid))
            painter.drawText(QRectF(plot.right() + 12, y - 9, 60, 18), Qt.AlignmentFlag.AlignVCenter, str(rate))
        painter.fillRect(QRectF(plot.right(), plot.top(), 1, plot.height()), QColor(palette.border))

    def _paint_promise(self, painter: QPainter, plot: QRectF, palette: Palette) -> None:
        top, middle, bottom = (round(self._y(plot, rate)) for rate in (110, 100, 90))
        painter.fillRect(QRectF(plot.left(), top, plot.width(), bottom - top), with_alpha(palette.ink, 0.08))
        dots = QPen(with_alpha(palette.ink, 0.45), 1)
        dots.setDashPattern([2, 3])
        painter.setPen(dots)
        for y in (top, bottom):
            painter.drawLine(QPointF(plot.left(), y + 0.5), QPointF(plot.right(), y + 0.5))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.ink), 1.5))
        painter.drawLine(QPointF(plot.left(), middle + 0.5), QPointF(plot.right(), middle + 0.5))
        painter.setFont(sized(self.font(), TextSize.CAPTION, 600))
        painter.setPen(QColor(palette.t1))
        painter.drawText(QRectF(plot.left() + 6, plot.top(), 300, top - plot.top()), Qt.AlignmentFlag.AlignVCenter, say(_PROMISE))
        tip = QPointF(plot.right() + 1, middle)
        flag = QPolygonF([tip, tip + QPointF(8, -9), tip + QPointF(52, -9), tip + QPointF(52, 9), tip + QPointF(8, 9)])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.ink))
        painter.drawPolygon(flag)
        painter.setPen(QColor(palette.plot))
        painter.drawText(QRectF(tip.x() + 12, middle - 9, 40, 18), Qt.AlignmentFlag.AlignVCenter, "100")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_line(self, painter: QPainter, plot: QRectF, palette: Palette) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.series[0].colour), 1.25))
        parts = [n / 400 for n in range(401)]
        for piece in ([p for p in parts if p <= _GAP_FROM], [p for p in parts if p >= _GAP_TO]):
            painter.drawPolyline([QPointF(plot.left() + p * plot.width(), self._y(plot, _rate(p))) for p in piece])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    @staticmethod
    def _paint_strip(painter: QPainter, plot: QRectF, gap: QRectF, palette: Palette) -> None:
        strip = QRectF(plot.left(), plot.bottom() - _STRIP, plot.width(), _STRIP)
        kept = QRectF(strip.left(), strip.top(), strip.width() * _KEPT_UNTIL, _STRIP)
        painter.fillRect(kept, QColor(palette.t3))
        painter.fillRect(QRectF(kept.right(), strip.top(), gap.left() - kept.right(), _STRIP), QColor(palette.fail))
        painter.fillRect(QRectF(gap.right(), strip.top(), strip.right() - gap.right(), _STRIP), QColor(palette.fail))
