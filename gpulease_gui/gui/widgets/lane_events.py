"""How is the row of events over the lanes written: boxes, icons, words, and all of it in words under the pointer?"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_scale import moment_text, range_text
from gpulease_gui.gui.widgets.chart_spec import Happening
from gpulease_gui.gui.widgets.lane_marks import ICON_PX, QUIET, Placed, gravity

_V = Qt.AlignmentFlag.AlignVCenter
MOST_TOLD = 12


def happening_words(happening: Happening) -> str:
    """What happened, from when to when on the user's clock."""
    first = moment_text(happening.start_s)
    if happening.end_s is None:
        time = say(Text(f"since {first}", f"自 {first} 起"))
    else:
        time = first if happening.end_s - happening.start_s < 1 else range_text(happening.start_s, happening.end_s)
    return f"{time}  {say(happening.words)}"


def list_words(happenings: Iterable[Happening]) -> str:
    """A line for each by its time, and how many there are more than a tip can hold."""
    told = sorted(happenings, key=lambda one: one.start_s)
    lines, more = [happening_words(one) for one in told[:MOST_TOLD]], len(told) - MOST_TOLD
    return "\n".join([*lines, *([say(Text(f"and {more} more: zoom in to see them", f"另有 {more} 条：放大时间轴可查看"))] if more > 0 else [])])


def text_font(font: QFont) -> QFont:
    """What the words of the row are written in."""
    return sized(font, TextSize.CAPTION, 500)


def paint_placed(painter: QPainter, font: QFont, placed: Placed, height: int) -> None:
    """One event, or a group of them, in a row of this height."""
    palette, first = colours(), placed.told[0]
    token = "" if first.token == QUIET else first.token
    top, inner = 3.5, height - 8
    if placed.box is not None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.colour(token)))
        painter.setBrush(QColor(palette.colour(f"{token}_bg")))
        painter.drawRoundedRect(QRectF(placed.box[0] + 0.5, top, placed.box[1] - placed.box[0] - 1, inner), 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if placed.icon is not None:
        where = QRectF(placed.icon, round(top + inner / 2 - 6.5), ICON_PX, ICON_PX)
        if placed.box is None:  # it may stand on the edge of a box of others
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(palette.surface))
            painter.drawEllipse(where.adjusted(-1, -1, 1, 1))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        icons.paint(painter, where, first.icon, palette.colour(token or gravity(first) or "t2"))
    painter.setFont(text_font(font))
    painter.setPen(QColor(palette.colour(token or "t2")))
    for at, words in ((placed.text, placed.words), (placed.more_at, placed.more)):
        if words:
            painter.drawText(QRectF(at, top, painter.fontMetrics().horizontalAdvance(words) + 2, inner), _V, words)
