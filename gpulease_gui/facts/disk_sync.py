"""How long does the disk take until a small write is really on it (fsync)?"""

from __future__ import annotations

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.fio_set import FioSet, fio_command, parse_set, set_dict

FSYNC = "fsync"


def command(seconds: int, size_mib: int) -> Command:
    """4 KiB writes, each flushed before the next: the page cache takes part, and the flush is what is timed."""
    return fio_command("--rw=write", "--bs=4k", "--ioengine=psync", "--fsync=1", size_mib=size_mib, seconds=seconds)


FACT = Fact(
    id="disk_sync",
    title=Text("Flush latency of the disk", "磁盘 fsync 延迟"),
    command=command(20, 64),
    seconds=120,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def parse(output: CommandOutput) -> FioSet:
    """Read the test `fsync`. Raises Unreadable when it is not there."""
    return parse_set(output, (FSYNC,))


def as_dict(reading: FioSet) -> dict[str, object]:
    """The keys of `fio_set.set_dict`."""
    return set_dict(reading)


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"fsync": ') and '"size_mib"' in text else 0
