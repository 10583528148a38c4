"""What offers does a table hold, row by row, and which of its cells can't be understood?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import Price, PriceReading, TaxReading, read_currency, read_price
from gpulease_gui.economics.quote_words import MOST_DIGITS, Ambiguous, Unread, Unstated
from gpulease_gui.services.importing_cells import day_of, read_field, read_mode, read_term
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.services.importing_price import BARE, tax_of, times, which_currency, which_end, which_unit
from gpulease_gui.services.importing_targets import IGNORED, Part, Target, Targets
from gpulease_gui.store.exchange.sheet import Cell, CellFault, Sheet, cell_text, column_letters

LEFT_OUT = "leave"
_HEAD_ROWS = 20
_CHECK_EVERY = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is read: the row of headings (None = there is none) and what each column is ("" = left out).

    `answers` say what ambiguous words mean, by the key of the question.
    """

    header: int | None
    columns: tuple[str, ...]
    answers: Mapping[str, str] = field(default_factory=dict)

    def with_column(self, column: int, target: str) -> Layout:
        """The layout with one column changed."""
        return replace(self, columns=(*self.columns[:column], target, *self.columns[column + 1 :]))

    def with_answer(self, key: str, option: str) -> Layout:
        """The layout with one question answered; LEFT_OUT imports the row without that value."""
        return replace(self, answers={**self.answers, key: option})


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
    """One question for all cells of a column that are ambiguous in the same way."""

    key: str
    heading: str
    column: int
    question: Text
    options: tuple[tuple[str, Text], ...]
    words: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A value with the words of its cell and its address."""

    key: str
    value: TermValue | FieldValue
    words: str
    address: str

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


@dataclass(frozen=True, slots=True)
class Lines:
    """All rows of a table; `skipped` are rows that are no offers, with their first words."""

    lines: tuple[Line, ...]
    issues: tuple[Issue, ...]
    questions: tuple[Question, ...]
    skipped: tuple[tuple[str, str], ...]


def guess_layout(sheet: Sheet, targets: Targets, remembered: Mapping[str, str] | None = None) -> Layout:
    """The row that looks most like headings, and what each of them means; `remembered` headings win.

    No row with two known headings: no header, every column left out.
    """
    known = remembered or {}
    scored = [(_score(row, targets, known), -place) for place, row in enumerate(sheet.rows[:_HEAD_ROWS])]
    best, place = max(scored, default=(0, 0))
    if best < 2:
        return Layout(None, (IGNORED,) * sheet.width)
    return columns_for(sheet, -place, targets, known)


def columns_for(sheet: Sheet, header: int, targets: Targets, remembered: Mapping[str, str] | None = None) -> Layout:
    """The layout with `header` as the row of headings; of two columns for the same thing the surer one counts."""
    known = remembered or {}
    headings = [cell_text(sheet.cell(header, column)) for column in range(sheet.width)]
    guesses = [known.get(words) or targets.guess(words) if words else IGNORED for words in headings]
    for key in tuple(guesses):
        rivals = [other for other, same in enumerate(guesses) if same == key != IGNORED]
        # One column may say whether tax is in the price, another one how much it is.
        if len(rivals) > 1 and key != Part.TAX:
            surest = max(rivals, key=lambda other: (headings[other] in known, targets.certainty(headings[other]), -other))
            guesses = [IGNORED if same == key and other != surest else same for other, same in enumerate(guesses)]
    return Layout(header, tuple(key if key in targets.by_key else IGNORED for key in guesses))


def _score(row: Sequence[Cell], targets: Targets, known: Mapping[str, str]) -> int:
    words = {cell_text(cell) for cell in row if isinstance(cell, str) and len(cell) <= 40}
    found = [(2 if word in known else targets.certainty(word)) for word in words]
    known_ones = sum(1 for certainty in found if certainty)
    return sum(found) if known_ones > 1 or (len(words) <= 3 and 2 in found) else 0


def read_lines(sheet: Sheet, layout: Layout, targets: Targets, catalogue: Catalogue, cancel: CancelToken | None = None) -> Lines:
    """Every row below the headings as an offer, with the issues by cell and the questions by column. Raises Cancelled."""
    reading = _Reading(sheet, layout, targets, catalogue)
    token = cancel or CancelToken()
    first = 0 if layout.header is None else layout.header + 1
    with collector_paused():
        for row in range(first, len(sheet.rows)):
            if row % _CHECK_EVERY == 0:
                token.check()
            reading.take(row)
    return reading.result()


_TOTAL = re.compile(r"合计|总计|小计|汇总|(?:grand |sub)?total\b.*", re.IGNORECASE)


class _Reading:
    """The rows read so far; equal words of a column are understood once."""

    def __init__(self, sheet: Sheet, layout: Layout, targets: Targets, catalogue: Catalogue) -> None:
        self.sheet, self.layout, self.catalogue = sheet, layout, catalogue
        self.columns = tuple((c, targets.by_key[key]) for c, key in enumerate(layout.columns) if key in targets.by_key)
        header = layout.header
        self.headings = ["" if header is None else cell_text(sheet.cell(header, c)) for c in range(sheet.width)]
        self.head_cells = None if header is None else sheet.rows[header]
        self.letters = [column_letters(c) for c in range(sheet.width)]
        self.place = ""
        self.known: dict[tuple[int, str], Any] = {}
        self.lines: list[Line] = []
        self.issues: list[Issue] = []
        self.asked: dict[str, tuple[Ambiguous[Any], int, list[str]]] = {}
        self.skipped: list[tuple[str, str]] = []
        self.waits: list[str] = []
        self.row, self.bad = 0, False

    def result(self) -> Lines:
        questions = tuple(
            Question(key, self.headings[column], column, asked.question, tuple((o.id, o.label) for o in asked.options), asked.words,
                     tuple(cells)) for key, (asked, column, cells) in self.asked.items()
        )  # fmt: skip
        return Lines(tuple(self.lines), tuple(self.issues), questions, tuple(self.skipped))

    def take(self, row: int) -> None:
        cells = self.sheet.rows[row]
        filled = [cell for cell in cells if cell is not None]
        if not filled:
            return
        if self._is_no_offer(cells, filled):
            self.skipped.append((self.sheet.address(row, 0), cell_text(filled[0])[:80]))
            return
        self.row, self.bad, self.waits, self.place = row, False, [], str(row + self.sheet.first_row)
        self.lines.append(self._line(cells))

    def _is_no_offer(self, cells: Sequence[Cell], filled: Sequence[Cell]) -> bool:
        """A total, a title of a section, the headings once more."""
        if not any(column < len(cells) and cells[column] is not None for column, _ in self.columns):
            return True
        first = filled[0]
        one_word = len(self.columns) > 1 and all(cell == first for cell in filled)
        is_total = isinstance(first, str) and _TOTAL.fullmatch(first) is not None
        return one_word or is_total or tuple(cells) == self.head_cells

    def _line(self, cells: Sequence[Cell]) -> Line:
        found: dict[str, Any] = {}
        terms: list[Said] = []
        fields: list[Said] = []
        prices: dict[Part, tuple[int, str]] = {}
        taxes: list[tuple[int, str]] = []
        for column, target in self.columns:
            cell = cells[column] if column < len(cells) else None
            if cell is None:
                continue
            if isinstance(cell, CellFault):
                self._fault(column, cell)
                continue
            words = cell if isinstance(cell, str) else cell_text(cell)
            if target.part is Part.TAX:
                taxes.append((column, words))
            elif target.part in _PRICE_PARTS:
                prices[target.part] = column, words
            elif target.part in _TEXT_PARTS:
                found[_TEXT_PARTS[target.part]] = words
            else:
                self._value(column, target, cell, words, found, terms, fields)
        if Part.PRICE in prices:
            found["price_words"] = prices[Part.PRICE][1]
            found["price"] = self._price(prices, taxes)
        waits = tuple(dict.fromkeys(self.waits))
        return Line(self.row, self._address(0), terms=tuple(terms), fields=tuple(fields), waits=waits, bad=self.bad, **found)

    def _address(self, column: int) -> str:
        """As `Sheet.address`, for the row that is read."""
        return f"{self.sheet.name}!{self.letters[column]}{self.place}"

    def _value(
        self, column: int, target: Target, cell: Cell, words: str, found: dict[str, Any], terms: list[Said], fields: list[Said]
    ) -> None:
        value = self._understood(column, target, cell, words)
        if isinstance(value, _NOT_SETTLED):
            value = self._settled(column, words, value)
        if value is None:
            return
        if target.part is Part.TERM:
            terms.append(Said(target.key, value, words, self._address(column)))
        elif target.part is Part.FIELD:
            fields.append(Said(target.key, value, words, self._address(column)))
        else:
            found[str(target.part)] = value

    def _understood(self, column: int, target: Target, cell: Cell, words: str) -> Any:
        key = column, words
        if key not in self.known:
            self.known[key] = self._read(target, cell, words, self.headings[column])
        return self.known[key]

    def _read(self, target: Target, cell: Cell, words: str, heading: str) -> Any:
        if target.term is not None:
            return read_term(target.term, words, heading, self.catalogue)
        if target.field is not None:
            return read_field(target.field, words, heading, self.catalogue)
        return read_mode(words) if target.part is Part.MODE else day_of(cell, words)

    # -- outcomes ---------------------------------------------------------------------------------------------------------

    def _settled(self, column: int, words: str, value: Any) -> Any:
        """The value, or None after it was noted as not stated, as an issue or as a question."""
        if isinstance(value, Unread):
            self._issue(column, words, value.why, value.next_step)
            return None
        if isinstance(value, Ambiguous):
            return self._answer(column, value)
        return None if isinstance(value, Unstated) else value

    def _answer(self, column: int, asked: Ambiguous[Any]) -> Any:
        key = f"{self.headings[column]}|{asked.kind}"
        answer = self.layout.answers.get(key)
        cells = self.asked.setdefault(key, (asked, column, []))[2]
        cells.append(self._address(column))
        if answer is None or (answer != LEFT_OUT and asked.answered(answer) is None):
            self.waits.append(key)
            return None
        return None if answer == LEFT_OUT else asked.answered(answer)

    def _issue(self, column: int, words: str, why: Text, next_step: Text) -> None:
        self.bad = True
        self.issues.append(Issue(self._address(column), self.row, column, words, why, next_step))

    def _fault(self, column: int, fault: CellFault) -> None:
        if fault.formula:
            self._issue(column, "", Text("a formula whose result was not saved", "公式没有保存计算结果"),
                        Text("open the file in a spreadsheet program and save it again", "请用表格软件打开并重新保存"))  # fmt: skip
        else:
            self._issue(column, fault.words, Text("the spreadsheet shows an error here", "表格中此处为错误值"),
                        Text("correct the formula, or leave the cell empty", "请更正公式，或将单元格留空"))  # fmt: skip

    # -- price ------------------------------------------------------------------------------------------------------------

    def _price(self, prices: Mapping[Part, tuple[int, str]], taxes: Sequence[tuple[int, str]]) -> PriceReading | None:
        column, words = prices[Part.PRICE]
        above = " ".join((self.headings[column], *self._beside(prices)))
        price = self._settled(column, words, self._price_of(column, words, above))
        if not isinstance(price, PriceReading):
            return None
        named = read_currency(prices[Part.CURRENCY][1]) if Part.CURRENCY in prices else None
        if named is not None and price.currency not in (None, named):
            self._issue(column, words, Text(f"the price is in {price.currency}, its currency column says {named}", f"价格为 {price.currency}，币种列为 {named}"),
                        Text("correct one of them", "请更正其中之一"))  # fmt: skip
            return None
        for place in taxes:
            tax = self._tax(*place, price.tax)
            price = replace(price, tax=tax) if tax != price.tax else price
        for ask in (which_end, which_currency, which_unit):
            question = ask(price, words)
            settled = self._answer(column, question) if question else price
            if not isinstance(settled, PriceReading):
                return None
            price = settled
        return price

    def _price_of(self, column: int, words: str, above: str) -> Price:
        """Bare numbers under the same words are understood once, as so many times 1."""
        bare = len(words) <= MOST_DIGITS and BARE.fullmatch(words) is not None
        key = column, f"{1 if bare else words}\0{above}"
        if key not in self.known:
            self.known[key] = read_price("1" if bare else words, above)
        price: Price = self.known[key]
        return times(price, words) if bare else price

    def _beside(self, prices: Mapping[Part, tuple[int, str]]) -> Iterator[str]:
        if Part.UNIT in prices:
            yield "/" + prices[Part.UNIT][1].replace("_", "/")
        if Part.CURRENCY in prices:
            yield prices[Part.CURRENCY][1]

    def _tax(self, column: int, words: str, before: TaxReading) -> TaxReading:
        """What a column of tax adds; words that say nothing of it are an issue."""
        key = column, f"{words}\0{before}"
        if key not in self.known:
            self.known[key] = tax_of(words, self.headings[column], before)
        tax = self._settled(column, words, self.known[key])
        return tax if isinstance(tax, TaxReading) else before


_NOT_SETTLED = (Unread, Ambiguous, Unstated)
_PRICE_PARTS = frozenset([Part.PRICE, Part.CURRENCY, Part.UNIT])
_TEXT_PARTS = {Part.SUPPLIER: "supplier", Part.QUOTE_NO: "quote_no", Part.TITLE: "title", Part.NOTE: "note"}
