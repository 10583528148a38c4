"""What offers does a table hold, row by row, and which of its cells can't be understood?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.term import TermKind, TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import Price, PriceReading, TaxReading, read_currency, read_price
from gpulease_gui.economics.quote_words import MOST_DIGITS, Ambiguous, Doubtful, Unread, Unstated, says_nothing
from gpulease_gui.services.importing_amounts import Elsewhere
from gpulease_gui.services.importing_answers import LEFT_OUT, Answers
from gpulease_gui.services.importing_cells import day_of, read_field, read_mode, read_term
from gpulease_gui.services.importing_layout import Layout, columns_for, guess_layout
from gpulease_gui.services.importing_models import AS_NAMED, Cards, Named, which_count
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.services.importing_price import BARE, tax_of, taxed, times, which_currency, which_end, which_unit
from gpulease_gui.services.importing_rows import Issue, Line, Lines, Question, Said
from gpulease_gui.services.importing_skips import holds_for_all, is_note, is_total, left_out, other_prices, unit_above
from gpulease_gui.services.importing_targets import Part, Target, Targets
from gpulease_gui.store.exchange.sheet import Cell, CellFault, Sheet, cell_text, column_letters

__all__ = ["LEFT_OUT", "Issue", "Layout", "Line", "Lines", "Question", "Said", "columns_for", "guess_layout"]
_CHECK_EVERY = 200


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


class _Reading:
    """The rows read so far; equal words of a column are understood once."""

    def __init__(self, sheet: Sheet, layout: Layout, targets: Targets, catalogue: Catalogue) -> None:
        self.sheet, self.layout, self.catalogue = sheet, layout, catalogue
        mapped = ((c, targets.by_key[key]) for c, key in enumerate(layout.columns) if key in targets.by_key)
        self.columns = tuple((c, target, "card" if _is_card(target) else _ROLES.get(target.part, "value")) for c, target in mapped)
        header = layout.header
        self.headings = layout.headings(sheet)
        self.head_cells = None if header is None else sheet.rows[header]
        self.cards = Cards(catalogue.gpus)
        self.unit_above = unit_above(sheet, layout)
        self.letters = [column_letters(c) for c in range(sheet.width)]
        self.place = ""
        self.known: dict[tuple[int, str], Any] = {}
        self.taxes: dict[tuple[int, str, TaxReading], TaxReading | Unread] = {}
        self.lines: list[Line] = []
        self.issues: list[Issue] = []
        self.warnings: list[Issue] = []
        self.asked: dict[str, tuple[Ambiguous[Any], int, list[str]]] = {}
        self.choices: dict[str, tuple[Ambiguous[Any], int, list[str]]] = {}
        self.skipped: list[tuple[str, str]] = []
        self.first: dict[tuple[object, ...], str] = {}
        self.waits: list[str] = []
        self.row, self.bad, self.owner = 0, False, ""
        self.owner_column = next((c for c, target, _ in self.columns if target.part is Part.SUPPLIER), None)
        self.answers = Answers(layout)
        for column, heading, why in other_prices(sheet, layout):
            self.place = str((layout.header or 0) + sheet.first_row)
            self._warn(column, heading, why, Text("choose the other column if it is the price", "如应取此列，请改选价格列"))

    def result(self) -> Lines:
        return Lines(tuple(self.lines), tuple(self.issues), self._questions(self.asked), tuple(self.skipped), tuple(self.warnings),
                     self._questions(self.choices, AS_NAMED), self.answers.given(), left_out(self.sheet, self.layout, (line.row for line in self.lines)))  # fmt: skip

    def _questions(self, asked: Mapping[str, tuple[Ambiguous[Any], int, list[str]]], default: str = "") -> tuple[Question, ...]:
        return tuple(
            Question(key, self.headings[column], column, one.question, tuple((o.id, o.label) for o in one.options), one.words, tuple(cells),
                     *self.answers.default(key, default))
            for key, (one, column, cells) in asked.items()
        )

    def _warn_twice(self, line: Line) -> None:
        """Equal rows come in, each as an offer, with a word."""
        said = line.supplier, line.quote_no, line.title, line.note, line.price_words, *map(id, line.terms), *map(id, line.fields)
        first = self.first.setdefault(said, line.address)
        if first != line.address:
            self._warn(0, "", Text(f"the same as the row of {first}", f"与 {first} 所在行相同"), Text("leave one of them out if they are one offer", "如为同一报价，请删去一行"))

    def take(self, row: int) -> None:
        cells = self.sheet.rows[row]
        filled = [cell for cell in cells if cell is not None]
        if not filled:
            return
        self.row, self.bad, self.waits, self.place = row, False, [], str(row + self.sheet.first_row)
        if self._is_no_offer(cells, filled):
            self._skip(cells, filled)
            return
        named = self.owner_column
        self.owner = cell_text(cells[named]) if named is not None and named < len(cells) else ""
        self.lines.append(self._line(cells))
        self._warn_twice(self.lines[-1])

    def _skip(self, cells: Sequence[Cell], filled: Sequence[Cell]) -> None:
        words = " ".join(dict.fromkeys(cell_text(cell) for cell in filled))
        self.skipped.append((self._address(0), words[:80]))
        if tuple(cells) != self.head_cells and not is_total(filled) and holds_for_all(words):
            self._warn(0, words, Text("this line may hold for all offers, and was not read", "此行可能适用于全部报价，未读取"),
                       Text("state it with the offers after the import", "请在导入后补充到各报价"))  # fmt: skip

    def _is_no_offer(self, cells: Sequence[Cell], filled: Sequence[Cell]) -> bool:
        """A total, a note, a title of a section, the headings once more."""
        if not any(column < len(cells) and cells[column] is not None for column, _, _ in self.columns):
            return True
        first = filled[0]
        one_word = len(self.columns) > 1 and all(cell == first for cell in filled)
        noted = len(self.columns) > 2 and is_note(filled)
        return one_word or noted or is_total(filled) or tuple(cells) == self.head_cells

    def _line(self, cells: Sequence[Cell]) -> Line:
        found: dict[str, Any] = {}
        terms: list[Said] = []
        fields: list[Said] = []
        prices: dict[Part, tuple[int, str]] = {}
        taxes: list[tuple[int, str]] = []
        cards: list[tuple[int, Target, str]] = []
        for column, target, role in self.columns:
            cell = cells[column] if column < len(cells) else None
            if cell is None:
                continue
            if isinstance(cell, CellFault):
                self._fault(column, target, cell)
                continue
            words = cell if isinstance(cell, str) else cell_text(cell)
            if role == "value":
                said = self._said(column, target, cell, words)
                if said is None:
                    continue
                if target.part is Part.TERM:
                    terms.append(said)
                elif said.key == Part.MODE:
                    if target.part is Part.MODE or "mode" not in found:  # a column of its own says it best
                        found["mode"] = said.value
                elif target.part is Part.FIELD:
                    fields.append(said)
                else:
                    found[target.part.value] = said.value
            elif role == "tax":
                taxes.append((column, words))
            elif role == "price":
                prices[target.part] = column, words
            elif role == "card":
                cards.append((column, target, words))
            else:
                found[role] = words
        if Part.PRICE in prices:
            found["price_words"] = prices[Part.PRICE][1]
            found["price"] = self._price(prices, taxes)
        for column, target, words in cards:
            found["model_words"] = words
            self._card(column, target.key, words, terms, priced=Part.PRICE in prices)
        waits = tuple(dict.fromkeys(self.waits)) if self.waits else ()
        return Line(self.row, self._address(0), terms=tuple(terms), fields=tuple(fields), waits=waits, bad=self.bad, **found)

    def _address(self, column: int) -> str:
        """As `Sheet.address`, for the row that is read."""
        return f"{self.sheet.name}!{self.letters[column]}{self.place}"

    def _said(self, column: int, target: Target, cell: Cell, words: str) -> Said | None:
        """What the cell says; None after it was noted why it says nothing."""
        key = column, words
        known = self.known.get(key)
        if known is None:
            value = self._read(target, cell, words, self.headings[column])
            known = self.known[key] = value if isinstance(value, _NOT_SETTLED) else _stated(target.key, value, words)
        if isinstance(known, Said):
            return known
        # An issue, a question or an answer to one is noted for every cell.
        value = self._settled(column, words, known)
        return None if value is None or isinstance(value, Unstated) else _stated(target.key, value, words)

    def _read(self, target: Target, cell: Cell, words: str, heading: str) -> Any:
        if target.term is not None:
            return read_term(target.term, words, heading, self.catalogue)
        if target.field is not None:
            return read_field(target.field, words, heading, self.catalogue)
        return read_mode(words) if target.part is Part.MODE else day_of(cell, words)

    # -- the card ---------------------------------------------------------------------------------------------------------

    def _card(self, column: int, key: str, words: str, terms: list[Said], *, priced: bool) -> None:
        """State the card of a row, and what its name says beside the other cells."""
        if says_nothing(words):
            return
        column_of = key.split(".")[0]
        said = {one.key: one.value for one in terms}
        named = self.cards.named(words, said.get(f"{column_of}.memory_gb"), said.get("gpu.form_factor"))
        issue = named.issue or (named.warning if named.value is None and not priced else None)
        if issue is not None:
            self._issue(column, words, *issue)
            return
        value = self._chosen(column, named)
        as_named = value == (named.value or "")
        if named.warning is not None and as_named:
            self._warn(column, words, *named.warning)
        kind = self.cards.kind_of(value) or column_of
        if kind != column_of:
            said = self._moved(column, kind, terms)
        beside = ((f"{kind}.memory_gb", named.memory_gb if as_named or kind == "npu" else None),
                  ("gpu.form_factor", named.form if as_named and kind == "gpu" else None), (f"{kind}.count", named.count))  # fmt: skip
        terms[:0] = [self._shared(column, one, v, words) for one, v in ((f"{kind}.model", value or None), *beside) if v is not None and one not in said]
        if named.count is not None and said.get(f"{kind}.count", named.count) != named.count:
            self._which_count(column, named.count, kind, words, terms)

    def _moved(self, column: int, kind: str, terms: list[Said]) -> dict[str, TermValue | FieldValue]:
        """What columns of GPUs say of a card that is an NPU is said of the NPU; the terms as they stand then."""
        places = {f"gpu.{part}": f"{kind}.{part}" for part in ("count", "memory_gb")}
        stated = {one.key for one in terms}
        terms[:] = [self._shared(column, places[one.key], one.value, one.words) if one.key in places and places[one.key] not in stated else one for one in terms]
        return {one.key: one.value for one in terms}

    def _shared(self, column: int, key: str, value: TermValue | FieldValue, words: str) -> Said:
        """Equal cells of a column share what they say."""
        place = column, f"{key}\0{value}\0{words}"
        if place not in self.known:
            self.known[place] = Said(key, value, words)
        said: Said = self.known[place]
        return said

    def _chosen(self, column: int, named: Named) -> str:
        if named.choice is None:
            return named.value or ""
        key, answer = self.answers.of(self.owner, f"{self.headings[column]}|{named.choice.kind}", named.choice)
        self.choices.setdefault(key, (named.choice, column, []))[2].append(self._address(column))
        chosen = "" if answer == LEFT_OUT else named.choice.answered(answer or AS_NAMED)
        return (named.value or "") if chosen is None else chosen

    def _which_count(self, column: int, in_name: int, kind: str, words: str, terms: list[Said]) -> None:
        place = next(place for place, said in enumerate(terms) if said.key == f"{kind}.count")
        count = terms[place].value
        settled = self._answer(column, which_count(in_name, count if isinstance(count, int) else 0, words))
        if settled is not None:
            terms[place] = replace(terms[place], value=settled)

    # -- outcomes ---------------------------------------------------------------------------------------------------------

    def _settled(self, column: int, words: str, value: Any) -> Any:
        """The value, or None after it was noted as not stated, as an issue or as a question."""
        if isinstance(value, Unread):
            self._issue(column, words, value.why, value.next_step)
            return None
        if isinstance(value, Ambiguous):
            return self._answer(column, value)
        if isinstance(value, Doubtful):
            self._warn(column, words, value.why, value.next_step)
            return value.reading
        return None if isinstance(value, Unstated) else value

    def _answer(self, column: int, asked: Ambiguous[Any]) -> Any:
        key, answer = self.answers.of(self.owner, f"{self.headings[column]}|{asked.kind}", asked)
        cells = self.asked.setdefault(key, (asked, column, []))[2]
        cells.append(self._address(column))
        if answer is None or (answer != LEFT_OUT and asked.answered(answer) is None):
            self.waits.append(key)
            return None
        return None if answer == LEFT_OUT else asked.answered(answer)

    def _issue(self, column: int, words: str, why: Text, next_step: Text) -> None:
        self.bad = True
        self.issues.append(Issue(self._address(column), self.row, column, words, why, next_step))

    def _warn(self, column: int, words: str, why: Text, next_step: Text) -> None:
        self.warnings.append(Issue(self._address(column), self.row, column, words, why, next_step))

    def _fault(self, column: int, target: Target, fault: CellFault) -> None:
        """A cell without a value: an error where the offer hangs on it, else the offer comes without it."""
        say = self._issue if target.part in _NEEDED or target.key in _NEEDED_TERMS else self._warn
        if fault.formula:
            say(column, "", Text("a formula whose result was not saved", "公式没有保存计算结果"),
                Text("open the file in a spreadsheet program and save it again", "请用表格软件打开并重新保存"))  # fmt: skip
        else:
            say(column, fault.words, Text("the spreadsheet shows an error here", "表格中此处为错误值"),
                Text("correct the formula, or leave the cell empty", "请更正公式，或将单元格留空"))  # fmt: skip

    # -- price ------------------------------------------------------------------------------------------------------------

    def _price(self, prices: Mapping[Part, tuple[int, str]], taxes: Sequence[tuple[int, str]]) -> PriceReading | None:
        column, words = prices[Part.PRICE]
        above = " ".join((self.headings[column], *self._beside(prices)))
        if self.unit_above and read_currency(above) is None:
            above = f"{above} ({self.unit_above})"
        read = self._price_of(column, words, above)
        price = self._settled(column, words, read)
        if isinstance(read, Unstated):
            self._warn(column, words, Text("no price is stated", "未报出价格"), Text("ask the supplier for it", "请向供应商询价"))
        if not isinstance(price, PriceReading):
            return None
        if price.hedge is not None:
            self._warn(column, words, price.hedge, Text("confirm it with the supplier", "请向供应商确认"))
        named = read_currency(prices[Part.CURRENCY][1]) if Part.CURRENCY in prices else None
        if named is not None and price.currency not in (None, named):
            self._issue(column, words, Text(f"the price is in {price.currency}, its currency column says {named}", f"价格为 {price.currency}，币种列为 {named}"),
                        Text("correct one of them", "请更正其中之一"))  # fmt: skip
            return None
        for place in taxes:
            price = taxed(price, self._tax(*place, price.tax))
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
        if bare and not words.strip("0."):
            return Unstated(words)  # nobody lets a card for nothing without saying so
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
        key = column, words, before
        if key not in self.taxes:
            self.taxes[key] = tax_of(words, self.headings[column], before)
        tax = self._settled(column, words, self.taxes[key])
        return tax if isinstance(tax, TaxReading) else before


def _stated(key: str, value: Any, words: str) -> Said:
    return Said(value.key, value.value, words) if isinstance(value, Elsewhere) else Said(key, value, words)


def _is_card(target: Target) -> bool:
    return target.term is not None and target.term.kind is TermKind.GPU_MODEL


_NEEDED = frozenset([Part.PRICE, Part.CURRENCY, Part.UNIT, Part.TAX, Part.SUPPLIER, Part.QUOTE_NO])
_NEEDED_TERMS = frozenset(["gpu.model", "gpu.count", "npu.model", "npu.count"])
_NOT_SETTLED = (Unread, Ambiguous, Unstated, Doubtful)
_ROLES = {
    Part.SUPPLIER: "supplier", Part.QUOTE_NO: "quote_no", Part.TITLE: "title", Part.NOTE: "note",
    Part.PRICE: "price", Part.CURRENCY: "price", Part.UNIT: "price", Part.TAX: "tax",
}  # fmt: skip
