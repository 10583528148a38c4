"""What does the log of a task say of its speed at this moment, as samples beside those of the hardware?

A log tells a figure when a step is over; until the next one comes it stands, as long as that usually takes. Then the
speed is not known: a training that stalls is a gap, and no line goes on as if it ran.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from gpulease_gui.domain.task import TaskPhase, TaskPoint
from gpulease_gui.services.events import Bus, Event, TaskProgressed
from gpulease_gui.telemetry.source import Point
from gpulease_gui.telemetry.task_log import values_of

# A figure stands for two and a half times what the step before took, and no longer than two minutes.
HELD_STEPS, LEAST_HELD_S, MOST_HELD_S = 2.5, 3.0, 120.0
# So many lines of progress at once were not written just now: a log that is long already comes in several such pieces.
BACKLOG = 48


class LogGauge:
    """The figures of one task. A task's thread tells, the watch of its node takes; times are UTC seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._new: dict[str, list[float]] = {}
        self._stands: dict[str, float] = {}
        self._told_s: float | None = None
        self._held_s = LEAST_HELD_S

    def tell(self, points: Sequence[TaskPoint], at_s: float) -> None:
        """Lines of progress that came at `at_s`. Of all that a log held before it was followed, the last one counts,
        as of what comes faster than anybody trains.
        """
        with self._lock:
            old = self._told_s is None or len(points) > BACKLOG
            before_s, self._told_s = self._told_s, at_s
            if before_s is not None and not old:
                self._held_s = min(MOST_HELD_S, max(LEAST_HELD_S, HELD_STEPS * (at_s - before_s)))
            if old:
                self._new = {}
            for point in points[-1:] if old else points:
                for metric, value in values_of(point).items():
                    self._new.setdefault(metric, []).append(value)

    def end(self) -> None:
        """The task is over."""
        with self._lock:
            self._new, self._told_s = {}, None

    def take(self, at_s: float) -> tuple[Point, ...]:
        """A sample of each figure: the mean of what came since the last time, else the one that stands; one without value ends a curve."""
        with self._lock:
            lasts = self._told_s is not None and at_s - self._told_s <= self._held_s
            before = self._stands
            self._stands = {**before, **_means(self._new)} if lasts else {}
            self._new = {}
            return tuple(Point(metric, "", self._stands.get(metric)) for metric in {**before, **self._stands})


class LogGauges:
    """A gauge for each node; what the log of a task on a node tells goes beside the samples of its watch. `wall`: UTC seconds now."""

    def __init__(self, bus: Bus, wall: Callable[[], float]) -> None:
        self._lock, self._wall = threading.Lock(), wall
        self._gauges: dict[str, LogGauge] = {}
        bus.subscribe(self._hear)

    def of(self, node_id: str) -> LogGauge:
        """That of a node, watched or not."""
        with self._lock:
            return self._gauges.setdefault(node_id, LogGauge())

    def _hear(self, event: Event) -> None:
        if isinstance(event, TaskProgressed):
            progress, gauge = event.progress, self.of(event.progress.node_id)
            if progress.phase is not TaskPhase.RUNNING:
                gauge.end()
            elif progress.points:
                gauge.tell(progress.points, self._wall())


def _means(new: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {metric: sum(values) / len(values) for metric, values in new.items()}
