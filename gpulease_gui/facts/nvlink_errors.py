"""Which errors has every NVLink counted (`nvidia-smi nvlink -e`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.driver_text import failed_after, no_reading
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.nvlink_text import GpuHead, gpu_head, unglued
from gpulease_gui.facts.table_text import ends_mid_line, whole

FACT = Fact(
    id="nvlink_errors", title=Text("NVLink error counters", "NVLink 错误计数"), command=Command("nvidia-smi", "nvlink", "-e"),
    seconds=40, lane="nvidia", ok_codes=None,
)  # fmt: skip

_LONGEST_LINE = 1000
_COUNT = re.compile(r"\s*Link (\d{1,4}):\s*([A-Za-z][^:\n]{0,60}):\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class LinkCount:
    """One counter of one link: `name` in small letters ("replay errors"); `count` None = a word, no number."""

    link: int
    name: str
    count: int | None


@dataclass(frozen=True, slots=True)
class GpuCounts:
    """The counters of one GPU, and the lines that stand in their place."""

    index: int
    uuid: str | None
    counts: tuple[LinkCount, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """How findings name this GPU."""
        return self.uuid or f"gpu{self.index}"

    def total(self, *words: str) -> int:
        """The sum of the counters whose names hold one of `words`."""
        return sum(c.count or 0 for c in self.counts if any(word in c.name for word in words))


@dataclass(frozen=True, slots=True)
class NvlinkErrors:
    """All GPUs in the order printed. `cut_off`: the text ends inside a line, counters may be missing."""

    gpus: tuple[GpuCounts, ...]
    cut_off: bool = False


def parse(output: CommandOutput) -> NvlinkErrors:
    """Read the lines `GPU n:` and `Link n: NAME: COUNT`. Raises Unreadable: no GPU is named, or the command failed."""
    text = unglued(output.text)
    gpus: list[tuple[GpuHead, list[str]]] = []
    for line in (row[:_LONGEST_LINE].rstrip() for row in text.split("\n") if row.strip()):
        if head := gpu_head(line):
            if any(head == shown for shown, _ in gpus):
                break  # the whole report once more
            gpus.append((head, []))
        elif gpus:
            gpus[-1][1].append(line)
    if not gpus:
        raise no_reading(output, "NVLink error counters")
    torn = ends_mid_line(text)
    if torn and gpus[-1][1]:
        gpus[-1][1].pop()  # its number may go on
    report = NvlinkErrors(tuple(_counts(*gpu) for gpu in gpus), output.stdout_cut or torn)
    if output.exit_code and any(gpu.counts for gpu in report.gpus):
        raise failed_after(output, replace(report, cut_off=True), "list of counters")
    return report


def _counts(head: GpuHead, lines: list[str]) -> GpuCounts:
    found = [(line, _COUNT.fullmatch(line)) for line in lines]
    counts = (LinkCount(int(hit[1]), hit[2].strip().lower(), whole(hit[3])) for _, hit in found if hit)
    return GpuCounts(head.index, head.uuid, tuple(counts), tuple(line.strip()[:200] for line, hit in found if not hit))


def as_dict(reading: NvlinkErrors) -> dict[str, object]:
    """The keys of `gpulease parse --kind nvlink_errors`; lists run over the GPUs."""
    return {
        "gpus": len(reading.gpus),
        "counters": [len(gpu.counts) for gpu in reading.gpus],
        "not_zero": [
            {f"{c.link} {c.name}": c.count for c in gpu.counts if c.count} for gpu in reading.gpus
        ],
        "messages": [message for gpu in reading.gpus for message in gpu.messages],
        "cut_off": reading.cut_off,
    }  # fmt: skip


def recognise(text: str) -> int:
    """A GPU line and a counter of a link."""
    plain = unglued(text[:20_000])
    head = re.search(r"^[ \t]*GPU \d+: ", plain, re.MULTILINE)
    return 96 if head and re.search(r"^[ \t]*Link \d+:\s*[A-Z][\w ]* Errors:", plain, re.MULTILINE) else 0
