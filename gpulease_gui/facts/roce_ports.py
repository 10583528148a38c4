"""Which addresses and frame sizes have the RDMA ports on Ethernet?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# An address that is not set can't be read: no line then.
_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/class/infiniband ]; then say roce yes; else say roce no; fi
for port in /sys/class/infiniband/*/ports/*; do
  [ -d "$port" ] || continue
  card=${port%/ports/*}
  say port "${card##*/}/${port##*/}"
  put link_layer "$port/link_layer"
  put state "$port/state"
  for file in "$port"/gid_attrs/types/*; do
    [ -f "$file" ] || continue
    line=
    read -r line <"$file"
    if [ -n "$line" ]; then say gid "${file##*/} $line"; fi
  done
  for net in "$card"/device/net/*; do
    if [ -d "$net" ]; then put mtu "$net/mtu"; fi
  done
done
"""
    + END
)

FACT = Fact(id="roce_ports", title=Text("RoCE addresses", "RoCE 地址"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class RocePort:
    """One port. `v2_indexes` are the numbers of its RoCE v2 addresses, `gid_count` all that are set; MTU in bytes."""

    name: str
    link_layer: str | None
    active: bool | None
    v2_indexes: tuple[int, ...]
    gid_count: int
    mtu_bytes: int | None


@dataclass(frozen=True, slots=True)
class RocePorts:
    """All RDMA ports; `visible` False: the node shows no RDMA class."""

    visible: bool
    ports: tuple[RocePort, ...]


def parse(output: CommandOutput) -> RocePorts:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "roce")
    return RocePorts(lines.first("roce") == "yes", tuple(_port(record) for record in lines.records("port")))


def _port(record: KeyedLines) -> RocePort:
    gids = [line.partition(" ")[::2] for line in record.all("gid")]
    v2 = sorted(int(index) for index, kind in gids if kind.strip() == "RoCE v2" and index.isascii() and index.isdigit() and len(index) < 6)
    state, mtu = record.first("state"), record.number("mtu")
    active = "ACTIVE" in state.upper().split() if state else None
    return RocePort(
        record.first("port") or "?", record.first("link_layer"), active, tuple(v2), len(gids), mtu if mtu is not None and mtu > 0 else None
    )


def as_dict(reading: RocePorts) -> dict[str, object]:
    """visible, and lists over the ports."""
    return {
        "visible": reading.visible,
        "ports": [p.name for p in reading.ports],
        "link_layers": [p.link_layer for p in reading.ports],
        "active": [p.active for p in reading.ports],
        "v2_indexes": [list(p.v2_indexes) for p in reading.ports],
        "gid_counts": [p.gid_count for p in reading.ports],
        "mtus": [p.mtu_bytes for p in reading.ports],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("roce: yes\n", "roce: no\n")) else 0
