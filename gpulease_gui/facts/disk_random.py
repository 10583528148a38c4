"""How many small random reads and writes a second does the disk do, past the page cache?"""

from __future__ import annotations

from typing import Final, Literal

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.fio_set import FioSet, fio_command, parse_set, set_dict

READ: Final = "randread"
WRITE: Final = "randwrite"


def command(direction: Literal["randread", "randwrite"], seconds: int, size_mib: int) -> Command:
    """4 KiB blocks from four jobs of 64 requests each on one file: what an IOPS figure of a data sheet means.

    Raises ValueError for another direction.
    """
    if direction not in (READ, WRITE):
        raise ValueError(f"no such direction: {direction!r}")
    load = (f"--rw={direction}", "--bs=4k", "--ioengine=libaio", "--iodepth=64", "--numjobs=4", "--direct=1")
    return fio_command(*load, "--norandommap", "--randrepeat=0", "--refill_buffers", size_mib=size_mib, seconds=seconds)


FACT = Fact(
    id="disk_random",
    title=Text("Random disk access, 4 KiB", "磁盘 4 KiB 随机读写"),
    command=command(READ, 30, 4096),
    seconds=300,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def parse(output: CommandOutput) -> FioSet:
    """Read the tests `randread` and `randwrite`. Raises Unreadable when neither is there."""
    return parse_set(output, (READ, WRITE))


def as_dict(reading: FioSet) -> dict[str, object]:
    """The keys of `fio_set.set_dict`."""
    return set_dict(reading)


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"randread": ') and '"size_mib"' in text else 0
