"""Into which MIG instances are the GPUs cut?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import parted_rows, plain, plain_text, squeezed_lines

FACT = Fact(
    id="mig",
    title=Text("MIG instances", "MIG 实例"),
    command=Command("nvidia-smi", "mig", "-lgi"),
    lane="nvidia",
    ok_codes=None,  # "No MIG-enabled devices found" comes with a code of its own and is an answer
)

_PROFILE = re.compile(
    r"\s*(?P<gpu>\d+)\s+MIG\s+(?P<profile>\S+)\s+(?P<id>\d+)\s+(?P<free>\d+)\s*/\s*(?P<total>\d+)"
    r"\s+(?P<memory>\d+(?:\.\d+)?)\s+(?P<p2p>Yes|No)\s+(?P<sm>\d+)\b.*"
)
_INSTANCE = re.compile(
    r"\s*(?P<gpu>\d+)\s+MIG\s+(?P<profile>\S+)\s+(?P<id>\d+)\s+(?P<instance>\d+)\s+(?P<start>\d+)\s*:\s*(?P<size>\d+)\s*"
)
_DEVICE = re.compile(r"\s*(?P<gpu>\d+)\s+(?P<gi>\d+)\s+(?P<ci>\d+)\s+(?P<device>\d+)\s*")
_MEMORY = re.compile(r"\s*\d+\s?MiB\s*/\s*(\d+)\s?MiB\s*")
_NONE = re.compile(r"no MIG-enabled devices found|no GPU instances found", re.IGNORECASE)
_COMPUTE = re.compile(r"\s*(?P<gpu>\d+)\s+(?P<instance>\d+)\s+MIG\s+(?P<profile>\S+)\s+(?P<id>\d+)\*?\s+\d.*")
_HEADS = re.compile(r"GPU instance profiles:|GPU instances:|MIG devices:|Compute instances:|Compute instance profiles:")


@dataclass(frozen=True, slots=True)
class Profile:
    """One line of -lgip: how many instances of this size are free and possible."""

    gpu: int
    profile: str
    profile_id: int
    free: int
    total: int
    memory_gib: float
    p2p: str
    sm: int


@dataclass(frozen=True, slots=True)
class Instance:
    """One line of -lgi: a slice that exists."""

    gpu: int
    profile: str
    profile_id: int
    instance_id: int
    placement_start: int
    placement_size: int


@dataclass(frozen=True, slots=True)
class ComputeRow:
    """One line of -lci or -lcip: a part of the slice `instance_id`, or how it may be parted."""

    gpu: int
    instance_id: int
    profile: str
    profile_id: int


@dataclass(frozen=True, slots=True)
class Device:
    """One record of the "MIG devices" block of the plain table."""

    gpu: int
    gi: int
    ci: int
    memory_total_mib: int | None


@dataclass(frozen=True, slots=True)
class Mig:
    """Whichever of the three lists was printed; all empty: the node says that there is no instance."""

    profiles: tuple[Profile, ...] = ()
    instances: tuple[Instance, ...] = ()
    devices: tuple[Device, ...] = ()
    compute: tuple[ComputeRow, ...] = ()


def parse(output: CommandOutput) -> Mig:
    """Read any of the three forms. Raises Unreadable if it is none of them."""
    text = plain_text(output)
    rows = list(_rows(text))
    found = Mig(
        tuple(row for row in rows if isinstance(row, Profile)),
        tuple(row for row in rows if isinstance(row, Instance)),
        tuple(row for row in rows if isinstance(row, Device)),
        tuple(row for row in rows if isinstance(row, ComputeRow)),
    )
    if found.compute and not (found.profiles or found.instances or found.devices):
        raise Unreadable(
            "this lists what a slice is parted into, not the slices", next_step="run nvidia-smi mig -lgi", reading=found
        )
    if not rows and not _NONE.search(text) and not _NONE.search(output.error_text):
        raise smi_error.unreadable(output, "the text lists no MIG instance, profile or device")
    return found


def _rows(text: str) -> Iterator[Profile | Instance | Device | ComputeRow]:
    for line in squeezed_lines(parted_rows(text)):
        if line.count("|") < 2:
            continue
        cells = line.split("|")[1:-1]
        row = _listed(cells[0]) if len(cells) == 1 else _device(cells)
        if row:
            yield row


def _listed(cell: str) -> Profile | Instance | ComputeRow | None:
    if at := _INSTANCE.fullmatch(cell):
        numbers = (int(at[key]) for key in ("id", "instance", "start", "size"))
        return Instance(int(at["gpu"]), at["profile"], *numbers)
    if at := _PROFILE.fullmatch(cell):
        return Profile(
            int(at["gpu"]), at["profile"], int(at["id"]), int(at["free"]), int(at["total"]), float(at["memory"]),
            at["p2p"], int(at["sm"]),
        )  # fmt: skip
    if at := _COMPUTE.fullmatch(cell):
        return ComputeRow(int(at["gpu"]), int(at["instance"]), at["profile"], int(at["id"]))
    return None


def _device(cells: list[str]) -> Device | None:
    ids = _DEVICE.fullmatch(cells[0])
    if ids is None:
        return None
    memory = _MEMORY.fullmatch(cells[1])
    return Device(int(ids["gpu"]), int(ids["gi"]), int(ids["ci"]), int(memory[1]) if memory else None)


def as_dict(reading: Mig) -> dict[str, object]:
    """The keys of `gpulease parse --kind mig`; a list that was not printed is None."""
    lists = (reading.profiles, reading.instances, reading.devices, reading.compute)
    return {
        "count": max(len(items) for items in lists),
        "profiles": [asdict(item) for item in reading.profiles] or None,
        "instances": [asdict(item) for item in reading.instances] or None,
        "mig_devices": [asdict(item) for item in reading.devices] or None,
        "compute_instances": [asdict(item) for item in reading.compute] or None,
    }


def recognise(text: str) -> int:
    """By the heading of the lists; in a whole table of nvidia-smi the block is only a part."""
    head = plain(text[:20_000])
    if _HEADS.search(head):
        return 80
    return 60 if _NONE.search(head) else 0
