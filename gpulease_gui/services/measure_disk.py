"""How are the rates and the capacity of a node's disk measured?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from gpulease_gui.checks import disk_capacity_honest, disk_fsync, disk_rand, disk_seq
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.units import MIB
from gpulease_gui.facts import disk_fill, disk_own, disk_random, disk_rates, disk_sustained, disk_sync, fio_json
from gpulease_gui.facts.fio_set import combine_set
from gpulease_gui.facts.keyed_lines import whole
from gpulease_gui.remote.run import run_active
from gpulease_gui.services.measure_lines import MeasureLines, Measurement, Task, tests_of

FIO_SECONDS, QUICK_FIO_SECONDS = 30, 5
FIO_SIZE_MIB, QUICK_SIZE_MIB = 4096, 256
SYNC_SECONDS, SYNC_SIZE_MIB = 20, 64
SUSTAINED_SECONDS, SUSTAINED_SIZE_MIB = 900, 16384
FILL_SECONDS = 300
_NO_PROGRAM = 127
# Of the free space: what a test may take, and what a written capacity is proven by.
TEST_SHARE, FILL_SHARE = 0.5, 0.8


@dataclass(frozen=True, slots=True)
class _Place:
    """The file system that scratch folders lie on; None = the node does not tell."""

    filesystem: str | None = None
    total_mib: int | None = None
    free_mib: int | None = None

    def room(self, size_mib: int) -> int:
        """The size of a test file: `size_mib`, less where half of the free space is less; at least 8 MiB."""
        return size_mib if self.free_mib is None else max(8, min(size_mib, int(self.free_mib * TEST_SHARE)))


def _place(lines: MeasureLines, cancel: CancelToken) -> _Place:
    output = run_active(lines.line, "mounts", Command("df", "-PkT", "."), 10, cancel)
    rows = [row.split() for row in output.text.splitlines()]
    if output.exit_code != 0 or len(rows) < 2 or len(rows[-1]) < 7:
        return _Place()
    total_kib, free_kib = whole(rows[-1][2]), whole(rows[-1][4])
    return _Place(
        rows[-1][1],
        total_kib // 1024 if total_kib is not None else None,
        free_kib // 1024 if free_kib is not None else None,
    )


def _size_mib(length: int) -> int:
    """With a short length the file is small, too."""
    return QUICK_SIZE_MIB if length <= QUICK_FIO_SECONDS * 2 else FIO_SIZE_MIB


def measure_rates(task: Task) -> CommandOutput:
    """Sequential reads and writes past the page cache in a scratch folder."""
    length = task.seconds or FIO_SECONDS
    place = _place(task.lines, task.cancel)
    size_mib = place.room(_size_mib(length))
    runs = {direction: tests_of(task.before, direction) for direction in ("read", "write")}
    for direction in task.directions:
        command = fio_json.command("read" if direction == "read" else "write", length, size_mib, direct=True)
        with task.lines.loaded(_load(direction, length)):
            output = run_active(task.lines.line, "fio_json", command, length * 2 + 120, task.cancel)
        # The test of our own may be the limit itself: no load to judge a disk by.
        runs[direction].append(_instead(task, direction, length, size_mib, output) if output.exit_code == _NO_PROGRAM else output)
    return disk_rates.combine(
        runs["read"], runs["write"], seconds=length, size_mib=size_mib, direct=True, filesystem=place.filesystem
    )


def _load(direction: str, seconds: float) -> Load:
    """A file is laid out before it is read: reading begins with what comes on top of what was read before."""
    return Load("disk.read_mb_s", seconds, certain=False) if direction == "read" else Load("disk.write_mb_s", seconds)


def _instead(task: Task, direction: str, length: int, size_mib: int, missing: CommandOutput) -> CommandOutput:
    """The same by a test of our own where fio is missing; what was said of fio stays the answer where this gives no rate."""
    command = disk_own.command(reads=direction == "read", seconds=length, size_mib=size_mib)
    begin_s = time.monotonic()
    output = run_active(task.lines.line, disk_own.FACT.id, command, length * 2 + 120, task.cancel)
    if output.exit_code == 0 and disk_own.recognise(output.text):
        return disk_own.timed(output, length, time.monotonic() - begin_s)
    said = (missing.stderr.strip() or b"fio: not found").splitlines()[0]
    why = (output.stderr.strip() or b"it told nothing").splitlines()[-1][:200]
    return CommandOutput(b"", said + b"; the program's own disk test gave no rate either: " + why, _NO_PROGRAM)


def measure_random(task: Task) -> CommandOutput:
    """4 KiB random reads and writes past the page cache."""
    length = task.seconds or FIO_SECONDS
    place = _place(task.lines, task.cancel)
    size_mib = place.room(_size_mib(length))
    runs = {direction: tests_of(task.before, direction) for direction in (disk_random.READ, disk_random.WRITE)}
    for direction in task.directions:
        name: Literal["randread", "randwrite"] = disk_random.READ if direction == disk_random.READ else disk_random.WRITE
        command = disk_random.command(name, length, size_mib)
        runs[direction].append(run_active(task.lines.line, "disk_random", command, length * 2 + 120, task.cancel))
    return combine_set(runs, seconds=length, size_mib=size_mib, direct=True, filesystem=place.filesystem)


def measure_sync(task: Task) -> CommandOutput:
    """Small writes, each flushed. The page cache takes part in writing, the flush is what is timed."""
    length, place = task.seconds or SYNC_SECONDS, _place(task.lines, task.cancel)
    size_mib = place.room(SYNC_SIZE_MIB)
    run = run_active(task.lines.line, "disk_sync", disk_sync.command(length, size_mib), length + 120, task.cancel)
    runs = {disk_sync.FSYNC: [*tests_of(task.before, disk_sync.FSYNC), run]}
    return combine_set(runs, seconds=length, size_mib=size_mib, direct=False, filesystem=place.filesystem)


def measure_sustained(task: Task) -> CommandOutput:
    """Sequential writes with their course over time."""
    length, place = task.seconds or SUSTAINED_SECONDS, _place(task.lines, task.cancel)
    size_mib = place.room(QUICK_SIZE_MIB if length <= QUICK_FIO_SECONDS * 2 else SUSTAINED_SIZE_MIB)
    with task.lines.loaded(_load("write", length)):
        run = run_active(task.lines.line, "disk_sustained", disk_sustained.command(length, size_mib), length + 120, task.cancel)
    runs = {disk_sustained.SUSTAINED: [run]}
    return combine_set(runs, seconds=length, size_mib=size_mib, direct=True, filesystem=place.filesystem)


def measure_fill(task: Task) -> CommandOutput:
    """Random data up to the promised size or four fifths of the free space, whichever is less; a part is read back."""
    length = task.seconds or FILL_SECONDS
    place = _place(task.lines, task.cancel)
    stated = task.lines.promise.get(disk_capacity_honest.TERM)
    limits = [int(stated.number * 1e9 / MIB)] if stated else []
    if place.free_mib is not None:
        limits.append(int(place.free_mib * FILL_SHARE))
    target_mib = max(8, min(limits, default=FIO_SIZE_MIB))
    # Reading back a hundredth takes time as well.
    run = run_active(task.lines.line, "disk_fill", disk_fill.command(target_mib, length), length * 2 + 120, task.cancel)
    return disk_fill.combine(
        run, target_mib=target_mib, total_mib=place.total_mib, free_mib=place.free_mib, seconds=length,
        filesystem=place.filesystem,
    )  # fmt: skip


DISK_MEASURES = {
    "disk_rates": Measurement(("write", "read"), measure_rates, disk_seq.to_repeat),
    "disk_random": Measurement((disk_random.READ, disk_random.WRITE), measure_random, disk_rand.to_repeat),
    "disk_sync": Measurement((disk_sync.FSYNC,), measure_sync, disk_fsync.to_repeat),
    "disk_sustained": Measurement((disk_sustained.SUSTAINED,), measure_sustained),
    "disk_fill": Measurement(("fill",), measure_fill),
}
