"""How are a node's processors, its clock and its ports measured?"""

from __future__ import annotations

import secrets
import socket
import time

from gpulease_gui.checks import cpu_bench as bench_rule
from gpulease_gui.checks import cpu_steal, net_ports, trust_clock
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Reach
from gpulease_gui.facts import clock_ticks, cpu_bench, cpu_load, port_reach
from gpulease_gui.facts.clock_ticks import ClockTest, ClockTicks
from gpulease_gui.facts.port_reach import PortReach, PortTry
from gpulease_gui.remote.awake import Awake
from gpulease_gui.remote.run import RunningServer, run_active, start_server
from gpulease_gui.services.measure_lines import Measurement, Task, tests_of

LOAD_SECONDS, BENCH_SECONDS, CLOCK_SECONDS = 20, 5, 5
_START_S, _CALL_S = 8.0, 4.0
# Seconds from one look for stamps to the next; and how long nobody may have looked when one is found: then a clock that runs
# as ours could seem bent. One that is a hundredth off in five seconds is spoken of, so less than two looks don't count.
_LOOK_S, _LATE_S = 0.02, 0.1
_PAUSE_S = 1.0
_IN_USE, _DENIED = 98, 13


def measure_load(task: Task) -> CommandOutput:
    """Busy loops on all processors between two readings of the kernel's counters."""
    length = task.seconds or LOAD_SECONDS
    run = run_active(task.lines.line, "cpu_load", cpu_load.command(length), length + 20, task.cancel, scratch=False)
    return cpu_load.combine([*tests_of(task.before, "load"), run], seconds=length)


def measure_bench(task: Task) -> CommandOutput:
    """One processor, then all of them."""
    length = task.seconds or BENCH_SECONDS
    run = run_active(task.lines.line, "cpu_bench", cpu_bench.command(length), length * 2 + 30, task.cancel, scratch=False)
    return cpu_bench.combine([*tests_of(task.before, "bench"), run], seconds=length)


def measure_clock(task: Task) -> CommandOutput:
    """Stamps of the node against the moments at which they arrive here."""
    length = task.seconds or CLOCK_SECONDS
    old = clock_ticks.parse(task.before).tests if task.before is not None else ()
    with start_server(task.lines.line, "clock_ticks", clock_ticks.command(length), length + 20, task.cancel) as server:
        awake = Awake(_PAUSE_S)
        arrivals, late_s = _arrivals(server, length, awake, task.cancel)
        unseen_s = late_s[-1] if late_s and late_s[-1] > 2 * _LOOK_S else 0.0
        test = clock_ticks.clock_test(clock_ticks.ticks_in(server.output), arrivals, unseen_s)
        said = server.output[-500:].decode("utf-8", "replace")
    return clock_ticks.combine(_clock_reading(old, test, said, slept=awake.slept_s > 0 or max(late_s, default=0.0) > _LATE_S))


def _clock_reading(old: tuple[ClockTest, ...], test: ClockTest | None, said: str, *, slept: bool) -> ClockTicks:
    if slept:  # a stamp may have lain here unread: when it came is not known
        return ClockTicks(old, code=Reason.COMPUTER_SLEPT)
    if test is not None:
        return ClockTicks((*old, test))
    words = next((line for line in said.split("\n") if "not found" in line), "the stamps did not come in time")
    return ClockTicks(old, words, Reason.UNREADABLE)


def _arrivals(server: RunningServer, length: int, awake: Awake, cancel: CancelToken) -> tuple[list[tuple[float, float]], list[float]]:
    """When each of the four lines was here: steady clock and time of day; and for how long at most it lay here unread.

    Of no use once `awake` has left anything out.
    """
    found: list[tuple[float, float]] = []
    late_s: list[float] = []
    nothing_s = awake.now_s()  # the last look that found none
    for number in range(4):
        until_s = awake.now_s() + _START_S + (length if number == 3 else 0)
        while not server.wait_for(clock_ticks.tick_end(number), _LOOK_S, cancel):
            nothing_s = awake.now_s()
            if server.ended or nothing_s >= until_s or awake.slept_s:
                return found, late_s
        found.append((time.monotonic(), time.time()))
        late_s.append(awake.now_s() - nothing_s)
    return found, late_s


def measure_ports(task: Task) -> CommandOutput:
    """Listeners on the node for the promised ports, called from here."""
    stated = task.lines.promise.get(net_ports.TERM)
    ports = net_ports.promised_ports(str(stated.value)) if stated else ()
    if not ports:
        return port_reach.combine(PortReach())
    node = task.lines.node
    if node.reach is not Reach.SSH or node.address is None or node.jump or node.proxy:
        return port_reach.combine(PortReach(trouble=_NO_OUTSIDE, code=Reason.NOT_COLLECTED))
    host, word = node.address.host, secrets.token_hex(16)
    inside = sorted({inner for _, inner in ports})
    with start_server(task.lines.line, "port_reach", port_reach.listener_command(word, inside), 120, task.cancel) as server:
        server.wait_for(b"ready", _START_S, task.cancel)
        if server.ended:
            return port_reach.combine(_no_listener(host, server.output))
        states = _listeners(server.output)
        tried = []
        for outer, inner in ports:
            task.cancel.check()
            tried.append(PortTry(outer, inner, states.get(inner, "failed"), _call(host, outer, word)))
    return port_reach.combine(PortReach(tuple(tried), host))


_NO_OUTSIDE = "this node is not reached straight over a network (demo, local, jump host or proxy): its ports can't be called"


def _no_listener(host: str, output: bytes) -> PortReach:
    missing = b"not found" in output
    said = "the node has no python3 to listen with" if missing else "the node could not start a listener"
    step = "install python3 on the node, or start a service on each port and call it by hand"
    return PortReach((), host, said, Reason.MISSING_TOOL if missing else Reason.UNREADABLE, step)


def _listeners(output: bytes) -> dict[int, str]:
    """What the node did for each inside port."""
    found: dict[int, str] = {}
    for line in output.decode("utf-8", "replace").split("\n"):
        words = line.split()
        if len(words) == 2 and words[0] == "listening" and words[1].isdigit():
            found[int(words[1])] = "listening"
        elif len(words) == 3 and words[0] == "refused" and words[1].isdigit():
            found[int(words[1])] = {str(_IN_USE): "taken", str(_DENIED): "denied"}.get(words[2], "failed")
    return found


def _call(host: str, port: int, word: str) -> str:
    """What answers: twice before a port is called closed, because a first packet can be lost."""
    answer = _call_once(host, port, word)
    return answer if answer in ("ours", "open") else _call_once(host, port, word)


def _call_once(host: str, port: int, word: str) -> str:
    try:
        with socket.create_connection((host, port), _CALL_S) as line:
            line.settimeout(_CALL_S)
            return "ours" if _read_word(line, len(word)) == word.encode() else "open"
    except TimeoutError:
        return "timeout"
    except ConnectionRefusedError:
        return "refused"
    except OSError:
        return "unreachable"


def _read_word(line: socket.socket, length: int) -> bytes:
    """The first bytes of whoever answers; a service that waits for its client says nothing."""
    held = b""
    try:
        while len(held) < length and (chunk := line.recv(length - len(held))):
            held += chunk
    except OSError:
        return held
    return held


HOST_MEASURES = {
    "cpu_load": Measurement(("load",), measure_load, cpu_steal.to_repeat),
    "cpu_bench": Measurement(("bench",), measure_bench, bench_rule.to_repeat),
    "clock_ticks": Measurement(("clock",), measure_clock, trust_clock.to_repeat),
    "port_reach": Measurement(("ports",), measure_ports),
}
