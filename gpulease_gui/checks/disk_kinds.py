"""What kind of disk is meant by the words of a contract, and what kind is a disk of the node?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.text import Text
from gpulease_gui.facts.lsblk import BlockDevice


class DiskKind(StrEnum):
    """Virtual: the host shows a disk and hides what it is made of. Unknown: the output does not say enough."""

    NVME = "nvme"
    SSD = "ssd"
    HDD = "hdd"
    NETWORK = "network"
    VIRTUAL = "virtual"
    UNKNOWN = "unknown"


KIND_WORDS = {
    DiskKind.NVME: Text("NVMe", "NVMe"),
    DiskKind.SSD: Text("SATA/SAS SSD", "SATA/SAS 固态盘"),
    DiskKind.HDD: Text("hard disk", "机械硬盘"),
    DiskKind.NETWORK: Text("network disk", "网络盘"),
    DiskKind.VIRTUAL: Text("virtual disk", "虚拟盘"),
    DiskKind.UNKNOWN: Text("disk of unknown kind", "类型未知的磁盘"),
}

_PROMISED: tuple[tuple[DiskKind, re.Pattern[str]], ...] = (
    (
        DiskKind.NETWORK,
        re.compile(r"cloud|network|\bnas\b|\bnfs\b|ceph|\bebs\b|shared|云盘|云硬盘|网络|共享|分布式", re.I),
    ),
    (DiskKind.NVME, re.compile(r"nvme|u\.2|pcie ssd", re.I)),
    (DiskKind.SSD, re.compile(r"ssd|solid|flash|固态|闪存", re.I)),
    (DiskKind.HDD, re.compile(r"hdd|hard dis[ck]|spinning|机械", re.I)),
)
_AMOUNT = re.compile(r"\b(\d{1,3})\s*(?:[x×*]|块)\s*(?:(\d{1,6}(?:\.\d{1,3})?)\s*(tb|gb|t|g)\b)?", re.I)
_NETWORK_MODELS = re.compile(r"elastic block|nvme-?of|persistentdisk|cloud ?disk", re.I)
_VIRTUAL_MODELS = re.compile(r"virtual|qemu|vbox|vmware", re.I)
_NETWORK_TRANSPORTS = ("iscsi", "fc", "fcoe", "rbd")


@dataclass(frozen=True, slots=True)
class PromisedDisk:
    """What a contract's words ask for; `count` and `each_gb` (decimal) None = the words don't say."""

    kind: DiskKind
    count: int | None = None
    each_gb: float | None = None


def promised_disk(words: str) -> PromisedDisk | None:
    """The disk that `words` name, such as "2 x 3.84 TB NVMe"; None if no kind is named."""
    kind = next((kind for kind, pattern in _PROMISED if pattern.search(words)), None)
    amount = _AMOUNT.search(words)
    if kind is None:
        return None
    if amount is None:
        return PromisedDisk(kind)
    each = float(amount[2]) * (1000 if (amount[3] or "").lower().startswith("t") else 1) if amount[2] else None
    return PromisedDisk(kind, int(amount[1]), each)


def is_disk(device: BlockDevice) -> bool:
    """Whether a row is a disk to rent: no loop, memory disk, CD, stick, or empty reader."""
    made_up = device.name.startswith(("loop", "zram", "ram", "sr", "fd"))
    return device.type == "disk" and not made_up and device.transport != "usb" and device.size_bytes != 0


def kind_of(device: BlockDevice) -> DiskKind:
    """The kind that name, transport, model and rotation tell. Virtual disks report rotation by default."""
    model = device.model or ""
    if (
        device.name.startswith(("rbd", "nbd", "drbd"))
        or device.transport in _NETWORK_TRANSPORTS
        or _NETWORK_MODELS.search(model)
    ):
        return DiskKind.NETWORK
    if device.name.startswith(("vd", "xvd")) or device.transport == "virtio" or _VIRTUAL_MODELS.search(model):
        return DiskKind.VIRTUAL
    if device.name.startswith("nvme") or device.transport == "nvme":
        return DiskKind.NVME
    if device.rotational is None:
        return DiskKind.UNKNOWN
    return DiskKind.HDD if device.rotational else DiskKind.SSD
