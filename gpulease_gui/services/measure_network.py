"""How is the network between a node and its peer measured?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpulease_gui.checks import net_egress, net_iperf_multi, net_iperf_reverse, net_latency, rdma_write_bw
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts import (
    ib_pair,
    iperf3_json,
    iperf_pair,
    iperf_single,
    iperf_sustained,
    peer_path,
    peer_ping,
    web_rates,
)
from gpulease_gui.remote.run import run_active, start_server
from gpulease_gui.services.measure_lines import MeasureLines, Measurement, Task, tests_of
from gpulease_gui.services.measure_own_tcp import load_of, measure_instead

IPERF_SECONDS, SINGLE_SECONDS, SUSTAINED_SECONDS = 20, 15, 600
PING_SECONDS = 200
RDMA_SECONDS = 10
WEB_SECONDS = 10
IPERF_PORT, IPERF_PORTS = 5201, 4
RDMA_PORT = 18515
STREAMS = 8
_START_S = 8.0
REACH_S = 8  # a short test over a far line takes two; a blocked port answers never
_NO_PROGRAM = 127
_NO_SERVER = b"the peer could not start iperf3 as a server"
_LISTENING = b"listening"
_BOTH = (iperf_pair.FORWARD, iperf_pair.BACKWARD)
_ALL_DEVICES = ("all",)

# The client's command for the port on which the server waits.
Client = Callable[[int], Command]


def measure_pair(task: Task) -> CommandOutput:
    """iperf3 with parallel streams to the peer and back."""
    length = task.seconds or IPERF_SECONDS
    tests = {direction: tests_of(task.before, direction) for direction in _BOTH}
    for direction in task.directions:
        tests[direction].append(_one_way(task.lines, direction, length, STREAMS, task.cancel))
    return iperf_pair.combine(tests)


def measure_single(task: Task) -> CommandOutput:
    """One stream to the peer, one back."""
    length = task.seconds or SINGLE_SECONDS
    return iperf_single.combine({way: [_one_way(task.lines, way, length, 1, task.cancel)] for way in task.directions})


def measure_sustained(task: Task) -> CommandOutput:
    """Ten minutes to the peer; the rate over time is kept."""
    length = task.seconds or SUSTAINED_SECONDS

    def client(port: int) -> Command:
        return iperf_sustained.client_command(task.lines.peer_host, port, length)

    return iperf_sustained.combine([_served(task.lines, client, length, task.cancel, load_of(iperf_pair.FORWARD, length))])


def _one_way(lines: MeasureLines, direction: str, seconds: int, streams: int, cancel: CancelToken) -> CommandOutput:
    reverse = direction == iperf_pair.BACKWARD

    def client(port: int) -> Command:
        return iperf3_json.client_command(lines.peer_host, port, seconds, streams, reverse)

    output = _served(lines, client, seconds, cancel, None if streams == 1 else load_of(direction, seconds))
    if output.exit_code != _NO_PROGRAM:
        return output
    return measure_instead(lines, direction, seconds, streams, output, cancel)


def _served(lines: MeasureLines, client: Client, seconds: int, cancel: CancelToken, load: Load | None = None) -> CommandOutput:
    """One test against a server on the peer, on a port that the node was seen to reach; taken ports are passed over."""
    output = CommandOutput(b"", _NO_SERVER, 1)
    if lines.reached_port is None and (failed := _find_port(lines, cancel)):
        return failed
    for port in range(lines.reached_port or IPERF_PORT, IPERF_PORT + IPERF_PORTS):
        output, started = _at(lines, port, client(port), seconds, seconds + 30, cancel, load)
        if started or output.exit_code == _NO_PROGRAM:
            return output
    return output


def _find_port(lines: MeasureLines, cancel: CancelToken) -> CommandOutput | None:
    """Try the ports with a short test each, so that a blocked one costs seconds; the last answer when none is reached."""
    output, blocked = CommandOutput(b"", _NO_SERVER, 1), False
    for port in range(IPERF_PORT, IPERF_PORT + IPERF_PORTS):
        command = iperf3_json.client_command(lines.peer_host, port, 1, 1, reverse=False)
        output, started = _at(lines, port, command, REACH_S, REACH_S, cancel)
        if output.exit_code == _NO_PROGRAM:
            return output
        if started and not _is_blocked(output):
            lines.reached_port = port
            return None
        blocked = blocked or started
    last = IPERF_PORT + IPERF_PORTS - 1
    words = f"the node reaches none of the ports {IPERF_PORT} to {last} of its peer: a firewall or another address lies between"
    return CommandOutput(b"", words.encode(), 1) if blocked else output


def _is_blocked(output: CommandOutput) -> bool:
    """Whether the client never came through: out of time, or refused on the way."""
    return output.exit_code in (124, 137) or b"unable to connect" in output.stdout + output.stderr


def _at(
    lines: MeasureLines, port: int, command: Command, seconds: int, limit_s: int, cancel: CancelToken, load: Load | None = None
) -> tuple[CommandOutput, bool]:
    """One client against a server on this port of the peer, and whether the server could listen."""
    server = start_server(lines.peer(cancel).line, "iperf3_json", iperf3_json.server_command(port), seconds + 60, cancel)
    with server:
        server.wait_for(_LISTENING, _START_S, cancel)
        if server.ended:
            return CommandOutput(b"", server.output[-2048:] or _NO_SERVER, _exit_code(server.output)), False
        with lines.loaded(load):
            return run_active(lines.line, "iperf3_json", command, limit_s, cancel, scratch=False), True


def _exit_code(output: bytes) -> int:
    return _NO_PROGRAM if b"not found" in output else 1


def measure_ping(task: Task) -> CommandOutput:
    """Packets to the peer, five a second."""
    length = task.seconds or PING_SECONDS
    command = peer_ping.command(task.lines.peer_host, length * peer_ping.PER_SECOND)
    run = run_active(task.lines.line, "peer_ping", command, length + 30, task.cancel, scratch=False)
    return peer_ping.combine([*tests_of(task.before, "ping"), run])


def measure_path(task: Task) -> CommandOutput:
    """The kernel's route to the peer, then hops and path MTU."""
    host = task.lines.peer_host
    route = run_active(task.lines.line, "peer_path", peer_path.route_command(host), 10, task.cancel, scratch=False)
    trace = run_active(task.lines.line, "peer_path", peer_path.trace_command(host), 40, task.cancel, scratch=False)
    return peer_path.combine(route, trace)


