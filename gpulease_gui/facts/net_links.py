"""Which network ports does the node have, how fast are they, and which carry RDMA?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# The speed of a port that is down can't be read (the kernel answers "Invalid argument"): no line then.
_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/class/net ]; then say net yes; else say net no; fi
for dir in /sys/class/net/*; do
  [ -d "$dir" ] || continue
  say link "${dir##*/}"
  for name in type operstate carrier mtu speed bonding/mode; do put "$name" "$dir/$name"; done
  if [ -e "$dir/master" ]; then target=$(readlink -f "$dir/master"); say master "${target##*/}"; fi
  if [ -e "$dir/device" ]; then
    target=$(readlink -f "$dir/device"); say device "${target##*/}"
    target=$(readlink -f "$dir/device/driver"); say driver "${target##*/}"
    target=$(readlink -f "$dir/device/subsystem"); say subsystem "${target##*/}"
    if [ -e "$dir/device/physfn" ]; then say physfn yes; fi
  fi
done
if [ -d /sys/class/infiniband ]; then say infiniband yes; else say infiniband no; fi
for port in /sys/class/infiniband/*/ports/*; do
  [ -d "$port" ] || continue
  card=${port%/ports/*}
  say rdma "${card##*/}/${port##*/}"
  for name in link_layer state phys_state rate; do put "$name" "$port/$name"; done
  for net in "$card"/device/net/*; do
    if [ -d "$net" ]; then say netdev "${net##*/}"; fi
  done
done
"""
    + END
)

FACT = Fact(id="net_links", title=Text("Network ports", "网络端口"), command=Command(script=_SCRIPT), seconds=10)

# Ports whose "speed" is a number that the host made up, whatever it prints.
PARAVIRTUAL = frozenset(
    ["virtio_net", "virtio", "vmxnet3", "hv_netvsc", "vif", "xen_netfront", "ena", "gve", "veth", "mana"]
)  # fmt: skip
_PARAVIRTUAL_BUSES = frozenset(["virtio", "vmbus", "xen"])
ETHERNET_TYPE, INFINIBAND_TYPE = 1, 32


@dataclass(frozen=True, slots=True)
class Link:
    """One interface. `speed_mbit_s` None = the kernel does not know it (-1, down, denied)."""

    name: str
    type: int | None = None
    operstate: str | None = None
    carrier: bool | None = None
    mtu_bytes: int | None = None
    speed_mbit_s: int | None = None
    driver: str | None = None
    subsystem: str | None = None
    has_device: bool = False
    master: str | None = None
    bond_mode: str | None = None
    is_virtual_function: bool = False

    @property
    def up(self) -> bool:
        """Whether it carries traffic; some drivers never say more than "unknown" and a carrier."""
        return self.operstate == "up" or (self.operstate == "unknown" and self.carrier is True)

    @property
    def physical(self) -> bool:
        """Whether a real card stands behind it, so that its speed means something."""
        return self.has_device and self.driver not in PARAVIRTUAL and self.subsystem not in _PARAVIRTUAL_BUSES


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """One port of an RDMA card, `name` as in mlx5_0/1. `rate_gbit_s` is a link speed only while `active`."""

    name: str
    link_layer: str | None = None
    active: bool | None = None
    rate_gbit_s: float | None = None
    netdevs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetLinks:
    """`rdma_visible` False: the node shows no RDMA class at all (no driver, or a container)."""

    links: tuple[Link, ...]
    rdma: tuple[RdmaPort, ...]
    rdma_visible: bool


def parse(output: CommandOutput) -> NetLinks:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "net")
    split = next((n for n, (key, _) in enumerate(lines.pairs) if key == "infiniband"), len(lines.pairs))
    above, below = KeyedLines(lines.pairs[:split]), KeyedLines(lines.pairs[split:])
    return NetLinks(
        tuple(_link(record) for record in above.records("link")),
        tuple(_rdma(record) for record in below.records("rdma")),
        lines.first("infiniband") == "yes",
    )


def _link(record: KeyedLines) -> Link:
    speed = record.number("speed")
    return Link(
        name=record.first("link") or "",
        type=record.number("type"),
        operstate=record.first("operstate"),
        carrier={"1": True, "0": False}.get(record.first("carrier") or ""),
        mtu_bytes=record.number("mtu"),
        speed_mbit_s=speed if speed is not None and 0 < speed < 10_000_000 else None,
        driver=record.first("driver"),
        subsystem=record.first("subsystem"),
        has_device=record.first("device") is not None,
        master=record.first("master"),
        bond_mode=(record.first("bonding/mode") or "").split(" ")[0] or None,
        is_virtual_function=record.first("physfn") == "yes",
    )


def _rdma(record: KeyedLines) -> RdmaPort:
    state, rate = record.first("state"), re.match(r"(\d{1,5}(?:\.\d+)?) Gb/sec", record.first("rate") or "")
    return RdmaPort(
        name=record.first("rdma") or "",
        link_layer=record.first("link_layer"),
        active="ACTIVE" in state.upper().split() if state else None,
        rate_gbit_s=float(rate[1]) if rate else None,
        netdevs=record.all("netdev"),
    )


def as_dict(reading: NetLinks) -> dict[str, object]:
    """Lists over the interfaces (names, up, physical, speeds_mbit_s ...) and over the RDMA ports (rdma_...)."""
    return {
        "names": [k.name for k in reading.links],
        "up": [k.up for k in reading.links],
        "physical": [k.physical for k in reading.links],
        "speeds_mbit_s": [k.speed_mbit_s for k in reading.links],
        "mtus": [k.mtu_bytes for k in reading.links],
        "drivers": [k.driver for k in reading.links],
        "masters": [k.master for k in reading.links],
        "bond_modes": [k.bond_mode for k in reading.links],
        "rdma_visible": reading.rdma_visible,
        "rdma_ports": [p.name for p in reading.rdma],
        "rdma_active": [p.active for p in reading.rdma],
        "rdma_link_layers": [p.link_layer for p in reading.rdma],
        "rdma_rates_gbit_s": [p.rate_gbit_s for p in reading.rdma],
        "rdma_netdevs": [list(p.netdevs) for p in reading.rdma],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("net: yes\n", "net: no\n")) else 0
