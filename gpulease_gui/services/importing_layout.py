"""Which rows of a table are its headings, and what is each column?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.quote_price import read_currency, read_unit
from gpulease_gui.economics.quote_units import DurationReading, read_duration
from gpulease_gui.economics.quote_words import Ambiguous, plain
from gpulease_gui.services.importing_cells import read_mode
from gpulease_gui.services.importing_price import is_rate
from gpulease_gui.services.importing_targets import IGNORED, Part, Targets
from gpulease_gui.store.exchange.sheet import Cell, Sheet, cell_text

_HEAD_ROWS = 20
_SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is read: the row of headings (None = there is none) and what each column is ("" = left out).

    `answers` say what ambiguous words mean, by the key of the question. `top` is the first row of headings where they
    stand in two; None = in one. `spare` are further columns of prices, which are left out. `remembered` are the answers
    of earlier imports by the name of their supplier ("" = the chosen one): they hold for its rows only.
    """

    header: int | None
    columns: tuple[str, ...]
    answers: Mapping[str, str] = field(default_factory=dict)
    top: int | None = None
    spare: tuple[int, ...] = ()
    remembered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def with_column(self, column: int, target: str) -> Layout:
        """The layout with one column changed."""
        return replace(self, columns=(*self.columns[:column], target, *self.columns[column + 1 :]))

    def with_answer(self, key: str, option: str) -> Layout:
        """The layout with one question answered; LEFT_OUT imports the row without that value."""
        return replace(self, answers={**self.answers, key: option})

    def headings(self, sheet: Sheet) -> tuple[str, ...]:
        """The words above each column; those of two rows together."""
        return headings_of(sheet, self.header, self.top)


def headings_of(sheet: Sheet, header: int | None, top: int | None = None) -> tuple[str, ...]:
    """The words above each column: of row `header`, after those of the group above it where there is one."""
    if header is None:
        return ("",) * sheet.width
    own = [cell_text(sheet.cell(header, column)) for column in range(sheet.width)]
    if top is None:
        return tuple(own)
    found, group = [], ""
    for column, words in enumerate(own):
        group = cell_text(sheet.cell(top, column)) or (group if words else "")
        found.append(group if group == words or not words else f"{group} {words}".strip())
    return tuple(found)


def guess_layout(sheet: Sheet, targets: Targets, remembered: Mapping[str, str] | None = None) -> Layout:
    """The row that looks most like headings, and what each of them means; `remembered` headings win.

    No row with two known headings: no header, every column left out.
    """
    known = remembered or {}
    scored = [(_score(row, targets, known), -place) for place, row in enumerate(sheet.rows[:_HEAD_ROWS])]
    best, place = max(scored, default=(0, 0))
    if best < 2:
        return Layout(None, (IGNORED,) * sheet.width)
    top, header = _two_rows(sheet, -place, targets)
    return columns_for(sheet, header, targets, known, top=top)


def _two_rows(sheet: Sheet, best: int, targets: Targets) -> tuple[int | None, int]:
    """(first row of headings or None, last one): a row of groups above the best one, or of parts below it."""
    below = best + 1
    if below < len(sheet.rows) and _is_parts(sheet, best, below, targets):
        return best, below
    if best and _is_groups(sheet.rows[best - 1]):
        return best - 1, best
    return None, best


def _is_parts(sheet: Sheet, header: int, row: int, targets: Targets) -> bool:
    """Words under an empty cell of the headings, or under a merged one; a row of an offer holds figures."""
    width = sheet.width
    pairs = [(cell_text(sheet.cell(header, column)), sheet.cell(row, column)) for column in range(width)]
    own = [cell for above, cell in pairs if cell is not None and cell_text(cell) != above]
    spread = any(not above and cell is not None for above, cell in pairs)
    same = any(above and cell_text(cell) == above for above, cell in pairs)
    words = all(isinstance(cell, str) and len(cell) <= 40 and not re.search(r"\d{3,}", plain(cell[:50])) for cell in own)
    return bool(own) and words and spread and (same or len(own) < sum(1 for above, _ in pairs if above) + 2) and any(
        targets.certainty(str(cell)) for cell in own
    )  # fmt: skip


def _is_groups(row: Sequence[Cell]) -> bool:
    """At least two short names of groups; a title is one, and a line such as "date: 1 December" names nothing."""
    words = {cell for cell in row if isinstance(cell, str)}
    every = all(isinstance(cell, str) for cell in row if cell is not None)
    return every and len(words) > 1 and all(len(word) <= 20 and not re.search(r"[:：]|\d", word) for word in words)


