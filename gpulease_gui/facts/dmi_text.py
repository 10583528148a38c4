"""What do the tables of ascend-dmi say: figures under a header word, verdicts of items?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpulease_gui.facts.table_text import number

_VERDICT = re.compile(r"(?:GENERAL_|IMPORTANT_|EMERGENCY_)?(PASS|FAIL|SKIP|WARN)(?:ED|ING)?", re.IGNORECASE)
_RULE = re.compile(r"[\s+|=-]*")


def cells(line: str) -> list[str]:
    """The cells of a row: between bars, else parted by two blanks or more."""
    body = line.strip().strip("|")
    parts = body.split("|") if "|" in body else re.split(r"\s{2,}", body)
    return [part.strip() for part in parts]


def rows(lines: Iterable[str], word: str) -> tuple[Mapping[str, str], ...]:
    """The rows under each header that holds `word`, by header words in small letters; other rows are passed over."""
    header: list[str] = []
    found: list[Mapping[str, str]] = []
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        row = cells(line)
        if any(word.lower() in cell.lower() for cell in row):
            header = [cell.lower() for cell in row]
        elif header and len(row) == len(header) and number(row[header.index(_column(header, word))].replace(",", "")) is not None:
            found.append(dict(zip(header, row, strict=True)))
    return tuple(found)


def _column(header: list[str], word: str) -> str:
    return next(cell for cell in header if word.lower() in cell)


def figures(lines: Iterable[str], word: str) -> tuple[float, ...]:
    """The numbers in the column whose header holds `word`."""
    found = []
    for row in rows(lines, word):
        value = number(row[_column(list(row), word)].replace(",", ""))
        if value is not None and value >= 0:
            found.append(value)
    return tuple(found)


def verdicts(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(item, PASS | FAIL | SKIP | WARN) of every row that ends in such a word."""
    found = []
    for line in lines:
        row = [cell for cell in cells(line.replace(": ", "  ")) if cell]
        hits = [hit[1].upper() for cell in row[1:] if (hit := _VERDICT.fullmatch(cell))]
        if hits:
            found.append((row[0][:80], hits[-1]))
    return tuple(found)
