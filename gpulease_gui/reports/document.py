"""What is a report made of, whatever it is written as?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import NO_TEXT, Language, Text


class Tone(StrEnum):
    """How loud words are. Missing = there is no value, and the words say so."""

    PLAIN = "plain"
    QUIET = "quiet"
    STRONG = "strong"
    FAIL = "fail"
    MISSING = "missing"
    CODE = "code"


class ColumnKind(StrEnum):
    """How the cells of a column stand."""

    TEXT = "text"
    NUMBER = "number"
    RULER = "ruler"
    BADGE = "badge"
    HASH = "hash"


@dataclass(frozen=True, slots=True)
class Words:
    """A cell, or the value of a pair, in words."""

    text: Text
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Mark:
    """A cell that shows a state by shape, word and colour."""

    state: Verdict | CheckState


@dataclass(frozen=True, slots=True)
class Ruler:
    """A cell that draws a measurement against the promise, both in one unit."""

    promised: float
    measured: float | None
    verdict: Verdict


Cell = Words | Mark | Ruler
EMPTY = Words(NO_TEXT)


@dataclass(frozen=True, slots=True)
class Column:
    """`weight` is the column's share of the width."""

    head: Text
    kind: ColumnKind = ColumnKind.TEXT
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Title:
    """The report's name in both languages, and lines at the right such as the time of the run."""

    text: Text
    lines: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A label with its value."""

    label: Text
    value: Words


@dataclass(frozen=True, slots=True)
class VerdictBox:
    """The conclusion: verdict, what stands above and below it, and the identity beside it."""

    caption: Text
    verdict: Verdict
    details: tuple[Text, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A numbered heading in both languages."""

    number: int
    text: Text


@dataclass(frozen=True, slots=True)
class SubHeading:
    """The head of one node's part."""

    text: Text
    state: Verdict | CheckState | None = None
    note: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: Text
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Items:
    """A numbered list."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labels with values, in columns."""

    pairs: tuple[Pair, ...]
    columns: int = 2


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head that is repeated on each page; each row has a cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One measured rate and, if there is one, its promise."""

    label: Text
    measured: float | None
    promised: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class BarChart:
    """Rates of one unit."""

    caption: Text
    unit: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: per point its time (seconds since 1970 UTC), the lowest and the highest reading."""

    name: str
    times_s: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Blank:
    """A stretch without readings (seconds since 1970 UTC), and why.

    `curves`: the names of those that were not read while others of the chart were, and `whose` these are in words; empty where
    nothing was read.
    """

    start_s: float
    end_s: float
    reason: Text
    curves: tuple[str, ...] = ()
    whose: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class LineChart:
    """Readings over time with the contract's figure. `utc_offset_s` is our clock minus UTC, for the axis."""

    caption: Text
    unit: str
    curves: tuple[Curve, ...]
    start_s: float
    end_s: float
    contract: float | None = None
    contract_words: Text = NO_TEXT
    blanks: tuple[Blank, ...] = ()
    utc_offset_s: int = 0


@dataclass(frozen=True, slots=True)
class Marks:
    """What the marks mean."""

    states: tuple[Verdict | CheckState, ...]


@dataclass(frozen=True, slots=True)
class SignOff:
    """Lines to sign on, one column a party."""

    parties: tuple[Pair, ...]
    fields: tuple[Text, ...]


Block = (
    Title | VerdictBox | Heading | SubHeading | Paragraph | Items | Pairs | Table | BarChart | LineChart | Marks | SignOff
)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report in one language. `footer` stands on each page beside the hash and the page number."""

    title: Text
    language: Language
    blocks: tuple[Block, ...]
    footer: Text
    hash: str
    demo: bool = False

    def tables(self) -> Iterator[Table]:
        """All tables in order."""
        return (block for block in self.blocks if isinstance(block, Table))
