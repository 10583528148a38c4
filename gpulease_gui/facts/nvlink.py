"""Which NVLinks of every GPU are up, and how fast (`nvidia-smi nvlink -s`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.driver_text import failed_after, no_reading
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.nvlink_text import GpuHead, gpu_head, unglued
from gpulease_gui.facts.table_text import ends_mid_line, number

FACT = Fact(
    id="nvlink",
    title=Text("NVLink status", "NVLink 状态"),
    command=Command("nvidia-smi", "nvlink", "-s"),
    seconds=40,
    lane="nvidia",
    ok_codes=None,
)

_LINK = re.compile(r"\s*(C2C )?Link (\d{1,4}):(.*)")


@dataclass(frozen=True, slots=True)
class Link:
    """One link. `gb_s` is the raw rate in GB/s one way; `active` None = the text tells neither a rate nor inactive."""

    number: int
    active: bool | None
    gb_s: float | None


@dataclass(frozen=True, slots=True)
class GpuLinks:
    """The links of one GPU, and the lines that stand in their place."""

    index: int
    name: str
    uuid: str | None
    links: tuple[Link, ...] = ()
    c2c_links: tuple[Link, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """How findings name this GPU."""
        return self.uuid or f"gpu{self.index}"

    @property
    def active_count(self) -> int:
        """Links with a rate."""
        return sum(link.active is True for link in self.links)

    @property
    def inactive(self) -> tuple[int, ...]:
        """Numbers of the links that are down."""
        return tuple(link.number for link in self.links if link.active is False)

    @property
    def all_inactive(self) -> bool:
        """Does the driver say that every link is down?"""
        return any("all links are inactive" in message.lower() for message in self.messages)

    @property
    def unsupported(self) -> bool:
        """Does the driver say that this card has no NVLink?"""
        return any("not have or support nvlink" in message.lower() for message in self.messages)

    @property
    def mig_hides(self) -> bool:
        """Are the links hidden because the card is in MIG mode?"""
        return any("mig mode" in message.lower() for message in self.messages)


@dataclass(frozen=True, slots=True)
class NvlinkReport:
    """All GPUs in the order printed. `cut_off`: the text ends inside a line or at the cap, links may be missing."""

    gpus: tuple[GpuLinks, ...]
    messages: tuple[str, ...] = ()
    cut_off: bool = False


def parse(output: CommandOutput) -> NvlinkReport:
    """Read the lines `GPU n:` and `Link n:`. Raises Unreadable: no GPU is named, or the command failed (the list is the reading)."""
    text = unglued(output.text)
    gpus: list[tuple[GpuHead, list[str]]] = []
    before: list[str] = []
    rows = [line for line in text.split("\n") if line.strip()]
    for line in rows:
        if head := gpu_head(line):
            if any(head == shown for shown, _ in gpus):
                break  # the whole report once more
            gpus.append((head, []))
        elif gpus:
            gpus[-1][1].append(line)
        else:
            before.append(line.strip())
    torn = ends_mid_line(text) and bool(rows) and not _whole(rows[-1])
    if torn and gpus and gpu_head(rows[-1]):
        gpus.pop()  # its name may go on
    if not gpus:
        raise no_reading(output, "NVLink status")
    report = NvlinkReport(tuple(_links(*gpu) for gpu in gpus), tuple(before), output.stdout_cut or torn)
    if output.exit_code and any(gpu.links for gpu in report.gpus):
        raise failed_after(output, replace(report, cut_off=True), "list of links")
    return report


def _links(head: GpuHead, lines: list[str]) -> GpuLinks:
    found = [(line, _LINK.fullmatch(line)) for line in lines]
    links = [(hit[1], _link(int(hit[2]), hit[3].strip())) for _, hit in found if hit]
    return GpuLinks(
        head.index, head.name, head.uuid, tuple(link for c2c, link in links if not c2c),
        tuple(link for c2c, link in links if c2c), tuple(line.strip() for line, hit in found if not hit),
    )  # fmt: skip


def _link(index: int, told: str) -> Link:
    rate = re.fullmatch(r"(\S+)\s*([GM])B/s", told)
    speed = number(rate[1]) if rate else None
    if rate and speed is not None and rate[2] == "M":
        speed /= 1000
    if speed is not None:
        return Link(index, speed > 0, speed)
    return Link(index, False if "inactive" in told.lower() else None, None)


def _whole(line: str) -> bool:
    """Is `line` surely not torn though no line end follows it?"""
    head = gpu_head(line)
    return bool(head and head.uuid) or line.rstrip().endswith(("GB/s", "<inactive>"))


def as_dict(reading: NvlinkReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind nvlink`; lists run over the GPUs."""
    c2c = sum(len(gpu.c2c_links) for gpu in reading.gpus)
    return {
        "gpus": len(reading.gpus),
        "indexes": [gpu.index for gpu in reading.gpus],
        "names": [gpu.name for gpu in reading.gpus],
        "links_listed": [len(gpu.links) for gpu in reading.gpus],
        "links_active": [gpu.active_count for gpu in reading.gpus],
        "links_inactive": [list(gpu.inactive) for gpu in reading.gpus],
        "gb_per_s_per_link": [_speeds(gpu) for gpu in reading.gpus],
        "c2c_links": c2c or None,
        "messages": [message for gpu in reading.gpus for message in gpu.messages],
        "cut_off": reading.cut_off,
    }


def _speeds(gpu: GpuLinks) -> list[float]:
    return list(dict.fromkeys(link.gb_s for link in gpu.links if link.active and link.gb_s is not None))


def recognise(text: str) -> int:
    """A GPU line, and link lines with rates or a sentence about NVLink."""
    plain = unglued(text[:100_000])
    if not re.search(r"^[ \t]*GPU \d+: ", plain, re.MULTILINE):
        return 0
    if re.search(r"^[ \t]*(C2C )?Link \d+:\s*(\S+ [GM]B/s|<inactive>|Remote Device)", plain, re.MULTILINE):
        return 95
    if re.search(r"^[ \t]*Link \d+, [A-Za-z0-9 ]+:", plain, re.MULTILINE):
        return 90
    return 85 if re.search(r"^(?!GPU ).*nvlink", plain, re.MULTILINE | re.IGNORECASE) else 0
