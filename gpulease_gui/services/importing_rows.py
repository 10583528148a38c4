"""What does a row of a table say once it is read, and what is wrong, doubtful or open in its cells?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import PriceReading


@dataclass(frozen=True, slots=True)
class Issue:
    """A cell that can't be understood: where, its words, why, and what to do."""

    address: str
    row: int
    column: int
    words: str
    why: Text
    next_step: Text

    @property
    def sentence(self) -> Text:
        """Sheet1!C7: "abc": why; what to do."""
        quoted = f"{self.words[:60]!r}: " if self.words else ""
        return Text(
            f"{self.address}: {quoted}{self.why.en}; {self.next_step.en}",
            f"{self.address}：{f'“{self.words[:60]}”' if self.words else ''}{self.why.zh}；{self.next_step.zh}",
        )


@dataclass(frozen=True, slots=True)
class Question:
    """One question for all cells of a column that are ambiguous in the same way.

    `default` is the option that holds until another one is chosen; "" = nothing is saved before it is answered.
    """

    key: str
    heading: str
    column: int
    question: Text
    options: tuple[tuple[str, Text], ...]
    words: str
    cells: tuple[str, ...]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A value with the words of its cell; cells of a column with the same words share one."""

    key: str
    value: TermValue | FieldValue
    words: str

    @property
    def exact_words(self) -> str:
        """The supplier's own words where they are not the value itself: they stay with it."""
        return "" if self.words == str(self.value) else self.words


@dataclass(frozen=True, slots=True)
class Line:
    """One row as an offer. `waits` names the questions that must be answered first; `bad` says that a cell is an issue."""

    row: int
    address: str
    supplier: str = ""
    quote_no: str = ""
    title: str = ""
    note: str = ""
    price: PriceReading | None = None
    price_words: str = ""
    mode: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    terms: tuple[Said, ...] = ()
    fields: tuple[Said, ...] = ()
    waits: tuple[str, ...] = ()
    bad: bool = False
    model_words: str = ""  # as the cell names the card


@dataclass(frozen=True, slots=True)
class Lines:
    """All rows of a table; `skipped` are rows that are no offers, with their first words.

    `issues` are errors that leave their rows out; `warnings` are cells that a person should see, and the row comes in.
    `choices` are questions that have an answer already, which may be changed.
    """

    lines: tuple[Line, ...]
    issues: tuple[Issue, ...]
    questions: tuple[Question, ...]
    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[Issue, ...] = ()
    choices: tuple[Question, ...] = ()
