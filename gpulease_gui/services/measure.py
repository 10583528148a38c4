"""How are rates measured on a node, one after the other, each on a channel of its own?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpulease_gui.checks import disk_seq, net_iperf_multi
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.node import Node
from gpulease_gui.facts import disk_rates, fio_json, iperf3_json, iperf_pair
from gpulease_gui.facts.fact import readers
from gpulease_gui.facts.raw_runs import unpack
from gpulease_gui.remote.run import run_active, start_server
from gpulease_gui.services.links import Links, Opened

FIO_SECONDS, QUICK_FIO_SECONDS = 30, 5
FIO_SIZE_MIB, QUICK_SIZE_MIB = 4096, 256
IPERF_SECONDS = 20
IPERF_PORT = 5201
IPERF_PORTS = 4
STREAMS = 8
_START_S = 8.0
_LISTENING = b"listening"

# Measures these directions; the tests of `before` are kept.
Measure = Callable[["MeasureLines", int | None, CancelToken, tuple[str, ...], CommandOutput | None], CommandOutput]


class MeasureLines:
    """The lines of one measurement: the node's, and its peer's once it is needed."""

    def __init__(self, opened: Opened, node: Node, peer: Node | None, peer_address: str, links: Links) -> None:
        self.line = opened.line
        self._node = node
        self._peer = peer
        self._peer_address = peer_address
        self._links = links
        self._peer_opened: Opened | None = None

    def peer(self, cancel: CancelToken) -> Opened:
        """The peer's line. Raises NotConnected, LookupError without a peer."""
        if self._peer is None:
            raise LookupError("no peer node was named")
        if self._peer_opened is None:
            self._peer_opened = self._links.open(self._peer, cancel)
        return self._peer_opened

    @property
    def peer_host(self) -> str:
        """The address under which the node reaches its peer."""
        if self._peer_address or self._peer is None:
            return self._peer_address
        return self._peer.address.host if self._peer.address else self._peer.demo_name or "127.0.0.1"

    def close(self) -> None:
        """Close the peer's line; the node's own stays open."""
        if self._peer_opened is not None:
            self._peer_opened.line.close()
            self._peer_opened = None


def measure_disk(
    lines: MeasureLines, seconds: int | None, cancel: CancelToken, directions: tuple[str, ...], before: CommandOutput | None
) -> CommandOutput:
    """fio past the page cache in a scratch folder. With a short length the file is small, too (256 MiB, not 4 GiB)."""
    length = seconds or FIO_SECONDS
    size_mib = QUICK_SIZE_MIB if length <= QUICK_FIO_SECONDS * 2 else FIO_SIZE_MIB
    runs = {direction: [*_tests(before, direction)] for direction in ("read", "write")}
    for direction in directions:
        command = fio_json.command("read" if direction == "read" else "write", length, size_mib, direct=True)
        runs[direction].append(run_active(lines.line, "fio_json", command, length * 2 + 120, cancel))
    return disk_rates.combine(
        runs["read"], runs["write"], seconds=length, size_mib=size_mib, direct=True, filesystem=_filesystem(lines, cancel)
    )


def _filesystem(lines: MeasureLines, cancel: CancelToken) -> str | None:
    """The type of the file system that scratch folders lie on; None if the node does not tell."""
    output = run_active(lines.line, "mounts", Command("df", "-PT", "."), 10, cancel)
    rows = output.text.splitlines()
    return rows[-1].split()[1] if output.exit_code == 0 and len(rows) > 1 and len(rows[-1].split()) >= 7 else None


def measure_pair(
    lines: MeasureLines, seconds: int | None, cancel: CancelToken, directions: tuple[str, ...], before: CommandOutput | None
) -> CommandOutput:
    """iperf3 with parallel streams to the peer and back."""
    length = seconds or IPERF_SECONDS
    tests = {direction: [*_tests(before, direction)] for direction in (iperf_pair.FORWARD, iperf_pair.BACKWARD)}
    for direction in directions:
        tests[direction].append(_pair_test(lines, length, cancel, reverse=direction == iperf_pair.BACKWARD))
    return iperf_pair.combine(tests)


def _pair_test(lines: MeasureLines, seconds: int, cancel: CancelToken, *, reverse: bool) -> CommandOutput:
    """One direction; the next port is tried when one is taken."""
    output = CommandOutput(b"", b"the peer could not start iperf3 as a server", 1)
    for port in range(IPERF_PORT, IPERF_PORT + IPERF_PORTS):
        server = start_server(lines.peer(cancel).line, "iperf3_json", iperf3_json.server_command(port), seconds + 60)
        with server:
            server.wait_for(_LISTENING, _START_S, cancel)
            if server.ended:
                output = CommandOutput(b"", server.output[-2048:] or output.stderr, _exit_code(server.output))
                if output.exit_code == 127:
                    return output
                continue
            command = iperf3_json.client_command(lines.peer_host, port, seconds, STREAMS, reverse)
            return run_active(lines.line, "iperf3_json", command, seconds + 30, cancel, scratch=False)
    return output


def _exit_code(output: bytes) -> int:
    return 127 if b"not found" in output else 1


def _tests(before: CommandOutput | None, direction: str) -> tuple[CommandOutput, ...]:
    if before is None:
        return ()
    told: Any = json.loads(before.stdout)
    return unpack(told.get(direction))


@dataclass(frozen=True, slots=True)
class Measurement:
    """How an active fact is measured: all its directions first, then those that `again` names once more."""

    directions: tuple[str, ...]
    measure: Measure
    again: Callable[[Any, Promise], tuple[str, ...]]


MEASURES: Mapping[str, Measurement] = {
    "disk_rates": Measurement(("write", "read"), measure_disk, disk_seq.to_repeat),
    "iperf_pair": Measurement((iperf_pair.FORWARD, iperf_pair.BACKWARD), measure_pair, net_iperf_multi.to_repeat),
}


def output_text(fact_id: str) -> str:
    """The command that stands beside the evidence: the template that `gpulease checks --commands` prints."""
    command = readers()[fact_id].fact.command
    return command.line if command else ""
