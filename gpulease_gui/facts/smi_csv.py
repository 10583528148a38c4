"""What does `nvidia-smi --query-gpu=... --format=csv` say, whichever columns were asked for?"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import MOST_LINES, figure, number, plain, plain_text, version, whole, word

FACT = Fact(id="smi_csv", title=Text("Query of nvidia-smi as CSV", "nvidia-smi 查询（CSV）"), ok_codes=None)

# A cell that can't go on; a bare number could.
_WHOLE_CELL = re.compile(r".*\d (?:MiB|MHz|W|%)|\[.*\]|N/A|Enabled|Disabled|Yes|P(?:[02-9]|1\d)|Default|Active|Not Active")
_UNIT = re.compile(r"\d ?([A-Za-z]{1,4})\Z")
_LONGEST_LINE = 65_536  # two hundred columns are asked for in one query
_HEADER_WITHIN = 30  # a prompt, a command line or a warning may stand before the header
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?: ?\[([A-Za-z%/]+)\])?")
# The tool prints commas; a spreadsheet or a chat makes tabs, semicolons or a table with bars of them.
_MARKS = (",", "\t", ";", "|")
# What a cell in another unit than the tool's own is worth in MiB or W; "MB" of old drivers are MiB.
_UNITS = {"gib": 1024.0, "gb": 1024.0, "kib": 1 / 1024, "kb": 1 / 1024, "mw": 1 / 1000, "kw": 1000.0}
_BARE_FIELDS = frozenset(
    ["name", "gpu_name", "index", "uuid", "gpu_uuid", "serial", "gpu_serial", "count", "timestamp", "driver_version",
     "kmd_version", "pstate", "compute_cap", "persistence_mode", "compute_mode", "vbios_version", "display_mode",
     "display_active", "gpu_bus_id", "hostname", "pid", "process_name", "used_memory", "used_gpu_memory"]
)  # fmt: skip
_FAMILIES = (
    "pci.", "pcie.", "utilization.", "memory.", "temperature.", "power.", "clocks.", "clocks_", "ecc.", "mig.", "fan.",
    "enforced.", "driver_model.", "retired_pages.", "remapped_rows.", "inforom.", "fabric.", "encoder.", "gom.",
    "module.", "accounting.", "addressing_", "gsp.", "c2c.", "protected_memory.", "reset_status.", "platform.",
)  # fmt: skip
_NO_HEADER = re.compile(r"\d (?:MiB|MHz|W|%)|\[(?:N/A|Not Supported|Unknown Error)\]|GPU-[0-9a-f]{8}-|[0-9A-F]{8}:[0-9A-F]{2}:")


@dataclass(frozen=True, slots=True)
class SmiCsv:
    """The rows as printed. `columns` () when the output has no header: then no cell can be named."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    units: tuple[str, ...] = ()  # of the columns, as the header has them; "" = none

    def cells(self, *fields: str) -> tuple[str | None, ...] | None:
        """The cells of the first of `fields` that was asked for, one per row; None if none was."""
        at = next((self.columns.index(field) for field in fields if field in self.columns), None)
        if at is None:
            return None
        return tuple(row[at] if at < len(row) else None for row in self.rows)

    def unit(self, *fields: str) -> str:
        """The unit that the header gives the column of `cells`, in small letters; "" if it gives none."""
        named = zip(self.columns, self.units, strict=False)
        return next((unit.lower() for name, unit in named if name in fields), "")


def parse(output: CommandOutput) -> SmiCsv:
    """Read header and rows. Raises Unreadable: a refused field, another text."""
    text = plain_text(output)
    lines = [line.strip(" ") for line in text.split("\n", MOST_LINES)[:MOST_LINES]]
    header = next((found for at, line in enumerate(lines[:_HEADER_WITHIN]) if (found := _header(at, line))), None)
    if header is None:
        return _without_header(output, [line[:_LONGEST_LINE] for line in lines if line])
    rows = _rows(lines, header, whole_end=text.endswith("\n"))
    # A row with more cells than the header has no cell that can be named with certainty.
    named = [row if len(row) <= len(header.columns) else () for row in rows]
    return SmiCsv(header.columns, tuple(named), header.units)


@dataclass(frozen=True, slots=True)
class _Header:
    """Where the header stands, what parts its cells, its names and units."""

    at: int
    mark: str
    columns: tuple[str, ...]
    units: tuple[str, ...]


def _rows(lines: Sequence[str], header: _Header, *, whole_end: bool) -> list[tuple[str, ...]]:
    due, title = len(header.columns), lines[header.at]
    rows = [_cells(line[:_LONGEST_LINE], header.mark) for line in lines[header.at + 1 :] if line and line != title]
    last = rows[-1] if rows else ()
    rows = [row for row in rows if _is_row(row, due) and (len(row) * 2 > due or not whole_end and row is last)]
    if rows and not whole_end and rows[-1] is last and not (len(last) == due and _is_whole(rows, header)):
        rows[-1] = rows[-1][:-1]  # the text may break off inside this cell
    return rows


def _without_header(output: CommandOutput, lines: Sequence[str]) -> SmiCsv:
    if not lines or smi_error.find("\n".join(lines[:50])) or not _NO_HEADER.search(lines[0]):
        raise smi_error.unreadable(output, "the text has no header of nvidia-smi's CSV")
    rows = [_cells(line) for line in lines]
    return SmiCsv((), tuple(row for row in rows if len(row) == len(rows[0])))


