"""Does watching for an hour leave anything behind? A real window over scripted nodes; and simulated hours without one.

Real time: an hour of 8 nodes, ten minutes of 64, a line of 8 cards a second each (`--soak-minutes N`: N instead of the hour).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.bar import Bar, absolute
from tests.bench.farm import farm
from tests.bench.peers import ROOT

NODE = Path(__file__).parent / "soak_node.py"
# Part of the time that is warm-up: rings, pages and caches are made then.
WARM, LOOK_S = 1 / 3, 5
TURN_MS, STALL_MS, ACT_MS = 16.0, 50.0, 300.0
GROWN = "MiB after warm-up, besides the rings"
# The window with what it imports, its charts and pictures; of each node the connection, its thread, readings that wait to be
# written, and the rings: an hour and a quarter of 196 curves (4 bytes a reading) and of the 24 times that they share (8 bytes).
WINDOW_MIB, NODE_MIB, RINGS_MIB, RINGS_MIN = 260.0, 1.5, 4500 * (4 * 196 + 8 * 24) / 2**20, 75.0
# (nodes, minutes, simulated hours of that many nodes) by size.
PLANS: dict[str, tuple[tuple[tuple[int, float], ...], tuple[float, int]]] = {
    "smallest": (((2, 0.2),), (0.03, 1)), "usual": (((8, 3.0),), (1.1, 1)), "full": (((8, 60.0), (64, 10.0)), (10.0, 8)),
}  # fmt: skip


def bars(size: str, minutes: float | None = None) -> Iterator[Bar]:
    """Memory in MiB, turns of the main thread in ms of CPU, counts."""
    real, (hours, nodes) = PLANS[size]
    for place, (count, planned) in enumerate(real):
        # Of what takes ten minutes no more than a sixth of the wish is done.
        wanted = planned if minutes is None else minutes if place == 0 else min(planned, minutes / 6)
        yield from _real(count, wanted)
    yield from _simulated(hours, nodes)


def _real(count: int, minutes: float) -> Iterator[Bar]:
    with tempfile.TemporaryDirectory(prefix="gpulease-soak-") as name:
        python = Path(name) / "python3"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{NODE}"\n')
        python.chmod(0o755)
        with farm(count, niceness=19, programs=Path(name)) as nodes:
            job = {**nodes.job(nodes.ports), "seconds": 60 * minutes, "act_ms": 20_000 if minutes > 1 else 1000}
            found = _worker("tests.bench.soak_ours", json.dumps(job))
    print(json.dumps({"soak": f"{count} nodes, {minutes:g} min", **found}), file=sys.stderr, flush=True)
    title = f"soak.{count}_nodes"
    yield absolute(f"{title}.memory_growth", [growth(_besides(found))], _room(minutes), GROWN)
    yield absolute(f"{title}.thread_growth", [_rise(found["threads"])], 0, "threads")
    yield absolute(f"{title}.handle_growth", [_rise(found["handles"])], 0, "file handles")
    yield absolute(f"{title}.turn_cpu_p99", [found["turn_p99_ms"]], TURN_MS, "ms")
    yield absolute(f"{title}.turn_cpu_max", [found["turn_max_ms"]], STALL_MS, "ms")
    yield absolute(f"{title}.act_cpu_max", [found["act_max_ms"]], ACT_MS, "ms")
    yield absolute(f"{title}.seconds_missing", [found["seconds_missing"]], 0, "seconds of all nodes")
    yield absolute(f"{title}.seconds_unstored", [found["seconds_unstored"]], 0, "seconds of all nodes that came")
    yield absolute(f"{title}.faults", [len(found["faults"])], 0, "exceptions in the window")
    yield absolute(f"{title}.gaps", [found["gaps"]], 0, "gaps that no node made")
    yield absolute(f"{title}.peak_memory", [max(found["rss_mib"])], WINDOW_MIB + count * _node_mib(minutes), "MiB")


def _simulated(hours: float, nodes: int) -> Iterator[Bar]:
    found = _worker("tests.soak.hours", str(hours), str(nodes))
    title, stored = f"soak.simulated_{hours:g}_h_{nodes}_nodes", found["stored"]
    if len(found["rss_mib"]) > 12:
        yield absolute(f"{title}.memory_growth", [growth(_besides(found))], 16.0, GROWN)
        yield absolute(f"{title}.thread_growth", [_rise(found["threads"])], 0, "threads")
        yield absolute(f"{title}.handle_growth", [_rise(found["handles"])], 0, "file handles")
    wrong = sum(one["wrong_tick"] is not None or bool(one["wrong_rates"] or one["wrong_slots"]) for one in stored)
    missing = sum(found["ticks"] - min(one["counts"].values()) - 1 for one in stored)
    yield absolute(f"{title}.wrong", [wrong], 0, "nodes whose store differs from what they said")
    yield absolute(f"{title}.missing", [missing], 0, "seconds of all nodes")
    yield absolute(f"{title}.gaps", [sum(one["gaps"] for one in stored) + found["curves_broken"]], 0, "gaps that no node made")
    yield absolute(f"{title}.cpu", [1000 * found["cpu_s"] / found["ticks"] / nodes], 5.0, "ms a second of a node")


def growth(rss_mib: list[float]) -> float:
    """How much more is held in the last sixth of the time than in the sixth after the warm-up (medians, MiB)."""
    part = max(1, len(rss_mib) // 6)
    begin = int(len(rss_mib) * WARM)
    return max(0.0, statistics.median(rss_mib[-part:]) - statistics.median(rss_mib[begin : begin + part]))


def _besides(found: dict[str, Any]) -> list[float]:
    """What is held besides the readings in sight, whose room grows for an hour by design and no further."""
    return [held - rings for held, rings in zip(found["rss_mib"], found["rings_mib"], strict=True)]


def _rise(counts: list[int]) -> float:
    """By how much the usual count at the end is above that just after the warm-up: what comes and goes is no growth."""
    part = max(1, len(counts) // 3)
    return float(max(0, statistics.median_low(counts[-part:]) - statistics.median_low(counts[part : 2 * part] or counts)))


def _node_mib(minutes: float) -> float:
    """Rings grow with what comes in; twice the room of that, because they double, and never more than all of it."""
    return NODE_MIB + RINGS_MIB * min(1.0, 2 * minutes / RINGS_MIN)


def _room(minutes: float) -> float:
    """A short soak still fills its rings and caches."""
    return 16.0 if minutes >= 30 else 48.0


def _worker(module: str, *words: str) -> dict[str, Any]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-m", module, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{module} ended with {done.returncode}"
    return dict(json.loads(done.stdout.splitlines()[-1]))
