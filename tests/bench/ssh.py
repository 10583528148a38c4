"""How fast are many nodes asked over SSH, beside asyncssh, parallel-ssh and paramiko's own client?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.bar import Bar, absolute, paired, skipped
from tests.bench.farm import Farm, far_away, farm
from tests.bench.peers import ROOT, Peers

COMMANDS = (
    "uname -r", "nproc", "cat /proc/loadavg", "head -3 /proc/meminfo", "cat /proc/uptime", "df -k /", "id -u", "date +%s",
    "uname -n", "echo done",
)  # fmt: skip
MARK = "@@d41f"
SCRIPT = "\n".join(f"{line}; echo {MARK} {number} $?" for number, line in enumerate(COMMANDS))
ROUND_TRIP_MS = 200.0
# `script` runs the peers' bare script over our connections; `collect` is the program's own collection of the same commands,
# with time limits, caps, exit codes and the end of all it started. The goals speak of the script.
WORKS = ("script", "collect")
# What a node still does when its answers are here: its own end.
SETTLE_S = 0.4
PACKAGES = {"asyncssh": ("asyncssh", "asyncssh"), "parallel-ssh": ("parallel-ssh", "pssh"), "paramiko": ("paramiko", "paramiko")}


@dataclass(frozen=True)
class Measured:
    """One run of a worker in a process of its own. `wall_s` and `cpu_s` with start and imports, `seconds` without.

    `peak_mb` is the most memory that the process held.
    """

    wall_s: float
    cpu_s: float
    seconds: float
    server_cpu_s: float
    exec_ms: float
    peak_mb: float


class Bench:
    """Runs workers on one farm; every answer must be there."""

    def __init__(self, nodes: Farm, peers: Peers | None) -> None:
        self._nodes = nodes
        self._peers = peers
        # As it is installed: compiled once, as the peers are.
        self._compiled = str(nodes.folder / "compiled")

    def missing(self, peer: str) -> str:
        """Why a peer can't be used, "" if it can."""
        return self._peers.missing(*PACKAGES[peer]) if self._peers else "peers are left out at this size"

    def run(self, variant: str, ports: tuple[int, ...], *, times: int = 0) -> Measured:
        """Run one worker. Raises AssertionError when an answer is missing."""
        work = {**self._nodes.job(ports), "commands": COMMANDS, "script": SCRIPT, "mark": MARK, "times": times}
        before, started = self._nodes.cpu_s(), time.perf_counter()
        words = [*self._words(variant), json.dumps(work)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=self._environment(variant))
        assert process.stdout is not None
        with process.stdout as out:
            said = out.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        wall_s = time.perf_counter() - started
        found = json.loads(said)
        wanted = times or len(ports) * len(COMMANDS)
        assert found["answers"] == wanted, f"{variant}: {found['answers']} answers of {wanted}"
        time.sleep(SETTLE_S if self._peers else 0.0)
        return Measured(
            wall_s, usage.ru_utime + usage.ru_stime, found["seconds"], self._nodes.cpu_s() - before, found.get("exec_ms", 0.0),
            usage.ru_maxrss / 1024,
        )  # fmt: skip

    def _environment(self, variant: str) -> dict[str, str] | None:
        if not variant.startswith("ours:"):
            return None
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "PYTHONPYCACHEPREFIX": self._compiled}

    def _words(self, variant: str) -> list[str]:
        ours, _, name = variant.partition(":")
        if ours == "ours":
            return [sys.executable, "-m", "tests.bench.ssh_ours", name]
        assert self._peers is not None
        return [str(self._peers.python), str(Path(__file__).parent / "ssh_peers.py"), variant]

    def rounds(self, count: int, variants: Sequence[str], ports: tuple[int, ...], *, times: int = 0) -> dict[str, list[Measured]]:
        """`count` interleaved rounds after one that warms up."""
        found: dict[str, list[Measured]] = {variant: [] for variant in variants}
        for number in range(count + (count > 1)):
            for variant in variants:
                measured = self.run(variant, ports, times=times)
                if number or count == 1:
                    found[variant].append(measured)
        return found


