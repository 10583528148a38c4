"""How many processors does the kernel know, and how are they clocked?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, id_list_count, keyed_lines, whole

_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/devices/system/cpu ]; then say cpus yes; else say cpus no; fi
put present /sys/devices/system/cpu/present
put online /sys/devices/system/cpu/online
count=0
if [ -r /proc/cpuinfo ]; then
  while IFS= read -r line; do
    case $line in processor*) count=$((count + 1));; esac
  done </proc/cpuinfo
  say cpuinfo "$count"
fi
if command -v lscpu >/dev/null; then
  lscpu | while IFS= read -r line; do
    case $line in 'CPU(s):'*) say lscpu "${line#*:}";; esac
  done
fi
put driver /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver
for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do put governor "$file"; done
put base_khz /sys/devices/system/cpu/cpu0/cpufreq/base_frequency
put max_khz /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq
"""
    + END
)

FACT = Fact(id="cpu_state", title=Text("Processors and their clocks", "处理器与频率策略"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class CpuState:
    """Counts of logical processors; None = not told. `governors` with the number of processors that each rules."""

    present: int | None
    online: int | None
    cpuinfo: int | None
    lscpu: int | None
    driver: str | None
    governors: tuple[tuple[str, int], ...]
    base_mhz: float | None = None
    max_mhz: float | None = None


def parse(output: CommandOutput) -> CpuState:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "cpus")
    counted = lines.number("cpuinfo")
    return CpuState(
        id_list_count(lines.first("present")), id_list_count(lines.first("online")), counted or None, lines.number("lscpu"),
        lines.first("driver"), tuple(Counter(lines.all("governor")).most_common(8)), _mhz(lines.first("base_khz")),
        _mhz(lines.first("max_khz")),
    )  # fmt: skip


def _mhz(khz: str | None) -> float | None:
    found = whole(khz)
    return found / 1000 if found is not None and 0 < found < 100_000_000 else None


def as_dict(reading: CpuState) -> dict[str, object]:
    """The fields by name; governors as a mapping."""
    return {
        "present": reading.present, "online": reading.online, "cpuinfo": reading.cpuinfo, "lscpu": reading.lscpu,
        "driver": reading.driver, "governors": dict(reading.governors), "base_mhz": reading.base_mhz, "max_mhz": reading.max_mhz,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("cpus: yes\n", "cpus: no\n")) else 0
