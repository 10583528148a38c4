"""How much processor time does the node really get when it asks for all of it?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole
from gpulease_gui.facts.raw_runs import pack, unpack

# One busy loop for each processor, in our own process group: it ends with the command, whatever happens. `times` tells
# what the loops got, the kernel's own counters what was stolen; a container sees only the former.
_SCRIPT = (
    SHELL
    + """\
stat() { while read -r k v; do if [ "$k" = cpu ]; then say "$1" "$v"; fi; done </proc/stat; }
up() { read -r u x </proc/uptime; say "$1" "$u"; }
n=$(nproc) || n=1
say cpus "$n"
p=
trap 'kill $p; exit 143' TERM HUP INT
up start
i=0
while [ $i -lt "$n" ] && [ $i -lt 1024 ]; do
  while :; do :; done &
  p="$p $!"
  i=$((i + 1))
done
stat before
sleep @SECONDS@
stat after
up stop
kill $p
wait $p
times
"""
    + END
)
_TIMES = re.compile(r"^(\d{1,9})m([\d.]{1,9})s (\d{1,9})m([\d.]{1,9})s$", re.MULTILINE)
_STEAL = 7


def command(seconds: int) -> Command:
    """Load on all processors for `seconds`."""
    return Command(script=_SCRIPT.replace("@SECONDS@", str(int(seconds))))


FACT = Fact(
    id="cpu_load",
    title=Text("Processor time under full load", "满载时的 CPU 时间"),
    command=command(20),
    seconds=60,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class LoadTest:
    """One test; None = not told. Shares are of 100.

    `steal_percent`: of all time of the machine's processors, what the hypervisor gave to others.
    `share_percent`: of `cpus` whole processors, what our loops got.
    """

    cpus: int | None = None
    seconds: float | None = None
    steal_percent: float | None = None
    share_percent: float | None = None
    trouble: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class CpuLoad:
    """The tests in the order run."""

    tests: tuple[LoadTest, ...] = ()
    seconds: int | None = None


def combine(outputs: Sequence[CommandOutput], *, seconds: int) -> CommandOutput:
    """One output that holds the tests."""
    whole_set = {"load": [pack(output) for output in outputs], "seconds": seconds}
    return CommandOutput(json.dumps(whole_set, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> CpuLoad:
    """Read a combined output; a test without figures is a reading that says why. Raises Unreadable without any test."""
    found = document(output.text)
    if "load" not in found:
        raise Unreadable("the processors were not loaded", code=Reason.NOT_COLLECTED)
    return CpuLoad(tuple(_test(run) for run in unpack(found.get("load"))), count(found, "seconds"))


def _test(run: CommandOutput) -> LoadTest:
    try:
        lines = keyed_lines(run, "cpus")
    except Unreadable as error:
        said = run.error_text.strip().split("\n")[0][:200]
        code = Reason.MISSING_TOOL if run.exit_code == 127 else error.code
        return LoadTest(trouble=said or error.reason, code=str(code))
    cpus, seconds = lines.number("cpus"), _elapsed_s(lines)
    return LoadTest(cpus, seconds, _steal(lines), _share(run.text, cpus, seconds))


def _elapsed_s(lines: KeyedLines) -> float | None:
    start, stop = _seconds(lines.first("start")), _seconds(lines.first("stop"))
    return stop - start if start is not None and stop is not None and stop > start else None


def _seconds(words: str | None) -> float | None:
    bare = (words or "").strip()
    return float(bare) if bare.isascii() and bare.replace(".", "", 1).isdigit() and len(bare) < 16 else None


def _steal(lines: KeyedLines) -> float | None:
    """Steal in per cent of all ticks between the two readings; kernels before 2.6.11 count none."""
    before, after = (_ticks(lines.first(key)) for key in ("before", "after"))
    if before is None or after is None:
        return None
    passed = [b - a for a, b in zip(before, after, strict=True)]
    total = sum(passed)
    return 100.0 * passed[_STEAL] / total if total > 0 and min(passed) >= 0 else None


def _ticks(words: str | None) -> list[int] | None:
    """The first eight counters: what guests get is a part of user time already."""
    cells = [whole(cell) for cell in (words or "").split()[: _STEAL + 1]]
    told = [cell for cell in cells if cell is not None]
    return told if len(told) == len(cells) == _STEAL + 1 else None


def _share(text: str, cpus: int | None, seconds: float | None) -> float | None:
    """What the loops got: the second line of `times` is that of the children."""
    found = _TIMES.findall(text)
    if len(found) != 2 or not cpus or not seconds:
        return None
    user_min, user_s, system_min, system_s = found[1]
    told = _seconds(user_s), _seconds(system_s)
    if told[0] is None or told[1] is None:
        return None
    used = int(user_min) * 60 + told[0] + int(system_min) * 60 + told[1]
    return 100.0 * used / (cpus * seconds)


def as_dict(reading: CpuLoad) -> dict[str, object]:
    """Per test: cpus, steal and share in per cent (two decimals), trouble; seconds."""
    return {
        "cpus": [test.cpus for test in reading.tests],
        "steal_percent": [None if t.steal_percent is None else round(t.steal_percent, 2) for t in reading.tests],
        "share_percent": [None if t.share_percent is None else round(t.share_percent, 2) for t in reading.tests],
        "troubles": [test.trouble or None for test in reading.tests],
        "seconds": reading.seconds,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"load": ') else 0
