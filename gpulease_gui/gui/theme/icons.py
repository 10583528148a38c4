"""How does an icon get its colour and stay sharp?"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gpulease_gui.pdf.paint import icon_svg
from gpulease_gui.pdf.palette import Palette


@lru_cache(maxsize=1024)
def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon in `#RRGGBB`, `size` px square, for a screen with `ratio` device pixels per px."""
    side = round(size * ratio)
    drawn = QPixmap(side, side)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    QSvgRenderer(icon_svg(name, colour)).render(painter, QRectF(0, 0, side, side))
    painter.end()
    drawn.setDevicePixelRatio(ratio)
    return drawn


def paint(painter: QPainter, rect: QRectF, name: str, colour: str) -> None:
    """Draw a kept pixmap of the icon; the screen's way of `pdf.paint.paint_icon`."""
    ratio = painter.device().devicePixelRatioF()
    painter.drawPixmap(rect.topLeft(), pixmap(name, colour, round(rect.width()), ratio))


def icon(name: str, palette: Palette, token: str = "t2", size: int = 16) -> QIcon:
    """An icon for a button, pale when disabled, at one and two device pixels per px."""
    return _icon(name, palette.colour(token), palette.colour("t3"), size)


@lru_cache(maxsize=512)
def _icon(name: str, usual: str, disabled: str, size: int) -> QIcon:
    """Kept: a button asks for its icon at each notice of a style, several times while a page is built."""
    made = QIcon()
    for ratio in (1.0, 1.25, 1.5, 2.0):
        made.addPixmap(pixmap(name, usual, size, ratio), QIcon.Mode.Normal)
        made.addPixmap(pixmap(name, disabled, size, ratio), QIcon.Mode.Disabled)
    return made


def program_icon() -> QIcon:
    """The program's mark, for the window and the task bar."""
    made = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        made.addPixmap(pixmap("app", "#000000", side))
    return made


def icon_size(size: int = 16) -> QSize:
    """A square of `size` px."""
    return QSize(size, size)


def clear() -> None:
    """Forget all pixmaps, after a change of theme."""
    pixmap.cache_clear()
    _icon.cache_clear()
