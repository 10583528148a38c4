"""What does the NVIDIA kernel module say of its cards, without nvidia-smi?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines
from gpulease_gui.facts.pci_devices import bus_id

_SCRIPT = (
    SHELL
    + """\
if [ -d /proc/driver/nvidia ]; then say module yes; else say module no; fi
put version /proc/driver/nvidia/version
for dir in /proc/driver/nvidia/gpus/*; do
  [ -d "$dir" ] || continue
  say gpu "${dir##*/}"
  put information "$dir/information"
done
"""
    + END
)

FACT = Fact(
    id="nvidia_proc", title=Text("NVIDIA kernel module", "NVIDIA 内核模块"), command=Command(script=_SCRIPT), seconds=10
)


@dataclass(frozen=True, slots=True)
class ProcGpu:
    """One card as the kernel module lists it; None = not told."""

    bus_id: str
    model: str | None = None
    uuid: str | None = None
    vbios: str | None = None
    minor: int | None = None


@dataclass(frozen=True, slots=True)
class NvidiaProc:
    """`present` False: the kernel shows no NVIDIA module here. `version` as in 550.54.15."""

    present: bool
    version: str | None
    gpus: tuple[ProcGpu, ...]


def parse(output: CommandOutput) -> NvidiaProc:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "module")
    gpus = tuple(g for record in lines.records("gpu") if (g := _gpu(record)))
    return NvidiaProc(lines.first("module") == "yes", _version(lines), gpus)


def _version(lines: KeyedLines) -> str | None:
    for line in lines.all("version"):
        match = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+)+)\s", line + " ")
        if match:
            return match[1]
    return None


def _gpu(record: KeyedLines) -> ProcGpu | None:
    slot = bus_id(record.first("gpu"))
    fields = dict(_field(line) for line in record.all("information"))
    if slot is None:
        return None
    minor = fields.get("device minor", "")
    return ProcGpu(
        slot,
        _known(fields.get("model")),
        _known(fields.get("gpu uuid")),
        _known(fields.get("video bios")),
        int(minor) if minor.isascii() and minor.isdigit() and len(minor) < 6 else None,
    )


def _field(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip().lower(), value.strip()


def _known(words: str | None) -> str | None:
    """`words`; None for the question marks that stand there before the card was first used."""
    return None if words is None or "?" in words or words.lower() in NO_VALUES else words


def as_dict(reading: NvidiaProc) -> dict[str, object]:
    """present, version, and lists over the cards: bus_ids, models, uuids, vbios, minors."""
    return {
        "present": reading.present,
        "version": reading.version,
        "bus_ids": [g.bus_id for g in reading.gpus],
        "models": [g.model for g in reading.gpus],
        "uuids": [g.uuid for g in reading.gpus],
        "vbios": [g.vbios for g in reading.gpus],
        "minors": [g.minor for g in reading.gpus],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("module: yes\n", "module: no\n")) else 0
