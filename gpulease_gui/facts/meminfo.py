"""How much main memory does /proc/meminfo tell, and what do the control groups printed behind it allow?"""

from __future__ import annotations

import re

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import GIB, kib_to_gib
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.memory_limits import NO_LIMIT_BYTES, MemoryLimits
from gpulease_gui.facts.memory_limits import as_dict as limits_dict
from gpulease_gui.facts.table_text import clean, first_line, whole_lines

_LINE = "cat /proc/meminfo /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes"
FACT = Fact(
    id="meminfo", title=Text("Main memory (/proc/meminfo)", "内存（/proc/meminfo）"), ok_codes=None, ask=Text(_LINE, _LINE),
    answers=("memory_limits",),
)  # fmt: skip
_SIZE = re.compile(r"(\w+):\s+(\d{1,15}) kB")
_SURE = re.compile(r" kB\s*$|^max$")
_LIMIT = re.compile(r"max|\d{6,20}")
_MISSING = re.compile(r"memory\.(?:max|limit_in_bytes)\W{0,3}: No such file or directory")


def parse(output: CommandOutput) -> MemoryLimits:
    """Read the sizes and the limits behind them. Raises Unreadable without MemTotal."""
    rows = [line.strip() for line in whole_lines(output.text, _SURE)]
    sizes = {found[1]: kib_to_gib(int(found[2])) for row in rows if (found := _SIZE.fullmatch(row))}
    if "MemTotal" not in sizes:
        raise Unreadable(f"no MemTotal in the output: {first_line(output.text) or 'it is empty'}")
    answered = [row for row in rows if _LIMIT.fullmatch(row)]
    limits = [int(row) for row in answered if row != "max" and 0 < int(row) < NO_LIMIT_BYTES]
    return MemoryLimits(
        total_gib=sizes["MemTotal"],
        available_gib=sizes.get("MemAvailable"),
        swap_gib=sizes.get("SwapTotal"),
        limit_gib=min(limits) / GIB if limits else None,
        limit_read=bool(answered) or len(_MISSING.findall(output.text + output.error_text)) > 1,
    )


def as_dict(reading: MemoryLimits) -> dict[str, object]:
    """The keys of `memory_limits`; what may be used is not told before a limit was read, it may stand behind a cut."""
    told = limits_dict(reading)
    return told if reading.limit_read else told | {"limit_read": None, "usable_gib": None}


def recognise(text: str) -> int:
    """Its first line."""
    return 92 if re.search(r"^MemTotal:\s+\d+ kB", clean(text[:20_000]), re.MULTILINE) else 0
