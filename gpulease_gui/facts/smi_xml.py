"""What does the NVIDIA driver say of every GPU (`nvidia-smi -q -x`)?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.parsers import expat

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_record import Gpu, GpuProcess, gpu_columns, gpu_record, listed_reasons
from gpulease_gui.facts.smi_values import MOST_GPUS, number, plain_text, version, whole, word

__all__ = ["FACT", "Gpu", "GpuProcess", "SmiReport", "as_dict", "parse", "recognise"]

FACT = Fact(
    id="smi_xml",
    title=Text("GPU state, all fields", "GPU 全部状态"),
    command=Command("nvidia-smi", "-q", "-x"),
    seconds=40,
    lane="nvidia",
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class SmiReport:
    """A whole report: one record per GPU in the order printed."""

    driver_version: str | None
    cuda_version: str | None
    attached_gpus_stated: int | None
    gpus: tuple[Gpu, ...]
    cut_off: bool = False
    # Lines before or after the report, such as "WARNING: infoROM is corrupted ...", and the exit code if it is not 0.
    warnings: tuple[str, ...] = ()
    exit_code: int = 0


_LARGEST = 8 * 1024 * 1024
_DEEPEST = 40
_AROUND = 20_000  # how much of the text beside the report is looked at for warnings
_GPU_GONE = ("device_handle_unknown_error", "gpu_lost", "gpu_requires_reset")
# What the manual of nvidia-smi says of its exit codes.
_EXIT_WORDS = {
    4: "no permission", 8: "a power cable is missing", 10: "interrupt problem of a GPU", 14: "infoROM is corrupted",
    15: "a GPU has fallen off the bus",
}  # fmt: skip
_START = re.compile(r"<\?xml|<!DOCTYPE nvidia_smi_log|<nvidia_smi_log|(?P<part><gpu id=)")
_END = "</nvidia_smi_log>"  # a text that has it and can't be read was changed, not cut
_ESCAPED = "&lt;nvidia_smi_log"
_PROCESS_NAME = re.compile(r"(<process_name>)([^\n]*)(</process_name>)")
_STRAY_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_SKIPPED = frozenset(["mig_devices", "supported_clocks", "accounted_processes", "processes"])


class _Document:
    """What one pass of expat has seen so far. Cells of a section count only once the section is closed."""

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.gpus: list[Gpu] = []
        self.complete = False
        self._path: list[str] = []
        self._text: list[str] = []
        self.text = self._text.append  # called for every blank between two tags: no function of ours in between
        self._leaf = False
        self._bus_id: str | None = None
        self._in_gpu = False
        self._open: dict[str, str] = {}
        self._closed: dict[str, str] = {}
        self._mig: int | None = None
        self._mig_open = 0
        self._processes: tuple[GpuProcess, ...] | None = None
        self._listed: list[dict[str, str]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        path = self._path
        path.append(tag)
        self._leaf = True
        self._text.clear()
        depth = len(path)
        if depth > _DEEPEST:
            raise Unreadable("the XML is nested deeper than any report")
        if depth == 1 and tag != "nvidia_smi_log":
            raise Unreadable(f"this XML is no report of nvidia-smi: it begins with <{tag[:40]}>")
        if depth == 2 and tag == "gpu":
            self._begin_gpu(attributes.get("id"))
        elif depth == 4 and tag == "mig_device":
            self._mig_open += 1
        elif depth == 4 and tag == "process_info" and path[2] == "processes":
            self._listed.append({})

    def end(self, tag: str) -> None:
        path, depth = self._path, len(self._path)
        if self._leaf:
            self._leaf = False
            if self._in_gpu:
                self._cell(path, "".join(self._text).strip())
            elif depth == 2:
                self.header.setdefault(tag, "".join(self._text).strip())
        if self._in_gpu and depth == 3:
            self._end_section(tag)
        elif self._in_gpu and depth == 2:
            self.end_gpu()
        path.pop()
        self.complete = not path

    def _cell(self, path: Sequence[str], cell: str) -> None:
        section = path[2] if len(path) > 2 else ""
        if section not in _SKIPPED:
            self._open.setdefault("/".join(path[2:]), cell)
        elif section == "processes" and len(path) == 5 and self._listed:
            self._listed[-1].setdefault(path[4], cell)
        elif len(path) == 3 and cell not in ("", "None"):
            self._open.setdefault(section, cell)  # N/A or an error in place of the list

    def _begin_gpu(self, bus_id: str | None) -> None:
        if len(self.gpus) >= MOST_GPUS:
            raise Unreadable(f"the report has more than {MOST_GPUS} GPU records")
        self._bus_id, self._in_gpu = bus_id, True
        self._open, self._closed, self._listed = {}, {}, []
        self._mig, self._mig_open, self._processes = None, 0, None

    def _end_section(self, tag: str) -> None:
        replaced = tag in _SKIPPED and tag in self._open  # "N/A" or an error stands where a list should be
        if self._closed.keys().isdisjoint(self._open):
            self._closed.update(self._open)
        else:  # a section stands there twice: its first cells count
            self._closed.update({path: cell for path, cell in self._open.items() if path not in self._closed})
        self._open = {}
        if tag == "mig_devices" and not replaced:
            self._mig = self._mig_open
        elif tag == "processes" and not replaced:
            self._processes = tuple(_process(cells) for cells in self._listed)

    def end_gpu(self) -> None:
        """Close the record, also one that the text breaks off in."""
        if self._in_gpu:
            self._in_gpu = False
            record = gpu_record(len(self.gpus), self._bus_id, self._closed, self._mig, self._processes)
            self.gpus.append(record)


def _process(cells: Mapping[str, str]) -> GpuProcess:
    return GpuProcess(
        whole(cells.get("pid")), word(cells.get("type")) or "", word(cells.get("process_name")) or "",
        number(cells.get("used_memory")),
    )  # fmt: skip


def parse(output: CommandOutput) -> SmiReport:
    """Read the XML in one pass, entity declarations refused.

    Raises Unreadable: the failure that nvidia-smi names, `cut_off` with the complete part as its reading, or
    `unreadable`.
    """
    if len(output.stdout) > _LARGEST:
        raise Unreadable(f"the report is larger than {_LARGEST // 1024 // 1024} MiB")
    text = plain_text(output)
    start = _START.search(text)
    if start is None and _ESCAPED in text:  # saved from a web page
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
        start = _START.search(text)
    if start is None:
        raise _no_report(output, "the output is no XML report of nvidia-smi")
    # A part that was copied out begins at a record: its root is missing.
    xml = ("<nvidia_smi_log>" if start["part"] else "") + text[start.start() :]
    document, failure = _scan(xml)
    if failure and not document.complete:
        document, failure = _scan(_mended(xml))
    if document.complete:
        around = text[: start.start()][-_AROUND:] + text.rpartition("</nvidia_smi_log>")[2][:_AROUND]
        return _ended(_report(document, around), output.exit_code or 0)
    document.end_gpu()
    if not document.gpus and smi_error.find(text):
        raise _no_report(output, failure)
    partial = _report(document, "", cut_off=True)
    if failure and _END in xml and not output.stdout_cut:
        raise Unreadable(f"the XML is damaged ({failure})", code=Reason.MALFORMED, reading=partial)
    raise Unreadable(
        f"the report breaks off after {len(partial.gpus)} GPU records ({failure})", code=Reason.CUT_OFF,
        next_step="collect it again", reading=partial,
    )  # fmt: skip


def _ended(report: SmiReport, code: int) -> SmiReport:
    """A whole report with another end than success: nvidia-smi tells so what no field may say."""
    if code == 0:
        return report
    known = f" ({_EXIT_WORDS[code]})" if code in _EXIT_WORDS else ""
    return replace(report, warnings=(*report.warnings, f"nvidia-smi ended with exit code {code}{known}"), exit_code=code)


def _no_report(output: CommandOutput, otherwise: str) -> Unreadable:
    """The failure that is named; words of a lost GPU are kept as the readable part of a report."""
    trouble = smi_error.unreadable(output, otherwise)
    if trouble.code in _GPU_GONE:
        named = smi_error.find(output.text) or smi_error.find(output.error_text)
        words = f"{trouble.reason} ({named.bus_id})" if named and named.bus_id else trouble.reason
        trouble.reading = SmiReport(None, None, None, (), cut_off=True, warnings=(words,))
    return trouble


def _scan(xml: str) -> tuple[_Document, str]:
    document = _Document()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = 65536
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.text
    parser.StartDoctypeDeclHandler = _refuse_subset
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        return document, str(error)
    return document, "" if document.complete else "no end"


def _refuse_subset(name: str, system_id: str | None, public_id: str | None, has_subset: bool | int) -> None:
    if has_subset:
        raise Unreadable("the XML brings its own declarations: no report of nvidia-smi does")


def _refuse_entity(*declaration: object) -> None:
    raise Unreadable("the XML declares entities: no report of nvidia-smi does")


def _mended(xml: str) -> str:
    """The text with its process names escaped: nvidia-smi prints command lines with & and < as they are."""
    return _PROCESS_NAME.sub(lambda m: m[1] + _STRAY_AMPERSAND.sub("&amp;", m[2]).replace("<", "&lt;") + m[3], xml)


def _report(document: _Document, around: str, cut_off: bool = False) -> SmiReport:
    header = document.header
    return SmiReport(
        driver_version=version(header.get("driver_version")) or version(header.get("kmd_version")),
        cuda_version=version(header.get("cuda_version")) or version(header.get("cuda_umd_version")),
        attached_gpus_stated=whole(header.get("attached_gpus")),
        gpus=tuple(document.gpus),
        cut_off=cut_off,
        warnings=tuple(line.strip()[:500] for line in around.splitlines() if "WARNING" in line or smi_error.find(line)),
    )


def as_dict(reading: SmiReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_xml`: the header's values, then one list per field over the GPUs."""
    columns = gpu_columns(reading.gpus)
    columns["active_clock_reasons"] = [listed_reasons(gpu, "clocks_event_reason_") for gpu in reading.gpus]
    return {
        "driver_version": reading.driver_version,
        "cuda_version": reading.cuda_version,
        "attached_gpus_stated": reading.attached_gpus_stated,
        "gpus": len(reading.gpus),
        **columns,
    }


def recognise(text: str) -> int:
    """Sure when the root element of the report is in the head of the text."""
    head = text[:4000].replace("\x00", "")
    if "<nvidia_smi_log" in head or _ESCAPED in head or "nvsmi_device" in head:
        return 95
    return 60 if "<gpu id=" in head else 0
