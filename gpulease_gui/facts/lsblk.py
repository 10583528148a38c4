"""Which disks does the node have, and which one holds the root file system (`lsblk`)?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, items, words
from gpulease_gui.facts.table_text import clean, ends_mid_line, first_line, value, whole, whole_lines

# lsblk ends with 64 when some of the devices could not be asked: what it lists is still good.
FACT = Fact(
    id="lsblk",
    title=Text("Disks and file systems", "磁盘与文件系统"),
    command=Command("lsblk", "-J", "-b", "-o", "NAME,MODEL,SERIAL,SIZE,ROTA,TRAN,TYPE,FSTYPE,MOUNTPOINT,PHY-SEC"),
    ok_codes=(0, 64),
)

# Only a type at the very end of the text cannot go on: "/" could be the head of "/boot".
_SURE = re.compile(r"\s(disk|part|lvm|rom|loop|crypt|mpath)\s*$")
_TREE = re.compile(r"^[\s|`├└│─\-]+")


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
    if re.match(r"\s*\{", text):
        found = BlockDevices(tuple(_walk(items(document(text), "blockdevices"), "")), "json")
    elif re.match(r'\s*[A-Z][A-Z:_-]*="', text):
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
        name=told.get("name", ""),
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
        if "name" in told:
            mount = told.get("mountpoint") or told.get("mountpoints", "")
            yield _device(told, tuple(point for point in mount.split("\\x0a") if point))


def _tree(text: str) -> Iterator[BlockDevice]:
    """Rows under a header that begins with NAME; only the columns up to TYPE are never empty and can be told apart."""
    headings: list[str] = []
    for line in whole_lines(text, _SURE):
        cells = _TREE.sub("", line).split()
        if cells[:1] == ["NAME"]:
            headings = [cell.lower() for cell in cells]
        elif headings and cells:
            yield _row(headings, cells)


def _row(headings: list[str], cells: list[str]) -> BlockDevice:
    full = headings.index("type") + 1 if "type" in headings else 1
    sure = dict(zip(headings[:full], cells, strict=False)) if len(cells) >= full else {"name": cells[0]}
    after = cells[full : full + 1]
    mounted = (
        headings[full : full + 1] in (["mountpoint"], ["mountpoints"]) and after and after[0].startswith(("/", "["))
    )
    return _device(sure, (after[0],) if mounted else ())


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
    if '"blockdevices"' in text[:2000]:
        return 95
    return 90 if re.search(r"^[ \t]*NAME\s.*\b(MAJ:MIN|FSTYPE|MOUNTPOINTS?)\b|^NAME=\"", text, re.MULTILINE) else 0
