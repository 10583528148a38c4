"""What can one cell of a table say, and what is a column?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpulease_gui.domain.text import Text
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.pdf.paint import Promises, Ruler

Row = TypeVar("Row")
SortKey = float | int | str
Words = Text | str


@dataclass(frozen=True, slots=True)
class Cell:
    """What the delegate draws; the parts that are set come from left to right: icon, badge, text, note, tag.

    `tone`: a level 1..3 or a colour token. `missing` draws the words pale on a dashed line ("not stated").
    `struck` are words drawn struck out before the text (the promise that was broken). `ruler` and `promises` fill the
    cell. `checked` draws a check box in front. `action` makes the text a link: a click sends this word with the row. `ground` tints the cell (token).
    """

    text: Words = ""
    tone: str = "1"
    weight: int = 400
    code: bool = False
    missing: bool = False
    note: Words = ""
    tag: Words = ""
    icon: str = ""
    icon_tone: str = "3"
    badge: Badge | None = None
    filled: bool = False
    ruler: Ruler | None = None
    promises: Promises | None = None
    action: str = ""
    struck: Words = ""
    ground: str = ""
    tip: Words = ""
    checked: bool | None = None


EMPTY = Cell()
NOTHING = Cell("–", tone="3")
NOT_STATED = Cell(Text("not stated", "未说明"), missing=True)
NOT_READABLE = Cell(Text("not readable", "读不到"), missing=True)


def state_cell(badge: Badge, word: Words = "") -> Cell:
    """A state in a table: only loud ones are filled."""
    return Cell(word or badge.word, badge=badge, filled=badge.loud)


def action_cell(words: Words, action: str) -> Cell:
    """A word in accent that sends `action` when it is clicked."""
    return Cell(words, tone="accent", action=action)


@dataclass(frozen=True)  # no slots: Python 3.11 cannot make `Column[Row](...)` of a frozen class with slots
class Column(Generic[Row]):
    """One column: its head, what a row shows in it, by what it sorts (None = it does not), and how wide it is.

    `width` px; `stretch` shares what is left. `number` aligns to the right.
    """

    title: Words
    cell: Callable[[Row], Cell]
    sort: Callable[[Row], SortKey] | None = None
    width: int = 120
    stretch: bool = False
    number: bool = False
    tip: Words = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A heading inside a table. Rows with equal `key` stand under one heading, in the order they first appear."""

    key: str
    title: Words
    note: Words = ""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A heading as it is drawn: open or folded, with tallies by state."""

    group: Group
    is_open: bool
    rows: int
    tallies: tuple[tuple[Badge, int], ...] = ()