def columns_for(
    sheet: Sheet, header: int, targets: Targets, remembered: Mapping[str, str] | None = None, *, top: int | None = None
) -> Layout:
    """The layout with `header` as the row of headings; of two columns for the same thing the surer one counts."""
    known = remembered or {}
    own = headings_of(sheet, header)
    headings = headings_of(sheet, header, top)
    guesses = [_guess(both, words, targets, known) for both, words in zip(headings, own, strict=True)]
    guesses = [_by_cells(sheet, header, column, key, headings[column]) for column, key in enumerate(guesses)]
    prices = [column for column, key in enumerate(guesses) if key == Part.PRICE]
    for key in tuple(guesses):
        rivals = [other for other, same in enumerate(guesses) if same == key != IGNORED]
        # One column may say whether tax is in the price, another one how much it is.
        if len(rivals) > 1 and key != Part.TAX:
            surest = max(rivals, key=lambda other: (headings[other] in known, targets.certainty(headings[other]), -other))
            guesses = [IGNORED if same == key and other != surest else same for other, same in enumerate(guesses)]
    spare = tuple(column for column in prices if guesses[column] == IGNORED)
    return Layout(header, tuple(key if key in targets.by_key else IGNORED for key in guesses), top=top, spare=spare)


def _guess(both: str, own: str, targets: Targets, known: Mapping[str, str]) -> str:
    """What the words of a column lead to: as remembered, its own words, then those of both rows."""
    if not both:
        return IGNORED
    if both in known:
        return known[both]
    key = targets.guess(own) or (str(Part.PRICE) if _is_money(both) else "")
    if both != own and (targets.certainty(own) < 2 or key in _NEEDS_GROUP):
        return targets.guess(both) if targets.guess(both) not in ("", *_NEEDS_GROUP) or not key else key
    return key


def _is_money(heading: str) -> bool:
    """A heading such as "按需(元/卡/时)" is a price by its unit alone."""
    return read_currency(heading) is not None and read_unit(heading) is not None


_NEEDS_GROUP = (Part.TAX, Part.UNIT, Part.CURRENCY, Part.MODE)
def _billed(key: str, cells: Sequence[str]) -> str:
    """Under "billing" may stand what a price is per, how it is paid, or a step; under "rounding" a step."""
    if cells and key == "billing.granularity_s":
        if all(isinstance(read_unit(words), PriceUnit) for words in cells):
            return str(Part.UNIT)
        if all(isinstance(read_mode(words), str) for words in cells):
            return str(Part.MODE)
    times = any(isinstance(read_duration(words), DurationReading | Ambiguous) for words in cells)
    return "billing.granularity_s" if times else key


_TAXED = re.compile(r"含|未税|incl|excl", re.IGNORECASE)
_NUMBER = re.compile(r"[¥$€]?\s?\d[\d,]*(?:\.\d+)?\s?(?:元|万)?")
_NODES = re.compile(r"\d+\s?(?:台|节点|个节点|nodes?|servers?)", re.IGNORECASE)


def _by_cells(sheet: Sheet, header: int, column: int, key: str, heading: str) -> str:
    """What the cells say against the heading: figures under "tax included" are prices, "2台" under "quantity" are nodes."""
    if key not in (Part.TAX, "gpu.count", "billing.granularity_s", "billing.rounding"):
        return key
    cells = [plain(cell_text(cell)[:100]) for row in range(header + 1, min(len(sheet.rows), header + 1 + _SAMPLES)) if (cell := sheet.cell(row, column)) is not None]
    if key == "gpu.count":
        named = [words for words in cells if _NODES.fullmatch(words)]
        return "node.count" if named and all(words in named or words.isdigit() for words in cells) else key
    if key != Part.TAX:
        return _billed(key, cells)
    money = [words for words in cells if _NUMBER.fullmatch(words)]
    return str(Part.PRICE) if _TAXED.search(heading) and len(money) * 2 >= len(cells) and any(not is_rate(words) for words in money) else key


def _score(row: Sequence[Cell], targets: Targets, known: Mapping[str, str]) -> int:
    words = {cell_text(cell) for cell in row if isinstance(cell, str) and len(cell) <= 40}
    found = [(2 if word in known else targets.certainty(word)) for word in words]
    known_ones = sum(1 for certainty in found if certainty)
    return sum(found) if known_ones > 1 or (len(words) <= 3 and 2 in found) else 0
