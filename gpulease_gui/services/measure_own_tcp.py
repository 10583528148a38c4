"""How is a line measured where iperf3 is missing at one end? By a program of our own that both ends run while it lasts."""

from __future__ import annotations

import secrets
import time

from gpulease_gui.checks import own_tcp
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts import iperf_pair, tcp_rate
from gpulease_gui.facts.own_counters import COMMAND, Moved, grown
from gpulease_gui.facts.tcp_rate import Wish
from gpulease_gui.remote.run import run_active, start_server
from gpulease_gui.services.measure_lines import MeasureLines

PORT, PORTS = 5201, 4
_START_S, _END_S, _MORE_S, _COUNT_S = 8.0, 8.0, 60, 10
_UNREACHED = b"unable to connect"


def load_of(direction: str, seconds: float, *, certain: bool = True, waits: bool = False) -> Load:
    """What a test between the node and its peer asks of the node; `certain`: it is known to come through; `waits`: see Load."""
    return Load("net.rx_gbit_s" if direction == iperf_pair.BACKWARD else "net.tx_gbit_s", seconds, certain, waits)


def measure_instead(
    lines: MeasureLines, direction: str, seconds: int, streams: int, missing: CommandOutput, cancel: CancelToken
) -> CommandOutput:
    """One direction by our own test; `missing` is what was said of iperf3, and stays the answer where this gives no rate."""
    why = b"no port was free"
    for port in [lines.reached_port] if lines.reached_port is not None else range(PORT, PORT + PORTS):
        output, why, goes_on = _at(lines, port, direction, seconds, streams, cancel)
        if output is not None:
            lines.reached_port = port
            return output
        if not goes_on:
            break
    first = (missing.stderr.strip() or b"iperf3: not found").splitlines()[0]
    return CommandOutput(b"", first + b"; the program's own TCP test gave no rate either: " + why, 127)


def _at(
    lines: MeasureLines, port: int, direction: str, seconds: int, streams: int, cancel: CancelToken
) -> tuple[CommandOutput | None, bytes, bool]:
    """(what both ends told, else None and why in a line, whether another port may do better)."""
    peer_sends = direction == iperf_pair.BACKWARD
    host, token = lines.peer_host, secrets.token_hex(16)
    load = None if streams == 1 else load_of(direction, seconds, certain=lines.reached_port is not None, waits=True)
    waits = Wish(host, port, token, seconds, streams, listens=True, sends=peer_sends)
    calls = Wish(host, port, token, seconds, streams, listens=False, sends=not peer_sends)
    before = _counted(lines, cancel)
    with start_server(lines.peer(cancel).line, tcp_rate.FACT.id, waits.command, seconds + _MORE_S, cancel) as server:
        if not server.wait_for(tcp_rate.LISTENING, _START_S, cancel):
            said = _line(server.output) or b"the peer did not listen"
            return None, said, b"in use" in said
        begin_s = time.monotonic()
        with lines.loaded(load) as ending:
            done = run_active(lines.line, tcp_rate.FACT.id, calls.command, seconds + _MORE_S, cancel, scratch=False)
            took_s = time.monotonic() - begin_s
            server.wait_end(_END_S, cancel)
            sender, receiver = (server.output, done.stdout) if peer_sends else (done.stdout, server.output)
            (in_here, out_here), (in_there, out_there) = map(grown, before, _counted(lines, cancel))
            moved = Moved(in_here, out_there) if peer_sends else Moved(in_there, out_here)
            whole = tcp_rate.combine(sender, receiver, calls.lasts_s, took_s, streams, moved)
            ending.believed = whole is not None and _believed(whole, lines.promise)
        there = server.output
    said = _line(done.stderr) or _line(there) or b"one end told nothing"
    return whole, said, _UNREACHED in done.stderr


def _believed(whole: CommandOutput, promise: Promise) -> bool:
    """Whether the test gave a rate and was not the limit itself."""
    try:
        run = iperf_pair.own_run(whole)
    except Unreadable:
        return False
    return run is not None and run.received_gbit_s is not None and not own_tcp.limited(run, promise)


def _counted(lines: MeasureLines, cancel: CancelToken) -> tuple[CommandOutput, CommandOutput]:
    """What the interfaces of the node and of its peer have moved so far."""
    here, there = (run_active(line, tcp_rate.FACT.id, COMMAND, _COUNT_S, cancel, scratch=False) for line in (lines.line, lines.peer(cancel).line))
    return here, there


def _line(output: bytes) -> bytes:
    """The last line that says something."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith((b"{", tcp_rate.LISTENING))]
    return lines[-1][:200] if lines else b""
