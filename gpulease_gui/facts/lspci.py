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
_LINE = re.compile(
    rf"[ \t]{{0,12}}(?P<slot>{_SLOT})\s+(?=\S)"
    r"(?:\"(?P<quoted>[^\"]*)\"\s+|(?P<name>[^:\[\]]{0,100}?)\s{0,9}(?:\[(?P<code>[0-9a-fA-F]{4})\])?:\s+)(?P<rest>.*)"
)
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
    records = [found for block in _blocks(text) if (found := _record(block)) is not None]
    devices = records or [device for line in text.split("\n") if (device := _device(line)) is not None]
    if not devices:
        raise Unreadable(f"no PCI device in the output: {first_line(text) or 'it is empty'}")
    return PciList(tuple(devices), output.stdout_cut or ends_mid_line(text))


def _device(line: str) -> PciDevice | None:
    found = _LINE.match(line)
    if found is None:
        return None
    if found["quoted"] is not None:
        return _quoted(found["slot"], [found["quoted"], *re.findall(r'"([^"]*)"', found["rest"])])
    words, name = found["rest"].strip(), found["name"].removeprefix("Class ")
    ids = _IDS.search(words)
    numeric = re.fullmatch(r"[0-9a-fA-F]{4}", name)
    code = name if numeric else found["code"]
    return PciDevice(
        slot=found["slot"],
        class_name="" if numeric else name,
        class_code=code.lower() if code else None,
        words=words,
        vendor_id=ids[1].lower() if ids else None,
        device_id=ids[2].lower() if ids else None,
    )


def _quoted(slot: str, fields: list[str]) -> PciDevice:
    """A line of -mm: class, vendor and device in quotes, each `words [id]`, words, or with -n the id."""
    (class_name, code), (vendor, vendor_id), (device, device_id) = (_named(told) for told in [*fields, "", ""][:3])
    return PciDevice(slot, class_name, code, f"{vendor} {device}".strip(), vendor_id, device_id)


def _blocks(text: str) -> list[list[tuple[str, str]]]:
    """The records of -vmm as (name, value); each begins with its slot, which old versions call Device."""
    found: list[list[tuple[str, str]]] = []
    for line in text.split("\n"):
        name, colon, told = line.strip().partition(":")
        if name == "Slot" or name == "Device" and re.fullmatch(_SLOT, told.strip()):
            found.append([])
        if found and colon:
            found[-1].append((name, told.strip()))
    return found


def _record(block: list[tuple[str, str]]) -> PciDevice | None:
    """One record of -vmm; a class with words, or its id alone with -n."""
    slot, told = block[0][1], dict(reversed(block[1:]))
    if "Class" not in told:
        return None
    class_name, class_code = _named(told["Class"])
    vendor, vendor_id = _named(told.get("Vendor", ""))
    device, device_id = _named(told.get("Device", ""))
    return PciDevice(slot, class_name, class_code, f"{vendor} {device}".strip(), vendor_id, device_id)


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
    plain = clean(text)
    if re.search(rf"^[ \t]*(?:Slot:\s+\S+|Device:\s+{_SLOT})\s*\n\s*Class:", plain, re.MULTILINE):
        return 95
    rows = [_device(line) for line in plain.split("\n")[:400] if line.strip()]
    if not any(rows):
        return 0
    return 90 if rows[0] else (80 if any(map(_is_sure, rows)) else 60 * (len(rows) - rows.count(None) > 1))


def _is_sure(device: PciDevice | None) -> bool:
    """A clock time may look like a slot: ids or the usual word of a class stand beside a real one."""
    return device is not None and (
        device.device_id is not None or re.search(r"controller|[Bb]ridge|accelerator|device", device.class_name) is not None
    )
