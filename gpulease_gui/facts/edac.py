"""How many memory errors has the host counted since its start?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/devices/system/edac/mc ]; then say edac yes; else say edac no; fi
for dir in /sys/devices/system/edac/mc/mc[0-9]*; do
  [ -d "$dir" ] || continue
  say controller "${dir##*/}"
  for name in mc_name ce_count ue_count ce_noinfo_count ue_noinfo_count; do put "$name" "$dir/$name"; done
done
"""
    + END
)

FACT = Fact(id="edac", title=Text("Host memory errors", "主机内存错误"), command=Command(script=_SCRIPT), seconds=5)


@dataclass(frozen=True, slots=True)
class Controller:
    """One memory controller; counts of errors since the driver was loaded, None = not told."""

    name: str
    corrected: int | None = None
    uncorrected: int | None = None


@dataclass(frozen=True, slots=True)
class Edac:
    """`visible` False: the kernel shows no error counters (no driver, a virtual machine or a container)."""

    visible: bool
    controllers: tuple[Controller, ...]


def parse(output: CommandOutput) -> Edac:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "edac")
    return Edac(lines.first("edac") == "yes", tuple(_controller(record) for record in lines.records("controller")))


def _controller(record: KeyedLines) -> Controller:
    return Controller(record.first("controller") or "?", _count(record, "ce_count"), _count(record, "ue_count"))


def _count(record: KeyedLines, key: str) -> int | None:
    found = record.number(key)
    return found if found is not None and found >= 0 else None


def as_dict(reading: Edac) -> dict[str, object]:
    """visible, and lists over the controllers: controllers, corrected, uncorrected."""
    return {
        "visible": reading.visible,
        "controllers": [c.name for c in reading.controllers],
        "corrected": [c.corrected for c in reading.controllers],
        "uncorrected": [c.uncorrected for c in reading.controllers],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("edac: yes\n", "edac: no\n")) else 0
