"""Where in the row over the lanes does an event stand, and in how many words?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_scale import moment_text, range_text
from gpulease_gui.gui.widgets.chart_spec import Happening

LEAST_EVENT_PX, AROUND_PX = 24, 30  # the icon alone; the icon and what is around words
FEW_PX = 120  # from so many on a piece of a long note says something
QUIET = "quiet"  # in place of a token: nothing went wrong, so nobody needs to see it first
_V = Qt.AlignmentFlag.AlignVCenter
_BESIDE_PX, _APART_PX = 6, 4
Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placed:
    """What is drawn of an event, in px: the outlined `box`, its icon from `icon` on, its words from `text` on.

    `taken` is what icon and words take; the rest of a box has room for the words of others of that time.
    """

    box: Stretch | None
    icon: int
    words: str
    text: int
    taken: Stretch


@dataclass(frozen=True, slots=True)
class Taken:
    """What is drawn already: icons with their words, and boxes."""

    words: list[Stretch] = field(default_factory=list)
    boxes: list[Stretch] = field(default_factory=list)

    @property
    def all(self) -> list[Stretch]:
        """Both."""
        return [*self.words, *self.boxes]

    def add(self, made: Placed) -> None:
        """Nothing else may come nearer than a few px."""
        self.words.append((made.taken[0], made.taken[1] + _APART_PX))
        if made.box is not None:
            self.boxes.append((made.box[0], made.box[1] + _APART_PX))


def free_place(left: int, right: int, bounds: Stretch, taken: Sequence[Stretch]) -> Stretch | None:
    """The free stretch of px with the largest share of left to right; None where all is taken."""
    free, begin = [], bounds[0]
    for first, last in [*sorted(taken), (bounds[1], bounds[1])]:
        free.append((begin, first))
        begin = max(begin, last)
    wide = [(a, b) for a, b in free if b - a >= LEAST_EVENT_PX and a < right and b > left]
    return max(wide, key=lambda one: min(one[1], right) - max(one[0], left), default=None)


def happening_words(happening: Happening) -> str:
    """What happened, from when to when on the user's clock."""
    first = moment_text(happening.start_s)
    if happening.end_s is None:
        time = say(Text(f"since {first}", f"自 {first} 起"))
    else:
        time = first if happening.end_s - happening.start_s < 1 else range_text(happening.start_s, happening.end_s)
    return f"{time}  {say(happening.words)}"


def fitting(happening: Happening, metrics: QFontMetrics, room: int) -> str:
    """The most words that `room` px hold: all, or without the cards, or the head of a long note; else none, never a stump."""
    whole, short = say(happening.words), say(happening.of_cards.what) if happening.of_cards is not None else ""
    for words in (whole, short):
        if words and metrics.horizontalAdvance(words) <= room:
            return words
    return metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room) if room >= FEW_PX else ""


def place_mark(happening: Happening, span: Stretch, metrics: QFontMetrics, bounds: Stretch, taken: Taken) -> Placed | None:
    """Icon and words where it began, or as near as they fit; None where there is no room."""
    full = metrics.horizontalAdvance(say(happening.words)) + AROUND_PX
    if happening.token == QUIET and full > span[1] - span[0]:
        return None
    # Words that would leave the plot move to the left.
    first = max(bounds[0], min(span[0], bounds[1] - full))
    free = free_place(first, first + full, bounds, taken.all)
    made = None if free is None else _label(happening, metrics, (max(first, free[0]), free[1]))
    return None if made is not None and happening.token == QUIET and not made.words else made


