"""What do the measuring tools say on a simulated node?"""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from gpulease_gui.demo.fio_report import filled, fio_json, fio_rates
from gpulease_gui.demo.iperf_report import IPERF_TAKEN, Trip, iperf_json, iperf_listening, iperf_refused, iperf_served
from gpulease_gui.demo.nodes import DemoNode
from gpulease_gui.demo.strain import Rates, Strain
from gpulease_gui.domain.command import CommandOutput

# The word before each stamp of the script that compares clocks.
TICKS = "gpulease-tick"
# The script that loads all processors.
LOAD = "load"
_CLIENT_PATIENCE_S = 2.0
_LOOK_AGAIN_S = 0.02
# What comes back of what is sent.
_ACKS = 0.004

# Waits for so many seconds; False as soon as the client of the session is gone.
Pause = Callable[[float], bool]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a measuring tool: its name ("" = a tool that the node does not have) and the words after it."""

    tool: str
    words: tuple[str, ...]

    @property
    def is_server(self) -> bool:
        """Whether it waits for clients instead of measuring."""
        return self.tool == TICKS or (self.tool == "iperf3" and bool({"-s", "--server"} & set(self.words)))

    @property
    def once(self) -> bool:
        """Whether a server ends after its first client."""
        return bool({"-1", "--one-off"} & set(self.words))

    @property
    def port(self) -> int:
        """The port of a server or to a server."""
        told = self.option("-p", "--port") or ""
        return int(told) if told.isascii() and told.isdigit() else 5201

    def option(self, short: str, long: str) -> str | None:
        """The value of an option, written as `-p 1`, `--port 1` or `--port=1`."""
        for n, word in enumerate(self.words):
            if word in (short, long) and n + 1 < len(self.words):
                return self.words[n + 1]
            if word.startswith(long + "="):
                return word.split("=", 1)[1]
        return None


def call_of(argv: tuple[str, ...]) -> Call:
    """The last call of a measuring tool in a command, which may be a text for sh; or the text that prints stamps."""
    if argv[:2] == ("sh", "-c") and TICKS in argv[-1]:
        return Call(TICKS, tuple(re.findall(r"for pause in 0 ([\d. ]{1,80})", argv[-1])[-1:]))
    if argv[:2] == ("sh", "-c") and "stat before\n" in argv[-1]:
        return Call(LOAD, tuple(re.findall(r"^sleep (\d{1,5})$", argv[-1], re.MULTILINE)[:1]))
    words = _words(argv[2]) if argv[:2] == ("sh", "-c") and len(argv) == 3 else argv
    places = [n for n, word in enumerate(words) if PurePosixPath(word).name in ("fio", "iperf3", "ping")]
    calls = [n for n in places if words[n + 1 : n + 2] and words[n + 1].startswith("-")]
    if not calls:
        return Call("", words)
    start = calls[-1]
    end = next((n for n in range(start, len(words)) if words[n] in (";", "&&", "||", "|", "&")), len(words))
    return Call(PurePosixPath(words[start]).name, words[start + 1 : end])


def _words(script: str) -> tuple[str, ...]:
    lexer = shlex.shlex(script.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return tuple(lexer)
    except ValueError:
        return ()


class Meeting:
    """Where an iperf3 client finds the server that waits on another node."""

    def __init__(self, nodes: Mapping[str, DemoNode]) -> None:
        self._nodes, self.strain = dict(nodes), Strain()
        self._waiting: dict[tuple[str, int], threading.Event] = {}
        self._turns: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def turn(self, node: DemoNode, call: Call) -> int:
        """How often the tool ran on the node before: no two measurements are quite the same."""
        with self._lock:
            self._turns[node.name, call.tool] += 1
            return self._turns[node.name, call.tool] - 1

    def open(self, node: DemoNode, port: int) -> threading.Event | None:
        """Wait on `port` of `node`; the event is set when a client has been served. None: the port is taken."""
        with self._lock:
            if (node.name, port) in self._waiting:
                return None
            return self._waiting.setdefault((node.name, port), threading.Event())

    def close(self, node: DemoNode, port: int) -> None:
        """Wait no longer."""
        with self._lock:
            self._waiting.pop((node.name, port), None)

    def find(self, client: DemoNode, host: str, port: int, pause: Pause) -> DemoNode | None:
        """The node whose server waits on `port`: the one at `host`, else the peer, else any; None = refused."""
        end = time.monotonic() + _CLIENT_PATIENCE_S
        while True:
            with self._lock:
                names = [name for name, p in self._waiting if p == port and name != client.name]
            if names:
                return self._nodes[min(names, key=lambda name: self._distance(client, host, name))]
            if time.monotonic() >= end or not pause(_LOOK_AGAIN_S):
                return None

    def served(self, server: DemoNode, port: int) -> None:
        """A client is done."""
        with self._lock:
            event = self._waiting.get((server.name, port))
        if event is not None:
            event.set()

    def _distance(self, client: DemoNode, host: str, name: str) -> int:
        machine = self._nodes[name].machine
        if host == name or any(port.address.split("/")[0] == host for port in machine.ports):
            return 0
        return 1 if client.peer == name else 2


def run_server(
    node: DemoNode, call: Call, meeting: Meeting, pause: Pause, started: Callable[[bytes], None]
) -> CommandOutput:
    """An iperf3 server until its client was served (with -1) or the session ends; `started` gets its first words.

    Stamps of the clock come at their real times, whatever the pace: they are compared with the client's own clock.
    """
    if call.tool == TICKS:
        return _stamps(call, pause, started)
    as_json = bool({"-J", "--json"} & set(call.words))
    event = meeting.open(node, call.port)
    if event is None:
        started(b"")
        return CommandOutput(IPERF_TAKEN, b"", 1)
    try:
        started(b"" if as_json else iperf_listening(call.port).encode())
        while not (event.is_set() and call.once):
            if not pause(_LOOK_AGAIN_S):
                return CommandOutput(b"", b"", 143)
    finally:
        meeting.close(node, call.port)
    return CommandOutput(iperf_served(node.machine, as_json).encode())


def _stamps(call: Call, pause: Pause, started: Callable[[bytes], None]) -> CommandOutput:
    pauses = [float(word) for word in " ".join(call.words).split() if word.replace(".", "", 1).isdigit()]
    for number, seconds in enumerate([0.0, *pauses]):
        if not pause(seconds):
            return CommandOutput(b"", b"", 143)
        started(f"{TICKS} {time.monotonic():.6f} {time.time():.6f} {number}\n".encode())
    return CommandOutput(b"")


def run_client(node: DemoNode, call: Call, meeting: Meeting, pause: Pause, work: Pause) -> CommandOutput | None:
    """A measurement, after the time that it takes (`work`); None when the client of the session is gone."""
    if call.tool == "fio":
        return _fio(node, call, meeting, work)
    if call.tool == "iperf3":
        return _iperf(node, call, meeting, pause, work)
    if call.tool == LOAD:
        with meeting.strain.under(node.name, Rates(cpu=0.995)):
            return _load(node, call, work)
    if call.tool == "ping":
        return _ping(node, call, meeting, work)
    missing = f"sh: 1: {call.words[0] if call.words else ''}: not found\n"
    return CommandOutput(b"", missing.encode(), 127)


def _fio(node: DemoNode, call: Call, meeting: Meeting, work: Pause) -> CommandOutput | None:
    options = dict(word[2:].split("=", 1) for word in call.words if word.startswith("--") and "=" in word)
    seconds = _seconds(options.get("runtime"))
    turn = meeting.turn(node, call)
    # A script that fills the disk writes, and reads a hundredth back at its end.
    moved = fio_rates(node.machine, {"rw": "write"} if "verify" in options else options, turn)
    with meeting.strain.under(node.name, Rates(read_mb_s=moved["read"] / 1e6, write_mb_s=moved["write"] / 1e6)):
        if not work(seconds):
            return None
    said = filled(node.machine, options, turn) if "verify" in options else fio_json(node.machine, options, seconds, turn)
    return CommandOutput(said.encode(), b"", 0, seconds)


def _load(node: DemoNode, call: Call, work: Pause) -> CommandOutput | None:
    """Processors of its own: nothing is stolen, and the loops get what they ask for."""
    seconds = _seconds(" ".join(call.words))
    if not work(seconds):
        return None
    cpus = node.machine.host.threads
    before, ticks, used = 5_000_000, int(cpus * seconds * 100), cpus * seconds * 0.995
    said = (
        f"cpus: {cpus}\nstart: 86400.00\nbefore: {before} 20 40000 90000000 300 0 100 0 0 0\n"
        f"after: {before + ticks} 20 40000 90000000 300 0 100 0 0 0\nstop: {86400 + seconds:.2f}\n"
        f"0m0.010000s 0m0.010000s\n{int(used // 60)}m{used % 60:.6f}s 0m0.000000s\nend: yes\n"
    )
    return CommandOutput(said.encode(), b"", 0, seconds)


def _ping(node: DemoNode, call: Call, meeting: Meeting, work: Pause) -> CommandOutput | None:
    """Every packet is answered, from a peer in the same rack."""
    count = max(1, min(100_000, int(_seconds(call.option("-c", "--count")))))
    if not work(count * 0.2):
        return None
    host, dice = call.words[-1], node.machine.dice(f"ping {meeting.turn(node, call)}")
    low, mean, high = dice.uniform(0.06, 0.08), dice.uniform(0.09, 0.12), dice.uniform(0.2, 0.4)
    said = (
        f"PING {host} ({host}) 56(84) bytes of data.\n\n--- {host} ping statistics ---\n"
        f"{count} packets transmitted, {count} received, 0% packet loss, time {count * 200}ms\n"
        f"rtt min/avg/max/mdev = {low:.3f}/{mean:.3f}/{high:.3f}/{mean / 6:.3f} ms\n"
    )
    return CommandOutput(said.encode(), b"", 0, count * 0.2)


def _iperf(node: DemoNode, call: Call, meeting: Meeting, pause: Pause, work: Pause) -> CommandOutput | None:
    host = call.option("-c", "--client") or ""
    server = meeting.find(node, host, call.port, pause)
    if server is None:
        return CommandOutput(iperf_refused().encode(), b"", 1) if pause(0.0) else None
    seconds, omit = _seconds(call.option("-t", "--time")), float(call.option("-O", "--omit") or "0")
    trip = Trip(
        host=host, port=call.port, seconds=max(1, round(seconds)), streams=int(call.option("-P", "--parallel") or "1"),
        reverse=bool({"-R", "--reverse"} & set(call.words)),
        gbit_s=min(node.machine.iperf_gbit_s, server.machine.iperf_gbit_s), turn=meeting.turn(node, call),
    )  # fmt: skip
    sends, takes = (server, node) if trip.reverse else (node, server)
    acks = trip.gbit_s * _ACKS
    with meeting.strain.under(sends.name, Rates(acks, trip.gbit_s)), meeting.strain.under(takes.name, Rates(trip.gbit_s, acks)):
        stayed = work(seconds + omit)
    meeting.served(server, call.port)
    if not stayed:
        return None
    return CommandOutput(iperf_json(node.machine, trip).encode(), b"", 0, seconds + omit)


def _seconds(words: str | None) -> float:
    digits = (words or "").removesuffix("s")
    return float(digits) if digits.replace(".", "", 1).isdigit() else 10.0
