"""What does the plain table of nvidia-smi say?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_record import GpuProcess
from gpulease_gui.facts.smi_values import (
    MOST_GPUS,
    TABLE_RULE,
    is_broken,
    is_lost,
    number,
    parted_rows,
    plain,
    plain_text,
    squeezed_lines,
    whole,
    word,
)

FACT = Fact(id="smi_table", title=Text("Table of nvidia-smi", "nvidia-smi 表格"), ok_codes=None)

_DRIVER = re.compile(r"(?:Driver|KMD) Version:\s*([^\s|]+)")
_CUDA = re.compile(r"CUDA (?:UMD )?Version:\s*([^\s|]+)")
_BUS = re.compile(r"\s*((?:[0-9A-F]{4}|[0-9A-F]{8}):[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F])\b.*", re.IGNORECASE)
_NO_BUS = re.compile(r"\s*N/A\s+(?:N/A|On|Off)\s*")  # a GPU inside the processor (Tegra) sits on no bus
_NAME = re.compile(r"\s*(?P<index>\d{1,4})\s+(?P<name>.*?\S)(?:\s+|(?<=\.\.\.))(?P<mode>On|Off|N/A|WDDM|TCC|MCDM|ERR!)\s*")
_BLANK = r"N/A|ERR!|Unknown Error|GPU is lost|\[[^]]*\]|-"
_STATE = re.compile(
    rf"\s*(?P<fan>\d+\s?%|{_BLANK})?\s*(?P<temp>-?\d+\s?C|{_BLANK})\s*(?P<perf>P\d+|{_BLANK})?"
    rf"\s*(?P<draw>[\d.]+\s?W|{_BLANK})?\s*/\s*(?P<cap>[\d.]+\s?W|{_BLANK})\s*"
)
_MEMORY = re.compile(r"\s*(\d+)\s?Mi?B\s*/\s*(\d+)\s?Mi?B\s*")
_UTIL = re.compile(rf"\s*(?:(\d+)\s?%|{_BLANK})\s*(.*?)\s*")
_PROCESS = re.compile(
    r"\s*(?P<gpu>\d+)\s+(?:(?:\d+|N/A)\s+(?:\d+|N/A)\s+)?(?P<pid>\d+)\s+(?P<kind>\S{1,8})\s+(?P<rest>\S.*)"
)
_PROCESS_MEMORY = re.compile(r"(?P<name>.*?)\s+(?P<mib>\d+)\s?Mi?B\s*|(?P<bare>.*?)(?:\s+N/A)?\s*")
# As the third cell prints them beside the load; the full report writes them out.
_COMPUTE_MODES = {
    "Default": "Default", "Prohibited": "Prohibited", "E. Process": "Exclusive_Process", "E. Thread": "Exclusive_Thread",
}  # fmt: skip
_MIG_WORDS = ("Enabled", "Disabled", "N/A")


@dataclass(frozen=True, slots=True)
class TableGpu:
    """One record as shown; `name` may be cut by the table. None: the table does not say it."""

    index: int
    name: str | None
    bus_id: str | None
    ecc_uncorrected_volatile: int | None = None
    temperature_c: float | None = None
    performance_state: str | None = None
    power_draw_w: float | None = None
    power_cap_w: float | None = None
    memory_used_mib: int | None = None
    memory_total_mib: int | None = None
    gpu_util_percent: float | None = None
    mig_mode: str | None = None
    ecc_mode: str | None = None  # a count stands there only where ECC is on
    compute_mode: str | None = None
    persistence_mode: str | None = None
    error_cells: tuple[str, ...] = ()  # cells that print ERR!, Unknown Error, GPU is lost, by what they should tell
    lost_cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SmiTable:
    """The records shown. `process_count` None: there is no process block.

    `processes` by the number of their card, () = the block says that there are none; None = it does not say.
    """

    driver_version: str | None
    cuda_version: str | None
    gpus: tuple[TableGpu, ...]
    process_count: int | None
    processes: tuple[tuple[int, GpuProcess], ...] | None = None
    processes_cut: bool = False  # the block has no end: more may have followed

    def processes_of(self, index: int) -> tuple[GpuProcess, ...] | None:
        """The processes on one card; None = not told."""
        found = tuple(process for gpu, process in self.processes or () if gpu == index)
        return None if self.processes is None or (self.processes_cut and not found) else found


def parse(output: CommandOutput) -> SmiTable:
    """Read the records by what their cells look like. Raises Unreadable if there is none."""
    text = plain_text(output)
    rows = list(_rows(text))
    gpus, end = _records(rows)
    if not gpus:
        raise smi_error.unreadable(output, "the text has no GPU record of the nvidia-smi table")
    driver, cuda = _DRIVER.search(text), _CUDA.search(text)
    return SmiTable(
        word(driver[1]) if driver else None, word(cuda[1]) if cuda else None, tuple(gpus), *_processes(rows[:end])
    )  # fmt: skip


def _rows(text: str) -> Iterable[list[str]]:
    """The cells of every line with bars; a rule is one cell. What follows the last bar is cut off and dropped.

    Lines that a paste has glued together are parted at rules and at two bars.
    """
    for line in squeezed_lines(parted_rows(text)):
        if TABLE_RULE.fullmatch(line.strip()):
            yield ["+"]
        elif line.count("|") >= 2:
            first, *cells = line.split("|")[:-1]
            yield [first, *cells] if _NAME.fullmatch(first) or _STATE.fullmatch(first) else cells  # the left bar is lost


def _records(rows: Sequence[list[str]]) -> tuple[list[TableGpu], int]:
    """The records, and the row where a repeated table begins (a second one shows the same GPUs again)."""
    gpus: list[TableGpu] = []
    for at, row in enumerate(rows):
        head = _head(row)
        if head is None:
            if gpus:
                gpus[-1] = _with_row(gpus[-1], row)
        elif len(gpus) == MOST_GPUS or any(head.bus_id == gpu.bus_id and head.index == gpu.index for gpu in gpus):
            return gpus, at
        else:
            gpus.append(head)
    return gpus, len(rows)


def _head(row: Sequence[str]) -> TableGpu | None:
    for at in range(1, len(row)):
        bus, name = _BUS.fullmatch(row[at]), _NAME.fullmatch(row[at - 1])
        if name and (bus or _NO_BUS.fullmatch(row[at])):
            return _with_ecc(
                TableGpu(int(name["index"]), word(name["name"]), bus and bus[1], persistence_mode=word(name["mode"])),
                row[at + 1] if at + 1 < len(row) else "", name["mode"],
            )  # fmt: skip
    return None


def _with_ecc(gpu: TableGpu, cell: str, persistence: str) -> TableGpu:
    """The cell of the counter: a number where ECC is on, "Off", or nothing at all."""
    count, broken = whole(cell), _broken(persistence_mode=persistence, ecc_errors=cell)
    mode = "Enabled" if count is not None else "Disabled" if cell.strip() in ("Off", "Disabled") else None
    return replace(gpu, ecc_uncorrected_volatile=count, ecc_mode=mode, error_cells=broken, lost_cells=_lost(ecc_errors=cell))


def _broken(**cells: str | None) -> tuple[str, ...]:
    return tuple(name for name, cell in cells.items() if cell and is_broken(cell.strip()))


def _lost(**cells: str | None) -> tuple[str, ...]:
    return tuple(name for name, cell in cells.items() if cell and is_lost(cell.strip()))


def _with_row(gpu: TableGpu, row: Sequence[str]) -> TableGpu:
    state = _STATE.fullmatch(row[0])
    if state:
        memory = _MEMORY.fullmatch(row[1]) if len(row) > 1 else None
        util = _UTIL.fullmatch(row[2]) if len(row) > 2 else None
        return replace(
            gpu,
            temperature_c=number(state["temp"]), performance_state=word(state["perf"]),
            power_draw_w=number(state["draw"]), power_cap_w=number(state["cap"]),
            memory_used_mib=int(memory[1]) if memory else None, memory_total_mib=int(memory[2]) if memory else None,
            gpu_util_percent=float(util[1]) if util and util[1] else None,
            compute_mode=_COMPUTE_MODES.get(util[2]) if util else None,
            error_cells=(*gpu.error_cells, *_broken(**_cells(state, row))), lost_cells=(*gpu.lost_cells, *_lost(**_cells(state, row))),
        )  # fmt: skip
    mig = row[-1].strip().rstrip("*")
    if len(row) == 3 and not row[0].strip() and not row[1].strip() and mig in _MIG_WORDS:
        return replace(gpu, mig_mode=word(mig))
    return gpu


def _cells(state: re.Match[str], row: Sequence[str]) -> dict[str, str | None]:
    """The cells of the second line of a record by the field of the full report that they show."""
    return {
        "fan_speed": state["fan"], "temperature": state["temp"], "performance_state": state["perf"], "power_draw": state["draw"],
        "power_limit": state["cap"], "fb_memory_usage": row[1] if len(row) > 1 else None,
        "utilization": (row[2].replace("Default", "") if len(row) > 2 else None),
    }  # fmt: skip


def _process(row: re.Match[str]) -> tuple[int, GpuProcess]:
    told = _PROCESS_MEMORY.fullmatch(row["rest"])
    name = (told["name"] or told["bare"] or "") if told else row["rest"]
    memory = float(told["mib"]) if told and told["mib"] else None
    return int(row["gpu"]), GpuProcess(int(row["pid"]), row["kind"], name.strip(), memory)


def _processes(rows: Sequence[list[str]]) -> tuple[int | None, tuple[tuple[int, GpuProcess], ...] | None, bool]:
    """How many rows the process block has, they, and whether it has no end; None if it says nothing."""
    texts = ["|".join(row) for row in rows]
    start = next((at for at, text in enumerate(texts) if "rocesses:" in text[:60]), None)
    if start is None:
        return None, None, False
    block = texts[start + 1 :]
    found = tuple(_process(row) for text in block if (row := _PROCESS.fullmatch(text)))
    closed = "+" in block or any("No running" in text for text in block)
    refused = any("Not Supported" in text for text in block)
    if found and not closed:  # a bar may be part of the name: only the next line shows that the row has ended
        gpu, last = found[-1]
        found = (*found[:-1], (gpu, replace(last, name="", memory_mib=None)))
    told = bool(found) or (closed and not refused)
    return (len(found), found, not closed) if told else (None, None, False)


def as_dict(reading: SmiTable) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_table`: one list per column over the records shown."""
    gpus = reading.gpus
    return {
        "driver_version": reading.driver_version,
        "cuda_version": reading.cuda_version,
        "gpus": len(gpus),
        "indexes": [gpu.index for gpu in gpus],
        "names_as_printed": [gpu.name for gpu in gpus],
        "bus_ids": [gpu.bus_id for gpu in gpus],
        "memory_used_mib": [gpu.memory_used_mib for gpu in gpus],
        "memory_total_mib": [gpu.memory_total_mib for gpu in gpus],
        "temperature_c": [gpu.temperature_c for gpu in gpus],
        "power_draw_w": [gpu.power_draw_w for gpu in gpus],
        "power_cap_w": [gpu.power_cap_w for gpu in gpus],
        "gpu_util_percent": [gpu.gpu_util_percent for gpu in gpus],
        "performance_state": [gpu.performance_state for gpu in gpus],
        "ecc_uncorrected_volatile": [gpu.ecc_uncorrected_volatile for gpu in gpus],
        "mig_mode": [gpu.mig_mode for gpu in gpus],
        "process_count": reading.process_count,
        "process_names": None if reading.processes is None else [process.name or None for _, process in reading.processes],
        "compute_modes": [gpu.compute_mode for gpu in gpus],
        "error_cells": [cell for gpu in gpus for cell in gpu.error_cells],
    }


def recognise(text: str) -> int:
    """Sure with the header line and a record; a record alone is enough, a header alone is not much."""
    head = plain(text[:20_000])
    header = "NVIDIA-SMI" in head and _DRIVER.search(head) is not None
    record = any(_head(row) for row in _rows(head))
    return {(True, True): 95, (False, True): 85, (True, False): 50}.get((header, record), 0)
