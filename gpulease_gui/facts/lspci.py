"""Which PCI devices does `lspci` list?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import clean, ends_mid_line, first_line

FACT = Fact(id="lspci", title=Text("PCI devices (lspci)", "PCI 设备(lspci)"))

_SLOT = r"(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
# "01:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)", or numbers only: "01:00.0 0302: 10de:2330".
_LINE = re.compile(rf"({_SLOT})\s+(?:\"([^\"]*)\"\s+|([^:\[\]]{{0,100}}?)\s{{0,9}}(?:\[([0-9a-fA-F]{{4}})\])?:\s+)(.*)")
_IDS = re.compile(r"(?:\[|^)([0-9a-fA-F]{4}):([0-9a-fA-F]{4})(?:\]|\b)")
_GPU_CLASSES = ("0300", "0302", "VGA compatible controller", "3D controller")
_BRIDGE_CLASSES = ("0680", "Bridge")


@dataclass(frozen=True, slots=True)
class PciDevice:
    """One function; ids are four hex digits in lower case, None = the form of the output does not tell them."""

    slot: str
    class_name: str
    class_code: str | None
    words: str
    vendor_id: str | None = None
    device_id: str | None = None

    def is_of(self, vendor_id: str, vendor_word: str) -> bool:
        """Is it of this vendor, by its id where told, else by the first word of its name (in lower case)?"""
        return self.vendor_id == vendor_id if self.vendor_id else self.words.lower().startswith(vendor_word)

    def is_class(self, classes: tuple[str, ...]) -> bool:
        """Is its class one of these codes or names?"""
        return self.class_code in classes or self.class_name in classes


@dataclass(frozen=True, slots=True)
class PciList:
    """All functions in the order printed. `cut_off`: the last line has no end, functions may be missing."""

    devices: tuple[PciDevice, ...]
    cut_off: bool = False

    @property
    def nvidia_gpus(self) -> tuple[PciDevice, ...]:
        """Display and 3D controllers of NVIDIA."""
        return tuple(d for d in self.devices if d.is_of("10de", "nvidia") and d.is_class(_GPU_CLASSES))

    @property
    def nvswitch_bridges(self) -> tuple[PciDevice, ...]:
        """NVSwitch functions: bridges of NVIDIA."""
        return tuple(d for d in self.devices if d.is_of("10de", "nvidia") and d.is_class(_BRIDGE_CLASSES))

    @property
    def mellanox_functions(self) -> tuple[PciDevice, ...]:
        """Every function of Mellanox."""
        return tuple(d for d in self.devices if d.is_of("15b3", "mellanox"))


def parse(output: CommandOutput) -> PciList:
    """Read device lines (-nn, -n, -k, -v) or records (-vmm). Raises Unreadable when there is none."""
    text = clean(output.text)
    records = [_record(block) for block in re.split(r"\n\s*\n", text) if re.match(r"\s*(Slot|Device):\s", block)]
    devices = [found for found in records if found] or [
        device for line in text.split("\n") if (device := _device(line)) is not None
    ]
    if not devices:
        raise Unreadable(f"no PCI device in the output: {first_line(text) or 'it is empty'}")
    return PciList(tuple(devices), output.stdout_cut or ends_mid_line(text))


def _device(line: str) -> PciDevice | None:
    found = _LINE.match(line)
    if found is None:
        return None
    words = found[5].replace('"', "").strip()
    ids = _IDS.search(words)
    name = found[2] or found[3] or ""
    numeric = re.fullmatch(r"[0-9a-fA-F]{4}", name)
    code = name if numeric else found[4]
    return PciDevice(
        slot=found[1],
        class_name="" if numeric else name,
        class_code=code.lower() if code else None,
        words=words,
        vendor_id=ids[1].lower() if ids else None,
        device_id=ids[2].lower() if ids else None,
    )


def _record(block: str) -> PciDevice | None:
    """One record of -vmm: `Name: words [id]`, or the id alone with -n; the slot may be called Device in old versions."""
    told: dict[str, str] = {}
    for line in block.split("\n"):
        name, _, rest = line.strip().partition(":")
        told.setdefault(name, rest.strip())
    if "Class" not in told:
        return None
    class_name, class_code = _named(told["Class"])
    vendor, vendor_id = _named(told.get("Vendor", ""))
    device, device_id = _named(told.get("Device", ""))
    words = f"{vendor} {device}".strip()
    return PciDevice(told.get("Slot", ""), class_name, class_code, words, vendor_id, device_id)


def _named(told: str) -> tuple[str, str | None]:
    """Words and hex id of a record's field."""
    if re.fullmatch(r"[0-9a-fA-F]{4}", told):
        return "", told.lower()
    name, _, tail = told.rpartition("[")
    return (name.strip(), tail[:4].lower()) if re.fullmatch(r"[0-9a-fA-F]{4}\]", tail) else (told, None)


def as_dict(reading: PciList) -> dict[str, object]:
    """The keys of `gpulease parse --kind lspci`."""
    return {
        "devices": len(reading.devices),
        "nvidia_gpus": len(reading.nvidia_gpus),
        "nvidia_gpu_slots": [device.slot for device in reading.nvidia_gpus],
        "nvswitch_bridges": len(reading.nvswitch_bridges),
        "mellanox_functions": len(reading.mellanox_functions),
        "cut_off": reading.cut_off,
    }


def recognise(text: str) -> int:
    """Device lines, or records with slot and class."""
    rows = [line for line in clean(text).split("\n")[:200] if line.strip()]
    if re.search(r"^Slot:\s+\S+\nClass:", clean(text), re.MULTILINE):
        return 95
    hits = sum(_device(line) is not None for line in rows)
    return 90 if hits and _device(rows[0]) is not None else (60 if hits >= 2 else 0)
