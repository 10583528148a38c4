"""Which GPUs, NPUs and fast network cards does the PCI bus of the kernel show?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# The makers whose cards matter here: NVIDIA, Huawei, AMD, Mellanox.
_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/bus/pci/devices ]; then say bus yes; else say bus no; fi
count=0
for dir in /sys/bus/pci/devices/*; do
  [ -f "$dir/vendor" ] || continue
  count=$((count + 1))
  read -r vendor <"$dir/vendor"
  case $vendor in
    0x10de|0x19e5|0x1002|0x15b3)
      say device "${dir##*/}"
      put device_id "$dir/device"
      for name in vendor class subsystem_vendor subsystem_device numa_node; do put "$name" "$dir/$name"; done;;
  esac
done
say count "$count"
"""
    + END
)

FACT = Fact(id="pci_devices", title=Text("PCI devices", "PCI 设备"), command=Command(script=_SCRIPT), seconds=10)

NVIDIA, HUAWEI, AMD, MELLANOX = "10de", "19e5", "1002", "15b3"
_SLOT = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])\Z")


def bus_id(words: str | None) -> str | None:
    """A PCI address in one spelling (`0000:1b:00.0`), from 4 or 8 digits of domain or none; None if it is no address.

    >>> bus_id("00000000:1B:00.0"), bus_id("1b:00.0")
    ('0000:1b:00.0', '0000:1b:00.0')
    """
    match = _SLOT.match((words or "").strip().lower())
    if match is None:
        return None
    domain, bus, slot, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{slot}.{function}"


@dataclass(frozen=True, slots=True)
class PciDevice:
    """One function on the bus. Ids are four hexadecimal digits, `class_code` six; `numa_node` None = not told."""

    bus_id: str
    vendor: str
    device: str
    class_code: str
    subsystem_vendor: str | None = None
    subsystem_device: str | None = None
    numa_node: int | None = None

    @property
    def pci_id(self) -> str:
        """As in 10de:2330."""
        return f"{self.vendor}:{self.device}"

    @property
    def subsystem_id(self) -> str | None:
        """As in 10de:16c1; None if not told."""
        return f"{self.subsystem_vendor}:{self.subsystem_device}" if self.subsystem_vendor else None

    @property
    def is_gpu(self) -> bool:
        """A display or 3D controller of a GPU maker; NVSwitches (0680) and sound functions (0403) are none."""
        return self.vendor in (NVIDIA, AMD) and self.class_code[:4] in ("0300", "0302", "0380")

    @property
    def is_npu(self) -> bool:
        """An Ascend accelerator: processing accelerators have class 1200."""
        return self.vendor == HUAWEI and self.class_code[:4] == "1200"


@dataclass(frozen=True, slots=True)
class PciBus:
    """`visible` False: the node has no PCI bus in sysfs. `devices` are of the makers that matter, `count` of all."""

    visible: bool
    count: int | None
    devices: tuple[PciDevice, ...]

    @property
    def nvidia_gpus(self) -> tuple[PciDevice, ...]:
        """NVIDIA GPUs in the order of the bus."""
        return tuple(d for d in self.devices if d.vendor == NVIDIA and d.is_gpu)


def parse(output: CommandOutput) -> PciBus:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "bus")
    devices = tuple(d for record in lines.records("device") if (d := _device(record)))
    return PciBus(lines.first("bus") == "yes", lines.number("count"), devices)


def _device(record: KeyedLines) -> PciDevice | None:
    slot, vendor = bus_id(record.first("device")), _id(record.first("vendor"))
    device, code = _id(record.first("device_id")), _id(record.first("class"))
    if slot is None or vendor is None or device is None or code is None:
        return None
    numa = whole(record.first("numa_node"))
    return PciDevice(
        slot, vendor, device, code, _id(record.first("subsystem_vendor")), _id(record.first("subsystem_device")),
        numa if numa is not None and numa >= 0 else None,
    )  # fmt: skip


def _id(words: str | None) -> str | None:
    digits = (words or "").strip().lower().removeprefix("0x")
    return digits if re.fullmatch(r"[0-9a-f]{4,6}", digits) else None


def as_dict(reading: PciBus) -> dict[str, object]:
    """visible, count, and lists over the devices: bus_ids, pci_ids, subsystem_ids, classes, numa_nodes; nvidia_gpus."""
    return {
        "visible": reading.visible,
        "count": reading.count,
        "bus_ids": [d.bus_id for d in reading.devices],
        "pci_ids": [d.pci_id for d in reading.devices],
        "subsystem_ids": [d.subsystem_id for d in reading.devices],
        "classes": [d.class_code for d in reading.devices],
        "numa_nodes": [d.numa_node for d in reading.devices],
        "nvidia_gpus": len(reading.nvidia_gpus),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("bus: yes\n", "bus: no\n")) else 0
