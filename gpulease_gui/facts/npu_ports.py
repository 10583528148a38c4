"""Are the network ports of the NPUs up?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

_SCRIPT = (
    SHELL
    + """\
tool=$(command -v hccn_tool) || tool=/usr/local/Ascend/driver/tools/hccn_tool
if [ ! -x "$tool" ]; then echo 'hccn_tool: not found' >&2; exit 127; fi
say hccn "$tool"
for file in /dev/davinci[0-9]*; do
  [ -e "$file" ] || continue
  id=${file#/dev/davinci}
  say port "$id"
  for what in link net_health speed ip lldp; do
    said=$("$tool" -i "$id" -$what -g </dev/null); say "$what.code" "$?"
    printf '%s\\n' "$said" | while IFS= read -r line; do say "$what" "$line"; done
  done
done
"""
    + END
)

FACT = Fact(id="npu_ports", title=Text("NPU network ports", "NPU 网口"), command=Command(script=_SCRIPT), seconds=120, lane="npu")


@dataclass(frozen=True, slots=True)
class NpuPort:
    """The port of one NPU; None = not told. `health` as printed ("Success"), `speed_gbit_s` of the link."""

    npu_id: int
    up: bool | None
    health: str | None
    speed_gbit_s: float | None
    address: str | None
    neighbour: str | None


@dataclass(frozen=True, slots=True)
class NpuPorts:
    """All ports in the order of the device files. `denied`: the tool refused this user."""

    ports: tuple[NpuPort, ...]
    denied: bool


def parse(output: CommandOutput) -> NpuPorts:
    """Read the records. Raises Unreadable: there is no NPU, or the tool refused this user."""
    lines = keyed_lines(output, "hccn")
    ports = tuple(_port(record) for record in lines.records("port"))
    if not ports:
        raise Unreadable("no NPU device file is here")
    said = "\n".join(line for record in ("link", "net_health") for line in lines.all(record)) + output.error_text
    denied = bool(re.search(r"permission|not permitted|root user|denied", said, re.IGNORECASE))
    if denied and all(p.up is None and p.health is None for p in ports):
        raise Unreadable("hccn_tool refused this user", code=Reason.DENIED, next_step="run it as root: hccn_tool -i 0 -link -g")
    return NpuPorts(ports, denied)


def _port(record: KeyedLines) -> NpuPort:
    link, speed = _told(record, "link", r"link status"), _told(record, "speed", r"speed")
    rate = re.match(r"(\d{1,7})\s*(Mb/s|Gb/s|Mbps|Gbps)?", speed or "", re.IGNORECASE | re.ASCII)
    number = whole(record.first("port"))
    return NpuPort(
        number if number is not None else -1, {"UP": True, "DOWN": False}.get((link or "").upper()), _told(record, "net_health", r"net health status"),
        float(rate[1]) / (1 if (rate[2] or "Mb/s").lower().startswith("g") else 1000) if rate else None, _told(record, "ip", r"ipaddr"),
        _neighbour(record.all("lldp")),
    )  # fmt: skip


def _told(record: KeyedLines, key: str, words: str) -> str | None:
    """What stands behind `words:`; a command that failed told nothing."""
    if record.number(f"{key}.code") != 0:
        return None
    for line in record.all(key):
        if found := re.fullmatch(rf"{words}\s*:\s*(\S.{{0,80}})", line, re.IGNORECASE):
            return found[1].strip()
    return None


def _neighbour(lines: tuple[str, ...]) -> str | None:
    """The switch's name: the line after the heading of the name, or behind it."""
    for at, line in enumerate(lines):
        if re.match(r"System Name TLV", line, re.IGNORECASE):
            rest = line.partition(":")[2].strip() or (lines[at + 1] if at + 1 < len(lines) else "")
            return rest[:80] or None
    return None


def as_dict(reading: NpuPorts) -> dict[str, object]:
    """Lists over the ports: npu_ids, up, health, speed_gbit_s, addresses, neighbours; denied."""
    return {
        "npu_ids": [p.npu_id for p in reading.ports],
        "up": [p.up for p in reading.ports],
        "health": [p.health for p in reading.ports],
        "speed_gbit_s": [p.speed_gbit_s for p in reading.ports],
        "addresses": [p.address for p in reading.ports],
        "neighbours": [p.neighbour for p in reading.ports],
        "denied": reading.denied,
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("hccn: ") else 0
