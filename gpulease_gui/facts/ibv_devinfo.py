"""Which RDMA devices and ports does `ibv_devinfo` show?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import clean, first_line, value, whole, whole_lines

FACT = Fact(id="ibv_devinfo", title=Text("RDMA devices (ibv_devinfo)", "RDMA 设备(ibv_devinfo)"), ok_codes=None)

_SURE = re.compile(r"(Ethernet|InfiniBand|Unspecified|\(\d\))\s*$")


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """One port; `state` as printed without its number (PORT_ACTIVE), MTU in bytes."""

    number: int
    state: str | None = None
    active_mtu_bytes: int | None = None
    link_layer: str | None = None


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """One device; `ports` None = only its name is listed (the short form)."""

    name: str
    firmware: str | None = None
    part_id: int | None = None
    ports_stated: int | None = None
    ports: tuple[RdmaPort, ...] | None = ()


@dataclass(frozen=True, slots=True)
class RdmaReport:
    """All devices in the order printed; none when the tool says that there are none."""

    devices: tuple[RdmaDevice, ...]


def parse(output: CommandOutput) -> RdmaReport:
    """Read the blocks `hca_id:`, or the short list of names. Raises Unreadable when there is neither."""
    devices: list[RdmaDevice] = []
    for line in whole_lines(output.text, _SURE):
        name, _, told = line.strip().partition(":")
        if name == "hca_id":
            devices.append(RdmaDevice(told.strip()))
        elif devices:
            devices[-1] = _with(devices[-1], name, told)
    if devices:
        return RdmaReport(tuple(devices))
    short = _short_list(output.text)
    if short is None:
        raise Unreadable(f"no RDMA device in the output: {first_line(output.text) or first_line(output.error_text)}")
    return RdmaReport(short)


def _with(device: RdmaDevice, name: str, told: str) -> RdmaDevice:
    bare = told.strip()
    if name == "fw_ver":
        return replace(device, firmware=value(bare))
    if name == "vendor_part_id":
        return replace(device, part_id=whole(bare))
    if name == "phys_port_cnt":
        return replace(device, ports_stated=whole(bare))
    ports = device.ports or ()
    if name == "port" and whole(bare) is not None:
        return replace(device, ports=(*ports, RdmaPort(int(bare))))
    return replace(device, ports=(*ports[:-1], _port(ports[-1], name, bare))) if ports else device


def _port(port: RdmaPort, name: str, told: str) -> RdmaPort:
    bare = re.sub(r"\s*\(\d+\)$", "", told)
    if name == "state":
        return replace(port, state=value(bare))
    if name == "active_mtu":
        return replace(port, active_mtu_bytes=whole(bare))
    return replace(port, link_layer=value(bare)) if name == "link_layer" else port


def _short_list(text: str) -> tuple[RdmaDevice, ...] | None:
    """`ibv_devinfo -l`: a count, then names; "No IB devices found" is an answer too."""
    text = clean(text)
    if "No IB devices found" in text:
        return ()
    head = re.search(r"^[ \t]*(\d{1,4}) HCAs? found:", text, re.MULTILINE)
    if head is None:
        return None
    rows = text[head.end() :].split("\n")[:-1]  # a name without its line end may be the head of another
    names = [line.strip() for line in rows if re.fullmatch(r"\s*[\w.-]+\s*", line)]
    if len(names) != int(head[1]):
        raise Unreadable(f"{head[1]} devices are announced, {len(names)} listed", code="cut_off")
    return tuple(RdmaDevice(name, ports=None) for name in names)


def as_dict(reading: RdmaReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind ibv_devinfo`; one list of ports per device."""
    full = all(device.ports is not None for device in reading.devices)
    ports = [device.ports or () for device in reading.devices]
    return {
        "hcas": len(reading.devices),
        "names": [device.name for device in reading.devices],
        "firmware": [device.firmware for device in reading.devices] if full else None,
        "port_state": [[port.state for port in own] for own in ports] if full else None,
        "active_mtu_bytes": [[port.active_mtu_bytes for port in own] for own in ports] if full else None,
        "link_layer": [[port.link_layer for port in own] for own in ports] if full else None,
        "ports_active": sum(port.state == "PORT_ACTIVE" for own in ports for port in own) if full else None,
    }


def recognise(text: str) -> int:
    """The head of a device block, or of the short list."""
    if re.search(r"^[ \t]*hca_id:", text, re.MULTILINE):
        return 95
    return 85 if re.search(r"^[ \t]*\d+ HCAs? found:|No IB devices found", text, re.MULTILINE) else 0
