"""What link does `ethtool` report for an interface, and how warm is its module (`ethtool -m`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import first_line, number, value, whole, whole_lines

FACT = Fact(id="ethtool", title=Text("Link settings (ethtool)", "网卡链路(ethtool)"), ok_codes=None)

_SURE = re.compile(r":\s*(yes|no|on|off|Full|Half)\s*$|degrees C\b")
# The kernel's "unknown" speed is -1, which some drivers print as an unsigned number.
_UNKNOWN_SPEEDS = (-1, 65535, 4294967295)


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """One interface, or (`module`) the memory of its optical module. Words as printed; None = not told.

    `speed_mbit_s` is 1e6 bits per second.
    """

    interface: str | None
    speed_mbit_s: int | None = None
    duplex: str | None = None
    port: str | None = None
    link_detected: str | None = None
    auto_negotiation: str | None = None
    module_temperature_c: float | None = None
    module: bool = False


def parse(output: CommandOutput) -> LinkSettings:
    """Read `name: value` lines. Raises Unreadable: no settings, "No data available" (reading has the interface)."""
    lines = whole_lines(output.text, _SURE)
    heads = [found[1] for line in lines if (found := re.match(r"\s*Settings for (\S+?):\s*$", line))]
    if len(heads) > 1:
        raise Unreadable(f"settings of {len(heads)} interfaces at once", next_step="give one interface at a time")
    told = _told(lines)
    is_module = not heads and "Identifier" in told
    if not heads and not is_module:
        raise Unreadable(f"no link settings in the output: {first_line(output.text) or first_line(output.error_text)}")
    reading = LinkSettings(
        interface=heads[0] if heads else None,
        speed_mbit_s=_speed(told.get("Speed", "")),
        duplex=value(told.get("Duplex", "")),
        port=value(told.get("Port", "")),
        link_detected=value(told.get("Link detected", "")),
        auto_negotiation=value(told.get("Auto-negotiation", "")),
        module_temperature_c=_temperature(told.get("Module temperature", "")),
        module=is_module,
    )
    if not told:
        raise Unreadable(f"no data about {heads[0]}", reading=reading)
    return reading


def _told(lines: list[str]) -> dict[str, str]:
    """The first value of every name; lines that go on a list of link modes have no colon."""
    found: dict[str, str] = {}
    for line in lines:
        name, colon, rest = line.partition(":")
        if colon and not line.lstrip().startswith("Settings for"):
            found.setdefault(name.strip(), rest.strip())
    return found


def _speed(told: str) -> int | None:
    found = re.match(r"(-?\d{1,12})\s*Mb/s", told)
    speed = whole(found[1]) if found else None
    return None if speed in _UNKNOWN_SPEEDS else speed


def _temperature(told: str) -> float | None:
    found = re.match(r"(-?[\d.]+) degrees C\b", told)
    return number(found[1]) if found else None


def as_dict(reading: LinkSettings) -> dict[str, object]:
    """The keys of `gpulease parse --kind ethtool`."""
    return {
        "interface": reading.interface,
        "speed_mbits_per_s": reading.speed_mbit_s,
        "duplex": reading.duplex,
        "port": reading.port,
        "link_detected": reading.link_detected,
        "auto_negotiation": reading.auto_negotiation,
        "module_temperature_c": reading.module_temperature_c,
    }


def recognise(text: str) -> int:
    """The head line of the settings, or the first lines of a module's memory."""
    if re.search(r"^[ \t]*Settings for \S+:\s*$", text, re.MULTILINE):
        return 95
    return 90 if re.search(r"^[ \t]*Identifier\s+: 0x[0-9a-fA-F]{2}", text, re.MULTILINE) else 0
