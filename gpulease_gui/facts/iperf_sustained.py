"""How does the rate between a node and its peer go on over ten minutes?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import iperf3_json
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.iperf3_json import Interval
from gpulease_gui.facts.iperf_pair import FORWARD, IperfTry, tries
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.raw_runs import pack

STREAMS = 8
_NAME = f"sustained {FORWARD}"

# What is printed: a run puts address, port and length in their places.
FACT = Fact(
    id="iperf_sustained",
    title=Text("Network bandwidth over time", "网络持续带宽"),
    command=Command("iperf3", "-c", "PEER", "-p", "PORT", "-J", "-t", "SECONDS", "-O", "1", "-P", "8", "-i", "10"),
    seconds=700,
    impact=Impact.DISRUPTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class IperfSustained:
    """The tests to the peer in the order run."""

    tests: tuple[IperfTry, ...] = ()

    @property
    def series(self) -> tuple[Interval, ...]:
        """The course of the last test that has one."""
        return next((t.run.intervals for t in reversed(self.tests) if t.run and t.run.intervals and not t.trouble), ())


def client_command(host: str, port: int, seconds: int) -> Command:
    """One test of `seconds` with a point for every ten of them (in a short one: every second).

    Raises ValueError for a host that iperf3 would take for an option.
    """
    words = iperf3_json.client_command(host, port, seconds, STREAMS, False).argv
    return Command(*words, "-i", "10" if seconds >= 300 else "1")


def combine(outputs: Sequence[CommandOutput]) -> CommandOutput:
    """One output that holds the tests."""
    return CommandOutput(json.dumps({_NAME: [pack(output) for output in outputs]}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> IperfSustained:
    """Read a combined output. Raises Unreadable when no test is there."""
    found = document(output.text)
    if _NAME not in found:
        raise Unreadable("nothing was measured", code=Reason.NOT_COLLECTED)
    return IperfSustained(tries(found.get(_NAME)))


def as_dict(reading: IperfSustained) -> dict[str, object]:
    """Rates in Gbit/s and troubles in the order run, count of points, first and last point."""
    series = reading.series
    return {
        "gbit_s": [test.gbit_s for test in reading.tests],
        "troubles": [test.trouble or None for test in reading.tests],
        "points": len(series),
        "first_gbit_s": series[0].gbit_s if series else None,
        "last_gbit_s": series[-1].gbit_s if series else None,
    }


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"sustained target->peer') else 0
