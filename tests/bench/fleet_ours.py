"""What does a fleet cost the window, and the process? A worker: `python -m tests.bench.fleet_ours VARIANT JOB`."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each variant loads only what it measures
    from gpulease_gui.domain.node import Node
    from gpulease_gui.services.composition import Services
    from gpulease_gui.services.fleet_run import FleetRun

Job = dict[str, Any]
TICK_MS = 10


def fleet_of(job: Job, folder: Path) -> tuple[Services, list[Node]]:
    """A workspace whose nodes are the ports of the job, their host keys pinned."""
    from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
    from gpulease_gui.remote.known_hosts import keys_for, known_name
    from gpulease_gui.services.composition import open_services
    from gpulease_gui.store import nodes as stored

    services = open_services(folder / "fleet.db")
    made = []
    for port in job["ports"]:
        address = Address("127.0.0.1", port, job["user"])
        node = Node(f"n{port}", f"node-{port}", Reach.SSH, address, auth=AuthMethod.KEY, identity_file=job["key"])
        made.append(node)
        services.workspace.submit(lambda db, n=node: stored.save_node(db, n)).result()
        keys: tuple[HostKey, ...] = tuple(placed.key for placed in keys_for(known_name(address), [job["known_hosts"]]).listed)
        for key in keys:
            services.links.trust(node, key, "bench")
    return services, made


def done_in(fleet: FleetRun) -> int:
    from gpulease_gui.services.fleet_run import Phase

    return sum(line.phase is Phase.DONE for line in fleet.lines())


def plain(job: Job, folder: Path) -> dict[str, float]:
    """The whole verification without a window, as `gpulease verify` does it."""
    from gpulease_gui.services.fleet_run import FleetRun
    from gpulease_gui.services.run_view import prepare
    from gpulease_gui.services.small_heap import keep_heap_small

    keep_heap_small()
    services, made = fleet_of(job, folder)
    fleet = FleetRun(services, made, lambda connection, node: prepare(connection, node.id)[1])
    fleet.start("bench").job.done.result()
    found = {"done": done_in(fleet)}
    fleet.close()
    services.close()
    return found


def collect(job: Job, folder: Path) -> dict[str, float]:
    """Connecting and collecting only, as the other figures of SSH are taken."""
    from tests.bench.ssh import COMMANDS
    from tests.bench.ssh_ours import fan_out_collect

    return {"done": fan_out_collect({**job, "commands": COMMANDS})["answers"] / len(COMMANDS)}


def window(job: Job, folder: Path) -> dict[str, float]:
    """The window with its Nodes page in sight: how late its clock ticks and what a turn costs it."""
    from PySide6.QtCore import QAbstractEventDispatcher, Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from gpulease_gui.gui.language import Translations
    from gpulease_gui.gui.main_window import MainWindow
    from gpulease_gui.gui.pages import nodes, overview, verification
    from gpulease_gui.gui.preferences import Preferences
    from gpulease_gui.gui.theme.theme import Theme, ThemeMode
    from gpulease_gui.pdf.fonts import load_fonts

    sys.setswitchinterval(0.0002)  # as gui/app does
    app = QApplication(["bench"])
    load_fonts()
    services, made = fleet_of(job, folder)
    pages = (overview.PAGE, nodes.PAGE, verification.PAGE)
    shown = MainWindow(Theme(app, folder, ThemeMode.LIGHT), Translations(app), Preferences(folder / "w.ini"), pages, folder)
    shown.resize(1440, 900)
    shown.show()
    shown.attach(services)
    for name in ("verification", "overview", "nodes"):
        shown.go(name)
        until(app, 0.3)
    page = shown._pages["nodes"]
    assert isinstance(page, nodes.NodesPage)
    late, turns = [], []
    clock = QTimer()
    clock.setTimerType(Qt.TimerType.PreciseTimer)
    clock.setInterval(TICK_MS)
    due = [0.0, 0.0]

    def tick() -> None:
        now = time.perf_counter()
        late.append(max(0.0, (now - due[0]) * 1000 - TICK_MS))
        due[0] = now

    def turned() -> None:
        now = time.thread_time()
        turns.append((now - due[1]) * 1000)
        due[1] = now

    clock.timeout.connect(tick)
    due[0] = time.perf_counter()
    clock.start()
    until(app, 2.0)
    clock.stop()
    idle_ms = p99(late)
    late.clear()
    page._show_fleet(shown=True)
    page.fleet.start(made)
    until(app, 0.3)
    due[:] = [time.perf_counter(), time.thread_time()]
    dispatcher = QAbstractEventDispatcher.instance()
    dispatcher.aboutToBlock.connect(turned)
    clock.start()
    fleet = page._work.fleet
    assert fleet is not None
    watch = QTimer()
    watch.setInterval(100)
    watch.timeout.connect(lambda: fleet.running or app.quit())
    watch.start()
    app.exec()
    watch.stop()
    clock.stop()
    dispatcher.aboutToBlock.disconnect(turned)
    found = {"idle_ms": idle_ms, "late_ms": p99(late), "turn_ms": p99(turns), "turn_max_ms": max(turns, default=0.0), "done": done_in(fleet)}
    shown.detach()
    shown.close()
    services.close()
    return found


def until(app: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        app.processEvents()


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)] if values else 0.0


def peak_mb() -> float:
    """The most memory that this process itself held, MiB. Not `ru_maxrss`: that keeps what the process held that started it."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


VARIANTS = {"window": window, "plain": plain, "collect": collect}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        result = {"late_ms": 0.0, "turn_ms": 0.0, "turn_max_ms": 0.0, **VARIANTS[sys.argv[1]](json.loads(sys.argv[2]), Path(name))}
    print(json.dumps({**result, "cpu_s": time.process_time(), "peak_mb": peak_mb()}))
