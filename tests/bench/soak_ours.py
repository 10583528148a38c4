"""What does watching nodes for long leave in the process of the window? A worker: `python -m tests.bench.soak_ours JOB`.

The window stands on its Live page. Every half minute the user does something: another node, all nodes, another window of time,
pause, the past. It prints what the process held meanwhile, and what the store has of the time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.chart_spec import Mode
from gpulease_gui.pdf.fonts import load_fonts
from gpulease_gui.services.composition import Services
from gpulease_gui.services.small_heap import keep_heap_small, search_seldom
from gpulease_gui.store.samples import list_gaps, read_blocks
from tests.bench.fleet_ours import fleet_of
from tests.gui.guards import StallGuard
from tests.soak import lines
from tests.soak.hours import Growth

Job = dict[str, Any]
S = 1_000_000_000
LOOK_MS = 5000


class Soak:
    """One window over watched nodes, looked at from its own event loop."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.job, self.growth, self.stalls, self.acts = job, Growth(), StallGuard(), 0
        self.app = QApplication.instance() or QApplication(["soak"])
        load_fonts()
        self.services, self.nodes = fleet_of(job, folder)
        theme = Theme(self.app, folder, ThemeMode.LIGHT)  # type: ignore[arg-type]
        self.window = MainWindow(theme, Translations(self.app), Preferences(folder / "w.ini"), (live.PAGE,), folder)  # type: ignore[arg-type]
        self.window.resize(1440, 900)
        self.window.show()
        self.window.attach(self.services)
        self.window.go("live")
        search_seldom()  # as gui/app does
        self.timers: list[QTimer] = []
        self.faults: list[str] = []
        sys.excepthook = lambda kind, fault, trace: self.faults.append(repr(fault))

    @property
    def page(self) -> live.LivePage:
        """The Live page in sight."""
        page = self.window.page
        assert isinstance(page, live.LivePage), page
        return page

    def run(self) -> None:
        """Watch all nodes for the time of the job."""
        for node in self.nodes:
            self.services.watching.start(node)
        self._until(lambda: all(view.rings for view in self.services.watching.views()), 120)
        self._turn(2000)
        acts = cycle(self._acts())
        self._every(LOOK_MS, lambda: self.growth.look(self.services.watching.views()))
        self._every(int(self.job["act_ms"]), lambda: self._act(next(acts)))
        self.stalls.start()
        self._turn(int(1000 * self.job["seconds"]))
        for timer in self.timers:
            timer.stop()
        self.stalls.stop()

    def _every(self, ms: int, work: Callable[[], object]) -> None:
        timer = QTimer()
        timer.timeout.connect(work)
        timer.start(ms)
        self.timers.append(timer)

    def _turn(self, ms: int) -> None:
        loop = QEventLoop()  # the application's own quit would close the window
        QTimer.singleShot(ms, loop.quit)
        loop.exec()

    def _until(self, ready: Callable[[], bool], seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while not ready() and time.monotonic() < end_s:
            self._turn(200)

    def _acts(self) -> Iterator[Callable[[], object]]:
        """What a user does over and over."""
        page = self.page
        for node in self.nodes[:8]:
            yield partial(page.open, node.id)
            yield partial(page.chart.set_mode, Mode.ALL)
            yield partial(page._set_window, 900.0)
            yield page._pause
            yield partial(page.chart.drag_by, -600.0)
            yield page._pause
            yield partial(page.chart.set_mode, Mode.SPREAD)
            yield partial(page._set_window, 300.0)
            yield partial(page.show_all, whole=True)

    def _act(self, act: Callable[[], object]) -> None:
        """Acts are rebuilds of what is in sight; their turns are listed apart."""
        self.stalls._turn()
        self.stalls._reason = "act"
        act()
        self.acts += 1
        QTimer.singleShot(1500, self._acted)

    def _acted(self) -> None:
        self.stalls._turn()
        self.stalls._reason = ""

    def found(self) -> dict[str, object]:
        """After the end: growth, turns of the main thread, and what the store holds of what the nodes said."""
        views = self.services.watching.views()
        gaps = sum(len(view.gaps) for view in views)
        self.services.watching.close()
        self.services.workspace.submit(lambda db: None).result()
        told = [stored(self.services, node.id) for node in self.nodes]
        heard = {view.node_id: view.rings[lines.MEMORY, lines.UUIDS[0]].last or (0.0, 0.0) for view in views}
        unstored = sum(round(heard[node.id][1] * lines.TICKS_A_GIB) - one[3] for node, one in zip(self.nodes, told, strict=True))
        turns = sorted(self.stalls.turns)
        acted = [spent for _, spent in self.stalls.allowed]
        return {
            "rss_mib": self.growth.rss_mib, "rings_mib": self.growth.rings_mib, "threads": self.growth.threads, "handles": self.growth.handles, "acts": self.acts,
            "turn_p99_ms": 1000 * turns[int(0.99 * (len(turns) - 1))], "turn_max_ms": 1000 * turns[-1], "act_max_ms": 1000 * max(acted, default=0.0),
            "faults": self.faults, "turns": len(turns), "gaps": gaps + sum(one[2] for one in told), "seconds_stored": min(one[0] for one in told),
            "seconds_unstored": unstored, "seconds_missing": sum(one[1] for one in told), "nodes": len(told), "cpu_s": time.process_time(),
        }  # fmt: skip

    def close(self) -> list[str]:
        """End all; the names of threads that did not."""
        self.window.detach()
        self.window.close()
        self.services.close()
        return [thread.name for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]


def stored(services: Services, node_id: str) -> tuple[int, int, int, int]:
    """Of a node's first card: (seconds that are stored, seconds between the first and the last that are not or are there twice,
    gaps, the number of the last second).
    """
    now_ns = time.time_ns() + 3600 * S
    seen: list[float] = []
    with services.workspace.read() as connection:
        for series, blocks in read_blocks(connection, node_id, 0, now_ns).items():
            if (series.metric, series.subject) == (lines.MEMORY, lines.UUIDS[0]):
                seen += [value * lines.TICKS_A_GIB for block in blocks for value in block.values.tolist() if value == value]
        gaps = list_gaps(connection, node_id, lines.MEMORY, 0, now_ns)
    held = set(map(int, seen))
    missing = max(held) + 1 - min(held) - len(held) if held else 0
    return len(held), missing + len(seen) - len(held), len(gaps), max(held, default=-1)


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    keep_heap_small()  # as gui/app does
    sys.setswitchinterval(0.0002)  # as gui/app does
    with tempfile.TemporaryDirectory(prefix="gpulease-soak-") as name:
        soak = Soak(json.loads(sys.argv[1]), Path(name))
        soak.run()
        said = soak.found()
        print(json.dumps({**said, "left": soak.close()}), flush=True)
