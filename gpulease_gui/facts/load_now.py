"""How busy is the host just now, and did its memory ever run out?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

_SCRIPT = (
    SHELL
    + """\
put loadavg /proc/loadavg
say nproc "$(nproc)"
for name in cpu io memory; do put "pressure.$name" "/proc/pressure/$name"; done
put swaps /proc/swaps
if [ -r /proc/vmstat ]; then
  while read -r name count; do
    case $name in oom_kill|pgmajfault) say "$name" "$count";; esac
  done </proc/vmstat
fi
"""
    + END
)

FACT = Fact(id="load_now", title=Text("Load of the host", "主机负载"), command=Command(script=_SCRIPT), seconds=5)


@dataclass(frozen=True, slots=True)
class LoadNow:
    """None = not told. `load_1`, `load_5`, `load_15` are means over minutes of waiting and running tasks.

    `swap_used_kib` is the sum over all swaps (0 = none is set up or used). `pressure` holds (name, avg300 in %).
    """

    load_1: float | None
    load_5: float | None
    load_15: float | None
    nproc: int | None
    swap_used_kib: int | None
    oom_kills: int | None
    pressure: tuple[tuple[str, float], ...] = ()


def parse(output: CommandOutput) -> LoadNow:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "loadavg")
    loads = [_number(cell) for cell in (lines.first("loadavg") or "").split()[:3]] + [None] * 3
    return LoadNow(
        loads[0], loads[1], loads[2], lines.number("nproc"), _swap(lines), lines.number("oom_kill"),
        tuple((name, value) for name in ("cpu", "io", "memory") if (value := _avg300(lines, name)) is not None),
    )  # fmt: skip


def _number(cell: str) -> float | None:
    return float(cell) if re.fullmatch(r"\d{1,7}(\.\d{1,4})?", cell, re.ASCII) else None


def _swap(lines: KeyedLines) -> int | None:
    """The column Used of the table; None if its header is missing."""
    rows = [line.split() for line in lines.all("swaps")]
    if not rows or rows[0][:1] != ["Filename"] or "Used" not in rows[0]:
        return None
    at = rows[0].index("Used") - len(rows[0])  # from the end: a file name may hold blanks
    used = [whole(row[at]) for row in rows[1:] if len(row) >= -at]
    return sum(n for n in used if n is not None)


def _avg300(lines: KeyedLines, name: str) -> float | None:
    for line in lines.all(f"pressure.{name}"):
        if found := re.search(r"\bsome\b.*\bavg300=(\d{1,3}\.\d{1,2})", line):
            return float(found[1])
    return None


def as_dict(reading: LoadNow) -> dict[str, object]:
    """The fields by name; pressure as a mapping."""
    return {
        "load_1": reading.load_1,
        "load_5": reading.load_5,
        "load_15": reading.load_15,
        "nproc": reading.nproc,
        "swap_used_kib": reading.swap_used_kib,
        "oom_kills": reading.oom_kills,
        "pressure": dict(reading.pressure),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("loadavg: ") else 0