def place_stretch(happening: Happening, span: Stretch, metrics: QFontMetrics, bounds: Stretch, taken: Taken) -> Placed | None:
    """A box over the time that it lasted and no other; words that it does not hold stand beside it, whole rather than cut.

    Where others have taken its time, its icon and words stand in their box or beside it. None where there is no room.
    """
    left = max(bounds[0], min(span[0], bounds[1] - LEAST_EVENT_PX))
    right = max(min(span[1], bounds[1]), left + LEAST_EVENT_PX)
    free = free_place(left, right, bounds, taken.all)
    box = (max(left, free[0]), min(right, free[1])) if free is not None else (left, left)
    if box[1] - box[0] < LEAST_EVENT_PX:
        return _unboxed(happening, (left, right), metrics, bounds, taken)
    before, after = _rooms(box, bounds, taken.all)
    rooms = box[1] - box[0] - AROUND_PX, after[1] - after[0] - _BESIDE_PX, before[1] - before[0] - _BESIDE_PX
    said = [fitting(happening, metrics, room) for room in rooms]
    words = max(said, key=len)
    place, width = said.index(words), metrics.horizontalAdvance(words)
    text = (box[0] + 23, box[1] + _BESIDE_PX, box[0] - _BESIDE_PX - width)[place]
    return Placed(box, box[0] + 6, words, text, (min(box[0], text), max(box[0] + LEAST_EVENT_PX, text + width)))


def _unboxed(happening: Happening, own: Stretch, metrics: QFontMetrics, bounds: Stretch, taken: Taken) -> Placed | None:
    """Icon and words in what the boxes of its time have left, else before or after them; no icon without words."""
    over = [own, *(one for one in taken.all if one[0] < own[1] and one[1] > own[0])]
    before, after = _rooms((min(a for a, _ in over), max(b for _, b in over)), bounds, taken.all)
    inside = free_place(*own, bounds, taken.words)
    within = (max(own[0], inside[0]), min(own[1], inside[1])) if inside is not None else (own[0], own[0])
    rooms = within, after, before
    said = [fitting(happening, metrics, b - a - AROUND_PX) for a, b in rooms]
    words = max(said, key=len)
    if not words:
        return None
    room = rooms[said.index(words)]
    if room is before:
        room = room[1] - metrics.horizontalAdvance(words) - AROUND_PX, room[1]
    return _label(happening, metrics, room)


def _label(happening: Happening, metrics: QFontMetrics, room: Stretch) -> Placed | None:
    """Icon and words from the left edge of a room on; the icon alone where there is room for no more."""
    if room[1] - room[0] < LEAST_EVENT_PX:
        return None
    words = fitting(happening, metrics, room[1] - room[0] - AROUND_PX)
    need = metrics.horizontalAdvance(words) + AROUND_PX if words else LEAST_EVENT_PX
    return Placed(None, room[0] + 6, words, room[0] + 23, (room[0], room[0] + need))


def _rooms(box: Stretch, bounds: Stretch, taken: Sequence[Stretch]) -> tuple[Stretch, Stretch]:
    """What is free just before and just after a stretch."""
    before = max((b for a, b in taken if a < box[0]), default=bounds[0])
    after = min((a for a, b in taken if b > box[1]), default=bounds[1])
    return (min(before, box[0]), box[0]), (box[1], max(after, box[1]))


def paint_happening(painter: QPainter, font: QFont, happening: Happening, span: QRect, plot: QRect, taken: Taken) -> Stretch:
    """A box over its stretch, or icon and words where it began; never over other words. What it takes goes to `taken`.

    Answers the first and last px.
    """
    palette, token = colours(), "" if happening.token == QUIET else happening.token
    painter.setFont(sized(font, TextSize.CAPTION, 500 if token else 400))
    place = place_stretch if token else place_mark
    made = place(happening, (span.left(), span.right()), painter.fontMetrics(), (plot.left(), plot.right()), taken)
    if made is None:
        return span.left(), span.right()
    taken.add(made)
    top, height = 3.5, span.height() - 8
    if made.box is not None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.colour(token)))
        painter.setBrush(QColor(palette.colour(f"{token}_bg")))
        painter.drawRoundedRect(QRectF(made.box[0] + 0.5, top, made.box[1] - made.box[0] - 1, height), 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    colour = palette.colour(token or "t2")
    icons.paint(painter, QRectF(made.icon, round(top + height / 2 - 6.5), 13, 13), happening.icon, colour)
    painter.setPen(QColor(colour))
    painter.drawText(QRectF(made.text, top, painter.fontMetrics().horizontalAdvance(made.words) + 2, height), _V, made.words)
    return made.taken
