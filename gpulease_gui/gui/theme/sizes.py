"""How large and how heavy is each kind of text?"""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QFont, QFontMetrics


class TextSize(Enum):
    """Sizes as px at the usual base of 13; they grow with the user's font."""

    CAPTION = 11.0
    DENSE = 12.0
    BODY = 13.0
    SECTION = 15.0
    HEADLINE = 16.0
    KEY_FIGURE = 20.0
    FIRST_RUN = 22.0


BASE = 13.0


def points(base: QFont, size: TextSize) -> float:
    """The point size of `size` under the base font, rounded to quarters."""
    return round(base.pointSizeF() * size.value / BASE * 4) / 4


def sized(base: QFont, size: TextSize, weight: int = 400) -> QFont:
    """`base` at another size and weight (400 plain, 500 labels and totals, 600 titles)."""
    font = QFont(base)
    font.setPointSizeF(points(base, size))
    font.setWeight(QFont.Weight(weight))
    return font


def row_height(font: QFont, least: int = 28) -> int:
    """The height of a table row that holds one line of `font`."""
    return max(least, QFontMetrics(font).height() + 10)
