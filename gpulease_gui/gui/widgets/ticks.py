"""How is a tick box drawn inside a list?"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.theme import colours

TICK = 13


def paint_tick(painter: QPainter, left: int, middle: int, *, ticked: bool) -> None:
    """A box of 13 px whose left edge and middle are given; the ticked one is filled and has a check."""
    palette, box = colours(), QRectF(left + 0.5, middle - 6.5, TICK, TICK)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(palette.accent if ticked else palette.ctl))
    painter.setBrush(QColor(palette.accent if ticked else palette.surface))
    painter.drawRoundedRect(box, 3, 3)
    if ticked:
        icons.paint(painter, QRectF(box.left() + 1, box.top() + 1, 12, 12), "check", palette.ton)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setBrush(Qt.BrushStyle.NoBrush)
