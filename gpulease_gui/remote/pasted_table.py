"""What are the cells of a row in a pasted text, with a header above it or none?"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.remote.pasted_labels import are_all_labels, fields_of_header
from gpulease_gui.remote.ssh_command import is_ssh_line

_DELIMITERS = ("\t", ",", "，", ";", "；", "|", "｜")
# `user:password@host`, whatever signs stand in the password.
_WITH_PASSWORD = re.compile(r"(?i)(?:ssh://)?(?![0-9.]+[:：])[\w.-]+[:/：／]\S*[@＠][\w.\[\]:：-]+\Z")


def is_row(words: Sequence[str]) -> bool:
    """`203.0.113.9 34446 root ...`, as a chat has it."""
    return 2 <= len(words) <= 4 and bool(re.fullmatch(r"[\w.:-]*[.:][\w.:-]*", words[0])) and words[1].isascii() and words[1].isdigit()


@dataclass(slots=True)
class Table:
    """A table in the text: the fields of its columns and what parts its cells, once a header has told them."""

    columns: Sequence[str] = ()
    delimiter: str = ""
    margin: str = ""

    def begins(self, cells: Sequence[str], raw: str) -> bool:
        """Whether the row is a header."""
        fields = fields_of_header(cells)
        if fields:
            line = raw.strip()
            self.columns, self.delimiter = fields, next((sign for sign in _DELIMITERS if sign in line), " ")
            self.margin = re.match(r"\s*[|｜]?" if self.delimiter in "|｜" else r"\s*", raw)[0]  # type: ignore[index]  # both match all
        return bool(fields)

    def cells_of(self, raw: str) -> list[str]:
        """The cells of a row, letter by letter; one where it is none."""
        line = raw.strip()
        if self.columns and self.delimiter in "\t|｜" and self.delimiter in line:  # the first cell may be empty
            body = raw.removeprefix(self.margin) if self.margin.strip() or self.delimiter == "\t" else line
            return _cells(body.removesuffix(self.delimiter) if self.margin.strip() else body, self.delimiter)
        if not self.columns and is_ssh_line(line):  # the comma of its -J parts jump hosts, not cells
            return [line]
        if not self.columns and _WITH_PASSWORD.match(line):  # any sign may stand in a password
            return [line]
        words = line.split()
        if self.delimiter == " " or (not self.delimiter and "\t" not in line and is_row(words)):
            return words if self.delimiter != " " or len(words) == len(self.columns) or fields_of_header(words) else [line]
        for delimiter in _DELIMITERS:
            if delimiter in line:
                return _parted(line, delimiter)
        return words if fields_of_header(words) and are_all_labels(words) else [line]


def _parted(line: str, delimiter: str) -> list[str]:
    return _cells(line.strip(delimiter + " ") if delimiter in "|｜" else line, delimiter)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
    except csv.Error:
        return [line]
