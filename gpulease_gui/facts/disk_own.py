"""How fast does a disk read or write in a row, by the program's own test on a node without fio?"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, items, words
from gpulease_gui.facts.own_ends import Clock, Misfit, Stream, clock_of, stream_of

KEY = "gpulease_disk"
_END = "gpulease-end-of-program"
# The program's own bounds of a length; a flush may take longer, so only the clock here bounds a test from above.
_LEAST_S, _MOST_S, _SHORTEST, _CLOCK_S = 0.5, 300.0, 0.5, 0.5


@dataclass(frozen=True, slots=True)
class OwnRate:
    """One test of one direction: decimal MB/s, None where a worker failed (`trouble`), nothing was moved, or its figures can't be true (`misfit`)."""

    reads: bool | None
    mb_s: float | None
    direct: bool | None = None
    seconds: float | None = None
    trouble: str = ""
    misfit: Misfit | None = None


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


def timed(output: CommandOutput, seconds: float, took_s: float) -> CommandOutput:
    """What was printed, with the length that was asked for and what the clock here says: the node can't move them."""
    try:
        found = document(output.text)
    except Unreadable:
        return output
    asked_s = _lasts_s(seconds)
    return replace(output, stdout=json.dumps({**found, "asked_s": asked_s, "took_s": took_s}).encode())


def _lasts_s(seconds: float | None) -> float | None:
    """The length that the program takes of the one that is asked for."""
    return max(_LEAST_S, min(_MOST_S, float(seconds))) if seconds is not None else None


def parse(output: CommandOutput, asked_s: float | None = None) -> OwnRate:
    """Read what was printed; `asked_s` is the length where the document doesn't hold it. Raises Unreadable."""
    found = document(output.text)
    told = items(found, "workers")
    if KEY not in found or not told:
        raise Unreadable("this JSON is not of the program's own disk test", code=Reason.UNREADABLE)
    moved, clock = [stream_of(one) for one in told], clock_of(found)
    clock = clock if clock.asked_s is not None else replace(clock, asked_s=_lasts_s(asked_s))
    direct, reads = found.get("direct"), found.get("reads")
    troubles = [said for one in told if (said := words(one, "error"))]
    known = [one for one in moved if one is not None]
    whole, total = not troubles and len(known) == len(moved), sum(one.moved for one in known)
    seconds = max([clock.asked_s or 0.0, *(one.seconds for one in known)]) if known else None
    wrong = _misfit(known, clock) if whole and total else None
    return OwnRate(
        reads=reads if isinstance(reads, bool) else None,
        mb_s=total / seconds / 1e6 if whole and total and seconds and not wrong else None,
        direct=direct if isinstance(direct, bool) else None,
        seconds=seconds,
        trouble=_trouble(troubles, wrong, bool(whole and total)),
        misfit=wrong,
    )


def _trouble(said: list[str], wrong: Misfit | None, moved: bool) -> str:
    if said:
        return said[0][:200]
    return f"the figures of the program's own disk test don't fit: {wrong}" if wrong else "" if moved else "nothing was moved"


def _misfit(workers: list[Stream], clock: Clock) -> Misfit | None:
    """What can't be true: all workers begin together and work for the time that was asked for, within what passed here."""
    times = [one.seconds for one in workers]
    asked_s = clock.asked_s or max(times)
    if min(times) < max(_LEAST_S, asked_s) * _SHORTEST:
        return Misfit.TIME
    if clock.took_s is not None and max(*times, asked_s) > clock.took_s + _CLOCK_S:
        return Misfit.CLOCK
    return Misfit.SILENT if not all(one.moved for one in workers) else None


def as_dict(reading: OwnRate) -> dict[str, object]:
    """The keys of `gpulease parse --kind disk_own`."""
    return {"reads": reading.reads, "mb_s": reading.mb_s, "direct": reading.direct, "seconds": reading.seconds, "trouble": reading.trouble or None, "misfit": str(reading.misfit) if reading.misfit else None}


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith(f'{{"{KEY}"') else 0
