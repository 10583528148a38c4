"""How fast is the network between two nodes (`iperf3 -J`)?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, events, figure, is_nothing, items, member, words
from gpulease_gui.facts.table_text import clean

# The first second is left out of the sums: slow start is no bandwidth. Eight streams, because one TCP stream is often
# bound by a window, one path of a bond, or one core.
FACT = Fact(
    id="iperf3_json",
    title=Text("Network bandwidth", "网络带宽"),
    command=Command("iperf3", "-c", "PEER", "-p", "PORT", "-J", "-t", "SECONDS", "-O", "1", "-P", "8"),
    seconds=90,
    impact=Impact.ACTIVE,
    ok_codes=None,
    ask=Text("iperf3 -c <address of our node> -J -t 30 -P 8", "iperf3 -c <我方节点地址> -J -t 30 -P 8"),
    answers=("iperf_pair",),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """The sum over all streams in one stretch of the test; the seconds that are left out (-O) are not listed."""

    start_s: float
    end_s: float
    gbit_s: float


@dataclass(frozen=True, slots=True)
class IperfRun:
    """One test as the client saw it; rates are 1e9 bits per second, None = the output does not say it.

    `error` set: the test did not end well, whatever else is told. "sent" and "received" are the sums of the side that
    sends and of the side that receives, not of this and that machine. `reverse`: the peer sent.
    `nothing_received`: TCP ran for a time, and what arrived is told as nought or as no number.
    `udp_gbit_s` and the loss are told by UDP tests only. `start_time_s` is seconds since 1970 by the client's clock.
    `own_test`: not iperf3 but the program's own TCP test told it; only then `busiest_percent` and `waiting_percent` say how
    much of a processor one process of either end used, or waited for, at most; `misfit` says why its figures can't all be
    true, `silent` how many of its streams brought nothing.
    """

    version: str | None = None
    error: str | None = None
    protocol: str | None = None
    streams: int | None = None
    reverse: bool | None = None
    bidirectional: bool = False
    sent_gbit_s: float | None = None
    received_gbit_s: float | None = None
    seconds: float | None = None
    retransmits: int | None = None
    udp_gbit_s: float | None = None
    lost_percent: float | None = None
    lost_packets: int | None = None
    packets: int | None = None
    jitter_ms: float | None = None
    host_cpu_percent: float | None = None
    remote_cpu_percent: float | None = None
    intervals: tuple[Interval, ...] = ()
    start_time_s: float | None = None
    whole_document: bool = True
    nothing_received: bool = False
    own_test: bool = False
    busiest_percent: float | None = None
    waiting_percent: float | None = None
    misfit: str = ""
    silent: int = 0

    @property
    def sender_cpu_percent(self) -> float | None:
        """CPU load of the side that sent; None when the direction or the load is not told."""
        if self.reverse is None:
            return None
        return self.remote_cpu_percent if self.reverse else self.host_cpu_percent


def server_command(port: int) -> Command:
    """The other end of one test. It waits for its client without end: the caller bounds and ends it."""
    return Command("iperf3", "-s", "-1", "--forceflush", "-p", str(port))


def client_command(host: str, port: int, seconds: int, streams: int, reverse: bool) -> Command:
    """One test of `seconds` (and one more that is left out) over `streams` TCP streams; `reverse`: the peer sends.

    Raises ValueError for a host that iperf3 would take for an option.
    """
    if not host or host.startswith("-"):
        raise ValueError(f"{host!r} is no address")
    numbers = ("-p", str(port), "-J", "-t", str(seconds), "-O", "1", "-P", str(streams))
    return Command("iperf3", "-c", host, *numbers, *(("-R",) if reverse else ()))


def parse(output: CommandOutput) -> IperfRun:
    """Read the JSON document or the lines of --json-stream. An error told by iperf3 is a reading with `error`.

    Raises Unreadable when there is no JSON or it breaks off; its reading then holds the version alone.
    """
    text = clean(output.text)
    stream = [event for event in events(text) if isinstance(event.get("event"), str)]
    if stream:
        return _from_stream(stream)
    try:
        found = document(text)
    except Unreadable as error:
        error.reading = IperfRun(version=_head_version(text), whole_document=False)
        raise
    if not {"start", "end", "error", "intervals"} & set(found):
        raise Unreadable("this JSON is not of iperf3")
    return _run(found)


def _from_stream(stream: list[dict[str, Any]]) -> IperfRun:
    """The events of --json-stream, put together as the one document would be."""
    last = {event["event"]: event.get("data") for event in stream}
    whole = {
        "start": last.get("start"),
        "intervals": [event.get("data") for event in stream if event["event"] == "interval"],
        "end": last.get("end"),
        "error": last.get("error"),
    }
    run = _run(whole, whole_document=False)
    if "end" not in last and run.error is None:
        raise Unreadable("the stream of events has no end", code=Reason.CUT_OFF, reading=run)
    return run


def _run(found: dict[str, Any], whole_document: bool = True) -> IperfRun:
    start, end = member(found, "start"), member(found, "end")
    test = member(start, "test_start")
    udp = words(test, "protocol") == "UDP" or any("udp" in one for one in items(end, "streams"))
    sent, received = member(end, "sum_sent"), member(end, "sum_received")
    total = member(end, "sum") if udp else {}
    cpu = member(end, "cpu_utilization_percent")
    return IperfRun(
        version=words(start, "version"),
        error=words(found, "error"),
        protocol=words(test, "protocol"),
        streams=count(test, "num_streams"),
        reverse=_flag(test, "reverse"),
        bidirectional=bool(_flag(test, "bidir")) or "sum_sent_bidir_reverse" in end,
        sent_gbit_s=None if udp else _gbit_s(sent),
        received_gbit_s=None if udp else _gbit_s(received),
        seconds=figure(total if udp else received, "seconds"),
        retransmits=None if udp else count(sent, "retransmits"),
        udp_gbit_s=_gbit_s(total),
        lost_percent=figure(total, "lost_percent"),
        lost_packets=count(total, "lost_packets"),
        packets=count(total, "packets"),
        jitter_ms=figure(total, "jitter_ms"),
        host_cpu_percent=figure(cpu, "host_total"),
        remote_cpu_percent=figure(cpu, "remote_total"),
        intervals=_intervals(found),
        start_time_s=figure(member(start, "timestamp"), "timesecs"),
        whole_document=whole_document,
        nothing_received=not udp and bool(figure(received, "seconds")) and is_nothing(received, "bits_per_second"),
    )


def _intervals(found: dict[str, Any]) -> tuple[Interval, ...]:
    sums = [member(one, "sum") for one in items(found, "intervals")]
    rows = [(figure(one, "start"), figure(one, "end"), _gbit_s(one)) for one in sums if one.get("omitted") is not True]
    return tuple(Interval(a, b, rate) for a, b, rate in rows if a is not None and b is not None and rate is not None)


def _gbit_s(holder: dict[str, Any]) -> float | None:
    bits = figure(holder, "bits_per_second")
    return None if bits is None else bits / 1e9


def _flag(holder: dict[str, Any], name: str) -> bool | None:
    found = count(holder, name)
    return None if found is None else found != 0


def _head_version(text: str) -> str | None:
    """The version, if the broken-off text still has the whole of it."""
    _, mark, rest = text.partition('"version"')
    parts = rest.lstrip(" \t:").split('"', 2) if mark else []
    return parts[1] if len(parts) == 3 and parts[1].startswith("iperf") else None


def as_dict(reading: IperfRun) -> dict[str, object]:
    """The keys of `gpulease parse --kind iperf3_json`; rates in Gbit/s."""
    return {
        "valid_json": reading.whole_document,
        "version": reading.version,
        "error": reading.error,
        "protocol": reading.protocol,
        "streams": reading.streams,
        "reverse": reading.reverse,
        "intervals": len(reading.intervals),
        "sent_gbits_per_second": reading.sent_gbit_s,
        "received_gbits_per_second": reading.received_gbit_s,
        "retransmits": reading.retransmits,
        "udp_gbits_per_second": reading.udp_gbit_s,
        "lost_percent": reading.lost_percent,
        "lost_packets": reading.lost_packets,
        "packets": reading.packets,
        "jitter_ms": reading.jitter_ms,
        "sender_cpu_percent": reading.sender_cpu_percent,
    }


def recognise(text: str) -> int:
    """The JSON names of an iperf3 test, whole or in a stream of events."""
    head = text[:20_000]
    if "{" not in head:
        return 0
    if '"iperf ' in head or '"test_start"' in head or '"sum_sent"' in text:
        return 95
    names = ('"event":"error"', '"event":"end"', '"event":"start"', '"event":"interval"')
    if any(name in head.replace(" ", "") for name in names):
        return 85
    return 70 if '"intervals"' in head and '"start"' in head else 0
