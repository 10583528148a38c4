"""What does one small picture of a watched node say, before anything is drawn?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.pdf.paint import Ruler
from gpulease_gui.services.events import NodeState


class Order(StrEnum):
    """By what the tiles of many nodes are sorted."""

    WORST = "worst"
    NAME = "name"
    SUPPLIER = "supplier"


class Rank(IntEnum):
    """How a node fares, the worst first."""

    BROKEN = 0
    LOST = 1
    WARNED = 2
    CONNECTING = 3
    FINE = 4
    UNWATCHED = 5


_BADGES: Mapping[Rank, Badge] = {
    Rank.BROKEN: badge_of(Verdict.FAIL), Rank.LOST: badge_of(NodeState.LOST), Rank.WARNED: badge_of(Verdict.WARN),
    Rank.CONNECTING: badge_of(NodeState.CONNECTING), Rank.FINE: badge_of(NodeState.CONNECTED),
    Rank.UNWATCHED: badge_of(NodeState.NOT_WATCHED),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is or was broken (UTC seconds); `end_s` None while it lasts."""

    rule: str
    subject: str
    start_s: float
    end_s: float | None
    degraded: bool
    term: str = ""

    @property
    def token(self) -> str:
        """Its colour."""
        return "fail" if self.degraded else "warn"


@dataclass(frozen=True, slots=True)
class TileFigure:
    """One figure of a tile; `value` is a dash when nothing can be read, never a nought in its place."""

    caption: Text
    value: str
    unit: str
    token: str = "t1"
    ruler: Ruler | None = None


@dataclass(frozen=True, slots=True)
class Tile:
    """A node: how it fares, what it does now, and its line over the last stretch.

    `line` has one share (0 to 1) of the scale for each slot of time, None where nothing was read; `promise` is the share at
    which the promised figure lies. `strip` has a token of `paint_strip` for each slot, "" where nobody looked. `short` says
    `words` where there is little room.
    """

    node_id: str
    name: str
    note: str = ""
    rank: Rank = Rank.UNWATCHED
    words: Text = Text("", "")
    figures: tuple[TileFigure, ...] = ()
    line: tuple[float | None, ...] = ()
    promise: float | None = None
    strip: tuple[str, ...] = ()
    short: Text = NO_TEXT

    @property
    def badge(self) -> Badge:
        """Its mark."""
        return _BADGES[self.rank]

    @property
    def loud(self) -> bool:
        """Whether it wants to be looked at."""
        return self.rank <= Rank.WARNED


SortKey = tuple[tuple[bool, int, str], ...]
_PARTS = re.compile(r"([0-9]{1,18})")


@lru_cache(maxsize=4096)
def _parts(name: str) -> SortKey:
    return tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in _PARTS.split(name.casefold()) if part)


def sort_key(tile: Tile, order: Order) -> SortKey:
    """What a tile is sorted by; among equals by name, in which numbers count as such: node-9 before node-10."""
    name = _parts(tile.name)
    if order is Order.WORST:
        return (False, int(tile.rank), ""), *name
    # Who has no supplier stands last.
    return ((not tile.note, 0, tile.note.casefold()), *name) if order is Order.SUPPLIER else name
