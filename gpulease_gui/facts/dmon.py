"""What did `nvidia-smi dmon` sample?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import plain, plain_text, text_lines, word

FACT = Fact(id="dmon", title=Text("Samples of nvidia-smi dmon", "nvidia-smi dmon 采样"), ok_codes=None)

Row = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """Rows of cells under named columns, in the order printed; a dash is None."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, name: str) -> tuple[str | None, ...]:
        """The cells of one column; empty if there is no such column."""
        if name not in self.columns:
            return ()
        at = self.columns.index(name)
        return tuple(row[at] for row in self.rows)


def read_samples(output: CommandOutput, marks: Sequence[str], what: str) -> Samples:
    """Read a table whose header begins with # and names every column of `marks`. Raises Unreadable."""
    lines = text_lines(plain_text(output))
    start = header_line(lines, marks)
    if start is None:
        raise smi_error.unreadable(output, f"the text has no header of {what}")
    if start == len(lines) - 1:  # its last word may be torn
        raise Unreadable("the text breaks off in its header", code=Reason.CUT_OFF, next_step="paste the whole output")
    columns = _words(lines[start].replace("#", " ", 1))
    end = len(lines[start].rstrip())
    rows = tuple(_rows(lines, start, columns, end))
    return Samples(tuple(columns), rows)


def header_line(lines: Sequence[str], marks: Sequence[str]) -> int | None:
    """Where the first header with all of `marks` stands."""
    for at, line in enumerate(lines):
        if line.lstrip().startswith("#") and set(marks) <= set(_words(line.replace("#", " ", 1))):
            return at
    return None


def _rows(lines: Sequence[str], start: int, columns: Sequence[str], end: int) -> Iterator[Row]:
    """Rows with a cell for every column. An unfinished last line is none: its number may be half a number."""
    commas = "," in lines[start]
    gpu, most = columns.index("gpu"), len(columns) if columns[-1] == "command" else 0
    for at in range(start + 1, len(lines)):
        line = lines[at]
        torn = at == len(lines) - 1 and not commas and not most and len(line.rstrip()) < end
        if not line.strip() or line.lstrip().startswith("#") or torn:
            continue
        cells = _words(line, most, commas)
        if most and len(cells) == most - 1 and at < len(lines) - 1:
            cells.append("-")  # a process without a name
        if len(cells) == len(columns) and cells[gpu].isdecimal():
            yield tuple(word(cell) for cell in cells)


def _words(line: str, most: int = 0, commas: bool | None = None) -> list[str]:
    """The cells of a line (`commas`: as the header has them), at most `most`: a command at the end keeps its blanks."""
    by_commas = "," in line if commas is None else commas
    return [cell.strip() for cell in line.split("," if by_commas else None, most - 1)]


def parse(output: CommandOutput) -> Samples:
    """Read the samples. Raises Unreadable if there is no header."""
    return read_samples(output, ("gpu",), "nvidia-smi dmon")


def as_dict(reading: Samples) -> dict[str, object]:
    """The keys of `gpulease parse --kind dmon`; cells are text."""
    return {
        "columns": list(reading.columns),
        "samples": len(reading.rows),
        "gpu_ids": list(dict.fromkeys(reading.column("gpu"))),
        "last_sample": list(reading.rows[-1]) if reading.rows else None,
    }


def recognise(text: str) -> int:
    """By a header line that begins with # and names gpu and a sampled thing."""
    lines = plain(text[:20_000]).splitlines()
    at = header_line(lines, ("gpu",))
    if at is None:
        return 0
    words = set(_words(lines[at].replace("#", " ", 1)))
    return 0 if "pid" in words else 90 if len(words) > 2 else 40
