"""How much does watching cost: lines of many nodes, storing, a month at once, frames of the chart?

Everything but latency is CPU time. Lines: client and servers on different processors; the chart and its peer in this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bar import Bar, absolute, paired, skipped
from tests.bench.farm import Farm, farm, niceness_that_counts
from tests.bench.live_charts import frames, late_main_thread, scrubs
from tests.bench.live_store import month, store_round
from tests.bench.peers import ROOT, Peers

ROUNDS = {"smallest": 1, "usual": 3, "full": 5}
PACKAGES = {"asyncssh": ("asyncssh", "asyncssh", 0.75), "ssh2-python": ("ssh2-python", "ssh2", 1.6)}


def bars(size: str) -> Iterator[Bar]:
    """All bars of this area at `size`."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="gpulease-live-") as name:
        yield from _storing(Path(name), size)
        yield from _month(Path(name), size)
    yield from _frames(size)
    yield from _ingest(size)


def _storing(folder: Path, size: str) -> Iterator[Bar]:
    seconds = 120 if size == "smallest" else 3600
    found: dict[str, list[float]] = {"ours": [], "sqlite3": [], "sqlite-utils": []}
    for number in range(ROUNDS[size]):
        (folder / str(number)).mkdir()
        for way, taken in store_round(folder / str(number), seconds).items():
            found[way].append(taken)
    # As speeds: at least 0.8 of executemany's, at least four times insert_all's.
    yield paired("live.store.sqlite3_executemany", found["ours"], found["sqlite3"], 1 / 0.8, "s")
    yield paired("live.store.sqlite_utils_insert_all", found["ours"], found["sqlite-utils"], 1 / 4, "s")


def _month(folder: Path, size: str) -> Iterator[Bar]:
    days = 1 if size == "smallest" else 30
    workspace = month(folder / "month.db", 1 if size == "smallest" else 3, days)
    try:
        opening, scrubbing = scrubs(workspace, days, ROUNDS[size])
    finally:
        workspace.close()
    yield absolute("live.month.open", opening, 150.0, "ms")
    yield absolute("live.month.scrub_frame_p99", scrubbing, 16.0, "ms")


def _frames(size: str) -> Iterator[Bar]:
    found = frames(ROUNDS[size], 10 if size == "smallest" else 40)
    yield paired("live.frame.pyqtgraph", found["ours"], found["pyqtgraph"], 0.30, "ms")
    yield paired("live.tail.pyqtgraph", found["tail"], found["pyqtgraph"], 0.03, "ms")
    yield absolute("live.tail", found["tail"], 2.0, "ms")


def _ingest(size: str) -> Iterator[Bar]:
    nodes, seconds = (4, 1.0) if size == "smallest" else (200, 5.0)
    peers = None if size == "smallest" else Peers()
    with niceness_that_counts(), contextlib.ExitStack() as stack:
        with _on_other_processors():
            servers = stack.enter_context(farm(1))
        usable = [name for name, (package, module, _) in PACKAGES.items() if peers and not peers.missing(package, module)]
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ("ours", *usable)}
        for _ in range(ROUNDS[size]):
            for name, some in found.items():
                some.append(_worker(servers, peers, name, nodes, 10.0, seconds))
        yield from _lines(found, usable, peers, nodes)
        if size != "smallest":
            fast = [_worker(servers, peers, "ours", 100, 50.0, seconds) for _ in range(ROUNDS[size])]
            yield absolute("live.ingest_5000_lines.p99", [one["p99_ms"] for one in fast], 50.0, "ms")
            yield absolute("live.lateness_100_nodes.p99", late_main_thread(_job(servers, 100, 10.0, seconds)), 16.0, "ms")


@contextlib.contextmanager
def _on_other_processors() -> Iterator[None]:
    """What is begun in the block runs where the client does not: lines are printed, sealed and sent there, by nodes that are
    elsewhere in truth. With one processor there is no such place."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(cores)[1:]) or cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _lines(found: dict[str, list[dict[str, float]]], usable: list[str], peers: Peers | None, nodes: int) -> Iterator[Bar]:
    ours = found["ours"]
    yield absolute(f"live.ingest_{nodes}.lost", [one["lost"] for one in ours], 0.005, "part")
    yield absolute(f"live.ingest_{nodes}.p99", [one["p99_ms"] for one in ours], 5.0, "ms")
    yield absolute(f"live.ingest_{nodes}.cpu", [one["cpu_percent"] for one in ours], 30.0, "% of a core")
    for name, (package, module, bar) in PACKAGES.items():
        title = f"live.ingest_{nodes}.{name}"
        if name in usable:
            yield paired(title, [one["us_line"] for one in ours], [one["us_line"] for one in found[name]], bar, "us/line")
        else:
            yield skipped(title, bar, "us/line", peers.missing(package, module) if peers else "peers are left out at this size")


def _job(servers: Farm, nodes: int, hz: float, seconds: float) -> dict[str, object]:
    ports = tuple(servers.ports[n % len(servers.ports)] for n in range(nodes))
    cores = sorted(os.sched_getaffinity(0))
    return {
        **servers.job(servers.ports), "ports": ports, "hz": hz, "seconds": seconds, "life_s": 15 + seconds + nodes / 2,
        "cpu": cores[0] if len(cores) > 1 else None,
    }  # fmt: skip


def _worker(servers: Farm, peers: Peers | None, name: str, nodes: int, hz: float, seconds: float) -> dict[str, float]:
    job = json.dumps(_job(servers, nodes, hz, seconds))
    script = ["-m", "tests.bench.live_ingest"] if name == "ours" else [str(Path(__file__).parent / "live_ingest.py")]
    python = sys.executable if name == "ours" or peers is None else str(peers.python)
    done = subprocess.run([python, *script, name, job], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name}: {done.stderr[-500:]}"
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