def _is_whole(rows: Sequence[Sequence[str]], header: _Header) -> bool:
    """Whether the last cell of all, without a line end behind it, is to be taken as whole.

    A word must stand in that column elsewhere, a number must have the unit or the decimals that the tool prints. A bare
    count is taken: tools that write no last line end are too common.
    """
    cell, column, unit = rows[-1][-1], header.columns[-1], header.units[-1]
    if _WHOLE_CELL.fullmatch(cell) or column == "compute_cap" and re.fullmatch(r"\d+\.\d", cell):
        return True
    figure = r"\d+\.\d\d" if unit or column == "compute_cap" else r"\d+(?:\.\d\d)?"
    return re.fullmatch(figure, cell) is not None or any(row[-1] == cell for row in rows[:-1] if row)


def _cells(line: str, mark: str = ",") -> tuple[str, ...]:
    if mark == "|":
        line = line.strip().strip("|")
    try:
        row = next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    except csv.Error:
        row = line.split(mark)
    return tuple(cell.strip() for cell in row)


def _is_row(row: Sequence[str], due: int) -> bool:
    """Whether this is data and no message or rule between the rows."""
    if all(not cell.strip("-:") and cell for cell in row):
        return False
    return len(row) > 1 if due > 1 else bool(row) and smi_error.find(row[0]) is None


def _header(at: int, line: str) -> _Header | None:
    """The field names of a header line without their units; None if it is none."""
    for mark in _MARKS:
        if mark not in line and mark != ",":
            continue
        found = [_FIELD.fullmatch(cell) for cell in _cells(line[:_LONGEST_LINE], mark)]
        fields = [match for match in found if match]
        names = tuple(match[1].lower() for match in fields)
        if len(names) == len(found) and any(_is_field(name) for name in names):
            return _Header(at, mark, names, tuple(match[2] or "" for match in fields))
    return None


def _is_field(name: str) -> bool:
    return name in _BARE_FIELDS or name.startswith(_FAMILIES)


_KEYS: Mapping[str, tuple[Callable[[str | None], object], tuple[str, ...]]] = {
    "names": (word, ("name", "gpu_name")),
    "driver_version": (version, ("driver_version", "kmd_version")),
    "bus_ids": (word, ("pci.bus_id", "gpu_bus_id")),
    "uuids": (word, ("uuid", "gpu_uuid")),
    "memory_total_mib": (whole, ("memory.total",)),
    "memory_used_mib": (whole, ("memory.used",)),
    "temperature_c": (number, ("temperature.gpu",)),
    "memory_temperature_c": (number, ("temperature.memory",)),
    "power_draw_w": (number, ("power.draw",)),
    "power_draw_instant_w": (number, ("power.draw.instant",)),
    "power_draw_average_w": (number, ("power.draw.average",)),
    "power_limit_w": (number, ("power.limit",)),
    "gpu_util_percent": (number, ("utilization.gpu",)),
    "mig_mode_current": (word, ("mig.mode.current",)),
    "ecc_uncorrected_volatile_total": (whole, ("ecc.errors.uncorrected.volatile.total",)),
    "ecc_corrected_volatile_total": (whole, ("ecc.errors.corrected.volatile.total",)),
    "ecc_uncorrected_aggregate_total": (whole, ("ecc.errors.uncorrected.aggregate.total",)),
    "pcie_gen_current": (whole, ("pcie.link.gen.current", "pcie.link.gen.gpucurrent")),
    "pcie_gen_max": (whole, ("pcie.link.gen.max", "pcie.link.gen.gpumax")),
    "pcie_width_current": (whole, ("pcie.link.width.current",)),
    "persistence_mode": (word, ("persistence_mode",)),
    "performance_state": (word, ("pstate",)),
    "compute_cap": (word, ("compute_cap",)),
}


def as_dict(reading: SmiCsv) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_csv`: one list per known column, None for one that was not asked for."""
    keys: dict[str, object] = {"rows": len(reading.rows)}
    for key, (read, fields) in _KEYS.items():
        cells = reading.cells(*fields)
        unit = reading.unit(*fields)
        keys[key] = None if cells is None else [_in_own_unit(read, cell, unit) for cell in cells]
    return keys


def _in_own_unit(read: Callable[[str | None], object], cell: str | None, unit: str) -> object:
    """The value of a cell in the tool's own unit; the cell's unit, else the header's, says which it is printed in."""
    printed = _UNIT.search(cell) if cell else None
    factor = _UNITS.get(printed[1].lower() if printed else unit)
    value = figure(cell) if factor and read in (number, whole) else None
    if factor is None or value is None:
        return read(cell)
    return read(f"{value * factor:.6f}".rstrip("0").rstrip("."))


def recognise(text: str) -> int:
    """By the field names of the header; without one, faintly, by cells that only nvidia-smi prints."""
    lines = [line.strip() for line in plain(text[:40_000]).splitlines()[:_HEADER_WITHIN] if line.strip()]
    header = next((found.columns for line in lines if (found := _header(0, line))), ())
    if header:
        return 90 if len(header) > 1 or "." in header[0] else 45
    if lines and all(cell.casefold() in NO_VALUES for line in lines for cell in _cells(line)):
        return 20
    return 20 if lines and "," in lines[0] and _NO_HEADER.search(lines[0]) else 0
