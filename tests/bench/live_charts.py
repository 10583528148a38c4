"""What does a frame of the chart cost the main thread: live, over a month, and while lines of a hundred nodes come in?"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from gpulease_gui.store.workspace import Workspace
from tests.bench.live_store import DAY_S, START_S
from tests.bench.peers import ROOT

CURVES, POINTS, WIDTH, HEIGHT = 64, 3600, 1380, 560
_APPS: list[object] = []


def app() -> Any:
    """The one application of this process, with the program's theme."""
    from PySide6.QtWidgets import QApplication

    from gpulease_gui.gui.theme.theme import Theme, ThemeMode

    made = QApplication.instance() or QApplication([])
    if not _APPS:
        folder = tempfile.TemporaryDirectory(prefix="gpulease-live-images-")
        _APPS.extend((made, folder, Theme(made, Path(folder.name), ThemeMode.LIGHT)))  # type: ignore[arg-type]
    return made


def _lanes(view: Any) -> tuple[Any, ...]:
    from gpulease_gui.catalog.catalogue import load_catalogue
    from gpulease_gui.gui.pages.live_lanes import Lanes, promise_of

    return tuple(Lanes(promise_of(load_catalogue(), {"gpu.power_w": 700})).of(view))


def _stack(end_s: float, clock: Callable[[], float] | None = None) -> Any:
    from gpulease_gui.gui.widgets.lane_stack import LaneStack

    stack = LaneStack(clock or (lambda: end_s))
    stack.resize(WIDTH, HEIGHT)
    stack.show()
    return stack


def scrubs(workspace: Workspace, days: int, rounds: int) -> tuple[list[float], list[float]]:
    """Opening the whole time: reading and first picture (CPU ms). Dragging through it: the 99th percentile of frames (CPU ms)."""
    from gpulease_gui.gui.models.past import Wish, read_past
    from gpulease_gui.gui.widgets.chart_spec import Picture

    app()
    start_s, end_s = float(START_S), float(START_S + days * DAY_S)
    opening, scrubbing = [], []
    for number in range(rounds + 1):
        stack = _stack(end_s)
        app().processEvents()
        begun = time.process_time()
        with workspace.read() as connection:
            past = read_past(connection, Wish("n1", start_s, end_s, 1200, (start_s, end_s)), {})
        opened = time.process_time() - begun
        stack.show_picture(Picture(_lanes(past.view), (), (), past.view.interval_s))
        _settle()
        stack.look_at(start_s, start_s + (end_s - start_s) / 5)
        _settle()
        turns_s = list[float]()
        for _ in range(60):
            # A frame of a drag, then the turns of the event loop in which the lanes are drawn anew one by one.
            _timed(turns_s, partial(_drag, stack, (end_s - start_s) / 100))
            _timed(turns_s, app().processEvents)
        if number:
            opening.append(1000 * opened)
            scrubbing.append(1000 * sorted(turns_s)[int(0.99 * (len(turns_s) - 1))])
        stack.close()
        stack.deleteLater()
    return opening, scrubbing


def _drag(stack: Any, seconds: float) -> None:
    stack.drag_by(seconds)
    stack.repaint()


def _timed(spent_s: list[float], work: Callable[[], object]) -> None:
    begun = time.thread_time()
    work()
    spent_s.append(time.thread_time() - begun)


def _settle() -> None:
    """Let a chart that was just shown lay itself out and draw."""
    end_s = time.monotonic() + 0.5
    while time.monotonic() < end_s:
        app().processEvents()
        time.sleep(0.005)


