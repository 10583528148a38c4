"""Does a second on the node take as long as a second here?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, figure, items, words

# Two short steps, whose arrivals show how much the line delays now and then, and one long one.
STEPS_S = (0.25, 0.25)
_MAX_TICKS = 16
# Python's clock is the one that benchmarks use, and the one that a preloaded library can bend.
_PROGRAM = """\
import sys, time
for number, pause in enumerate([0.0] + [float(word) for word in sys.argv[1:]]):
    time.sleep(pause)
    print("gpulease-tick", time.monotonic(), time.time(), number, flush=True)
"""
_SCRIPT = f"""\
if command -v python3 >/dev/null; then
  exec python3 -u -c '{_PROGRAM}' @STEPS@
fi
number=0
for pause in 0 @STEPS@; do
  sleep "$pause" || sleep 1
  read -r now idle </proc/uptime
  echo "gpulease-tick $now $(date +%s) $number"
  number=$((number + 1))
done
"""
_LINE = re.compile(rb"gpulease-tick (\d{1,15}(?:\.\d{1,9})?) (\d{1,12}(?:\.\d{1,9})?) \d{1,2}\r?\n")


def command(seconds: int) -> Command:
    """A line at the start, two soon after, and one `seconds` later."""
    steps = " ".join(f"{step:g}" for step in (*STEPS_S, seconds))
    return Command(script=_SCRIPT.replace("@STEPS@", steps))


FACT = Fact(
    id="clock_ticks",
    title=Text("Clock of the node against ours", "节点时钟与本机对照"),
    command=command(5),
    seconds=30,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class ClockTest:
    """One test: seconds that passed on the node and here, how much the line's delay swayed, and the node's offset.

    `offset_s` > 0: the node's time of day is ahead of ours. All in seconds.
    """

    node_s: float
    ours_s: float
    jitter_s: float
    offset_s: float

    @property
    def ratio(self) -> float:
        """The node's seconds for one of ours."""
        return self.node_s / self.ours_s if self.ours_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ClockTicks:
    """The tests in the order run; `trouble` says why there is none."""

    tests: tuple[ClockTest, ...] = ()
    trouble: str = ""
    code: str = ""


def tick_end(number: int) -> bytes:
    """How the line of stamp `number` (from 0) ends."""
    return f" {number}\n".encode()


def ticks_in(output: bytes) -> list[tuple[float, float]]:
    """The node's stamps in an output: steady clock and time of day, both in seconds."""
    return [(float(steady), float(wall)) for steady, wall in _LINE.findall(output)[:_MAX_TICKS]]


def clock_test(ticks: Sequence[tuple[float, float]], arrivals: Sequence[tuple[float, float]], late_s: float = 0.0) -> ClockTest | None:
    """The test that stamps and their arrivals (both steady clock, time of day) make; None without four of each.

    `late_s`: for so long the last one may have lain here unread, which counts as sway of the line.
    """
    if len(ticks) < 4 or len(arrivals) < 4:
        return None
    delays = [here[0] - there[0] for there, here in zip(ticks[:4], arrivals[:4], strict=True)]
    # The first three stamps lie half a second apart: no bent clock explains how much their delays sway.
    jitter = max(max(delays[:3]) - min(delays[:3]), late_s)
    # The one that was the least on its way, or lay here the least, says most of the time of day.
    offset = max(there[1] - here[1] for there, here in zip(ticks[:3], arrivals[:3], strict=True))
    return ClockTest(ticks[3][0] - ticks[2][0], arrivals[3][0] - arrivals[2][0], jitter, offset)


def combine(reading: ClockTicks) -> CommandOutput:
    """The evidence of what a client timed: our own words, since no tool of the node prints them."""
    whole = {"clock_tests": [asdict(test) for test in reading.tests], "trouble": reading.trouble, "code": reading.code}
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> ClockTicks:
    """Read it. Raises Unreadable when it is no such document."""
    found = document(output.text)
    if "clock_tests" not in found:
        raise Unreadable("the clock was not tested", code=Reason.NOT_COLLECTED)
    tests = []
    for one in items(found, "clock_tests")[:_MAX_TICKS]:
        told = [figure(one, name) for name in ("node_s", "ours_s", "jitter_s", "offset_s")]
        if all(value is not None for value in told) and (told[1] or 0) > 0:
            tests.append(ClockTest(*(value or 0.0 for value in told)))
    return ClockTicks(tuple(tests), words(found, "trouble") or "", words(found, "code") or "")


def as_dict(reading: ClockTicks) -> dict[str, object]:
    """Per test: ratio (four decimals), jitter and offset in seconds; trouble."""
    return {
        "ratio": [round(test.ratio, 4) for test in reading.tests],
        "jitter_s": [test.jitter_s for test in reading.tests],
        "offset_s": [test.offset_s for test in reading.tests],
        "trouble": reading.trouble or None,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"clock_tests": ') else 0
