"""What is in a table that somebody sent, cell by cell?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text, visible


@dataclass(frozen=True, slots=True)
class CellFault:
    """A cell that holds no value: an error of the spreadsheet, or a formula whose result was not saved."""

    words: str
    formula: bool = False


Cell = str | int | Decimal | bool | date | CellFault | None
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read at most; more is refused with a clear message, never cut in silence."""

    file_bytes: int = 32 * 1024 * 1024
    rows: int = 50_000
    columns: int = 512
    cells: int = 2_000_000
    cell_characters: int = 32_767
    seconds: float = 30.0
    memory_bytes: int = 1024 * 1024 * 1024
    unpacked_bytes: int = 256 * 1024 * 1024
    ratio: int = 200
    entries: int = 2000


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells that show one value; rows and columns count from 1, ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table as it was sent: text stays text, numbers are exact, `rows[0]` is row `first_row`.

    `sheets` are the names in the file, `notes` what the reader must know about the way it was read. `encoding` and
    `delimiter` are what was guessed or chosen ("" where there is none).
    """

    name: str
    rows: tuple[Row, ...]
    first_row: int = 1
    sheets: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()
    encoding: str = ""
    delimiter: str = ""

    @property
    def width(self) -> int:
        """The number of columns."""
        return max((len(row) for row in self.rows), default=0)

    def cell(self, row: int, column: int) -> Cell:
        """The cell at two places counted from 0; None past the end of a row."""
        cells = self.rows[row]
        return cells[column] if column < len(cells) else None

    def address(self, row: int, column: int) -> str:
        """Where a cell stands, as the spreadsheet calls it: Sheet1!C7. Places count from 0."""
        return f"{self.name}!{column_letters(column)}{row + self.first_row}"


def column_letters(column: int) -> str:
    """The letters of a column counted from 0.

    >>> column_letters(0), column_letters(25), column_letters(26)
    ('A', 'Z', 'AA')
    """
    letters, number = "", column + 1
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(65 + place) + letters
    return letters


# Control, bidi and zero-width characters and half surrogates; a line end and a tab inside a cell stay.
_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def clean(words: str) -> str:
    """The text of a cell with control characters made visible and without blanks around it."""
    text = words.replace("\r\n", "\n").replace("\r", "\n") if "\r" in words else words
    return (visible(text) if _STRANGE.search(text) else text).strip()


def cell_text(cell: Cell) -> str:
    """A cell as words: what a person would read there."""
    if cell is None:
        return ""
    if isinstance(cell, CellFault):
        return cell.words
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, Decimal):
        return format(cell, "f")
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def without_empty_ends(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows without the empty cells at their right and the empty rows at the end."""
    cut = [_cut(row) for row in rows]
    while cut and not cut[-1]:
        cut.pop()
    return tuple(cut)


def _cut(row: Row) -> Row:
    end = len(row)
    while end and (row[end - 1] is None or row[end - 1] == ""):
        end -= 1
    return row[:end]


def refuse_size(rows: int, columns: int, limits: Limits = LIMITS) -> None:
    """Raise UserFacing for a table that is larger than what is read."""
    if rows > limits.rows or columns > limits.columns or rows * columns > limits.cells:
        raise UserFacing(
            Text(f"the table has {rows:,} rows and {columns:,} columns", f"表格有 {rows:,} 行 {columns:,} 列"),
            Text(f"at most {limits.rows:,} rows, {limits.columns:,} columns and {limits.cells:,} cells are read", f"最多读取 {limits.rows:,} 行、{limits.columns:,} 列、{limits.cells:,} 个单元格"),
            Text("keep only the rows and columns with offers, and import that file", "请只保留报价所在的行和列后导入"),
        )


def fill_merged(sheet: Sheet, merged: Sequence[Merged], limits: Limits = LIMITS) -> Sheet:
    """Give every cell of a merged range the value that the range shows, inside the rows and columns there are.

    A range one row high (a title) is left alone. The note names the first ranges.
    """
    rows = [list(row) for row in sheet.rows]
    width, left, filled = sheet.width, limits.cells, []
    for range_ in merged:
        top, bottom = max(range_.top - sheet.first_row, 0), min(range_.bottom - sheet.first_row + 1, len(rows))
        right = min(range_.right, width)
        left -= max(bottom - top, 0) * max(right - range_.left + 1, 0)
        if left < 0:
            break
        if bottom - top > 1 and _fill(rows, top, bottom, range_.left - 1, right):
            filled.append(f"{column_letters(range_.left - 1)}{range_.top}:{column_letters(range_.right - 1)}{range_.bottom}")
    if not filled:
        return sheet
    some = ", ".join(filled[:5]) + (" …" if len(filled) > 5 else "")
    note = Text(f"{len(filled)} merged cells hold for each of their rows: {some}", f"{len(filled)} 个合并单元格的值用于其中每一行：{some}")
    return replace(sheet, rows=tuple(tuple(row) for row in rows), notes=(*sheet.notes, note))


def _fill(rows: list[list[Cell]], top: int, bottom: int, left: int, right: int) -> bool:
    value = rows[top][left] if left < len(rows[top]) else None
    if value is None:
        return False
    for cells in rows[top:bottom]:
        cells.extend([None] * (right - len(cells)))
        for column in range(left, right):
            if cells[column] is None:
                cells[column] = value
    return True
