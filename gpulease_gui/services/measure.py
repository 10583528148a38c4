"""How are rates measured on a node, one after the other, each on a channel of its own?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
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

Measure = Callable[["MeasureLines", int | None, CancelToken, CommandOutput | None], CommandOutput]


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
    lines: MeasureLines, seconds: int | None, cancel: CancelToken, before: CommandOutput | None
) -> CommandOutput:
    """fio read and write past the page cache in a scratch folder; `before` is kept and repeated once.

    With a short length the file is small too (256 MiB instead of 4 GiB).
    """
    length = seconds or FIO_SECONDS
    size_mib = QUICK_SIZE_MIB if length <= QUICK_FIO_SECONDS * 2 else FIO_SIZE_MIB
    limit_s = length * 2 + 120
    runs: dict[str, list[CommandOutput]] = {"read": [], "write": []}
    for direction in ("write", "read"):
        command = fio_json.command(direction, length, size_mib, direct=True)
        output = run_active(lines.line, "fio_json", command, limit_s, cancel)
        runs[direction] = [*_tests(before, direction), output]
    return disk_rates.combine(runs["read"], runs["write"], seconds=length, size_mib=size_mib, direct=True)


def measure_pair(
    lines: MeasureLines, seconds: int | None, cancel: CancelToken, before: CommandOutput | None
) -> CommandOutput:
    """iperf3 with parallel streams to the peer and back; `before` is kept and repeated once."""
    length = seconds or IPERF_SECONDS
    tests = {
        direction: [*_tests(before, direction), _pair_test(lines, length, cancel, reverse=reverse)]
        for direction, reverse in ((iperf_pair.FORWARD, False), (iperf_pair.BACKWARD, True))
    }
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


# The active fact that a check needs -> how it is measured.
MEASURES: Mapping[str, Measure] = {"disk_rates": measure_disk, "iperf_pair": measure_pair}


def output_text(fact_id: str) -> str:
    """The command that stands beside the evidence: the template that `gpulease checks --commands` prints."""
    command = readers()[fact_id].fact.command
    return command.line if command else ""
