"""How much does each disk read and write?"""

from __future__ import annotations

import re

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.rates import Present, Rates, counter, split_sample
from gpulease_gui.telemetry.source import Metric, Point, Source, proc_loop

METRICS = (
    Metric("disk.read_mb_s", Text("Disk read", "磁盘读"), "MB/s", "disk", term="disk.read_mb_s", decimals=0),
    Metric("disk.write_mb_s", Text("Disk write", "磁盘写"), "MB/s", "disk", term="disk.write_mb_s", decimals=0),
)
# Whole disks only: their partitions would count twice.
_WHOLE = re.compile(r"(?:nvme\d+n\d+|sd[a-z]+|vd[a-z]+|xvd[a-z]+|dm-\d+|md\d+)\Z")
_SECTOR_MB = 512 / 1e6
# Two dozen of the fastest drives (14 GB/s) in one md device give a third of it.
_MOST_MB_S = 1_000_000.0


class _Reader:
    def __init__(self) -> None:
        self._rates, self._present = Rates(_MOST_MB_S / _SECTOR_MB), Present()

    def read(self, line: str) -> tuple[Point, ...]:
        """/proc/diskstats: field 3 is the name, 6 the sectors read, 10 the sectors written (512 bytes each)."""
        at_s, rows = split_sample(line)
        points: list[Point] = []
        for row in rows:
            words = row.split()
            if len(words) < 10:
                raise Unreadable(f"not a disk row: {row[:80]}")
            if _WHOLE.match(words[2]):
                points.append(self._point("disk.read_mb_s", words[2], at_s, words[5]))
                points.append(self._point("disk.write_mb_s", words[2], at_s, words[9]))
        return self._present.with_missing(points)

    def _point(self, metric: str, name: str, at_s: float, sectors: str) -> Point:
        if (count := counter(sectors)) is None:
            raise Unreadable(f"not a sector count: {sectors[:40]}")
        rate = self._rates.per_second(metric + name, at_s, float(count))
        return Point(metric, name, rate * _SECTOR_MB) if rate is not None else Point(metric, name, None, why=self._rates.why(metric + name))


SOURCE = Source("disk", Text("Disks", "磁盘"), proc_loop("disk", "cat /proc/diskstats"), METRICS, _Reader)
