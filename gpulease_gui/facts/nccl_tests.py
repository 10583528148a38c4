"""How fast do the GPUs exchange data by an output of nccl-tests?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import first_line, number, whole, whole_lines

FACT = Fact(id="nccl_tests", title=Text("Collective bandwidth (nccl-tests)", "集合通信带宽(nccl-tests)"), ok_codes=None)

_VALUE = r"(?:\d[\d.]*(?:[eE][+-]?\d+)?|N/A|nan|inf)"
_SIDE = rf"{_VALUE}\s+({_VALUE})\s+({_VALUE})\s+({_VALUE})"
# Launchers put ranks and host names in front of a row; what counts is its tail of two times four figures.
_ROW = re.compile(
    rf"(?:^|[\s:>\]])(\d{{1,16}})\s+\d{{1,16}}\s+[a-z]\w+(?:\s+[a-z]\w*)?(?:\s+-?\d{{1,6}})?\s+{_SIDE}\s+{_SIDE}(?:\s+\d+)?\s*$"
)
_RANK = re.compile(r"Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s+(.+)$")
# A count of 0 or N/A in the last cell cannot go on; any other digit could.
_WHOLE = re.compile(r"\s(0|N/A)\s*$|\bOK\s*$|\bFAILED\s*$")


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One message size in bytes; bus bandwidth in GB/s out of place and in place; `wrong` cells (None = not checked)."""

    size_bytes: int
    out_of_place_gb_s: float | None
    in_place_gb_s: float | None
    wrong: int | None


@dataclass(frozen=True, slots=True)
class NcclReport:
    """One run. `finished`: the closing average is there. Ranks and hosts are None when no device list is shown."""

    rows: tuple[CollectiveRow, ...]
    ranks: int | None
    hosts: int | None
    device_names: tuple[str, ...] | None
    average_gb_s: float | None
    out_of_bounds: int | None
    out_of_bounds_verdict: str | None
    nccl_version: str | None
    failure: str | None = None

    @property
    def finished(self) -> bool:
        """Does the closing average stand under the table?"""
        return self.average_gb_s is not None

    @property
    def wrong_total(self) -> int | None:
        """Sum of the wrong cells; None when nothing was checked."""
        checked = [row.wrong for row in self.rows if row.wrong is not None]
        return sum(checked) if checked else None

    @property
    def best_gb_s(self) -> float | None:
        """The highest bus bandwidth of all rows."""
        rates = [rate for row in self.rows for rate in (row.out_of_place_gb_s, row.in_place_gb_s) if rate is not None]
        return max(rates, default=None)


def parse(output: CommandOutput) -> NcclReport:
    """Read the rows and the closing lines. Raises Unreadable when there is no row."""
    lines = whole_lines(output.text, _WHOLE)
    text = "\n".join(lines)
    old_error_column = re.search(r"^#?.*\bbusbw\s+error\b", text, re.MULTILINE) is not None
    ranks = [found for line in lines if (found := _RANK.search(line))]
    bounds = re.search(r"Out of bounds values\s*:\s*(\d{1,15})\s+(\w+)", text)
    average = re.search(r"Avg bus bandwidth\s*:\s*(\S+)", text)
    version = re.search(r"NCCL version (\S+)", text)
    failure = next((line.strip()[:200] for line in lines if re.search(r"(Test|NCCL|CUDA) failure", line)), None)
    report = NcclReport(
        rows=tuple(_row(found, old_error_column) for line in lines if (found := _ROW.search(line))),
        ranks=len({rank[1] for rank in ranks}) or None,
        hosts=len({rank[2] for rank in ranks}) or None,
        device_names=tuple(dict.fromkeys(rank[3].strip() for rank in ranks)) or None,
        average_gb_s=number(average[1]) if average else None,
        out_of_bounds=whole(bounds[1]) if bounds else None,
        out_of_bounds_verdict=bounds[2] if bounds else None,
        nccl_version=version[1] if version else None,
        failure=failure,
    )
    if not report.rows:
        raise Unreadable(f"no row of measurements: {report.failure or first_line(output.text)}", reading=report)
    return report


def _row(found: re.Match[str], old_error_column: bool) -> CollectiveRow:
    """The cells are algbw, busbw, wrong for each side; the old error column holds a deviation, no count."""
    counts = [whole(found[4]), whole(found[7])]
    checked = [count for count in counts if count is not None and not old_error_column]
    return CollectiveRow(int(found[1]), number(found[3]), number(found[6]), sum(checked) if checked else None)


def as_dict(reading: NcclReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind nccl_tests`; bandwidths in GB/s."""
    last = reading.rows[-1] if reading.rows else None
    return {
        "ranks": reading.ranks,
        "device_names": list(reading.device_names) if reading.device_names else None,
        "hosts": reading.hosts,
        "rows": len(reading.rows),
        "min_size_bytes": min((row.size_bytes for row in reading.rows), default=None),
        "last_size_bytes": last.size_bytes if last else None,
        "last_row_out_of_place_busbw_gb_per_s": last.out_of_place_gb_s if last else None,
        "last_row_in_place_busbw_gb_per_s": last.in_place_gb_s if last else None,
        "max_busbw_gb_per_s": reading.best_gb_s,
        "wrong_total": reading.wrong_total,
        "avg_busbw_gb_per_s": reading.average_gb_s,
        "out_of_bounds": reading.out_of_bounds,
        "out_of_bounds_verdict": reading.out_of_bounds_verdict,
        "nccl_version": reading.nccl_version,
        "finished": reading.finished,
    }


def recognise(text: str) -> int:
    """The title lines of nccl-tests, its closing lines, or rows of its form."""
    if re.search(r"#\s+size\s+count\s.*\btype\b|Avg bus bandwidth|# nThread \d+ nGpus", text):
        return 95
    return 75 if any(_ROW.search(line) for line in text.splitlines()[:50]) else 0
