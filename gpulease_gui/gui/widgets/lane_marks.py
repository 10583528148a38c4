"""Where in the row over the lanes does each event stand, and in how many words?

The icon of a moment stands at its time, however long the stretch in sight is. Where icons would lie on each other they are one
group: the gravest one's icon, and how many more there are. What lasts long enough to be seen has a box over its own time. Words
stand where there is room beside, and over nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.chart_spec import Happening

LEAST_EVENT_PX = 24  # what is narrower is a moment
ICON_PX, HALF_PX, WORD_PX = 13, 8, 10  # the icon; how far at least its middle is from what else is drawn, and from its words
FEW_PX = 120  # from so many on a piece of a long note says something
QUIET = "quiet"  # in place of a token: nothing went wrong, so nobody needs to see it first
_INSIDE_PX, _WORDS_PX, _AROUND_PX = 6, 23, 30  # in a box: before the icon, before the words, and all that is no word
_BESIDE_PX, _APART_PX, _WORDS_APART_PX = 6, 4, 10
_LOUDEST = {"fail": 0, "warn": 1}
Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """An event and the px of the plot that its time takes, both of them in sight."""

    happening: Happening
    span: Stretch


@dataclass(frozen=True, slots=True)
class Placed:
    """What is drawn of one event, or of a group (`told`, the gravest first), in px.

    An outlined `box`; the icon from `icon` on; the words of the first one from `text` on; from `more_at` on how many others there are.
    """

    told: tuple[Happening, ...]
    box: Stretch | None = None
    icon: int | None = None
    words: str = ""
    text: int = 0
    more: str = ""
    more_at: int = 0


def gravity(happening: Happening) -> str:
    """The token of how grave it is: of a stretch its own, of a moment that of its icon; empty for all others."""
    told = happening.token or happening.icon.removeprefix("verdict-")
    return told if told in _LOUDEST else ""


def fitting(happening: Happening, metrics: QFontMetrics, room: int) -> str:
    """The most words that `room` px hold: all, or without the cards, or the head of a long note; else none, never a stump."""
    whole, short = say(happening.words), say(happening.of_cards.what if happening.of_cards is not None else happening.short)
    for words in (whole, short):
        if words and metrics.horizontalAdvance(words) <= room:
            return words
    return metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room) if room >= FEW_PX else ""


def arrange(seen: Iterable[Seen], metrics: QFontMetrics, bounds: Stretch) -> list[Placed]:
    """Boxes first, then what is drawn on them; what went wrong before all else, then short before long: a stretch of hours takes what is left."""
    ordered = sorted(seen, key=_order)
    loud = [one for one in ordered if one.happening.token != QUIET]
    row = _Row(metrics, bounds)
    row.group([one for one in loud if not row.box(one)])
    made = row.labelled()
    quiet = [row.whispered(one) for one in ordered if one.happening.token == QUIET]
    return [*made, *(one for one in quiet if one is not None)]


def _order(one: Seen) -> tuple[int, int, float]:
    length = one.span[1] - one.span[0] if one.happening.token else 0
    return _LOUDEST.get(gravity(one.happening), len(_LOUDEST)), length, one.happening.start_s


@dataclass(slots=True)
class _Group:
    """Moments that are too near for an icon each; the first one is drawn, its middle at `x`."""

    x: int
    held: list[Seen]

    @property
    def more(self) -> str:
        return f"+{len(self.held) - 1}" if len(self.held) > 1 else ""


@dataclass(slots=True)
class _Row:
    metrics: QFontMetrics
    bounds: Stretch
    boxes: list[tuple[Stretch, Seen]] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)  # by their place
    taken: list[Stretch] = field(default_factory=list)  # by icons and words

    # -- places ---------------------------------------------------------------------------------------------------------

    def box(self, one: Seen) -> bool:
        """Whether it is a stretch for which there is room: in the widest part of its time that has no box yet."""
        if not one.happening.token or one.span[1] - one.span[0] < LEAST_EVENT_PX:
            return False
        rooms = _rooms(one.span, [box for box, _ in self.boxes])
        if rooms:
            self.boxes.append((max(rooms, key=_width), one))
        return bool(rooms)

    def group(self, moments: Sequence[Seen]) -> None:
        """One icon for those that would lie on each other; where how many they are has no room, they take in a neighbour."""
        for one in moments:
            x = self._middle(one)
            at = bisect_left(self.groups, x, key=lambda group: group.x)
            near = [group for group in self.groups[max(0, at - 1) : at + 1] if abs(group.x - x) < 2 * HALF_PX]
            if near:
                min(near, key=lambda group: abs(group.x - x)).held.append(one)
            else:
                self.groups.insert(at, _Group(x, [one]))
        cells = [(group.x - HALF_PX, group.x + HALF_PX) for group in self.groups]
        for box, one in self.boxes:
            if not _rooms(box, cells):
                over = next(group for group in self.groups if group.x + HALF_PX + _APART_PX > box[0] and group.x - HALF_PX < box[1])
                over.held = sorted([*over.held, one], key=_order)
        while (place := self._crowded()) is not None:
            here = self.groups.pop(place)
            other = min(self.groups[max(0, place - 1) : place + 1], key=lambda group: abs(group.x - here.x))
            other.x = min((here, other), key=lambda group: _order(group.held[0])).x
            other.held = sorted([*other.held, *here.held], key=_order)

    def _middle(self, one: Seen) -> int:
        """Of the icon of a moment; the icon of a stretch without a box lies in it."""
        first, last = one.span
        x = (first + last) // 2 if last - first < LEAST_EVENT_PX else first + HALF_PX
        return max(self.bounds[0] + HALF_PX, min(x, self.bounds[1] - HALF_PX))

    def _crowded(self) -> int | None:
        """The first group whose number of others has no room."""
        return next((at for at, group in enumerate(self.groups) if group.more and self._number_at(at) is None and len(self.groups) > 1), None)

    def _number_at(self, at: int) -> int | None:
        """Where it says how many others there are: at the right of its icon, of the last group perhaps at the left."""
        group, width = self.groups[at], self._advance(self.groups[at].more)
        last = at + 1 == len(self.groups)
        right = self.bounds[1] if last else self.groups[at + 1].x - HALF_PX
        if group.x + WORD_PX + width <= right:
            return group.x + WORD_PX
        before = self.groups[at - 1] if at else None
        left = self.bounds[0] if before is None else before.x + WORD_PX + self._advance(before.more) + _APART_PX
        return group.x - WORD_PX - width if last and group.x - WORD_PX - width >= left else None

    # -- words ----------------------------------------------------------------------------------------------------------

    def labelled(self) -> list[Placed]:
        """Icons and numbers keep their places; then each gets the words for which there is room, the gravest first."""
        numbers = [self._number_at(at) if group.more else None for at, group in enumerate(self.groups)]
        for group, number in zip(self.groups, numbers, strict=True):
            self._take(group.x - HALF_PX, group.x + HALF_PX)
            if number is not None:
                self._take(number, number + self._advance(group.more))
        told = [(_order(group.held[0]), place) for place, group in enumerate(self.groups)]
        told += [(_order(one), place + len(self.groups)) for place, (_, one) in enumerate(self.boxes)]
        made = list[Placed]()
        for _, place in sorted(told):
            made.append(self._of_group(self.groups[place], numbers[place]) if place < len(self.groups) else self._of_box(*self.boxes[place - len(self.groups)]))
        return [one for one in made if one.box is not None] + [one for one in made if one.box is None]

    def _of_group(self, group: _Group, number: int | None) -> Placed:
        """Words stand at the right of the icon, before the number; else at its left."""
        first, icon = group.held[0].happening, group.x - ICON_PX // 2
        told = tuple(one.happening for one in group.held)
        begin = group.x + WORD_PX
        width = self._advance(group.more) + _BESIDE_PX if number is not None and number >= begin else 0
        right = self._free_right(begin + max(0, width - _BESIDE_PX))
        left, end = self._free_left(group.x - HALF_PX if width or number is None else number)
        after, before = (fitting(first, self.metrics, room) for room in (right - begin - width, end - left - _APART_PX))
        words = max(after, before, key=len)
        if not words:
            return Placed(told, None, icon, more=group.more if number is not None else "", more_at=number or 0)
        text = begin if words is after else end - _APART_PX - self._advance(words)
        self._take(text, text + self._advance(words))
        if width and words is after:
            number = text + self._advance(words) + _BESIDE_PX
            self._take(number, number + self._advance(group.more))
        return Placed(told, None, icon, words, text, group.more if number is not None else "", number or 0)

    def _of_box(self, box: Stretch, one: Seen) -> Placed:
        """Icon and words in the box where it is free; words that it does not hold stand beside it, whole rather than cut."""
        rooms = _rooms(box, self.taken)
        if not rooms:
            return Placed((one.happening,), box)
        said = [fitting(one.happening, self.metrics, _width(room) - _AROUND_PX) for room in rooms]
        room, words = max(zip(rooms, said, strict=True), key=lambda pair: len(pair[1]))
        icon, text = room[0] + _INSIDE_PX, room[0] + _WORDS_PX
        after = box[1] + _BESIDE_PX, self._free_right(box[1] + 1)
        before = self._free_left(box[0] - 1)[0], box[0] - _BESIDE_PX
        for part in (after, before):
            beside = fitting(one.happening, self.metrics, _width(part))
            if len(beside) > len(words):
                words, text = beside, part[0] if part is after else part[1] - self._advance(beside)
        self._take(icon - _INSIDE_PX, icon + ICON_PX)
        self._take(text, text + self._advance(words))
        return Placed((one.happening,), box, icon, words, text)

    def whispered(self, one: Seen) -> Placed | None:
        """Of what nobody needs to see first: its whole words where nothing else is of its own time, or nothing."""
        words = say(one.happening.words)
        full = self._advance(words) + _AROUND_PX
        room = next((room for room in _rooms(one.span, [*self.taken, *(box for box, _ in self.boxes)]) if _width(room) >= full), None)
        if room is None:
            return None
        self._take(room[0], room[0] + full)
        return Placed((one.happening,), None, room[0] + _INSIDE_PX, words, room[0] + _WORDS_PX)

    def _take(self, first: int, last: int) -> None:
        self.taken.append((first, last))

    def _advance(self, words: str) -> int:
        return self.metrics.horizontalAdvance(words)

    def _free_right(self, begin: int) -> int:
        """Up to where nothing is drawn and no box begins or ends."""
        starts = [a for a, _ in self.taken if a >= begin]
        edges = [edge for box, _ in self.boxes for edge in box if edge >= begin]
        return min([self.bounds[1], *(start - _WORDS_APART_PX for start in starts), *(edge - _APART_PX for edge in edges)])

    def _free_left(self, end: int) -> Stretch:
        """From where on nothing is drawn and no box begins or ends, up to `end`."""
        ends = [b for _, b in self.taken if b <= end]
        edges = [edge for box, _ in self.boxes for edge in box if edge <= end]
        return max([self.bounds[0], *(last + _WORDS_APART_PX for last in ends), *(edge + _APART_PX for edge in edges)]), end


def _width(room: Stretch) -> int:
    return room[1] - room[0]


def _rooms(span: Stretch, taken: Iterable[Stretch]) -> list[Stretch]:
    """What is free of a stretch, as far as an icon has room in it."""
    found, begin = list[Stretch](), span[0]
    for a, b in [*sorted((a, b + _APART_PX) for a, b in taken if b + _APART_PX > span[0] and a < span[1]), (span[1], span[1])]:
        found.append((begin, a))
        begin = max(begin, b)
    return [room for room in found if _width(room) >= LEAST_EVENT_PX]
