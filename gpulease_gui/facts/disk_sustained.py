"""How does the write rate of the disk go on over many minutes?"""

from __future__ import annotations

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.fio_set import FioSet, logged_command, parse_set, set_dict

SUSTAINED = "sustained"


def command(seconds: int, size_mib: int) -> Command:
    """Sequential writes past the page cache, with a rate for every second."""
    load = ("--rw=write", "--bs=1M", "--ioengine=libaio", "--iodepth=32", "--direct=1", "--refill_buffers")
    return logged_command(*load, size_mib=size_mib, seconds=seconds)


FACT = Fact(
    id="disk_sustained",
    title=Text("Disk write rate over time", "磁盘持续写入速率"),
    command=command(900, 16384),
    seconds=1200,
    impact=Impact.DISRUPTIVE,
    ok_codes=None,
)


def parse(output: CommandOutput) -> FioSet:
    """Read the test `sustained` with its series. Raises Unreadable when it is not there."""
    return parse_set(output, (SUSTAINED,))


def as_dict(reading: FioSet) -> dict[str, object]:
    """The keys of `fio_set.set_dict`."""
    return set_dict(reading)


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"sustained": ') and '"size_mib"' in text else 0
