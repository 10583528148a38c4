"""Does the window stay quick while a hundred nodes verify, and does a fleet stay small in memory?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench.bar import Bar, absolute
from tests.bench.farm import farm
from tests.bench.peers import ROOT

LATE_MS, TURN_MS, TURN_MAX_MS, MEMORY_MB = 16.0, 16.0, 50.0, 60.0


@dataclass(frozen=True)
class Watched:
    """One worker's figures: how late the window's clock ticked (p99), its own CPU a turn (p99, most), the process's peak."""

    late_ms: float
    turn_ms: float
    turn_max_ms: float
    peak_mb: float
    done: int


def bars(size: str) -> Iterator[Bar]:
    """The window with its Nodes page open over a fleet; then fleets without one."""
    smallest = size == "smallest"
    seen, alone = (3, 3) if smallest else (100, 200)
    rounds = {"smallest": 1, "usual": 3, "full": 5}[size]
    # The peers are other machines: they give way to the window.
    with farm(max(seen, alone), niceness=19, is_aside=not smallest) as nodes:
        watched = [_run("window", nodes.job(nodes.ports[:seen]), seen) for _ in range(rounds)]
        yield absolute(f"fleet.window_{seen}.late_p99", [w.late_ms for w in watched], LATE_MS, "ms")
        yield absolute(f"fleet.window_{seen}.turn_cpu_p99", [w.turn_ms for w in watched], TURN_MS, "ms")
        yield absolute(f"fleet.window_{seen}.turn_cpu_max", [w.turn_max_ms for w in watched], TURN_MAX_MS, "ms")
        plain = [_run("plain", nodes.job(nodes.ports[:alone]), alone) for _ in range(1 if smallest else min(3, rounds))]
        yield absolute(f"fleet.plain_{alone}.peak_memory", [w.peak_mb for w in plain], MEMORY_MB, "MB")
        lines = [_run("collect", nodes.job(nodes.ports[:alone]), alone) for _ in range(1 if smallest else min(3, rounds))]
        yield absolute(f"fleet.collect_{alone}.peak_memory", [w.peak_mb for w in lines], MEMORY_MB, "MB")


def _run(variant: str, job: dict[str, object], wanted: int) -> Watched:
    words = [sys.executable, "-m", "tests.bench.fleet_ours", variant, json.dumps(job)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["done"] == wanted, f"{variant}: {found['done']} nodes of {wanted}"
    return Watched(found["late_ms"], found["turn_ms"], found["turn_max_ms"], found["peak_mb"], found["done"])
