"""Which lines and columns of a table are no part of an offer, and what do they say of all offers?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import read_currency
from gpulease_gui.economics.quote_words import plain
from gpulease_gui.services.importing_layout import Layout
from gpulease_gui.services.importing_rows import LeftOut
from gpulease_gui.services.importing_targets import IGNORED, Part
from gpulease_gui.store.exchange.sheet import Cell, Sheet, column_letters

_TOTAL = re.compile(
    r"(?:合\s*计|总\s*计|小\s*计|汇\s*总|总\s*价|(?:grand |sub)?total\b|sum\b)\s*(?:[:：(（/].*)?|(?:grand |sub)?total\b.*", re.IGNORECASE | re.DOTALL
)
_NOTE = re.compile(
    r"(?:备\s*注|说\s*明|附\s*注|注|特别说明|温馨提示|报价说明|notes?|remarks?|terms?)\s*\d?\s*(?:[:：、.].*)?$|\d{1,2}[、.)）]\s*\D.{6,}$|[*※●•].+$",
    re.IGNORECASE | re.DOTALL,
)
_LABELLED = re.compile(r"\D{1,10}[:：].*$", re.DOTALL)  # "联系人：张三"
_FOR_ALL = re.compile(r"税|专票|普票|发票|有效期|起租|最短|单位|整机|币种|人民币|美元|折|押金|tax|vat|valid|minimum|currency|deposit|discount", re.IGNORECASE)
_UNIT_ABOVE = re.compile(r"(?:单\s?位|货\s?币|币\s?种|计价|unit|currency|prices? (?:are )?in)\s*[:：]?\s*([^,，;；。)）]{1,20})", re.IGNORECASE)
_ROWS_ABOVE = 20
_MOST_OF_A_NOTE = 4
_LONGEST = 500


def is_total(filled: Sequence[Cell]) -> bool:
    """Whether the filled cells of a row begin with a sum."""
    return any(isinstance(cell, str) and _TOTAL.fullmatch(cell[:_LONGEST]) is not None for cell in filled[:2])


def is_note(filled: Sequence[Cell]) -> bool:
    """Whether a few cells hold a remark below the table."""
    first = filled[0]
    if len(filled) > _MOST_OF_A_NOTE:
        return False
    if all(isinstance(cell, str) and _LABELLED.match(cell[:_LONGEST]) for cell in filled):
        return True
    return isinstance(first, str) and len(filled) <= 2 and _NOTE.match(first[:_LONGEST]) is not None


def holds_for_all(words: str) -> bool:
    """Whether a line that is no offer may state a term of all offers, such as the tax."""
    return _FOR_ALL.search(words[:_LONGEST]) is not None


def unit_above(sheet: Sheet, layout: Layout) -> str:
    """What a line above the headings says of the money below ("单位：万元"); "" = nothing."""
    first = layout.header if layout.top is None else layout.top
    rows = sheet.rows[: min(first or 0, _ROWS_ABOVE)]
    said = [found[1] for row in rows for cell in row if isinstance(cell, str) and (found := _UNIT_ABOVE.search(plain(cell[:_LONGEST])))]
    return next((words for words in said if read_currency(words) or "万" in words), "")


def other_prices(sheet: Sheet, layout: Layout) -> tuple[tuple[int, str, Text], ...]:
    """(column, heading, why) of every further column of prices, which is left out."""
    if Part.PRICE not in layout.columns:
        return ()
    taken = column_letters(layout.columns.index(Part.PRICE))
    why = Text(f"this looks like a price, too; column {taken} counts", f"此列也像价格，以 {taken} 列为准")
    headings = layout.headings(sheet)
    return tuple((column, headings[column], why) for column in layout.spare if layout.columns[column] == IGNORED)


def left_out(sheet: Sheet, layout: Layout, rows: Iterable[int]) -> tuple[LeftOut, ...]:
    """Every column that nothing is read from though some of `rows` fill it; further prices have a word of their own."""
    headings, places = layout.headings(sheet), tuple(rows)
    unread = [c for c, key in enumerate(layout.columns) if key == IGNORED and c not in layout.spare]
    counted = ((c, sum(1 for row in places if sheet.cell(row, c) is not None)) for c in unread)
    return tuple(LeftOut(c, headings[c] or f"column {column_letters(c)}", count) for c, count in counted if count)
