"""How is a running task told to the window and to the store while it runs?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import TaskPhase, TaskProgress
from gpulease_gui.remote.follow_program import READING, REPLACED, SHORTER
from gpulease_gui.services.events import Bus, TaskProgressed
from gpulease_gui.services.log_words import AWAITED, LOG_MARK, log_mark
from gpulease_gui.services.task_log import TaskLog
from gpulease_gui.store.records import Mark, new_id
from gpulease_gui.store.samples import save_mark
from gpulease_gui.store.task_runs import add_task_log, add_task_points
from gpulease_gui.store.workspace import Workspace

TOLD_S = 0.2
_SAVED_S = 5.0

# So long without a step is looked at beside the GPUs.
PAUSE_S = 10.0
_MOST_PAUSES = 200
_MOST_MARKS = 200

OnProgress = Callable[[TaskProgress], None]


@dataclass(frozen=True, slots=True)
class Pause:
    """No step came between two UTC times; `line` and `step` (-1: no number) were the last ones before."""

    line: int
    step: int
    since_s: float
    until_s: float


class TaskLive:
    """Hears a task (remote.task.TaskEars): five words a second at most, and every few seconds what came is saved."""

    def __init__(
        self, workspace: Workspace, bus: Bus, run_id: str, node: Node, log: TaskLog, total_bytes: int, tell: OnProgress | None, path: str = ""
    ) -> None:
        """`path`: of the log on the node that is followed."""
        self._workspace, self._bus, self._run_id, self._node, self._tell = workspace, bus, run_id, node, tell
        self.taken = log
        self.phase = TaskPhase.QUEUED
        self.began_wall_s: float | None = None
        self._total_bytes, self._sent = total_bytes, 0
        self._began_s: float | None = None
        self._told_s = self._saved_s = 0.0
        self._form, self._points, self._faults = "", 0, 0
        self._saved_points, self._saved_bytes = 0, 0
        self.pauses: list[Pause] = []
        self._step_s, self._step_line, self._steps = 0.0, 0, 0
        self._path, self._file, self._waits, self._marks = path, "", "", 0

    @property
    def seconds(self) -> float:
        """Since its command began; 0 before."""
        return time.monotonic() - self._began_s if self._began_s is not None else 0.0

    def sent(self, size_bytes: int) -> None:
        """So many bytes were sent."""
        self._sent = size_bytes
        self.enter(TaskPhase.SENDING)

    def started(self) -> None:
        """Its command begins."""
        self._began_s, self.began_wall_s = time.monotonic(), time.time()
        self.enter(TaskPhase.RUNNING)

    def log(self, data: bytes) -> None:
        """A piece of its output."""
        before = self.taken.reader.curve.last_step
        self.taken.take(data, round(self.seconds, 3))
        steps = self.taken.reader.curve.steps
        if steps != self._steps:
            self._pause(before)
            self._step_s, self._step_line, self._steps = time.time(), self.taken.reader.lines, steps

    def file(self, word: str) -> None:
        """What became of the file of a log that is followed (remote.task.FollowEars): told at once, and kept as a mark."""
        if word in (REPLACED, SHORTER):
            self.taken.anew(round(self.seconds, 3), cut=word == SHORTER)
        else:
            self._waits = "" if word == READING else word
        first, self._file = not self._file, word
        # Who writes the log decides how often that is. A new file is readable: that is no news of its own.
        if not (first and word == READING) and self._marks < _MOST_MARKS:
            self._marks += 1
            mark = Mark(new_id(), self._node.id, utc_now(), LOG_MARK, log_mark(AWAITED if first else word, self._path), self._run_id)
            self._workspace.submit(lambda db: save_mark(db, mark))
        self.say()

    def over(self) -> None:
        """Nothing more comes of it."""
        self._pause(self.taken.reader.curve.last_step)

    def _pause(self, step: int | None) -> None:
        """A long time since the last step, if there was one."""
        now = time.time()
        if self._steps and now - self._step_s >= PAUSE_S and len(self.pauses) < _MOST_PAUSES:
            self.pauses.append(Pause(self._step_line, -1 if step is None else step, self._step_s, now))

    def stopping(self) -> None:
        """It is being ended by us."""
        self.enter(TaskPhase.STOPPING)

    def enter(self, phase: TaskPhase) -> None:
        """Tell a new phase at once."""
        if phase is not self.phase:
            self.phase = phase
            self.say()

    def tick(self) -> None:
        """Tell and save what is due."""
        now = time.monotonic()
        if now - self._told_s >= TOLD_S:
            self.say()
        if self._began_s is not None and now - self._saved_s >= _SAVED_S:
            self._saved_s = now
            self.save()

    def say(self) -> None:
        """Tell how it stands."""
        self._told_s = time.monotonic()
        log = self.taken
        if log.reader.form != self._form:
            # Another trainer's lines were found to be the task's: its curve is a new one.
            self._form, self._points = log.reader.form, 0
        points, faults = log.points_since(self._points), log.faults_since(self._faults)
        self._points, self._faults = log.reader.curve.points_seen, self._faults + len(faults)
        progress = TaskProgress(
            self._run_id, self._node.id, self.phase, self._sent, self._total_bytes, self.seconds, log.bytes_in, log.reader.lines, points,
            log.last_words, faults, self._form, self._waits,
        )  # fmt: skip
        if self._tell is not None:
            self._tell(progress)
        self._bus.publish(TaskProgressed(progress))

    def save(self) -> None:
        """Keep the new part of log and curve, so that a killed program loses no more than the last seconds."""
        points = self.taken.points_since(self._saved_points)
        self._saved_points = self.taken.reader.curve.points_seen
        piece = self.taken.kept_since(self._saved_bytes)
        self._saved_bytes += len(piece)
        run_id, now = self._run_id, utc_now()
        if points:
            self._workspace.submit(lambda db: add_task_points(db, run_id, points, at=now))
        self._workspace.submit(lambda db: add_task_log(db, run_id, piece, at=now))
