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
from gpulease_gui.facts.own_counters import Moved
from gpulease_gui.facts.own_ends import Misfit, Stream, clock_of, misfit, silent, stream_of

KEY, LISTENING = "gpulease_tcp", b"listening"
NOT_COUNTED = Moved()
_END = "gpulease-end-of-program"
# More streams than one test starts.
_MOST_STREAMS = 64
# The program's own bounds of a length.
_LEAST_S, _MOST_S = 0.5, 120.0


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
    def lasts_s(self) -> float:
        """The length that the program takes of the one that is asked for."""
        return max(_LEAST_S, min(_MOST_S, float(self.seconds)))

    @property
    def command(self) -> Command:
        """The program, read by python3 from its standard input: neither a file nor the token is seen by others."""
        told = {name: getattr(self, name) for name in ("address", "port", "token", "seconds", "streams", "listens", "sends")}
        call = f"main(json.loads({json.dumps(json.dumps(told))}))"
        return Command(script=f"python3 - <<'{_END}'\n{program()}\n\n{call}\n{_END}\n")


@dataclass(frozen=True, slots=True)
class TcpRate:
    """One test. `gbit_s` is what arrived (1e9 bit/s); None = a stream broke off, nothing is told, or
    the figures can't all be true (`misfit` says how; `silent` streams brought nothing while others did).

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
    misfit: Misfit | None = None
    silent: int = 0


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


def combine(
    sender: bytes, receiver: bytes, asked_s: float | None = None, took_s: float | None = None, streams: int | None = None,
    moved: Moved = NOT_COUNTED,
) -> CommandOutput | None:  # fmt: skip
    """One document of what both ends printed; None if one of them told nothing.

    `asked_s` is the length that was asked for, `streams` how many, `took_s` what the whole test took by the clock here: no end
    can move them. `moved`: what the interfaces of both ends counted meanwhile.
    """
    ends = [_end_of(told) for told in (sender, receiver)]
    if ends[0] is None or ends[1] is None:
        return None
    ours = {KEY: 1, "asked_s": asked_s, "took_s": took_s, "asked_streams": streams, "counted_in": moved.came, "counted_out": moved.sent}
    return CommandOutput(json.dumps({**ours, "sender": ends[0], "receiver": ends[1]}).encode())


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
    came, sent, clock = [stream_of(one) for one in receiver], [stream_of(one) for one in sender], clock_of(found)
    broken = sum(one is None or stream.get("whole") is not True for one, stream in zip(came, receiver, strict=True))
    known = [one for one in came if one is not None]
    total, seconds = sum(one.moved for one in known), _longest(known, clock.asked_s)
    asked = count(found, "asked_streams") or len(receiver)
    wrong = (Misfit.STREAMS if len(receiver) != asked else misfit(sent, known, clock) or _beyond(known, found)) if total and not broken else None
    return TcpRate(
        gbit_s=None if broken or wrong or not total or not seconds else total * 8 / seconds / 1e9,
        streams=len(receiver),
        seconds=seconds,
        busiest_percent=_highest([*sender, *receiver], "cpu_percent"),
        waiting_percent=_highest([*sender, *receiver], "wait_percent"),
        broken=broken,
        nothing_arrived=not broken and not total,
        misfit=wrong,
        silent=silent(known) if total else 0,
    )


def _beyond(came: Sequence[Stream], found: dict[str, Any]) -> Misfit | None:
    """Whether the interfaces of both ends, as far as they were read, can have moved what arrived from the first byte to the last."""
    moved = Moved(count(found, "counted_in"), count(found, "counted_out"))
    arrived, seconds = sum(max(one.moved, one.in_all or 0) for one in came), max(one.seconds for one in came)
    return Misfit.COUNTERS if moved.speaks_against(arrived, seconds) else None


def _longest(streams: Sequence[Stream], asked_s: float | None) -> float | None:
    """The time that the bytes count over: never less than was asked for; None without a stream."""
    return max([asked_s or 0.0, *(one.seconds for one in streams)]) if streams else None


def _highest(streams: Sequence[dict[str, Any]], name: str) -> float | None:
    """The highest of all, at most the whole of a processor or of the time; None unless every one tells it."""
    told = [figure(stream, name) for stream in streams]
    known = [value for value in told if value is not None and value >= 0]
    return min(100.0, max(known)) if known and len(known) == len(told) else None


def as_dict(reading: TcpRate) -> dict[str, object]:
    """The keys of `gpulease parse --kind tcp_rate`."""
    return {
        "gbit_s": reading.gbit_s, "streams": reading.streams, "seconds": reading.seconds, "busiest_percent": reading.busiest_percent,
        "waiting_percent": reading.waiting_percent, "broken_streams": reading.broken,
        "misfit": str(reading.misfit) if reading.misfit else None, "silent_streams": reading.silent,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith(f'{{"{KEY}"') else 0


__all__ = ["FACT", "LISTENING", "TcpRate", "Wish", "as_dict", "combine", "is_told", "parse", "program", "rate_of", "recognise"]
