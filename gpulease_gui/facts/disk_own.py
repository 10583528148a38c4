"""How fast does a disk read or write in a row, by the program's own test on a node without fio?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, figure, items, words

KEY = "gpulease_disk"
_END = "gpulease-end-of-program"
_MOST_S = 3600.0


@dataclass(frozen=True, slots=True)
class OwnRate:
    """One test of one direction: decimal MB/s, None where a worker failed (`trouble`) or nothing was moved."""

    reads: bool | None
    mb_s: float | None
    direct: bool | None = None
    seconds: float | None = None
    trouble: str = ""


def command(*, reads: bool, seconds: int, size_mib: int) -> Command:
    """The program, read by python3 from its standard input; its file lies in the current folder and has no name."""
    wish = json.dumps({"reads": reads, "seconds": seconds, "size_mib": size_mib})
    return Command(script=f"python3 - <<'{_END}'\n{program()}\n\nmain(json.loads({json.dumps(wish)}))\n{_END}\n")


@cache
def program() -> str:
    """The one file that the node runs."""
    return (resources.files("gpulease_gui") / "agent" / "disk_rate.py").read_text("utf-8").rstrip()


# What is printed; a run puts direction, length and size in their places.
FACT = Fact(
    id="disk_own",
    title=Text("Disk throughput by the program's own test", "磁盘吞吐（本程序自带测试）"),
    command=command(reads=True, seconds=30, size_mib=4096),
    seconds=300,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def parse(output: CommandOutput) -> OwnRate:
    """Read what was printed. Raises Unreadable."""
    found = document(output.text)
    told = items(found, "workers")
    if KEY not in found or not told:
        raise Unreadable("this JSON is not of the program's own disk test", code=Reason.UNREADABLE)
    moved = [_moved(one) for one in told]
    direct, reads = found.get("direct"), found.get("reads")
    troubles = [said for one in told if (said := words(one, "error"))]
    known = [one for one in moved if one is not None]
    whole = not troubles and len(known) == len(moved)
    total, seconds = sum(one[0] for one in known), max((one[1] for one in known), default=None)
    return OwnRate(
        reads=reads if isinstance(reads, bool) else None,
        mb_s=total / seconds / 1e6 if whole and total and seconds else None,
        direct=direct if isinstance(direct, bool) else None,
        seconds=seconds,
        trouble=troubles[0][:200] if troubles else "" if whole and total else "nothing was moved",
    )


def _moved(one: dict[str, Any]) -> tuple[int, float] | None:
    """(bytes, seconds since the common begin)."""
    moved, seconds = count(one, "bytes"), figure(one, "seconds")
    if moved is None or moved < 0 or seconds is None or not 0 < seconds < _MOST_S:
        return None
    return moved, seconds


def as_dict(reading: OwnRate) -> dict[str, object]:
    """The keys of `gpulease parse --kind disk_own`."""
    return {"reads": reading.reads, "mb_s": reading.mb_s, "direct": reading.direct, "seconds": reading.seconds, "trouble": reading.trouble or None}


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith(f'{{"{KEY}"') else 0
