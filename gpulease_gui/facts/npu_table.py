"""Which figures stand under which header words in the boxes of `npu-smi info`?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.facts.table_text import number, value, whole

_BUS = re.compile(r"[0-9A-Fa-fxX*]{4,8}:[0-9A-Fa-fxX*]{2}:[0-9A-Fa-fxX*]{2}\.[0-9A-Fa-fxX*]")
_FRACTION = re.compile(r"(\d{1,12}|NA|N/A|-)\s*/\s*(\d{1,12}|NA|N/A|-)")
_RULE = re.compile(r"\s*\+[-=+]+\+?\s*")


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip. Power in W, sizes as printed in MB; None = the cell holds no value or is missing.

    `npu_id` is the card's number on the node, `chip_id` the chip's number on that card.
    """

    npu_id: int
    chip_id: int | None
    name: str
    health: str | None
    bus_id: str | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    aicore_percent: float | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None


@dataclass(frozen=True, slots=True)
class ChipTable:
    """The chips, the rows of the process block (None = there is none), and whether a closing rule ends the text."""

    chips: tuple[Chip, ...]
    process_count: int | None
    closed: bool


@dataclass(frozen=True, slots=True)
class _Columns:
    """Header words of the figures in the first and in the second line of a chip."""

    upper: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()


def read_tables(text: str) -> ChipTable:
    """The chip table and the process block of cleaned `text`."""
    columns = _Columns()
    chips: list[Chip] = []
    upper: Sequence[str] = ()
    processes: int | None = None
    for line in text.split("\n"):
        cells = _cells(line)
        if not cells:
            continue
        if _is_process_header(cells):
            processes = processes or 0
        elif processes is not None:
            processes += len(cells) >= 4 and whole(cells[1]) is not None
        elif _is_header(cells):
            columns = _with_header(columns, cells)
        elif len(cells) >= 2 and (_BUS.search(cells[1]) or upper and _is_second(cells)):
            chips.extend(_chip(columns, upper, cells))
            upper = ()
        elif len(cells) >= 2 and whole(cells[0].split(" ")[0]) is not None:
            chips.extend(_chip(columns, upper, ()))
            upper = cells
    chips.extend(_chip(columns, upper, ()))
    return ChipTable(tuple(chips), processes, _closed(text))


def _cells(line: str) -> list[str]:
    """The cells between the bars of a row; a row that the text's end tears keeps its whole cells only."""
    bare = line.strip()
    if not bare.startswith("|"):
        return []
    parts = [part.strip() for part in bare.split("|")[1:]]
    return parts[:-1]


def _is_process_header(cells: Sequence[str]) -> bool:
    return any(re.match(r"Process\s+id", cell, re.IGNORECASE) for cell in cells)


def _is_header(cells: Sequence[str]) -> bool:
    return re.match(r"(NPU\s+Name|Chip\b)", cells[0]) is not None


def _is_second(cells: Sequence[str]) -> bool:
    """The second line of a chip that has no address: numbers alone in front, no value under Bus-Id."""
    return value(cells[1]) is None and re.fullmatch(r"\d{1,6}(?:\s+(?:\d{1,6}|-|NA))?", cells[0]) is not None


def _with_header(columns: _Columns, cells: Sequence[str]) -> _Columns:
    words = tuple(re.findall(r"[A-Za-z][\w-]*(?:\([^)]*\))?", cells[-1])) if len(cells) >= 3 else ()
    return _Columns(words, columns.lower) if cells[0].startswith("NPU") else _Columns(columns.upper, words)


def _chip(columns: _Columns, upper: Sequence[str], lower: Sequence[str]) -> list[Chip]:
    """The chip of two lines; a second line that is missing leaves its figures None. No first line: no chip."""
    if not upper:
        return []
    ids = upper[0].split(None, 1)
    first = _figures(columns.upper, upper[2] if len(upper) > 2 else "")
    second = _figures(columns.lower, lower[2] if len(lower) > 2 else "")
    memory, hbm = second.get("Memory-Usage", ""), second.get("HBM-Usage", "")
    return [
        Chip(
            npu_id=int(ids[0]),
            chip_id=whole(lower[0].split(" ")[0]) if lower else None,
            name=ids[1].strip() if len(ids) > 1 else "",
            health=value(upper[1]),
            bus_id=value(lower[1]) if lower else None,
            power_w=number(first.get("Power", "")),
            temperature_c=number(first.get("Temp", "")),
            aicore_percent=number(second.get("AICore", "")),
            memory_used_mb=_part(memory, 0),
            memory_total_mb=_part(memory, 1),
            hbm_used_mb=_part(hbm, 0),
            hbm_total_mb=_part(hbm, 1),
        )
    ]


def _figures(headings: tuple[str, ...], cell: str) -> dict[str, str]:
    """Figures by header word without its unit: words with "Usage" hold `used / total`, the others one figure.

    When the counts differ nobody can tell which figure is missing, so none of that sort is told.
    """
    names = [heading.split("(")[0] for heading in headings]
    pairs = [name for name in names if name.endswith("Usage")]
    singles = [name for name in names if not name.endswith("Usage")]
    fractions = [f"{a}/{b}" for a, b in _FRACTION.findall(cell)]
    rest = _FRACTION.sub(" ", cell).split()
    found = dict(zip(pairs, fractions, strict=True)) if len(pairs) == len(fractions) else {}
    return found | (dict(zip(singles, rest, strict=True)) if len(singles) == len(rest) else {})


def _part(fraction: str, at: int) -> int | None:
    parts = fraction.split("/")
    return whole(parts[at]) if len(parts) == 2 else None


def _closed(text: str) -> bool:
    rows = [line for line in text.split("\n") if line.strip()]
    boxed = [line for line in rows if line.lstrip().startswith(("+", "|"))]
    return bool(boxed) and _RULE.fullmatch(boxed[-1]) is not None
