"""How do throughput and loss of a task run beside the hardware of its node?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpulease_gui.domain.task import TaskPoint, TaskProgress, TaskRate, TaskRun
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.gui.pages.live_lanes import Lanes, holes_of, promise_of
from gpulease_gui.gui.pages.live_past import History
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.chart_spec import Curve, Happening, LaneSpec, Picture, Promised, Rule
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_warmup import judged_from, with_warmup

if TYPE_CHECKING:
    from gpulease_gui.services.watch import WatchView

LOOK_MS = 500
LOSS = "loss"
_LEAST_S, _MARGIN = 60.0, 0.04
_FIRST_POINTS = 2000  # the warm-up is among them
_SPEEDS: Mapping[str, tuple[Text, str, str, int]] = {
    Unit.TOKENS_S: (Text("Throughput", "吞吐"), "tokens/s", "work.tokens_s", 0),
    Unit.SAMPLES_S: (Text("Throughput", "吞吐"), "samples/s", "work.samples_s", 1),
    Unit.TOKENS_S_GPU: (Text("Throughput per GPU", "单卡吞吐"), "tokens/s", "", 0),
    Unit.STEP_S: (Text("Time of a step", "单步时间"), "s", "work.step_s", 3),
    Unit.TFLOPS: (Text("Computed per GPU", "单卡算力"), "TFLOP/s", "", 1),
}
_TASK = Text("task", "任务")
_HARDWARE = ("util", "npu_util", "power", "npu_power", "clock", "temperature", "npu_temperature", "memory", "npu_memory", "network", "disk", "cpu")


class TaskCurves:
    """The curves that a log tells, in UTC seconds; `begin_s` is when the command began."""

    def __init__(self, begin_s: float) -> None:
        self.begin_s = begin_s
        self.rings: dict[str, Ring] = {}
        self.points: list[TaskPoint] = []
        self._last_s = 0.0

    def add(self, points: Sequence[TaskPoint]) -> None:
        """Take up the next points; one without a time, as of a log read as a whole, stands a second after the one before."""
        self.points += points[: max(0, _FIRST_POINTS - len(self.points))]
        for point in points:
            self._last_s = max(self._last_s, point.at_s) if point.at_s is not None else self._last_s + 1.0
            told = ([(LOSS, point.loss)] if point.loss is not None else []) + list(point.speeds)
            for unit, value in told:
                self.rings.setdefault(unit, Ring()).append(self.begin_s + self._last_s, value)

    @property
    def end_s(self) -> float:
        """When the newest point came."""
        return self.begin_s + self._last_s

    def lanes(self, serves: Mapping[str, TermValue]) -> tuple[LaneSpec, ...]:
        """One lane per speed and one for the loss, above all others."""
        made = [self._lane(unit, *_SPEEDS[unit], serves) for unit in _SPEEDS if unit in self.rings]
        if LOSS in self.rings:
            made.append(LaneSpec("task:loss", Text("Loss", "损失"), "", (Curve(LOSS, 0, _TASK, self.rings[LOSS]),), 3))
        return tuple(made)

    def _lane(self, unit: str, title: Text, shown: str, term: str, decimals: int, serves: Mapping[str, TermValue]) -> LaneSpec:
        figure = serves.get(term)
        # More seconds a step are worse: such a promise is drawn, but what lies below it breaks nothing.
        rule = Rule.SIZE if unit == Unit.STEP_S else Rule.CHECKED
        promised = Promised(float(figure), rule) if isinstance(figure, int | float) else None
        return LaneSpec(f"task:{unit}", title, shown, (Curve(unit, 0, _TASK, self.rings[unit]),), decimals, promised, term)


class TaskChart(QWidget):
    """Lanes of the task over lanes of its node; live while it runs, of stored samples afterwards."""

    def __init__(self, frame: Frame, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        # Imported here: numpy is heavy, and modules of pages are imported before the first paint.
        from gpulease_gui.gui.widgets.lane_stack import LaneStack

        self._frame, self._clock = frame, clock
        self.stack = LaneStack(clock)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.stack)
        self._history = History(frame, self.look, clock)
        self._curves: TaskCurves | None = None
        self._serves: Mapping[str, TermValue] = {}
        self._rates: tuple[TaskRate, ...] = ()
        self._lanes: Lanes | None = None
        self._node_id, self._ended_s = "", 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    def begin(self, node_id: str, terms: Mapping[str, TermValue], serves: Mapping[str, TermValue]) -> None:
        """A task begins on a node: an empty chart that fills."""
        self._begin(node_id, terms, serves)
        self.stack.pause(paused=False)
        self.look()

    def _begin(self, node_id: str, terms: Mapping[str, TermValue], serves: Mapping[str, TermValue]) -> None:
        self._node_id, self._serves, self._curves, self._ended_s = node_id, serves, None, 0.0
        self._rates = ()
        self._lanes = Lanes(promise_of(self._frame.services.catalogue, terms))
        self._history.choose(node_id, frozenset(terms))

    def progress(self, told: TaskProgress) -> None:
        """The task goes on. The start of its command is counted back from the first word of it."""
        if self._curves is None:
            self._curves = TaskCurves(self._clock() - told.seconds)
            self.stack.set_window(_LEAST_S)
        self._curves.add(told.points)
        if told.seconds > 0.9 * self.stack.window_s and not self.stack.paused:
            self.stack.set_window(max(_LEAST_S, told.seconds * 1.5))

    def show_run(self, run: TaskRun, terms: Mapping[str, TermValue]) -> None:
        """A run that is over: the whole of it."""
        self._begin(run.node_id, terms, dict(run.spec.serves))
        points, self._rates = (run.reading.points, run.reading.rates) if run.reading else ((), ())
        seconds = run.seconds if run.seconds is not None else max((p.at_s or 0.0 for p in points), default=0.0)
        end = run.ended_at or run.started_at + timedelta(seconds=seconds)
        begin_s = max(run.started_at.timestamp(), end.timestamp() - seconds)
        self._curves = TaskCurves(begin_s)
        self._curves.add(points)
        self._ended_s = max(begin_s + seconds, self._curves.end_s)
        length = max(self._ended_s - begin_s, 10.0)
        self.stack.look_at(begin_s - _MARGIN * length, min(self._clock() - 0.001, self._ended_s + _MARGIN * length))
        self.look()

    def clear(self) -> None:
        """Nothing to show."""
        self._node_id, self._curves, self._lanes, self._ended_s = "", None, None, 0.0
        self.stack.show_picture(Picture())

    def look(self) -> None:
        """Bring the lanes to what is known now."""
        if self._lanes is None:
            return
        view = self._hardware()
        lanes = self._curves.lanes(self._serves) if self._curves is not None else ()
        hardware = tuple(lane for lane in self._lanes.of(view) if lane.id.split(":")[0] in _HARDWARE) if view is not None else ()
        holes = holes_of(view, self._lanes.numbers) if view is not None else ()
        self.stack.show_picture(Picture((*lanes, *hardware), holes, self._happenings(), view.interval_s if view is not None else 1.0))

    def _happenings(self) -> tuple[Happening, ...]:
        """The stretch of the task, which puts its promises to the test."""
        if self._curves is None:
            return ()
        begin_s, (left_out, after_s) = self._curves.begin_s, judged_from(self._curves.points, self._rates)
        words, terms = with_warmup(_TASK, left_out), tuple(self._serves)
        return (Happening(begin_s, self._ended_s or None, words, "load", "accent", terms, judged_from_s=begin_s + after_s),)

    def _hardware(self) -> WatchView | None:
        """What the watch holds, or what is stored of the stretch of an ended task."""
        live = self._frame.services.watching.view(self._node_id)
        start_s, end_s = self.stack.span_s
        if not self._ended_s or not self._history.needed(start_s, end_s, live):
            return live
        from gpulease_gui.gui.models.past import Wish

        wish = Wish(self._node_id, start_s, end_s, self.stack.scale().columns, (start_s, end_s))
        past = self._history.look_at(wish, live, following=False)
        return past.view if past is not None else live

    def showEvent(self, event: QShowEvent) -> None:
        """Look again and again while in sight."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Out of sight nothing is looked at."""
        self._timer.stop()
        super().hideEvent(event)
