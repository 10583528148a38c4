"""Which small cells of a table look like one that was drawn before, so that its picture is put down again?"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter, QPixmap

WIDEST = 240  # px: wider cells say something of their own
_MOST_BYTES = 4 * 1024 * 1024


class CellPictures:
    """Pictures of cells by all that they show. `look` is what they have in common: another one, and all are drawn anew."""

    def __init__(self) -> None:
        self._look: Hashable = None
        self._kept: dict[Hashable, QPixmap] = {}
        self._bytes = 0

    def put(
        self, painter: QPainter, rect: QRect, look: Hashable, shows: Hashable, draw: Callable[[QPainter, QRect], None]
    ) -> None:
        """Put the picture down; `draw` makes it where there is none, and must fill its rectangle.

        Only where a pixel of the picture is one of the screen (whole scales): it would be blurred elsewhere.
        """
        ratio = painter.device().devicePixelRatioF()
        if rect.width() > WIDEST or ratio != int(ratio):
            draw(painter, rect)
            return
        if (look, ratio) != self._look or self._bytes > _MOST_BYTES:
            self._look, self._bytes = (look, ratio), 0
            self._kept.clear()
        key = (shows, rect.width(), rect.height())
        picture = self._kept.get(key)
        if picture is None:
            picture = self._kept[key] = _drawn(rect, ratio, draw)
            self._bytes += picture.width() * picture.height() * 4
        painter.drawPixmap(rect.topLeft(), picture)


def _drawn(rect: QRect, ratio: float, draw: Callable[[QPainter, QRect], None]) -> QPixmap:
    made = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
    made.setDevicePixelRatio(ratio)
    painter = QPainter(made)
    draw(painter, QRect(0, 0, rect.width(), rect.height()))
    painter.end()
    return made
