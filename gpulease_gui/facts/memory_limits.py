"""How much main memory may be used here?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import GIB, kib_to_gib
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, WALK, KeyedLines, keyed_lines, whole

_SCRIPT = (
    SHELL
    + WALK
    + """\
say page "$(getconf PAGESIZE)"
put meminfo /proc/meminfo
if [ -r /proc/self/cgroup ]; then
  while IFS=: read -r id names path; do
    case ",$names," in
      ,,) walk /sys/fs/cgroup "$path" cgroup.controllers memory.max memory.high memory.events;;
      *,memory,*) walk /sys/fs/cgroup/memory "$path" memory.limit_in_bytes;;
    esac
  done </proc/self/cgroup
fi
"""
    + END
)

FACT = Fact(
    id="memory_limits",
    title=Text("Main memory and its limit", "内存与限额"),
    command=Command(script=_SCRIPT),
    seconds=10,
)

# Version 1 control groups write "no limit" as the largest page-aligned number.
NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """In GiB; None = not told. `limit_gib` is the tightest limit of our control groups, None = none stands there."""

    total_gib: float | None = None
    available_gib: float | None = None
    swap_gib: float | None = None
    limit_gib: float | None = None
    limit_read: bool = False
    oom_kills: int | None = None

    @property
    def usable_gib(self) -> float | None:
        """The smaller of the machine's memory and the limit."""
        told = [g for g in (self.total_gib, self.limit_gib) if g is not None]
        return min(told) if told and self.total_gib is not None else None


def parse(output: CommandOutput) -> MemoryLimits:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "meminfo")
    sizes = dict(_field(line) for line in lines.all("meminfo"))
    answered = [v for key in ("memory.max", "memory.limit_in_bytes") for v in lines.all(key)]
    limits = [n for v in answered if (n := whole(v)) is not None and 0 < n < NO_LIMIT_BYTES]
    return MemoryLimits(
        total_gib=sizes.get("MemTotal"),
        available_gib=sizes.get("MemAvailable"),
        swap_gib=sizes.get("SwapTotal"),
        limit_gib=min(limits) / GIB if limits else None,
        limit_read=bool(answered) or bool(lines.all("cgroup.controllers")),
        oom_kills=_oom_kills(lines),
    )


def _field(line: str) -> tuple[str, float | None]:
    key, _, value = line.partition(":")
    number, _, unit = value.strip().partition(" ")
    kib = whole(number)
    return key.strip(), kib_to_gib(kib) if kib is not None and unit.strip() == "kB" else None


def _oom_kills(lines: KeyedLines) -> int | None:
    counts = [
        n for v in lines.all("memory.events") if v.startswith("oom_kill ") and (n := whole(v.split()[-1])) is not None
    ]
    return max(counts, default=None)


def as_dict(reading: MemoryLimits) -> dict[str, object]:
    """The fields by name, and usable_gib."""
    return {
        "total_gib": reading.total_gib, "available_gib": reading.available_gib, "swap_gib": reading.swap_gib,
        "limit_gib": reading.limit_gib, "limit_read": reading.limit_read, "oom_kills": reading.oom_kills,
        "usable_gib": reading.usable_gib,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own lines."""
    return 97 if "\nmeminfo: MemTotal:" in text[:2000] or text.startswith("meminfo: MemTotal:") else 0
