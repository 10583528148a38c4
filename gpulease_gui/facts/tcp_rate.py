"""How much does TCP carry between two nodes of which one has no iperf3, by the program's own test?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, figure, items

KEY, LISTENING = "gpulease_tcp", b"listening"
_END = "gpulease-end-of-program"
# More than any test runs, and more streams than one starts.
_MOST_S, _MOST_STREAMS = 3600.0, 64


@dataclass(frozen=True, slots=True)
class Wish:
    """One end of a test: an address and a port to listen on or to connect to, and who sends."""

    address: str
    port: int
    token: str
    seconds: int
    streams: int
    listens: bool
    sends: bool

    @property
    def command(self) -> Command:
        """The program, read by python3 from its standard input: neither a file nor the token is seen by others."""
        told = {name: getattr(self, name) for name in ("address", "port", "token", "seconds", "streams", "listens", "sends")}
        call = f"main(json.loads({json.dumps(json.dumps(told))}))"
        return Command(script=f"python3 - <<'{_END}'\n{program()}\n\n{call}\n{_END}\n")


@dataclass(frozen=True, slots=True)
class TcpRate:
    """One test. `gbit_s` is what arrived (1e9 bit/s); None = a stream broke off, or nothing is told.

    `busiest_percent` is the most that one process of either end used of a processor, `waiting_percent` the most that one
    waited for one; None = an end does not say it.
    """

    gbit_s: float | None
    streams: int
    seconds: float | None = None
    busiest_percent: float | None = None
    waiting_percent: float | None = None
    broken: int = 0
    nothing_arrived: bool = False


@cache
def program() -> str:
    """The one file that both ends run."""
    return (resources.files("gpulease_gui") / "agent" / "tcp_rate.py").read_text("utf-8").rstrip()


# What is printed; a run puts address, port, token and length in their places, and the peer listens in the same way.
FACT = Fact(
    id="tcp_rate",
    title=Text("Network bandwidth by the program's own TCP test", "网络带宽（本程序自带 TCP 测试）"),
    command=Wish("PEER", 5201, "TOKEN", 20, 8, listens=False, sends=True).command,
    seconds=120,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def combine(sender: bytes, receiver: bytes) -> CommandOutput | None:
    """One document of what both ends printed; None if one of them told nothing."""
    ends = [_end_of(told) for told in (sender, receiver)]
    if ends[0] is None or ends[1] is None:
        return None
    return CommandOutput(json.dumps({KEY: 1, "sender": ends[0], "receiver": ends[1]}).encode())


def _end_of(told: bytes) -> list[Any] | None:
    """The streams of the last line that is ours; around it stand marks of the wrapper."""
    for line in reversed(told.decode("utf-8", "replace").splitlines()):
        if line.startswith(f'{{"{KEY}"'):
            try:
                found = json.loads(line)
            except ValueError:
                return None
            streams = found.get("streams") if isinstance(found, dict) else None
            return streams if isinstance(streams, list) else None
    return None


def is_told(found: dict[str, Any]) -> bool:
    """Whether a document is of this test."""
    return KEY in found


def parse(output: CommandOutput) -> TcpRate:
    """Read a combined document. Raises Unreadable."""
    found = document(output.text)
    if not is_told(found):
        raise Unreadable("this JSON is not of the program's own TCP test", code=Reason.UNREADABLE)
    return rate_of(found)


def rate_of(found: dict[str, Any]) -> TcpRate:
    """What all streams brought over the longest time of one. Raises Unreadable when an end tells nothing."""
    sender, receiver = items(found, "sender")[:_MOST_STREAMS], items(found, "receiver")[:_MOST_STREAMS]
    if not sender or len(sender) != len(receiver):
        raise Unreadable("one end of the TCP test told nothing", code=Reason.CUT_OFF)
    moved = [_moved(stream) for stream in receiver]
    broken = sum(one is None or stream.get("whole") is not True for one, stream in zip(moved, receiver, strict=True))
    known = [one for one in moved if one is not None]
    total, seconds = sum(one[0] for one in known), max((one[1] for one in known), default=None)
    return TcpRate(
        gbit_s=None if broken or not total or not seconds else total * 8 / seconds / 1e9,
        streams=len(receiver),
        seconds=seconds,
        busiest_percent=_highest([*sender, *receiver], "cpu_percent"),
        waiting_percent=_highest([*sender, *receiver], "wait_percent"),
        broken=broken,
        nothing_arrived=not broken and not total,
    )


def _moved(stream: dict[str, Any]) -> tuple[int, float] | None:
    """(bytes, seconds)."""
    moved, seconds = count(stream, "bytes"), figure(stream, "seconds")
    if moved is None or moved < 0 or seconds is None or not 0 < seconds < _MOST_S:
        return None
    return moved, seconds


def _highest(streams: Sequence[dict[str, Any]], name: str) -> float | None:
    """The highest of all; None unless every one tells it."""
    told = [figure(stream, name) for stream in streams]
    known = [value for value in told if value is not None and value >= 0]
    return max(known) if known and len(known) == len(told) else None


def as_dict(reading: TcpRate) -> dict[str, object]:
    """The keys of `gpulease parse --kind tcp_rate`."""
    return {
        "gbit_s": reading.gbit_s, "streams": reading.streams, "seconds": reading.seconds, "busiest_percent": reading.busiest_percent,
        "waiting_percent": reading.waiting_percent, "broken_streams": reading.broken,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith(f'{{"{KEY}"') else 0


__all__ = ["FACT", "LISTENING", "TcpRate", "Wish", "as_dict", "combine", "is_told", "parse", "program", "rate_of", "recognise"]
