"""Which GPUs and MIG devices does `nvidia-smi -L` list?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import is_broken, plain, plain_text, squeezed_lines, word

FACT = Fact(
    id="smi_list",
    title=Text("List of GPUs", "GPU 列表"),
    command=Command("nvidia-smi", "-L"),
    lane="nvidia",
    ok_codes=None,
)

_ID = r"\((?:UUID|S/N):\s*(?P<id>[^)\s]+)\s*\)"
_LEAD = r"\s*(?:[-*•]\s+)?"  # a list in a chat
_GPU = re.compile(rf"{_LEAD}GPU\s+(?P<index>\d{{1,4}}):\s+(?P<name>[^(\n].*?)\s*(?:{_ID}\s*)?")
_HEAD = re.compile(rf"{_LEAD}GPU\s+\d{{1,4}}:")
# A paste may have lost the line end behind an id, or a narrow terminal may have put one into it.
_GLUED = re.compile(r"(?<=\))[ \t]*(?=GPU\s+\d{1,4}:\s|MIG\s+\S{1,40}\s+Device\s)")
_BROKEN_ID = re.compile(r"(\(UUID: [\w-]{4,60})\n[ \t]*([\w-]{1,60}\)[ \t]*(?:\n|\Z))")
_MIG = re.compile(rf"{_LEAD}MIG\s+(?P<profile>\S.*?)\s+Device\s+(?P<index>\d{{1,3}}):\s*(?:{_ID})?\s*")


@dataclass(frozen=True, slots=True)
class MigDevice:
    """One slice: `gpu` is the index of its card as listed."""

    gpu: int | None
    profile: str
    uuid: str | None


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """One line of a card."""

    index: int
    name: str | None
    uuid: str | None


@dataclass(frozen=True, slots=True)
class SmiList:
    """The cards and slices in the order printed. `cut_off`: the list breaks off, cards may be missing."""

    gpus: tuple[ListedGpu, ...]
    mig_devices: tuple[MigDevice, ...]
    cut_off: bool = False


def parse(output: CommandOutput) -> SmiList:
    """Read the list. Raises Unreadable: the failure that nvidia-smi names, or no line of a list."""
    gpus: list[ListedGpu] = []
    slices: list[MigDevice] = []
    text = _mended(plain_text(output))
    for item in _items(text):
        if isinstance(item, ListedGpu):
            if item in gpus:  # the whole list once more
                break
            gpus.append(item)
        else:
            slices.append(MigDevice(gpus[-1].index if gpus else None, item.profile, item.uuid))
    if not gpus and not slices:
        raise smi_error.unreadable(output, "the text has no line of nvidia-smi -L")
    heads = sum(1 for line in squeezed_lines(text) if _HEAD.match(line))
    torn = output.stdout_cut or output.exit_code not in (0, None) or heads > len(gpus)
    return SmiList(tuple(gpus), tuple(slices), torn)


def _mended(text: str) -> str:
    return _BROKEN_ID.sub(r"\1\2", _GLUED.sub("\n", text))


def _items(text: str) -> Iterator[ListedGpu | MigDevice]:
    lines = squeezed_lines(text)
    for at, line in enumerate(lines):
        gpu, mig = _GPU.fullmatch(line), _MIG.fullmatch(line)
        found = mig or gpu
        if found is None or (at == len(lines) - 1 and not found["id"]):  # a line that breaks off says no name
            continue
        if gpu and not gpu["id"] and "(UUID:" in gpu["name"]:  # it breaks off inside the id
            continue
        if mig:
            yield MigDevice(None, mig["profile"], mig["id"])
        elif gpu:
            name = None if is_broken(gpu["name"]) else word(gpu["name"])
            yield ListedGpu(int(gpu["index"]), name, gpu["id"])


def as_dict(reading: SmiList) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_list`."""
    return {
        "gpus": len(reading.gpus),
        "names": [gpu.name for gpu in reading.gpus],
        "uuids": [gpu.uuid for gpu in reading.gpus],
        "mig_devices": len(reading.mig_devices),
        "mig_profiles": [device.profile for device in reading.mig_devices],
    }


def recognise(text: str) -> int:
    """Sure when every line is one of a list: link states (`nvlink -s`) have the same head lines, and more below."""
    lines = [line for line in squeezed_lines(_mended(plain(text[:20_000]))) if line.strip()]
    listed = sum(1 for line in lines if _GPU.fullmatch(line) or _MIG.fullmatch(line))
    if not listed:
        return 0
    others = [line for line in lines if not _GPU.fullmatch(line) and not _MIG.fullmatch(line)]
    if not others:
        return 90
    if all(smi_error.find(line) for line in others):  # a list with a lost card in it is still the list
        return 80
    return 60 if listed * 2 > len(lines) else 5
