"""How worn are the disks (`smartctl -j -a`, one call for each)?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# The exit code is a set of bits: the lowest two say that the disk could not be asked at all.
_SCRIPT = (
    SHELL
    + """\
if ! command -v smartctl >/dev/null; then echo 'smartctl: not found' >&2; exit 127; fi
say smart yes
for disk in /dev/nvme[0-9] /dev/nvme[0-9][0-9] /dev/sd[a-z] /dev/sd[a-z][a-z]; do
  [ -e "$disk" ] || continue
  say disk "$disk"
  said=$(smartctl -j -a "$disk"); code=$?
  if [ "$((code & 3))" -ne 0 ] && [ "${GPULEASE_SUDO:-1}" != 0 ] && command -v sudo >/dev/null; then
    more=$(sudo -n smartctl -j -a "$disk"); retried=$?
    if [ "$((retried & 3))" -eq 0 ]; then said=$more; code=$retried; fi
  fi
  say code "$code"
  printf '%s\\n' "$said" | while IFS= read -r line; do say json "$line"; done
done
"""
    + END
)

FACT = Fact(id="smart", title=Text("Wear of the disks", "磁盘磨损"), command=Command(script=_SCRIPT), seconds=30)

_NOT_ASKED = 3


@dataclass(frozen=True, slots=True)
class DiskWear:
    """One disk; None = it does not tell. `used_percent` of its rated life; `asked` False: it may not be asked by us.

    `passed` is the disk's own word; `warning_bits` the critical warnings of an NVMe disk.
    """

    device: str
    asked: bool
    model: str | None = None
    passed: bool | None = None
    used_percent: int | None = None
    media_errors: int | None = None
    warning_bits: int | None = None
    hours: int | None = None


@dataclass(frozen=True, slots=True)
class Smart:
    """All disks in the order asked."""

    disks: tuple[DiskWear, ...]


def parse(output: CommandOutput) -> Smart:
    """Read the records. Raises Unreadable; denied when no disk at all may be asked."""
    lines = keyed_lines(output, "smart")
    disks = tuple(_disk(record) for record in lines.records("disk"))
    if disks and not any(disk.asked for disk in disks):
        raise Unreadable(
            "this user may not ask the disks", code=Reason.DENIED, reading=Smart(disks),
            next_step="ask the supplier for root, or for the output of smartctl -a",
        )  # fmt: skip
    return Smart(disks)


def _disk(record: KeyedLines) -> DiskWear:
    name, code = record.first("disk") or "?", record.number("code")
    try:
        told = json.loads("\n".join(record.all("json")))
    except ValueError:
        return DiskWear(name, False)
    if not isinstance(told, dict) or code is None or code & _NOT_ASKED:
        return DiskWear(name, False)
    log = _part(told, "nvme_smart_health_information_log")
    return DiskWear(
        name, True, _words(told.get("model_name")), _flag(_part(told, "smart_status").get("passed")),
        _count(log.get("percentage_used", _part(told, "endurance_used").get("current_percent"))), _count(log.get("media_errors")),
        _count(log.get("critical_warning")), _count(_part(told, "power_on_time").get("hours")),
    )  # fmt: skip


def _part(told: dict[str, Any], key: str) -> dict[str, Any]:
    found = told.get(key)
    return found if isinstance(found, dict) else {}


def _words(found: object) -> str | None:
    return found[:200] if isinstance(found, str) and found else None


def _flag(found: object) -> bool | None:
    return found if isinstance(found, bool) else None


def _count(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 63 else None


def as_dict(reading: Smart) -> dict[str, object]:
    """Lists over the disks."""
    disks = reading.disks
    return {
        "disks": [d.device for d in disks], "asked": [d.asked for d in disks], "models": [d.model for d in disks],
        "passed": [d.passed for d in disks], "used_percent": [d.used_percent for d in disks],
        "media_errors": [d.media_errors for d in disks], "warning_bits": [d.warning_bits for d in disks],
        "hours": [d.hours for d in disks],
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("smart: yes\n") else 0