def measure_rdma(task: Task) -> CommandOutput:
    """Every RDMA device of the node against the one of the same name on its peer, one after the other."""
    listed = run_active(task.lines.line, "ib_pair", ib_pair.list_command(), 10, task.cancel, scratch=False)
    ports = ib_pair.devices_in(listed.text)
    if not ports:
        return ib_pair.combine([], "the node shows no RDMA device", Reason.NOT_COLLECTED)
    old = {port.device: runs for port, runs in ib_pair.runs_in(task.before)} if task.before is not None else {}
    tests = []
    for port in ports:
        runs = list(old.get(port.device, ()))
        if port.device in task.directions or task.directions == _ALL_DEVICES:
            runs.append(_rdma_test(task.lines, port.device, task.seconds or RDMA_SECONDS, task.cancel))
        tests.append((port, runs))
    return ib_pair.combine(tests)


def _rdma_test(lines: MeasureLines, device: str, seconds: int, cancel: CancelToken) -> CommandOutput:
    """The waiting end prints nothing while its output is no terminal, so the writing end tries for a while."""
    waiting = ib_pair.command(device, seconds, RDMA_PORT)
    with start_server(lines.peer(cancel).line, "ib_pair", waiting, seconds + 60, cancel) as server:
        if server.wait_end(1.0, cancel):
            return CommandOutput(b"", server.output[-2048:], _exit_code(server.output))
        command = ib_pair.command(device, seconds, RDMA_PORT, lines.peer_host)
        return run_active(lines.line, "ib_pair", command, seconds + 30, cancel, scratch=False)


def measure_web(task: Task) -> CommandOutput:
    """Downloads from the addresses that the user named; none named: nothing is run."""
    length = task.seconds or WEB_SECONDS
    runs = list(web_rates.runs_in(task.before)) if task.before is not None else []
    for url in task.lines.urls[: web_rates.MAX_URLS]:
        runs.append((url, _download(task.lines, url, length, task.cancel)))
    return web_rates.combine(runs)


def _download(lines: MeasureLines, url: str, seconds: int, cancel: CancelToken) -> CommandOutput:
    try:
        command = web_rates.command(url, seconds)
    except ValueError as error:
        return CommandOutput(b"", str(error).encode(), 2)
    return run_active(lines.line, "web_rates", command, seconds + 15, cancel, scratch=False)


def _pair_again(reading: Any, promise: Promise) -> tuple[str, ...]:
    """The directions that are too slow for the promise, or far slower than the other one."""
    both = (*net_iperf_multi.to_repeat(reading, promise), *net_iperf_reverse.to_repeat(reading, promise))
    return tuple(dict.fromkeys(both))


NETWORK_MEASURES = {
    "iperf_pair": Measurement(_BOTH, measure_pair, _pair_again),
    "iperf_single": Measurement(_BOTH, measure_single),
    "iperf_sustained": Measurement((iperf_pair.FORWARD,), measure_sustained),
    "peer_ping": Measurement(("ping",), measure_ping, net_latency.to_repeat),
    "peer_path": Measurement(("path",), measure_path),
    "web_rates": Measurement(("web",), measure_web, net_egress.to_repeat),
    "ib_pair": Measurement(_ALL_DEVICES, measure_rdma, rdma_write_bw.to_repeat),
}
