"""Which file systems are mounted, of what kind, and how large are they (`df`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact

# df ends with 1 when one mount point of many is denied: the others are still read, and its words stay on stderr.
_SCRIPT = """\
df -P -T -B 1
code=$?
if [ "$code" -eq 1 ]; then code=0; fi
(exit "$code")"""

FACT = Fact(
    id="mounts", title=Text("Mounted file systems", "已挂载的文件系统"), command=Command(script=_SCRIPT), seconds=10
)

MAX_ROWS = 5000
_ROW = re.compile(r"(.+?)\s+(\S+)\s+(\d{1,19})\s+(\d{1,19})\s+(-?\d{1,19})\s+(?:\d+%|-)\s+(/.*)\Z")

NETWORK_KINDS = frozenset(
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "fuse.juicefs",
     "fuse.sshfs",
     "fuse.s3fs", "fuse.glusterfs", "fuse.ceph-fuse", "9p", "virtiofs", "fuse.cpfs", "wekafs", "orangefs", "afs"]
)  # fmt: skip
MEMORY_KINDS = frozenset(["tmpfs", "devtmpfs", "ramfs"])


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted file system; sizes in bytes."""

    source: str
    kind: str
    size_bytes: int
    available_bytes: int
    point: str

    @property
    def is_network(self) -> bool:
        """Whether its data live on another machine."""
        return self.kind in NETWORK_KINDS


@dataclass(frozen=True, slots=True)
class Mounts:
    """In the order printed."""

    mounts: tuple[Mount, ...]

    def largest(self) -> Mount | None:
        """The largest one that keeps data: no memory, no read-only image."""
        kept = [
            m for m in self.mounts if m.kind not in MEMORY_KINDS and m.kind not in ("squashfs", "efivarfs", "iso9660")
        ]
        return max(kept, key=lambda m: m.size_bytes, default=None)


def parse(output: CommandOutput) -> Mounts:
    """Read the table. Raises Unreadable."""
    head, *rows = output.text.split("\n")
    rows = rows[:-1]  # what follows the last line end is nothing, or a torn line
    if "Type" not in head or "Mounted on" not in head:
        raise Unreadable("df printed no table with file system types")
    found = [Mount(m[1], m[2], int(m[3]), int(m[5]), m[6]) for row in rows[:MAX_ROWS] if (m := _ROW.match(row))]
    if not found:
        raise Unreadable("df names no file system")
    return Mounts(tuple(found))


def as_dict(reading: Mounts) -> dict[str, object]:
    """Lists over the rows: sources, kinds, sizes_bytes, available_bytes, points; largest is a mount point."""
    largest = reading.largest()
    return {
        "sources": [m.source for m in reading.mounts],
        "kinds": [m.kind for m in reading.mounts],
        "sizes_bytes": [m.size_bytes for m in reading.mounts],
        "available_bytes": [m.available_bytes for m in reading.mounts],
        "points": [m.point for m in reading.mounts],
        "largest": largest.point if largest else None,
    }


def recognise(text: str) -> int:
    """Sure of the head of df -T."""
    head = text.split("\n", 1)[0]
    return 97 if head.startswith("Filesystem") and "Type" in head and "Mounted on" in head else 0
