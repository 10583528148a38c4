"""How fast is the network from this node to its peer, and back?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import iperf3_json, tcp_rate
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.raw_runs import NOTHING_MOVED, pack, reason_code, unpack

FORWARD, BACKWARD = "target->peer", "peer->target"

# What is printed: a run puts address, port and length in their places, and the peer listens with `iperf3 -s -1`.
FACT = Fact(
    id="iperf_pair",
    title=Text("Network bandwidth, both directions", "网络带宽（双向）"),
    command=iperf3_json.FACT.command,
    seconds=120,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class IperfTry:
    """One test of one direction: `run`, or in words why it gave none. `trouble` also holds iperf3's own error."""

    run: IperfRun | None
    trouble: str = ""
    code: str = ""
    next_step: str = ""

    @property
    def gbit_s(self) -> float | None:
        """What arrived, in 1e9 bit/s; None without a valid rate (an error, nothing received, UDP)."""
        return (self.run.received_gbit_s or None) if self.run and not self.trouble else None


@dataclass(frozen=True, slots=True)
class IperfPair:
    """The tests of each direction in the order run: the second one repeats a first that was too slow."""

    forward: tuple[IperfTry, ...] = ()
    backward: tuple[IperfTry, ...] = ()


def combine(outputs: Mapping[str, Sequence[CommandOutput]]) -> CommandOutput:
    """One output that holds the tests by direction (`target->peer`, `peer->target`): what `parse` reads and is kept."""
    whole = {direction: [pack(output) for output in tests] for direction, tests in outputs.items()}
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> IperfPair:
    """Read a combined output; a test without a rate is a reading that says why.

    Raises Unreadable when neither direction is there.
    """
    found = document(output.text)
    if FORWARD not in found and BACKWARD not in found:
        raise Unreadable("no direction was measured", code=Reason.NOT_COLLECTED)
    return IperfPair(tries(found.get(FORWARD)), tries(found.get(BACKWARD)))


def tries(told: Any) -> tuple[IperfTry, ...]:
    """The tests of one direction of a combined output."""
    return tuple(_try(output) for output in unpack(told))


def _try(output: CommandOutput) -> IperfTry:
    try:
        run = own_run(output) or iperf3_json.parse(output)
    except Unreadable as error:
        words = output.error_text.strip().split("\n")[0][:200]
        return IperfTry(None, words or error.reason, reason_code(output, error), error.next_step)
    if run.nothing_received and not run.error and not output.exit_code:
        return IperfTry(run, "nothing arrived", NOTHING_MOVED)
    code = Reason.INCONSISTENT if run.misfit else Reason.UNREADABLE if run.error else ""
    return IperfTry(run, run.error or "", code)


def own_run(output: CommandOutput) -> IperfRun | None:
    """The program's own TCP test in the shape of an iperf3 test; None for anything else. Raises Unreadable."""
    if not tcp_rate.recognise(output.text):
        return None
    told = tcp_rate.parse(output)
    trouble = f"{told.broken} of {told.streams} streams of the program's own TCP test broke off" if told.broken else ""
    # That nothing came at all may as well be our own fault: no verdict stands on it.
    trouble = "not a byte of the program's own TCP test arrived" if told.nothing_arrived else trouble
    trouble = f"the figures of the two ends of the program's own TCP test don't fit: {told.misfit}" if told.misfit else trouble
    return IperfRun(
        error=trouble or None, protocol="TCP", streams=told.streams, received_gbit_s=told.gbit_s, seconds=told.seconds,
        own_test=True, busiest_percent=told.busiest_percent, waiting_percent=told.waiting_percent,
        misfit=str(told.misfit or ""), silent=told.silent,
    )  # fmt: skip


def as_dict(reading: IperfPair) -> dict[str, object]:
    """Per direction: rates in Gbit/s (null = none) and troubles, in the order run."""
    return {
        "forward_gbit_s": [t.gbit_s for t in reading.forward],
        "forward_troubles": [t.trouble or None for t in reading.forward],
        "backward_gbit_s": [t.gbit_s for t in reading.backward],
        "backward_troubles": [t.trouble or None for t in reading.backward],
        "own_tests": sum(t.run is not None and t.run.own_test for t in (*reading.forward, *reading.backward)),
    }


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"' + FORWARD) or text.lstrip().startswith('{"' + BACKWARD) else 0
