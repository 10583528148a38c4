"""What does a row of a table say once it is read, and what is wrong, doubtful or open in its cells?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text, visible
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
    remembered: bool = False  # the default is what an earlier import of `supplier` was answered
    supplier: str = ""  # the only one whose rows it is about; "" = all that remember no answer, or the chosen one

    @property
    def origin(self) -> Text | None:
        """Where its answer comes from; None = from nowhere yet."""
        if not self.remembered:
            return None
        return Text(f"remembered from the last import of {self.supplier or 'this supplier'}", f"沿用{self.supplier or '该供应商'}上次导入时的答案")


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that counted for rows of one supplier ("" = the chosen one); `question` is its key for any supplier."""

    supplier: str
    question: str
    option: str
    cells: int
    remembered: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A column that is not imported though `rows` cells of it are filled."""

    column: int
    heading: str
    rows: int


def left_out_words(columns: Sequence[LeftOut]) -> Text | None:
    """not imported: Minimum, Granularity (3 rows filled); None = every filled column is imported."""
    counts = dict.fromkeys(one.rows for one in columns)
    groups = [(rows, [visible(one.heading)[:60] for one in columns if one.rows == rows]) for rows in counts]
    if not groups:
        return None
    en = "; ".join(f"{', '.join(names)} ({rows} {'row' if rows == 1 else 'rows'} filled)" for rows, names in groups)
    zh = "；".join(f"{'、'.join(names)}（{rows} 行有内容）" for rows, names in groups)
    return Text(f"not imported: {en}", f"未导入：{zh}")


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
    `choices` are questions that have an answer already, which may be changed. `given` are the answers that counted,
    `left_out` the columns that are not imported.
    """

    lines: tuple[Line, ...]
    issues: tuple[Issue, ...]
    questions: tuple[Question, ...]
    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[Issue, ...] = ()
    choices: tuple[Question, ...] = ()
    given: tuple[Given, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
