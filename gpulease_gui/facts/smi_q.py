"""What does the text of `nvidia-smi -q` say of every GPU?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_record import Gpu, GpuProcess, gpu_columns, gpu_record
from gpulease_gui.facts.smi_values import MOST_GPUS, number, plain_text, snake, text_lines, version, whole, word
from gpulease_gui.facts.smi_xml import SmiReport

FACT = Fact(id="smi_q", title=Text("GPU state, as text", "GPU 全部状态（文本）"), ok_codes=None)

_GPU = re.compile(r"\s*GPU (N/A|(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{8}):[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*")
_BANNER = re.compile(r"=+\s*NVSMI LOG\s*=+")
# How the last cell of a text may end when its newline is missing and it is still whole.
_WHOLE_CELL = re.compile(r".*\d (?:MiB|MHz|W|C|%|us|mV)|\d+x|None|N/A|Enabled|Disabled|disabled|Yes|Active|Success|Default")

Line = tuple[int, str, str | None]  # indentation, key, cell


def parse(output: CommandOutput) -> SmiReport:
    """Read the text by its key words and indentation. Raises Unreadable.

    `-q` has no end mark: only a last line that stops inside a cell tells that the text was cut.
    """
    text = plain_text(output)
    lines, torn = _lines(text)
    starts = [at for at, line in enumerate(lines) if _GPU.fullmatch(line)]
    if not starts:
        raise smi_error.unreadable(output, "the text has no GPU record of nvidia-smi -q")
    if len(starts) > MOST_GPUS:
        raise Unreadable(f"the text has more than {MOST_GPUS} GPU records")
    lines = lines[: _second_report(lines, starts[0])]
    bounds = [at for at in starts if at < len(lines)] + [len(lines)]
    gpus = tuple(_record(index, lines[at : bounds[index + 1]]) for index, at in enumerate(bounds[:-1]))
    report = _report(_cells(lines[: starts[0]]), gpus, torn)
    if torn:
        raise Unreadable("the text stops inside a line", code=Reason.CUT_OFF, next_step="paste the whole output", reading=report)
    return report


def _lines(text: str) -> tuple[list[str], bool]:
    lines = text_lines(text)
    last = lines[-1]
    torn = bool(last.strip()) and not _is_whole(last)
    return [line for line in (lines[:-1] if torn else lines) if line.strip()], torn


def _is_whole(line: str) -> bool:
    return _WHOLE_CELL.fullmatch(line.partition(":")[2].strip()) is not None


def _second_report(lines: list[str], first_gpu: int) -> int:
    """Where a second report of a repeated run begins: its records would count the same GPUs twice."""
    banners = (at for at, line in enumerate(lines) if at > first_gpu and _BANNER.fullmatch(line.strip()))
    return next(banners, len(lines))


def _cells(lines: list[str]) -> dict[str, str]:
    return {"/".join(path): cell for path, cell in reversed(list(_walk(lines))) if cell is not None}


def _walk(lines: list[str]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Every line as its path of snake keys and its cell; a line with a cell may have lines below it, too."""
    above: list[tuple[int, str]] = []
    for line in lines:
        indent, body = len(line) - len(line.lstrip()), line.strip()
        name, colon, cell = body.partition(":")
        key = snake(name[:100])
        if not key:
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        if len(above) < 12:
            above.append((indent, key))
        yield tuple(name for _, name in above), cell.strip() if colon else None


def _record(index: int, lines: list[str]) -> Gpu:
    found = _GPU.fullmatch(lines[0])
    leaves: dict[str, str] = {}
    mig: int | None = None
    processes: list[dict[str, str]] | None = None
    top = ""
    for path, cell in _walk(_dedented(lines)):
        top = path[0]
        if top == "mig_device":
            mig = (mig or 0) + (len(path) == 1)
        elif top == "processes":
            processes = _listed(processes, path, cell, leaves)
        elif cell is not None:
            leaves.setdefault("/".join(path), cell)
            # MIG devices stand right behind the mode: whatever follows says that there are no more.
            mig = 0 if mig is None and len(path) == 1 and "mig_mode/current" in leaves else mig
    if top == "mig_device":
        mig = None  # the record breaks off among them
    listed = None if processes is None else tuple(_process(cells) for cells in processes)
    return gpu_record(index, found[1] if found else None, leaves, mig, listed)


def _dedented(lines: list[str]) -> list[str]:
    """The lines below the record's head, without the head's own indentation (pasted texts are often shifted)."""
    shift = len(lines[0]) - len(lines[0].lstrip())
    return [line[shift:] if not line[:shift].strip() else line for line in lines[1:]]


def _listed(
    processes: list[dict[str, str]] | None, path: tuple[str, ...], cell: str | None, leaves: dict[str, str]
) -> list[dict[str, str]] | None:
    if len(path) == 1:
        if cell and cell != "None":
            leaves.setdefault(path[0], cell)
            return processes
        return [] if cell == "None" else processes
    if path[1] == "process_id":
        processes = processes or []
        if len(path) == 2:
            processes.append({})
        if processes:
            processes[-1].setdefault(path[-1], cell or "")
    return processes


def _process(cells: Mapping[str, str]) -> GpuProcess:
    return GpuProcess(
        whole(cells.get("process_id")), word(cells.get("type")) or "", word(cells.get("name")) or "",
        number(cells.get("used_gpu_memory")),
    )  # fmt: skip


def _report(header: Mapping[str, str], gpus: tuple[Gpu, ...], torn: bool) -> SmiReport:
    return SmiReport(
        driver_version=version(header.get("driver_version")) or version(header.get("kmd_version")),
        cuda_version=version(header.get("cuda_version")) or version(header.get("cuda_umd_version")),
        attached_gpus_stated=whole(header.get("attached_gpus")),
        gpus=gpus,
        cut_off=torn,
    )


def as_dict(reading: SmiReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_q`: the header's values, then one list per field over the GPUs."""
    gpus = reading.gpus
    return {
        "driver_version": reading.driver_version,
        "cuda_version": reading.cuda_version,
        "attached_gpus_stated": reading.attached_gpus_stated,
        "gpu_records": len(gpus),
        **gpu_columns(gpus),
        "gpu_recovery_action": [gpu.recovery_action for gpu in gpus],
        "fabric_state": [gpu.fabric_state for gpu in gpus],
        "fabric_status": [gpu.fabric_status for gpu in gpus],
        "retired_single_bit": [gpu.retired_single_bit for gpu in gpus],
        "retired_double_bit": [gpu.retired_double_bit for gpu in gpus],
        "retirement_pending": [gpu.retirement_pending for gpu in gpus],
    }


def recognise(text: str) -> int:
    """Sure with the banner; without it, by the record's head line and the key words below it."""
    head = text[:20_000]
    if _BANNER.search(head):
        return 95
    record = any(_GPU.fullmatch(line) for line in head.splitlines())
    return 80 if record else 0
