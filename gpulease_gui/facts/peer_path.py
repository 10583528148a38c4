"""Which way do packets take to the peer, and how large may they be?"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.raw_runs import pack, unpack
from gpulease_gui.facts.table_text import clean, first_line

_PMTU = re.compile(r"\bpmtu (\d{1,6})\b")
_SUMMARY = re.compile(r"^\s*Resume: pmtu (\d{1,6})(?: hops (\d{1,3}))?", re.MULTILINE)

# What is printed: a run puts the address in its place.
FACT = Fact(
    id="peer_path",
    title=Text("Path to the peer", "到对端的路径"),
    command=Command(script="ip route get PEER\ntracepath -n PEER"),
    seconds=60,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class PeerPath:
    """The way to the peer; None = not told.

    `gateway`: packets leave the own segment through it ("" = none, the peer is a direct neighbour).
    `hops` counts what stands between: 0 = a direct neighbour. `pmtu_bytes` is the largest packet that passes.
    """

    device: str | None = None
    gateway: str | None = None
    local: bool = False
    hops: int | None = None
    pmtu_bytes: int | None = None
    route_trouble: str = ""
    trace_trouble: str = ""
    trace_missing: bool = False


def route_command(host: str) -> Command:
    """The kernel's own answer. Raises ValueError for a host that is no plain address."""
    return Command("ip", "route", "get", _plain(host))


def trace_command(host: str) -> Command:
    """Hops and path MTU, without names. Raises ValueError for a host that is no plain address."""
    return Command("tracepath", "-n", _plain(host))


def _plain(host: str) -> str:
    if not host or host.startswith("-"):
        raise ValueError(f"{host!r} is no address")
    return host


def combine(route: CommandOutput, trace: CommandOutput) -> CommandOutput:
    """One output that holds both answers."""
    return CommandOutput(json.dumps({"route": pack(route), "tracepath": pack(trace)}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> PeerPath:
    """Read a combined output. Raises Unreadable when neither tool gave an answer."""
    found = document(output.text)
    routes, traces = unpack(found.get("route")), unpack(found.get("tracepath"))
    route = routes[0] if routes else CommandOutput(b"", b"ip was not run", None)
    trace = traces[0] if traces else CommandOutput(b"", b"tracepath was not run", None)
    device, gateway, local = _route(clean(route.text))
    hops, pmtu = _trace(clean(trace.text))
    if device is None and hops is None and pmtu is None:
        raise Unreadable(_said(route) or _said(trace) or "no path was told", code=_code(route, trace))
    return PeerPath(
        device, gateway, local, hops, pmtu, "" if device else _said(route), "" if pmtu else _said(trace),
        trace.exit_code == 127,
    )  # fmt: skip


def _code(route: CommandOutput, trace: CommandOutput) -> Reason:
    return Reason.MISSING_TOOL if {route.exit_code, trace.exit_code} == {127} else Reason.UNREADABLE


def _said(run: CommandOutput) -> str:
    return (first_line(run.error_text) or first_line(run.text))[:200]


def _route(text: str) -> tuple[str | None, str | None, bool]:
    """Device, gateway and whether the address is the node's own, from the first line with `dev`."""
    line = next((line for line in text.split("\n") if " dev " in f"{line} "), "")
    words = line.split()
    after = dict(zip(words, words[1:], strict=False))
    device = after.get("dev")
    return device, (after.get("via", "") if device else None), words[:1] == ["local"]


def _trace(text: str) -> tuple[int | None, int | None]:
    """Hops between (the peer itself is none) and path MTU, as far as the peer was reached."""
    summary = _SUMMARY.search(text)
    told = [int(number) for number in _PMTU.findall(text)]
    if summary is None:
        return None, None
    reached = summary[2] is not None
    hops = int(summary[2]) - 1 if reached else None
    return (max(0, hops) if hops is not None else None), min([int(summary[1]), *told])


def as_dict(reading: PeerPath) -> dict[str, object]:
    """device, gateway ("" = none), local, hops, pmtu, troubles."""
    return {
        "device": reading.device,
        "gateway": reading.gateway,
        "local": reading.local,
        "hops": reading.hops,
        "pmtu": reading.pmtu_bytes,
        "route_trouble": reading.route_trouble or None,
        "trace_trouble": reading.trace_trouble or None,
    }


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"route": ') else 0
