"""How does the store keep in shape while nobody waits for it?

One thread at a time hands small steps to the writer: readings of older files are packed, old ones removed by their age, what a
killed program left open is ended. A run's readings are put among its evidence when it ends.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.services.events import Bus, Event, RunEnded
from gpulease_gui.store.doors import Database
from gpulease_gui.store.older_blocks import move_some
from gpulease_gui.store.retention import keep_stretch, remove_some
from gpulease_gui.store.runs import get_run
from gpulease_gui.store.watch_ends import close_forsaken
from gpulease_gui.store.workspace import Workspace

# How often it is looked what a killed program left open: two minutes and a half without a sign of life are its death.
ENDS_S = 30.0
# Between two steps the writer is free for others; a round a quarter of an hour is enough for what goes by days.
LOOK_S, ROUND_S = 0.5, 900.0
_NS = 1_000_000_000
# What a node did just before and after a run is part of the story; the last ten seconds come to the store later.
MARGIN_S, LATE_S = 60.0, 15.0


class Upkeep:
    """Steps of upkeep; nothing runs before `start`. Close it after the watches and before the workspace."""

    def __init__(self, workspace: Workspace, bus: Bus, clock: Callable[[], float] = time.time) -> None:
        self._workspace, self._clock = workspace, clock
        self._cancel, self._lock = CancelToken(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended_s = 0.0
        self._ended: list[tuple[float, RunEnded]] = []
        self._forget = bus.subscribe(self._on_event)

    def start(self) -> None:
        """Begin; may be called twice."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name="upkeep", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End it, keep the readings of runs that just ended; may be called twice."""
        self._forget()
        self._cancel.cancel()
        if self._thread is not None:
            self._thread.join()
        for _, ended in self._due(math.inf):
            keep_readings(self._workspace, ended.run_id, ended.node_id, self._clock())

    def step(self) -> bool:
        """One step; whether there is more to do. Raises UserFacing when the store can't be written."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        moved = self._workspace.submit(lambda db: move_some(db.conn)).result()
        return moved or self._workspace.submit(lambda db: remove_some(db, now)).result()

    def end_forsaken(self) -> None:
        """End what a program left open that gives no sign of life any more, if some time has passed since this was done last."""
        now_s = self._clock()
        if not 0 <= now_s - self._ended_s < ENDS_S:
            self._ended_s = now_s
            self._workspace.submit(lambda db: close_forsaken(db.conn, int(now_s * _NS)))

    def keep_due(self) -> None:
        """Keep the readings of runs whose minute after the end is over."""
        for _, ended in self._due(self._clock()):
            keep_readings(self._workspace, ended.run_id, ended.node_id, self._clock())

    def _live(self) -> None:
        next_s = self._clock()
        while not self._cancel.wait(LOOK_S):
            self.keep_due()
            self.end_forsaken()
            if self._clock() >= next_s:
                next_s = self._clock() + (0.0 if self._stepped() else ROUND_S)

    def _stepped(self) -> bool:
        try:
            return self.step()
        except UserFacing:
            return False  # a disk that is full says so where the user saves; the next round tries again

    def _due(self, now_s: float) -> list[tuple[float, RunEnded]]:
        with self._lock:
            due = [one for one in self._ended if one[0] <= now_s]
            self._ended = [one for one in self._ended if one[0] > now_s]
        return due

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            with self._lock:
                self._ended.append((self._clock() + MARGIN_S + LATE_S, event))


def keep_readings(workspace: Workspace, run_id: str, node_id: str, now_s: float) -> Future[None]:
    """Put what was read of a node during a run, and up to a minute around it, among the evidence of the run."""

    def work(db: Database) -> None:
        run = get_run(db.conn, run_id)
        end_s = min(now_s, (run.finished_at.timestamp() if run.finished_at else now_s) + MARGIN_S)
        begin_ns = int((run.started_at.timestamp() - MARGIN_S) * _NS)
        if int(end_s * _NS) > begin_ns:
            keep_stretch(db, run_id, node_id, begin_ns, int(end_s * _NS))

    return workspace.submit(work)
