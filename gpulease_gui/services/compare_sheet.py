"""How does a comparison become a table that a spreadsheet can count with?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from decimal import Decimal

from gpulease_gui.domain.claim import CLAIM_WORDS, ClaimState
from gpulease_gui.domain.text import NO_TEXT, Language, Text, visible
from gpulease_gui.reports.as_csv import safe_cell
from gpulease_gui.reports.as_xlsx import TableCell, xlsx_bytes
from gpulease_gui.services.compare_table import head_lines, head_names
from gpulease_gui.services.comparison import Cell, CellState, Comparison

_SUPPLIER, _UNIT, _BESIDE = Text("Supplier", "供应商"), Text("unit", "单位"), Text("agreed, measured, mark", "原约定、实测、标记")
_NO_RATE = Text("no rate", "无汇率")


def table_of(comparison: Comparison, language: Language, *, differences_only: bool = False) -> tuple[tuple[TableCell, ...], ...]:
    """Head lines, then a line a row under its group; an offer has three columns: value, its unit or currency, what stands beside it.

    Money and figures are numbers (what could not be converted is words, so that no sum mixes currencies); the rest is words.
    """
    names = head_names(comparison)
    heads = [words for head in comparison.heads for words in (names[head.name], _UNIT.say(language), _BESIDE.say(language))]
    lines: list[tuple[TableCell, ...]] = [(_SUPPLIER.say(language), *heads)]
    lines += [(label, *(part for words in said for part in (words, "", ""))) for label, *said in tuple(head_lines(comparison, language))[1:]]
    for group in comparison.groups:
        rows = comparison.rows_of(group.key, differences_only=differences_only)
        if rows:
            lines.append((group.title.say(language), *("" for _ in heads)))
            lines += [(row.label.say(language), *(part for cell in row.cells for part in _parts(cell, language))) for row in rows]
    return tuple(lines)


def _parts(cell: Cell, language: Language) -> tuple[TableCell, str, str]:
    number, unit = _figure(cell)
    beside = Text("; ", "；").say(language).join(_beside(cell, language))
    return (cell.text.say(language) if number is None else number), unit.say(language), beside


def _figure(cell: Cell) -> tuple[Decimal | None, Text]:
    if cell.state is not CellState.STATED:
        return None, NO_TEXT
    if cell.amount is not None:
        return cell.amount.amount, Text(cell.amount.currency, cell.amount.currency)
    return cell.figure, cell.unit if cell.figure is not None else NO_TEXT


def _beside(cell: Cell, language: Language) -> Iterable[str]:
    if cell.original.en:
        yield cell.original.say(language)
    if cell.state is CellState.NOT_CONVERTED:
        yield _NO_RATE.say(language)
    if cell.measured.en:
        yield Text(f"measured {cell.measured.en}", f"实测 {cell.measured.zh}").say(language)
    if cell.claim in (ClaimState.VERIFIED, ClaimState.REFUTED):
        yield CLAIM_WORDS[cell.claim].say(language)
    if cell.best:
        yield cell.mark.say(language)
    yield from (Text(f"assumed: {words.en}", f"假定：{words.zh}").say(language) for words in cell.assumed)


def _written(cell: TableCell) -> str:
    """A number with a point and no thousands apart; no words that start a formula."""
    return format(cell, "f") if isinstance(cell, Decimal) else safe_cell("" if cell is None else str(cell))


def csv_bytes(comparison: Comparison, language: Language, *, differences_only: bool = False) -> bytes:
    """UTF-8 with a byte order mark, CRLF; no cell can start a formula, numbers are plain."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([_written(cell) for cell in line] for line in table_of(comparison, language, differences_only=differences_only))
    return out.getvalue().encode("utf-8-sig", "replace")


def tsv_text(comparison: Comparison, language: Language, *, differences_only: bool = False) -> str:
    """The same for the clipboard: no cell breaks a row either."""
    lines = table_of(comparison, language, differences_only=differences_only)
    return "\n".join("\t".join(_one_line(cell) for cell in line) for line in lines)


def _one_line(cell: TableCell) -> str:
    return _written(" ".join(visible(cell).split()) if isinstance(cell, str) else cell)


def sheet_bytes(comparison: Comparison, language: Language, *, differences_only: bool = False) -> bytes:
    """The same as a workbook: one sheet, numbers with thousands apart, words as words, head and first column frozen."""
    first, *rest = table_of(comparison, language, differences_only=differences_only)
    return xlsx_bytes(Text("Comparison", "对比").say(language), [str(words) for words in first], rest, frozen_columns=1, grouped=True)
