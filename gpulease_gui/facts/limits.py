"""How much may one program take: shared memory, locked memory, files?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# A number below /proc/sys must be read in one piece, which the shell's own read does not.
_SCRIPT = (
    SHELL
    + """\
put limit /proc/self/limits
if [ -d /dev/shm ]; then
  df -P -k /dev/shm | while IFS= read -r line; do say shm "$line"; done
fi
if [ -r /proc/sys/vm/max_map_count ]; then say max_map_count "$(cat /proc/sys/vm/max_map_count)"; fi
"""
    + END
)

FACT = Fact(id="limits", title=Text("Limits of one program", "单进程限额"), command=Command(script=_SCRIPT), seconds=5)

UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class Limits:
    """None = not told; -1 = unlimited. Soft limits as a program of ours has them."""

    shm_bytes: int | None
    memlock_bytes: int | None
    open_files: int | None
    processes: int | None
    max_map_count: int | None


def parse(output: CommandOutput) -> Limits:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "limit")
    return Limits(
        _shm(lines), _soft(lines, "Max locked memory"), _soft(lines, "Max open files"), _soft(lines, "Max processes"),
        lines.number("max_map_count"),
    )  # fmt: skip


def _soft(lines: KeyedLines, name: str) -> int | None:
    for line in lines.all("limit"):
        if found := re.match(rf"{name}\s+(\d{{1,20}}|unlimited)\s", line + " "):
            return UNLIMITED if found[1] == "unlimited" else whole(found[1])
    return None


def _shm(lines: KeyedLines) -> int | None:
    """The size of the file system that /dev/shm lies on, if it is one of its own."""
    for line in lines.all("shm"):
        cells = line.split()
        kib = whole(cells[1]) if len(cells) >= 6 and cells[-1] == "/dev/shm" else None
        if kib is not None and kib >= 0:
            return kib * 1024
    return None


def as_dict(reading: Limits) -> dict[str, object]:
    """The fields by name."""
    return {
        "shm_bytes": reading.shm_bytes, "memlock_bytes": reading.memlock_bytes, "open_files": reading.open_files,
        "processes": reading.processes, "max_map_count": reading.max_map_count,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("limit: Limit") else 0
