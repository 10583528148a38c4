"""Which disks does the node have, and which one holds the root file system (`lsblk`)?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, items, words
from gpulease_gui.facts.table_text import clean, ends_mid_line, first_line, is_prompt, value, whole

# lsblk ends with 64 when some of the devices could not be asked: what it lists is still good.
FACT = Fact(
    id="lsblk",
    title=Text("Disks and file systems", "磁盘与文件系统"),
    command=Command("lsblk", "-J", "-b", "-o", "NAME,MODEL,SERIAL,SIZE,ROTA,TRAN,TYPE,FSTYPE,MOUNTPOINT,PHY-SEC"),
    ok_codes=(0, 64),
)

# A type at the very end of the text cannot go on, "/" could be the head of "/boot".
_SURE = re.compile(r"\s(disk|part|lvm|rom|loop|crypt|mpath)\s*$")
_TREE = re.compile(r"[\s|`├└│─-]*")
_HEADINGS = re.compile(r"\s*(?:[A-Z][A-Z0-9:%_-]*\s+)*[A-Z][A-Z0-9:%_-]*\s*")
_WITH_BLANKS = ("model", "label", "partlabel", "vendor")
_OWN_HEADINGS = {"MAJ:MIN", "FSTYPE", "MOUNTPOINT", "MOUNTPOINTS", "ROTA", "FSAVAIL", "PKNAME"}
_COMMON_HEADINGS = {"TYPE", "SIZE", "MODEL", "TRAN", "RO", "RM", "SERIAL"}
_SHAPES = {
    "maj:min": re.compile(r"\d+:\d+"),
    "size": re.compile(r"\d+(?:[.,]\d+)?[BKMGTPE]?"),
    "rota": re.compile(r"[01]"),
    "type": re.compile(r"[a-z]+\d{0,2}"),
}


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """One row of the tree; `size_text` as printed, `size_bytes` only when that is a plain number. None = not told.

    `parent` is the name of the device above, "" at the top. A device below several others is listed below each.
    """

    name: str
    type: str | None = None
    size_text: str | None = None
    size_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    rotational: bool | None = None
    transport: str | None = None
    fstype: str | None = None
    mountpoints: tuple[str, ...] = ()
    physical_sector_bytes: int | None = None
    parent: str = ""


@dataclass(frozen=True, slots=True)
class BlockDevices:
    """All rows in the order printed. `form`: json, pairs or text. `cut_off`: the last line has no end."""

    devices: tuple[BlockDevice, ...]
    form: str
    cut_off: bool = False

    @property
    def disks(self) -> tuple[BlockDevice, ...]:
        """Rows of type disk."""
        return tuple(device for device in self.devices if device.type == "disk")

    @property
    def root(self) -> BlockDevice | None:
        """The device mounted at /."""
        return next((device for device in self.devices if "/" in device.mountpoints), None)


def parse(output: CommandOutput) -> BlockDevices:
    """Read JSON, -P pairs or the tree. Raises Unreadable: no device, JSON that breaks off."""
    text = clean(output.text)
    cut = output.stdout_cut or ends_mid_line(text)
    if '"blockdevices"' in text:
        found = BlockDevices(tuple(_walk(items(document(text), "blockdevices"), "")), "json")
    elif re.search(r'^[ \t]*[A-Z][A-Z:_-]*="', text, re.MULTILINE):
        found = BlockDevices(tuple(_pairs(text)), "pairs", cut)
    else:
        found = BlockDevices(tuple(_tree(text)), "text", cut)
    if not found.devices:
        raise Unreadable(f"no block device in the output: {first_line(text) or 'it is empty'}")
    return found


def _walk(found: list[dict[str, Any]], parent: str) -> Iterator[BlockDevice]:
    for one in found:
        device = _device({name: _plain(name, one[name]) for name in one if name != "children"}, _mounts(one), parent)
        yield device
        yield from _walk(items(one, "children"), device.name)


def _plain(name: str, found: Any) -> str:
    """A JSON value as lsblk's other forms print it; only `rota` may be a truth value."""
    if isinstance(found, bool):
        return str(int(found)) if name == "rota" else ""
    return str(found) if isinstance(found, (str, int)) else ""


def _mounts(one: dict[str, Any]) -> tuple[str, ...]:
    listed = one.get("mountpoints")
    found = [words(one, "mountpoint"), *(listed if isinstance(listed, list) else [])]
    return tuple(point for point in found if isinstance(point, str) and point)


def _device(told: dict[str, str], mounts: tuple[str, ...], parent: str = "") -> BlockDevice:
    size = value(told.get("size", ""))
    return BlockDevice(
        name=told.get("name") or told.get("path") or told.get("kname") or "",
        type=value(told.get("type", "")),
        size_text=size,
        size_bytes=whole(size or ""),
        model=value(told.get("model", "")),
        serial=value(told.get("serial", "")),
        rotational={"1": True, "0": False}.get(told.get("rota", "")),
        transport=value(told.get("tran", "")),
        fstype=value(told.get("fstype", "")),
        mountpoints=mounts,
        physical_sector_bytes=whole(told.get("phy-sec", "")),
        parent=parent,
    )


def _pairs(text: str) -> Iterator[BlockDevice]:
    for line in text.split("\n"):
        told = {name.lower().replace("_", "-"): cell for name, cell in re.findall(r'([A-Z][A-Z:_-]*)="([^"]*)"', line)}
        if told.get("name") or told.get("path") or told.get("kname"):
            yield _device(told, _points(told))


