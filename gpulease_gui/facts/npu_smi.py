"""What does the Ascend driver say of every NPU chip (`npu-smi info`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.npu_table import Chip, ChipTable, read_tables
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean, first_line, undrawn

# npu-smi does not bear two calls at once, so all its facts share a lane.
FACT = Fact(
    id="npu_smi",
    title=Text("NPU state", "NPU 状态"),
    command=Command("npu-smi", "info"),
    seconds=40,
    lane="npu",
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class NpuReport:
    """All chips in the order printed.

    `process_count` None = no process block. `cut_off`: the table or its process block ends early, chips may be missing.
    """

    version: str | None
    chips: tuple[Chip, ...]
    process_count: int | None = None
    cut_off: bool = False
    error_code: int | None = None

    @property
    def npu_count(self) -> int:
        """Cards: several chips can share one."""
        return len({chip.npu_id for chip in self.chips})

    @property
    def unhealthy(self) -> tuple[Chip, ...]:
        """Chips whose health is told and not OK."""
        return tuple(chip for chip in self.chips if chip.health is not None and chip.health.upper() != "OK")


def parse(output: CommandOutput) -> NpuReport:
    """Read the table by its header words. Raises Unreadable: driver error (reading has its code), missing tool."""
    text = undrawn(clean(output.text))
    tables = read_tables(text)
    version = re.search(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)", text)
    if not tables.chips:
        raise _no_table(output, version[2] if version else None)
    return NpuReport(
        version=version[2] if version else None,
        chips=tables.chips,
        process_count=tables.process_count,
        cut_off=output.stdout_cut or output.exit_code != 0 or _ends_early(tables, version[2] if version else ""),
    )


def _ends_early(tables: ChipTable, version: str) -> bool:
    """From version 22 on a process block always follows; before that the closing rule is the only sign."""
    major = re.match(r"\d{1,3}", version)
    no_block_due = major is not None and int(major[0]) < 22
    return not tables.closed or tables.process_count is None and not no_block_due


def _no_table(output: CommandOutput, version: str | None) -> Unreadable:
    said = clean(output.text + "\n" + output.error_text)
    code = re.search(r"\b(?:ret is|error code[ :=]*|ret=)\s*(-\d{1,6})\b", said)
    line = next((line.strip()[:200] for line in said.split("\n") if code and code[0] in line), first_line(said))
    if code:
        return Unreadable(
            line, code=Reason.DRIVER, reading=NpuReport(version, (), error_code=int(code[1])),
            next_step="the user must be in the group HwHiAiUser and /dev/davinci* must be mapped into the container",
        )  # fmt: skip
    if MISSING_TOOL_WORDS.search(said):
        return Unreadable(line, code=Reason.MISSING_TOOL, next_step="ask the supplier for npu-smi, or its full path")
    return Unreadable(f"no chip table in the output: {line}" if line else "npu-smi printed nothing")


def as_dict(reading: NpuReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind npu_smi`; lists run over the chips, sizes as printed (MB)."""
    chips = reading.chips
    hbm = any(chip.hbm_total_mb is not None for chip in chips)
    memory = any(chip.memory_total_mb is not None for chip in chips)
    return {
        "version": reading.version,
        "npus": reading.npu_count if chips else None,
        "chips": len(chips),
        "names": [chip.name for chip in chips],
        "npu_ids": [chip.npu_id for chip in chips],
        "chip_ids": [chip.chip_id for chip in chips],
        "health": [chip.health for chip in chips],
        "power_w": [chip.power_w for chip in chips],
        "temperature_c": [chip.temperature_c for chip in chips],
        "aicore_percent": [chip.aicore_percent for chip in chips],
        "bus_ids": [chip.bus_id for chip in chips],
        "hbm_used_mb": [chip.hbm_used_mb for chip in chips] if hbm else None,
        "hbm_total_mb": [chip.hbm_total_mb for chip in chips] if hbm else None,
        "memory_used_mb": [chip.memory_used_mb for chip in chips] if memory else None,
        "memory_total_mb": [chip.memory_total_mb for chip in chips] if memory else None,
        "unhealthy": [f"{chip.npu_id}/{'?' if chip.chip_id is None else chip.chip_id}" for chip in reading.unhealthy],
        "process_count": reading.process_count,
        "error_code": reading.error_code,
        "cut_off": reading.cut_off,
    }


def recognise(text: str) -> int:
    """The header words of the chip table, or the driver interface's error."""
    if re.search(r"npu-smi\s+\S+\s+Version:", text) or re.search(r"\|\s*NPU\s+Name\b", text):
        return 95
    return 85 if re.search(r"dcmi (module initialize|model)|DrvMng", text) else 0
