"""What lies in the places where tenants keep their data: paths and sizes, no contents?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# No file is opened: du and stat tell sizes, owners and dates. A tree that takes longer than its time is told as such.
_SCRIPT = (
    SHELL
    + """\
say home "${HOME:-none}"
say uid "$(id -u)"
if command -v timeout >/dev/null; then slow='timeout 10'; else slow=; fi
count=0
for path in /home/* /root /data/* /mnt/* /media/* /scratch/* /workspace/* /srv/* /tmp/* /var/tmp/* /dev/shm/*; do
  [ -e "$path" ] || continue
  if [ -h "$path" ]; then continue; fi
  count=$((count + 1))
  if [ "$count" -gt 300 ]; then say more yes; break; fi
  say entry "$path"
  say owner "$(stat -c '%u %U %Y' -- "$path")"
  said=$($slow du -skx -- "$path"); say du_code "$?"
  say kib "${said%%[!0-9]*}"
done
"""
    + END
)

FACT = Fact(
    id="leftovers", title=Text("Data left on the node", "节点上的残留数据"), command=Command(script=_SCRIPT), seconds=300,
    impact=Impact.ACTIVE,
)  # fmt: skip

_FOUND_BY_FSCK = "lost+found"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder: size in KiB (None = not told), `whole` False = a part of it could not be counted."""

    path: str
    uid: int | None
    owner: str | None
    kib: int | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Leftovers:
    """`home` and `uid` are our own. `more`: there are more entries than were looked at."""

    home: str | None
    uid: int | None
    entries: tuple[Entry, ...]
    more: bool


def parse(output: CommandOutput) -> Leftovers:
    """Read the records. Raises Unreadable."""
    lines = keyed_lines(output, "home")
    entries = tuple(_entry(record) for record in lines.records("entry"))
    return Leftovers(
        lines.first("home"), lines.number("uid"), tuple(e for e in entries if not e.path.endswith(f"/{_FOUND_BY_FSCK}")),
        bool(lines.all("more")),
    )  # fmt: skip


def _entry(record: KeyedLines) -> Entry:
    words = (record.first("owner") or "").split()
    kib = record.number("kib")
    return Entry(
        record.first("entry") or "?", whole(words[0]) if words else None, words[1] if len(words) > 1 else None,
        kib if kib is not None and kib >= 0 else None, record.number("du_code") == 0,
    )  # fmt: skip


def as_dict(reading: Leftovers) -> dict[str, object]:
    """home, uid, more, and lists over the entries: paths, owners, kib, whole."""
    return {
        "home": reading.home,
        "uid": reading.uid,
        "paths": [e.path for e in reading.entries],
        "owners": [e.owner for e in reading.entries],
        "kib": [e.kib for e in reading.entries],
        "whole": [e.whole for e in reading.entries],
        "more": reading.more,
    }


def recognise(text: str) -> int:
    """Sure of our own first lines."""
    return 97 if text.startswith("home: ") and "\nuid: " in text[:400] else 0
