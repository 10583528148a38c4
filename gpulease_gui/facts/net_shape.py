"""Is traffic bundled, tagged or slowed down by the node itself?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

_SCRIPT = (
    SHELL
    + """\
if [ -d /proc/net ]; then say shape yes; else say shape no; fi
for file in /proc/net/bonding/*; do
  [ -f "$file" ] || continue
  say bond "${file##*/}"
  put bond_line "$file"
done
put vlan /proc/net/vlan/config
if command -v tc >/dev/null; then
  said=$(tc qdisc show); say tc_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say qdisc "$line"; done
  for dir in /sys/class/net/*; do
    said=$(tc class show dev "${dir##*/}")
    if [ -n "$said" ]; then printf '%s\\n' "$said" | while IFS= read -r line; do say class "${dir##*/} $line"; done; fi
  done
elif command -v ip >/dev/null; then
  said=$(ip -d link show); say ip_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say link "$line"; done
fi
"""
    + END
)

FACT = Fact(id="net_shape", title=Text("Bonds, VLANs and shapers", "聚合、VLAN 与限速"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class Bond:
    """A bundle of ports; `policy` is how flows are spread over them."""

    name: str
    mode: str | None
    policy: str | None
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shaper:
    """A rule that slows a port down; `gbit_s` None = its rate is not told."""

    device: str
    kind: str
    gbit_s: float | None


@dataclass(frozen=True, slots=True)
class NetShape:
    """`shapers` None = no tool answered. `vlans` as name and parent port.

    `by_links`: without tc only the outermost discipline of each port was seen, as `ip link` names it.
    """

    bonds: tuple[Bond, ...]
    vlans: tuple[tuple[str, str], ...]
    shapers: tuple[Shaper, ...] | None
    by_links: bool = False


# Disciplines that limit a rate; the others only order packets.
_LIMITING = frozenset(["tbf", "htb", "hfsc", "cbq", "netem", "police", "cake"])
_RATE = re.compile(r"\b(?:rate|ceil|bandwidth)\s+(\d{1,9}(?:\.\d{1,6})?)([KMGT]?)bit\b")
_SCALE = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}


def parse(output: CommandOutput) -> NetShape:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "shape")
    bonds, vlans = tuple(_bond(record) for record in lines.records("bond")), tuple(_vlans(lines))
    if lines.number("tc_code") == 0:
        return NetShape(bonds, vlans, tuple(_shapers(lines)))
    if lines.number("ip_code") == 0 and lines.all("link"):
        return NetShape(bonds, vlans, tuple(_link_shapers(lines.all("link"))), by_links=True)
    return NetShape(bonds, vlans, None)


def _link_shapers(lines: tuple[str, ...]) -> Iterator[Shaper]:
    """Ports whose outermost discipline limits, and virtual functions with a highest rate; a discipline's rate is not told."""
    port = "?"
    for line in lines:
        if head := re.match(r"\d{1,6}: ([^\s:@]{1,32})[:@].*? qdisc (\S{1,32})", line, re.ASCII):
            port = head[1]
            if head[2] in _LIMITING:
                yield Shaper(port, head[2], None)
        elif vf := re.match(r"vf (\d{1,4}) .*?\bmax_tx_rate (\d{1,7})(?:Mbps)?\b", line, re.ASCII):
            yield Shaper(port, f"vf {vf[1]}", int(vf[2]) / 1000)


def _bond(record: KeyedLines) -> Bond:
    fields = [line.partition(":")[::2] for line in record.all("bond_line")]
    told = {key.strip(): value.strip() for key, value in reversed(fields)}
    members = tuple(value.strip() for key, value in fields if key.strip() == "Slave Interface")
    return Bond(record.first("bond") or "?", told.get("Bonding Mode"), told.get("Transmit Hash Policy"), members)


def _vlans(lines: KeyedLines) -> list[tuple[str, str]]:
    cells = [[cell.strip() for cell in line.split("|")] for line in lines.all("vlan")]
    return [(row[0], row[2]) for row in cells if len(row) == 3 and whole(row[1]) is not None]


def _shapers(lines: KeyedLines) -> list[Shaper]:
    found: dict[tuple[str, str], Shaper] = {}
    for words, device_at, kind_at in [(x.split(), 4, 1) for x in lines.all("qdisc")] + [(x.split(), 0, 2) for x in lines.all("class")]:
        if len(words) > max(device_at, kind_at) and words[kind_at] in _LIMITING:
            key = (words[device_at], words[kind_at])
            rates = [float(number) * _SCALE[scale] for number, scale in _RATE.findall(" ".join(words))]
            rates += [known] if key in found and (known := found[key].gbit_s) is not None else []
            # Of several classes the widest says what the port may carry.
            found[key] = Shaper(words[device_at], words[kind_at], max(rates, default=None))
    return list(found.values())


def as_dict(reading: NetShape) -> dict[str, object]:
    """bonds by name with mode and members; vlans; shapers as device, kind and Gbit/s (None = tool missing)."""
    return {
        "bonds": {b.name: [b.mode, b.policy, list(b.members)] for b in reading.bonds},
        "vlans": [list(v) for v in reading.vlans],
        "shapers": None if reading.shapers is None else [[s.device, s.kind, s.gbit_s] for s in reading.shapers],
        "by_links": reading.by_links,
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("shape: yes\n", "shape: no\n")) else 0
