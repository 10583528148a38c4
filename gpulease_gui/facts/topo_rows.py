"""Which cells stand under which column of a topology matrix, glued or shifted as they may be?"""

from __future__ import annotations

import re
from dataclasses import dataclass

LINK_WORD = re.compile(r"NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|SOC|C2C")
STATUS_WORD = frozenset(["OK", "NS", "CNS", "GNS", "TNS", "DR", "U"])

# A cell is one of the known words (glued ones are taken apart) or any other run of non-blanks.
_CELL = re.compile(r"\s*(NV\d{1,2}(?!\d)|PIX|PXB|PHB|NODE|SYS|SOC|C2C|X(?=\s|$|NV|P|N|S)|[^\s]+)")
_COLUMN_START = re.compile(r"(?<=[0-9A-Za-z])(?=GPU\d|NIC\d|mlx\d)")
_LONGEST_NAME = 40
_AFFINITY = re.compile(r"CPU\s*Affinity|NUMA\s*Affinity|GPU\s*NUMA\s*ID")
_ROW = re.compile(r"\s*([A-Za-z][\w.-]*)(?=\s|$)(.*)")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `gpu` is its number, None for a network card; `cells` in column order, "" where a word is torn."""

    name: str
    gpu: int | None
    cells: tuple[str, ...]
    cpu_affinity: str = ""
    numa_affinity: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Header and rows; `columns` None = no header was found."""

    columns: tuple[str, ...] | None
    rows: tuple[Row, ...]
    broken_rows: tuple[str, ...] = ()

    @property
    def gpu_columns(self) -> tuple[int, ...] | None:
        """GPU numbers of the header."""
        return None if self.columns is None else tuple(int(c[3:]) for c in self.columns if c.startswith("GPU"))

    @property
    def nic_columns(self) -> tuple[str, ...] | None:
        """Names of the other columns."""
        return None if self.columns is None else tuple(c for c in self.columns if not c.startswith("GPU"))


@dataclass(frozen=True, slots=True)
class _Header:
    columns: tuple[str, ...]
    affinities: tuple[str, ...]


def read_matrix(text: str, *, torn: bool) -> Matrix:
    """Header and rows of cleaned `text`; `torn` says that its last word may be cut."""
    lines = text.split("\n")
    header = next((found for line in lines if (found := _header(line))), None)
    rows: list[Row] = []
    broken: list[str] = []
    last = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    for number, line in enumerate(lines):
        title = _header(line)
        if title is not None and title == header and rows:  # the whole matrix once more
            break
        row = _row(line, header, torn=torn and number == last) if title is None else None
        if row is None:
            continue
        if row.gpu is not None and not _own_cell_fits(row, header):
            broken.append(row.name)
        rows.append(row if row.name not in broken else Row(row.name, row.gpu, ()))
    return Matrix(header.columns if header else None, tuple(rows), tuple(broken))


def _header(line: str) -> _Header | None:
    first = _AFFINITY.search(line)
    names = _COLUMN_START.sub(" ", line[: first.start()] if first else line).split()
    if not names or not re.fullmatch(r"GPU\d{1,4}", names[0]) or any(len(name) > _LONGEST_NAME for name in names):
        return None
    if not all(re.fullmatch(r"GPU\d{1,4}|[A-Za-z][\w.-]*\d[\w.-]*", name) for name in names):
        return None
    if len(names) == 1 and first is None or any(LINK_WORD.fullmatch(name) for name in names):
        return None
    return _Header(tuple(names), tuple(re.sub(r"\s+", " ", found) for found in _AFFINITY.findall(line)))


def _row(line: str, header: _Header | None, *, torn: bool) -> Row | None:
    found = _ROW.match(line)
    if found is None:
        return None
    name, rest = found[1], found[2]
    is_gpu = re.fullmatch(r"GPU\d{1,4}", name) is not None
    if not is_gpu and (header is None or name not in header.columns):
        return None
    cells, tail = _cells(rest, len(header.columns) if header else None)
    if torn and cells and not tail.strip():
        cells[-1] = ""
    if not any(cells) and not torn:
        return None
    cpu, numa = _affinities(tail, header.affinities if header else (), torn=torn)
    return Row(name, int(name[3:]) if is_gpu else None, tuple(cells), cpu, numa)


def _cells(rest: str, wanted: int | None) -> tuple[list[str], str]:
    """At most `wanted` cells and what follows them; without a header the leading run of known words."""
    cells: list[str] = []
    at = 0
    while wanted is None or len(cells) < wanted:
        found = _CELL.match(rest, at)
        if found is None or wanted is None and not (LINK_WORD.fullmatch(found[1]) or found[1] == "X"):
            break
        cells.append(found[1])
        at = found.end()
    return cells, rest[at:]


def _affinities(tail: str, headings: tuple[str, ...], *, torn: bool) -> tuple[str, str]:
    """CPU and NUMA affinity: by order when every heading has a word, else by tabs; "" = not told."""
    words = tail.split()
    if len(words) != len(headings):
        if "\t" not in tail or torn:
            return (words[0], "") if len(words) > 1 and re.search(r"\d[-,]\d", words[0]) else ("", "")
        words = [cell.strip() for cell in tail.split("\t")[1:]] + ["", ""]
    named = dict(zip(headings, words, strict=False))
    return named.get("CPU Affinity", ""), named.get("NUMA Affinity", "")


def _own_cell_fits(row: Row, header: _Header | None) -> bool:
    """A row must cross itself (X) under its own name and nowhere else; a torn row may end before that."""
    if "X" not in row.cells:
        own = header.columns.index(row.name) if header and row.name in header.columns else row.gpu
        return own is None or own >= len(row.cells) or not row.cells[own]
    at = row.cells.index("X")
    if row.cells.count("X") > 1:
        return False
    return at < len(header.columns) and header.columns[at] == row.name if header else at == row.gpu