def frames(rounds: int, count: int) -> dict[str, list[float]]:
    """CPU ms of a frame of 64 curves over an hour: our live chart, its lines alone, one plot of pyqtgraph as it comes."""
    app()
    found: dict[str, list[float]] = {"ours": [], "tail": [], "pyqtgraph": []}
    for _ in range(rounds):
        found["ours"].append(_ours(count))
        found["tail"].append(_tail(count))
        found["pyqtgraph"].append(_pyqtgraph(max(5, count // 4)))
    return found


def _value(curve: int, at: int) -> float:
    return 50 + 30 * math.sin(at / 300 + curve) + (at * 7919 + curve * 104729) % 100 / 16


def _specs() -> list[Any]:
    from gpulease_gui.domain.text import Text
    from gpulease_gui.gui.widgets.chart_spec import Curve, LaneSpec
    from gpulease_gui.services.series import Ring

    curves = []
    for number in range(CURVES):
        ring = Ring()
        for second in range(POINTS):
            ring.append(1000.0 + second, _value(number, second))
        curves.append(Curve(f"GPU-{number}", number % 8, f"GPU-{number}", ring))
    return [LaneSpec(f"lane{n}:", Text("Lane", "Lane"), "W", tuple(curves[n : n + 8])) for n in range(0, CURVES, 8)]


def _ours(count: int) -> float:
    """The whole chart as it is while live: axes, event row, strip and lines; a second brings 64 samples in ten frames."""
    from gpulease_gui.gui.widgets.chart_spec import Mode, Picture

    clock, lanes = [1000.0 + POINTS], _specs()
    stack = _stack(clock[0], lambda: clock[0])
    stack.show_picture(Picture(tuple(lanes), (), (), 1.0))
    stack.set_mode(Mode.ALL)
    stack.set_window(float(POINTS))
    _settle()
    drawn, spent = stack.segments, []
    for frame in range(2 * count):
        clock[0] += 0.1
        if frame % 10 == 0:
            for lane in lanes:
                for number, curve in enumerate(lane.curves):
                    curve.ring.append(clock[0], _value(number, frame))
        begun = time.thread_time()
        stack.tick()
        stack.repaint()
        spent.append(time.thread_time() - begun)
    assert stack.segments > drawn
    stack.close()
    stack.deleteLater()
    return 1000 * sum(spent[10:]) / len(spent[10:])


def _tail(count: int) -> float:
    from gpulease_gui.gui.widgets.chart_scale import TimeScale, value_scale
    from gpulease_gui.gui.widgets.chart_spec import Mode
    from gpulease_gui.gui.widgets.live_tail import LiveTail

    lanes = _specs()
    tails = [LiveTail(lane, 1.0, Mode.ALL) for lane in lanes]
    values, spent = value_scale(100.0, None, None), []
    for frame in range(2 * count):
        now_s = 1000.0 + POINTS + frame * 0.1
        if frame % 10 == 0:
            for lane in lanes:
                for number, curve in enumerate(lane.curves):
                    curve.ring.append(now_s, _value(number, frame))
        scale = TimeScale.ending(now_s, float(POINTS), 970)
        begun = time.thread_time()
        for tail in tails:
            tail.frame(scale, values, 60, 1.0)
        spent.append(time.thread_time() - begun)
    return 1000 * sum(spent[1:]) / len(spent[1:])


def _pyqtgraph(count: int) -> float:
    import numpy as np
    import pyqtgraph as pg

    top = pg.PlotWidget()
    top.resize(WIDTH, HEIGHT)
    plot = top.getPlotItem()
    plot.setXRange(0, POINTS, padding=0)
    plot.setYRange(0, 100, padding=0)
    plot.disableAutoRange()
    items = [pg.PlotDataItem(pen=pg.mkPen("g", width=1)) for _ in range(CURVES)]
    for item in items:
        plot.addItem(item)
    top.show()
    app().processEvents()
    rows = np.array([[_value(number, second) for second in range(POINTS + count)] for number in range(CURVES)])
    times, spent = np.arange(POINTS, dtype=np.float64), []
    for frame in range(count):
        begun = time.thread_time()
        for item, row in zip(items, rows, strict=True):
            item.setData(times, row[frame : frame + POINTS])
        top.viewport().repaint()
        spent.append(time.thread_time() - begun)
    top.close()
    top.deleteLater()
    app().processEvents()
    return 1000 * sorted(spent[1:])[len(spent[1:]) // 2]


def late_main_thread(job: dict[str, object]) -> list[float]:
    """How late a timer of 10 ms is (99th percentile, ms) while 64 curves are drawn at 10 FPS and lines come in on threads."""
    done = subprocess.run([sys.executable, "-m", "tests.bench.live_charts", json.dumps(job)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    return [float(json.loads(done.stdout.strip().splitlines()[-1])["p99_ms"])]


def _lateness(job: dict[str, Any]) -> None:
    import os

    from PySide6.QtCore import Qt, QTimer

    from gpulease_gui.gui.widgets.chart_spec import Picture
    from tests.bench.live_ingest import Sink, ours

    if job["cpu"] is not None:
        os.sched_setaffinity(0, {job["cpu"]})
    program, lanes = app(), _specs()
    clock = [1000.0 + POINTS]
    stack = _stack(clock[0])
    stack.show_picture(Picture(tuple(lanes), (), (), 1.0))
    ours(job, Sink())
    late, last = list[float](), [0.0]

    def beat() -> None:
        now = time.perf_counter()
        if last[0]:
            late.append(now - last[0] - 0.010)
        last[0] = now

    def frame() -> None:
        stack.tick()
        stack.repaint()

    beats, drawing = QTimer(), QTimer()
    beats.setTimerType(Qt.TimerType.PreciseTimer)
    beats.timeout.connect(beat)
    drawing.timeout.connect(frame)
    beats.start(10)
    drawing.start(100)
    QTimer.singleShot(int(1000 * (job["seconds"] + 2)), program.quit)
    program.exec()
    settled = sorted(late[100:])
    print(json.dumps({"p99_ms": max(0.0, 1000 * settled[int(0.99 * (len(settled) - 1))])}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _lateness(json.loads(sys.argv[1]))
