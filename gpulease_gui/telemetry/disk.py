"""How much does each disk read and write?"""

from __future__ import annotations

import re
from collections.abc import Collection

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.rates import Present, Rates, counter, split_sample
from gpulease_gui.telemetry.source import Metric, Point, Source, proc_loop

METRICS = (
    Metric("disk.read_mb_s", Text("Disk read", "磁盘读"), "MB/s", "disk", term="disk.read_mb_s", decimals=0),
    Metric("disk.write_mb_s", Text("Disk write", "磁盘写"), "MB/s", "disk", term="disk.write_mb_s", decimals=0),
)
# What the kernel makes of memory and of files, and drives whose medium changes.
_NO_DISK = re.compile(r"(?:loop|ram|zram|sr|fd)\d+\Z")
# There is one for each that might be connected.
_SPARE = re.compile(r"nbd\d+\Z")
_PARTITION = re.compile(r"(.*?)(p?)(\d+)\Z")
_SECTOR_MB = 512 / 1e6
# Two dozen of the fastest drives (14 GB/s) in one md device give a third of it.
_MOST_MB_S = 1_000_000.0


class _Reader:
    def __init__(self) -> None:
        self._rates, self._present = Rates(_MOST_MB_S / _SECTOR_MB), Present()

    def read(self, line: str) -> tuple[Point, ...]:
        """/proc/diskstats: field 3 is the name, 6 the sectors read, 10 the sectors written (512 bytes each)."""
        at_s, rows = split_sample(line)
        disks = _disks(rows)
        points: list[Point] = []
        for row in rows:
            words = row.split()
            if len(words) < 10:
                raise Unreadable(f"not a disk row: {row[:80]}")
            if words[2] in disks:
                points.append(self._point("disk.read_mb_s", words[2], at_s, words[5]))
                points.append(self._point("disk.write_mb_s", words[2], at_s, words[9]))
        return self._present.with_missing(points)

    def _point(self, metric: str, name: str, at_s: float, sectors: str) -> Point:
        if (count := counter(sectors)) is None:
            raise Unreadable(f"not a sector count: {sectors[:40]}")
        rate = self._rates.per_second(metric + name, at_s, float(count))
        return Point(metric, name, rate * _SECTOR_MB) if rate is not None else Point(metric, name, None, why=self._rates.why(metric + name))


def _disks(rows: list[str]) -> frozenset[str]:
    """The names of whole disks: their partitions would count twice.

    The kernel names a partition after its disk, with a number that a "p" stands before where the disk's name ends in a digit. (An
    agent leaves partitions out by /sys/block; a virtual machine may have a partition without its disk, which counts.)
    """
    named = {words[2]: words for row in rows if len(words := row.split()) > 9}
    return frozenset(
        name for name, words in named.items()
        if not _NO_DISK.match(name) and not (_SPARE.match(name) and words[5] == words[9] == "0") and not _is_part(name, named)
    )  # fmt: skip


def _is_part(name: str, named: Collection[str]) -> bool:
    found = _PARTITION.match(name)
    return found is not None and found[1] in named and bool(found[2]) == found[1][-1:].isdigit()


SOURCE = Source("disk", Text("Disks", "磁盘"), proc_loop("disk", "cat /proc/diskstats"), METRICS, _Reader)
