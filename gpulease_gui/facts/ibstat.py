"""Which InfiniBand and RoCE ports are up, by `ibstat`?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import first_line, number, value, whole_lines

FACT = Fact(
    id="ibstat", title=Text("InfiniBand ports (ibstat)", "InfiniBand 端口(ibstat)"), ok_codes=None,
    ask=Text("ibstat", "ibstat"), answers=("net_links",),
    ask_terms=("rdma.ports", "rdma.gbit_s", "network.kind"),
)  # fmt: skip

_SURE = re.compile(r"(Ethernet|InfiniBand|Unspecified)\s*$")


@dataclass(frozen=True, slots=True)
class IbPort:
    """One port; `rate_gbit_s` as printed, which on a port that is down is no link speed."""

    number: int
    state: str | None = None
    physical_state: str | None = None
    rate_gbit_s: float | None = None
    link_layer: str | None = None

    @property
    def active(self) -> bool:
        """Is the logical state Active?"""
        return self.state == "Active"

    @property
    def link_gbit_s(self) -> float | None:
        """The speed of a link that is up; None otherwise."""
        return self.rate_gbit_s if self.active else None


@dataclass(frozen=True, slots=True)
class IbAdapter:
    """One channel adapter with its ports."""

    name: str
    type: str | None = None
    firmware: str | None = None
    ports_stated: int | None = None
    ports: tuple[IbPort, ...] = ()


@dataclass(frozen=True, slots=True)
class IbReport:
    """All adapters in the order printed; `error_line` = the tool broke off there, adapters may be missing."""

    adapters: tuple[IbAdapter, ...]
    error_line: str | None = None

    @property
    def ports(self) -> tuple[tuple[IbAdapter, IbPort], ...]:
        """Every port with its adapter."""
        return tuple((adapter, port) for adapter in self.adapters for port in adapter.ports)


def parse(output: CommandOutput) -> IbReport:
    """Read the blocks `CA '...'`. Raises Unreadable when there is none."""
    adapters: list[IbAdapter] = []
    error = None
    for line in whole_lines(output.text + ("\n" + output.error_text if output.stderr else ""), _SURE):
        if head := re.match(r"\s*CA '([^']*)'", line):
            adapters.append(IbAdapter(head[1]))
        elif re.match(r"\s*(ibpanic|ibwarn|ibstat):", line):
            error = line.strip()[:200]
        elif adapters and ":" in line:
            name, _, told = line.partition(":")
            adapters[-1] = _with(adapters[-1], name.strip(), told)
    if not adapters:
        raise Unreadable(f"no channel adapter in the output: {error or first_line(output.text)}")
    return IbReport(tuple(adapters), error)


def _with(adapter: IbAdapter, name: str, told: str) -> IbAdapter:
    if port := re.fullmatch(r"Port (\d{1,4})", name):
        return replace(adapter, ports=(*adapter.ports, IbPort(int(port[1]))))
    if name == "CA type":
        return replace(adapter, type=value(told))
    if name == "Firmware version":
        return replace(adapter, firmware=value(told))
    if name == "Number of ports":
        stated = number(told)
        return replace(adapter, ports_stated=None if stated is None else int(stated))
    if not adapter.ports:
        return adapter
    return replace(adapter, ports=(*adapter.ports[:-1], _port(adapter.ports[-1], name, told)))


def _port(port: IbPort, name: str, told: str) -> IbPort:
    if name == "State":
        return replace(port, state=value(told))
    if name == "Physical state":
        return replace(port, physical_state=value(told))
    if name == "Rate":
        return replace(port, rate_gbit_s=number(told.split("(")[0]))
    return replace(port, link_layer=value(told)) if name == "Link layer" else port


def as_dict(reading: IbReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind ibstat`; lists run over the ports, names and firmware over the adapters."""
    ports = [port for _, port in reading.ports]
    return {
        "cas": len(reading.adapters),
        "names": [adapter.name for adapter in reading.adapters],
        "types": [adapter.type for adapter in reading.adapters],
        "firmware": [adapter.firmware for adapter in reading.adapters],
        "state": [port.state for port in ports],
        "physical_state": [port.physical_state for port in ports],
        "rate_gbits_per_s": [port.rate_gbit_s for port in ports],
        "link_layer": [port.link_layer for port in ports],
        "ports_active": sum(port.active for port in ports),
        "ports_down": [adapter.name for adapter, port in reading.ports if not port.active],
        "error_line": reading.error_line,
    }


def recognise(text: str) -> int:
    """The head of an adapter block."""
    return 95 if re.search(r"^[ \t]*CA '[^']*'", text, re.MULTILINE) else 0