def bars(size: str) -> Iterator[Bar]:
    """All bars of this area at `size`: smallest (one round, no peers), usual, full (100 and 200 nodes, too)."""
    smallest = size == "smallest"
    sizes = {"smallest": (2,), "usual": (50,), "full": (50, 100, 200)}[size]
    count = 1 if smallest else 5
    with farm(max(*sizes, 2 if smallest else 20)) as nodes:
        bench = Bench(nodes, None if smallest else Peers())
        for n in sizes:
            yield from _fan_out(bench, nodes.ports[:n], count)
        yield from _exec(bench, nodes.ports[:1], count, 3 if smallest else 40)
        yield from _far(bench, nodes.ports[: 2 if smallest else 20], count, 20.0 if smallest else ROUND_TRIP_MS)


def _fan_out(bench: Bench, ports: tuple[int, ...], count: int) -> Iterator[Bar]:
    n = len(ports)
    peers = [peer for peer in ("asyncssh", "parallel-ssh") if not bench.missing(peer)]
    found = bench.rounds(count, [*(f"ours:{work}" for work in WORKS), *peers], ports)
    cores = os.cpu_count() or 1
    for work in WORKS:
        ours = found[f"ours:{work}"]
        for peer, bar in (("asyncssh", 1.0), ("parallel-ssh", 0.85)):
            name = f"ssh.fan_out_{n}.{work}.{peer}"
            if peer in found:
                yield paired(name, [m.wall_s for m in ours], [m.wall_s for m in found[peer]], bar, "s")
            else:
                yield skipped(name, bar, "s", bench.missing(peer))
        # The start of the interpreter and the imports are not the nodes' doing: a bare start is taken off.
        start_s = min(bench.run(f"ours:{work}", ports[:1]).cpu_s for _ in range(2))
        yield absolute(f"ssh.fan_out_{n}.{work}.client_cpu", [1000 * (m.cpu_s - start_s) / max(1, n - 1) for m in ours], 5.0, "ms/node")
        yield absolute(f"ssh.fan_out_{n}.{work}.memory", [m.peak_mb for m in ours], 60.0, "MB")
        floor = [(m.server_cpu_s + m.cpu_s) / cores for m in ours]
        yield paired(f"ssh.fan_out_{n}.{work}.floor", [m.wall_s for m in ours], floor, 1.15, "s")


def _exec(bench: Bench, ports: tuple[int, ...], count: int, times: int) -> Iterator[Bar]:
    wanted = {"paramiko": 0.1, "asyncssh": 0.8}
    peers = [peer for peer in wanted if not bench.missing(peer)]
    found = bench.rounds(count, ["ours:exec", *(f"{peer}-exec" for peer in peers)], ports, times=times)
    ours = [m.exec_ms for m in found["ours:exec"]]
    for peer, bar in wanted.items():
        name = f"ssh.exec.{peer}"
        if peer in peers:
            yield paired(name, ours, [m.exec_ms for m in found[f"{peer}-exec"]], bar, "ms")
        else:
            yield skipped(name, bar, "ms", bench.missing(peer))


def _far(bench: Bench, near: tuple[int, ...], count: int, milliseconds: float) -> Iterator[Bar]:
    n, peer = len(near), "parallel-ssh"
    missing = bench.missing(peer)
    with far_away(near, milliseconds) as ports:
        ones = bench.rounds(count, [f"ours:{work}" for work in WORKS], ports[:1])
        many = bench.rounds(count, [*(f"ours:{work}" for work in WORKS), *([] if missing else [peer])], ports)
    for work in WORKS:
        one = [m.seconds for m in ones[f"ours:{work}"]]
        ours = [m.seconds for m in many[f"ours:{work}"]]
        yield absolute(f"ssh.far.{work}.one_node", [seconds * 1000 / milliseconds for seconds in one], 7.0, "round trips")
        yield paired(f"ssh.far.{work}.{n}_nodes.one_node", ours, one, 1.25, "s")
        name = f"ssh.far.{work}.{n}_nodes.{peer}"
        if missing:
            yield skipped(name, 0.2, "s", missing)
        else:
            yield paired(name, ours, [m.seconds for m in many[peer]], 0.2, "s")
