"""What time does the node's own clock show, and since when does it run?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines

# A date without nanoseconds (BusyBox prints the letters or nothing) is read as whole seconds.
_SCRIPT = (
    SHELL
    + """\
say utc "$(date -u +%s.%N)"
say zone "$(date +%z)"
put boot_id /proc/sys/kernel/random/boot_id
put uptime /proc/uptime
"""
    + END
)

FACT = Fact(id="clock_now", title=Text("Clock", "时钟"), command=Command(script=_SCRIPT), seconds=5)


@dataclass(frozen=True, slots=True)
class ClockNow:
    """The node's clock in UTC, `uptime_s` seconds since its boot (None = not told), `zone` as in +0800."""

    utc: datetime
    uptime_s: float | None
    boot_id: str | None
    zone: str | None

    @property
    def booted(self) -> datetime | None:
        """When the node was booted, by its own clock."""
        return self.utc - timedelta(seconds=self.uptime_s) if self.uptime_s is not None else None


def parse(output: CommandOutput) -> ClockNow:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "utc")
    whole_s, _, nanos = (lines.first("utc") or "").partition(".")
    if not (whole_s.isascii() and whole_s.isdigit() and len(whole_s) <= 11):
        raise Unreadable("the node's date command printed no time")
    micros = int(nanos[:6].ljust(6, "0")) if nanos.isascii() and nanos.isdigit() else 0
    return ClockNow(
        utc=datetime.fromtimestamp(int(whole_s), UTC) + timedelta(microseconds=micros),
        uptime_s=_seconds(lines.first("uptime")),
        boot_id=lines.first("boot_id"),
        zone=lines.first("zone"),
    )


def _seconds(words: str | None) -> float | None:
    first = (words or "").split(" ", 1)[0]
    return float(first) if first.replace(".", "", 1).isdigit() and first.isascii() and len(first) < 16 else None


def as_dict(reading: ClockNow) -> dict[str, object]:
    """utc (ISO), uptime_s, booted (ISO), boot_id, zone."""
    return {
        "utc": reading.utc.isoformat(),
        "uptime_s": reading.uptime_s,
        "booted": reading.booted.isoformat() if reading.booted else None,
        "boot_id": reading.boot_id,
        "zone": reading.zone,
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("utc: ") and "\nuptime: " in text else 0