def _points(told: dict[str, str]) -> tuple[str, ...]:
    """The mount points of a cell; several are joined by an escaped line feed."""
    mount = told.get("mountpoint") or told.get("mountpoints", "")
    return tuple(point for point in mount.split("\\x0a") if point)


def _tree(text: str) -> list[BlockDevice]:
    """Rows under a line of headings. A row that begins below MOUNTPOINTS is one more mount point of the row above."""
    headings: list[tuple[int, str]] = []
    found: list[BlockDevice] = []
    rows = [line.expandtabs(8) for line in text.split("\n") if line.strip()]
    torn = len(rows) - 1 if ends_mid_line(text) and rows and not _SURE.search(rows[-1]) else None
    for number, line in enumerate(rows):
        if is_prompt(line):
            headings = []
        elif _is_heading(line):
            headings = [(word.start(), word[0].lower()) for word in re.finditer(r"\S+", line)]
        elif headings:
            told = _cells(headings, line, torn=number == torn)
            if told.keys() & {"name", "path", "kname"}:
                found.append(_device(told, _points(told)))
            elif found and set(told) == {"mountpoints"}:
                found[-1] = replace(found[-1], mountpoints=(*found[-1].mountpoints, told["mountpoints"]))
    return found


def _is_heading(line: str) -> bool:
    words = line.split()
    return bool({"NAME", "KNAME", "PATH"} & set(words)) and len(words) > 1 and _HEADINGS.fullmatch(line) is not None


def _cells(headings: list[tuple[int, str]], line: str, *, torn: bool) -> dict[str, str]:
    """The cells of a row by heading; of a torn row without its last cell, which could go on."""
    names = [name for _, name in headings]
    tree = _TREE.match(line)
    start = tree.end() if tree else 0
    raw = line.rstrip(" ").split(" ") if line.count(" ") == len(names) - 1 else []
    told = dict(zip(names, raw, strict=False)) if raw and names[0] == "name" and not start else {}
    if not told or not _fits(told):
        told = _under(headings, line, start)
    if not _fits(told):
        told = _in_order(names, line[start:].split())
    if torn and told:
        told.pop(list(told)[-1])
    return {name: _bare(cell) if name == "name" else cell for name, cell in told.items() if cell}


def _bare(cell: str) -> str:
    """A name without the tree in front of it, where NAME is not the first column."""
    tree = _TREE.match(cell)
    return cell[tree.end() :] if tree else cell


def _fits(told: dict[str, str]) -> bool:
    """Has every cell the shape that its heading asks for?"""
    return all(shape.fullmatch(told[name]) for name, shape in _SHAPES.items() if told.get(name))


def _under(headings: list[tuple[int, str]], line: str, start: int) -> dict[str, str]:
    """Every word under the heading that it overlaps; a word beside all of them belongs to the cell that it goes on with."""
    told: dict[str, str] = {}
    at = 0
    for word in re.finditer(r"\S+", line[start:]):
        first, last = word.start() + start, word.end() + start
        fitting = [n for n, (place, name) in enumerate(headings) if place < last and first < place + len(name)]
        left = max((n for n, (place, _) in enumerate(headings) if place <= first), default=0)
        at = max(at, min(fitting, default=left)) if told else (fitting or [left])[0]
        name = headings[at][1]
        told[name] = f"{told[name]} {word[0]}" if name in told else word[0]
    return told


def _in_order(names: list[str], cells: list[str]) -> dict[str, str]:
    """A copy that lost its columns: the cells up to TYPE are never empty, if none of them may hold blanks."""
    full = names.index("type") + 1 if "type" in names else 1
    if len(cells) < full or set(names[:full]) & set(_WITH_BLANKS):
        return {names[0]: cells[0]} if cells and names[0] in ("name", "path", "kname") else {}
    told = dict(zip(names[:full], cells, strict=False))
    mount = cells[full : full + 1]
    if names[full : full + 1] in (["mountpoint"], ["mountpoints"]) and mount and mount[0].startswith(("/", "[")):
        told[names[full]] = mount[0]
    return told if _fits(told) else {names[0]: cells[0]}


def as_dict(reading: BlockDevices) -> dict[str, object]:
    """The keys of `gpulease parse --kind lsblk`; sizes as printed, a number where they are one."""
    root = reading.root
    return {
        "total_devices": len(reading.devices),
        "names": [device.name for device in reading.devices],
        "disks": [
            {
                "name": disk.name,
                "size": disk.size_text if disk.size_bytes is None else disk.size_bytes,
                "model": disk.model,
                "rota": disk.rotational,
            }
            for disk in reading.disks
        ],
        "root_device": root.name if root else None,
        "cut_off": reading.cut_off,
    }


def recognise(text: str) -> int:
    """The JSON name of the list, the header of the tree, or pairs."""
    if '"blockdevices"' in text[:5000]:
        return 95
    if re.search(r'^(?=.*\bNAME=").*\b(?:SIZE|TYPE|FSTYPE|MOUNTPOINTS?|ROTA)="', text, re.MULTILINE):
        return 90
    heads = [set(line.split()) for line in text[:5000].split("\n") if _is_heading(line)]
    return 90 if any(head & _OWN_HEADINGS or len(head & _COMMON_HEADINGS) > 1 for head in heads) else 0
