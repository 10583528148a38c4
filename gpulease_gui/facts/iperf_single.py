"""How much does one single stream carry between a node and its peer?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import iperf_pair
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.iperf_pair import BACKWARD, FORWARD, IperfPair, tries
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.raw_runs import pack

_NAMES = {FORWARD: f"one stream {FORWARD}", BACKWARD: f"one stream {BACKWARD}"}

# What is printed: a run puts address, port and length in their places.
FACT = Fact(
    id="iperf_single",
    title=Text("Network bandwidth of one stream", "单条流网络带宽"),
    command=Command("iperf3", "-c", "PEER", "-p", "PORT", "-J", "-t", "SECONDS", "-O", "1", "-P", "1"),
    seconds=90,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def combine(outputs: Mapping[str, Sequence[CommandOutput]]) -> CommandOutput:
    """One output that holds the tests by direction."""
    whole = {_NAMES[direction]: [pack(output) for output in tests] for direction, tests in outputs.items()}
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> IperfPair:
    """Read a combined output. Raises Unreadable when neither direction is there."""
    found = document(output.text)
    if not any(name in found for name in _NAMES.values()):
        raise Unreadable("no direction was measured", code=Reason.NOT_COLLECTED)
    return IperfPair(tries(found.get(_NAMES[FORWARD])), tries(found.get(_NAMES[BACKWARD])))


def as_dict(reading: IperfPair) -> dict[str, object]:
    """The keys of iperf_pair."""
    return iperf_pair.as_dict(reading)


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"one stream ') else 0
