"""How does a table become a workbook in which no text is a formula or a link?"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gpulease_gui.domain.money import decimals_of
from gpulease_gui.domain.text import visible

TableCell = str | int | float | bool | Decimal | date | None
_LONGEST_TEXT = 32_767
_EXACT_DIGITS = 15
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
_WIDEST = 60


def xlsx_bytes(name: str, head: Sequence[str], rows: Iterable[Sequence[TableCell]], frozen_columns: int = 0, *, grouped: bool = False) -> bytes:
    """One sheet with a frozen, bold head; `frozen_columns` stay in sight at the left, `grouped` sets the
    thousands of exact decimals apart and shows all their places.

    Text is text, whatever it begins with; numbers stay exact or become text. Control characters are made visible. Raises nothing for the contents.
    """
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {
        "in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "nan_inf_to_errors": True,
    })  # fmt: skip
    sheet = book.add_worksheet(_sheet_name(name))
    bold, day = book.add_format({"bold": True}), book.add_format({"num_format": "yyyy-mm-dd"})
    for column, words in enumerate(head):
        sheet.write_string(0, column, _text(words), bold)
    widths = [len(words) for words in head]
    formats = _formats(book, day, grouped=grouped)
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row):
            _write(sheet, number, column, value, formats(value))
            widths[column] = max(widths[column], min(len(str(value or "")), _WIDEST))
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width + 3)
    sheet.freeze_panes(1, frozen_columns)
    book.close()
    return out.getvalue()


def _formats(book: Any, day: Any, *, grouped: bool) -> Callable[[TableCell], Any]:
    """Which format a value is shown in; one of the book's for each number of places."""
    known: dict[int, Any] = {}

    def format_of(value: TableCell) -> Any:
        if isinstance(value, date):
            return day
        if not grouped or not isinstance(value, Decimal):
            return None
        places = decimals_of(value)
        if places not in known:
            known[places] = book.add_format({"num_format": "#,##0" + ("." + "0" * places if places else "")})
        return known[places]

    return format_of


def _write(sheet: Any, row: int, column: int, value: TableCell, look: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, date):
        sheet.write_datetime(row, column, datetime(value.year, value.month, value.day), look)  # noqa: DTZ001 - a day has no zone
    elif isinstance(value, str) or not _is_exact(value):
        sheet.write_string(row, column, _text(value if isinstance(value, str) else str(value)))
    else:
        sheet.write_number(row, column, float(value), look)


def _is_exact(value: int | float | Decimal) -> bool:
    """A spreadsheet keeps fifteen digits; what has more would be changed."""
    digits = Decimal(str(value)).as_tuple()
    return isinstance(digits.exponent, int) and len(digits.digits) <= _EXACT_DIGITS and abs(digits.exponent) < 300


def _text(words: str) -> str:
    return visible(words)[:_LONGEST_TEXT]


def _sheet_name(name: str) -> str:
    return _FORBIDDEN.sub("-", visible(name)).strip("'")[:31] or "Sheet1"
