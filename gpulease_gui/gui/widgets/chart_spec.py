"""What is a lane of a chart made of, before anything is drawn?

Times are UTC seconds, values are in the unit of the lane. No numpy here: pages name lanes before the first chart is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cards import OfCards, short_name
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.series import Paces, Ring

SERIES_STYLES = 8


class Mode(StrEnum):
    """How many curves of one kind are drawn."""

    SPREAD = "spread"
    ALL = "all"


class Rule(StrEnum):
    """When does a value below the promise count as a broken promise? An idle node breaks none.

    HELD: while the card itself says that a cap or a slowdown holds it back. CHECKED: while a check loads it on purpose.
    SIZE: never, the promise is a size of which any part may be used.
    """

    HELD = "held"
    CHECKED = "checked"
    SIZE = "size"


@dataclass(frozen=True, slots=True)
class Curve:
    """One series. `number` gives dash, marker and colour; `name` is what the readout calls it (foreign text).

    `lost` says why it is not read any more, though it was; `index` is the number that the node gives it now. `away_s`: from
    when on nobody expects it (UTC seconds).
    """

    subject: str
    number: int
    name: Words
    ring: Ring
    reasons: Ring | None = None
    lost: Words = ""
    index: int | None = None
    away_s: float | None = None


@dataclass(frozen=True, slots=True)
class Promised:
    """The contract's figure. Kept from `passes` x value on, a warning from `warns` x value on, broken below."""

    value: float
    rule: Rule
    passes: float = 1.0
    warns: float = 0.9
    implied: bool = False

    @property
    def tolerance(self) -> float:
        """Half the height of the band around the line, as a fraction of the promise."""
        return 1.0 - (self.passes if self.passes < 1.0 else self.warns)


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane. `alike` curves are of one kind (GPUs) and may be drawn as a spread; `trouble` says why there is no data.

    `at_times`: it is told while a task runs only, so that no sample is missed at other times.
    `own_pace`: its samples come as often as the node has them, not as often as they are asked for.
    """

    id: str
    title: Text
    unit: str
    curves: tuple[Curve, ...] = ()
    decimals: int = 1
    promised: Promised | None = None
    term: str = ""
    alike: bool = False
    full: float | None = None
    kind: str = "GPU"
    subject: str = ""
    trouble: Words = ""
    at_times: bool = False
    own_pace: bool = False
    source: str = ""

    @property
    def default_mode(self) -> Mode:
        """Spread for four and more curves of one kind; the only choice for more than there are styles."""
        return Mode.SPREAD if self.alike and len(self.curves) >= 4 else Mode.ALL

    def mode(self, wanted: Mode) -> Mode:
        """How this lane is drawn when the user wants `wanted`."""
        if len(self.curves) > SERIES_STYLES and self.alike:
            return Mode.SPREAD
        return self.default_mode if wanted is Mode.SPREAD else Mode.ALL

    def name(self, number: int) -> str:
        """How one curve is called in words, such as "GPU 5" or "NPU 3/0"."""
        curve = next((curve for curve in self.curves if curve.number == number), None)
        if curve is None:
            return f"{self.kind} {number}"
        return f"{self.kind} {self.short(curve)}" if self.alike else say(curve.name)

    def short(self, curve: Curve) -> str:
        """What it is called in the readout of this lane."""
        return short_name(curve.subject, curve.number) if self.alike else say(curve.name)


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch without samples, of all lanes or of those of one `source` (or the lane of this id); `end_s` None while it lasts.

    A `quiet` one is told in the event row only where its words fit into it: nothing went wrong then. `part_of`: the lane (its id) of
    which only some curves are without samples. Without a `reason` it is hatched only: something else tells of it.
    """

    start_s: float
    end_s: float | None
    reason: Words
    source: str = ""
    quiet: bool = False
    part_of: str = ""


@dataclass(frozen=True, slots=True)
class Happening:
    """A stretch in the event row: `token` colours its box; `terms` are the promises that it puts to the test.

    `concerns` is the term of the lanes that get a bar at their top. `judged_from_s`: what came earlier is no test yet.
    `of_cards`: the cards in `words` by UUID, so that they are called here as in the lanes. `short`: what is said where `words` have no room.
    """

    start_s: float
    end_s: float | None
    words: Words
    icon: str
    token: str
    terms: tuple[str, ...] = ()
    concerns: str = ""
    judged_from_s: float = 0.0
    of_cards: OfCards | None = None
    short: Words = ""


@dataclass(frozen=True, slots=True)
class Coarser:
    """A stretch of which only summaries are left that are longer than what would be drawn; `step_s`: how long one is."""

    start_s: float
    end_s: float
    step_s: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that a chart shows of one node. `unwatched`: (start, end) in UTC seconds of the time in which nobody watched it."""

    lanes: tuple[LaneSpec, ...] = ()
    holes: tuple[Hole, ...] = ()
    happenings: tuple[Happening, ...] = ()
    interval_s: float = 1.0
    paces: Paces = ()
    coarser: tuple[Coarser, ...] = ()
    unwatched: tuple[tuple[float, float], ...] = ()


def with_unit(value: float, unit: str, decimals: int) -> str:
    """A figure for people, such as "24.6 Gbit/s"; a thin space before the per cent sign."""
    gap = "\N{THIN SPACE}" if unit == "%" else " "
    return f"{number_text(value, decimals)}{gap}{unit}" if unit else number_text(value, decimals)


def fixed(value: float, decimals: int) -> str:
    """A figure of a column: always the same decimals, true minus."""
    text = f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    return text.removeprefix("\N{MINUS SIGN}") if not text.strip("\N{MINUS SIGN}0.,") else text


def share_text(count: int, expected: int) -> str:
    """So many of those that were expected, in percent and rounded down: what is missing never rounds to nothing."""
    return f"{1000 * count // expected / 10 if expected else 100.0:.1f}\N{THIN SPACE}%"


def spans_of(happenings: Sequence[Happening], term: str, now_s: float) -> list[tuple[float, float]]:
    """(start, end) of the stretches in which `term` was put to the test."""
    return [(max(h.start_s, h.judged_from_s), now_s if h.end_s is None else h.end_s) for h in happenings if term and term in h.terms]
