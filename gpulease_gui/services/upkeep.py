"""How does the store keep in shape while nobody waits for it?

One thread at a time hands small steps to the writer: readings of older files are packed, old ones removed by their age, what a
killed program left open is ended. A run's readings are put among its evidence when it ends; what a program that was killed, or a
full disk, left undone of that is done as soon as it can be.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import Bus, Event, ReadingsNotKept, RunEnded
from gpulease_gui.store.kept_owed import MARGIN_S, keep_own, owed_runs
from gpulease_gui.store.older_blocks import move_some
from gpulease_gui.store.retention import remove_some
from gpulease_gui.store.watch_ends import close_forsaken
from gpulease_gui.store.workspace import Workspace

# How often it is looked what a killed program left open: two minutes and a half without a sign of life are its death.
ENDS_S = 30.0
# Between two steps the writer is free for others; a round a quarter of an hour is enough for what goes by days.
LOOK_S, ROUND_S = 0.5, 900.0
_NS = 1_000_000_000
# The last ten seconds come to the store later. What a disk refused is tried again after a while.
LATE_S, AGAIN_S = 15.0, 30.0


@dataclass(frozen=True, slots=True)
class _Due:
    """From when on (UTC seconds) the readings of a run can be kept; `ours`: this program ran it, and keeps what there is when
    it ends. `told`: the user knows that they could not be kept."""

    at_s: float
    run_id: str
    node_id: str
    ours: bool = False
    told: bool = False


class Upkeep:
    """Steps of upkeep; nothing runs before `start`. Close it after the watches and before the workspace."""

    def __init__(self, workspace: Workspace, bus: Bus, clock: Callable[[], float] = time.time) -> None:
        self._workspace, self._bus, self._clock = workspace, bus, clock
        self._cancel, self._lock = CancelToken(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended_s = 0.0
        self._due: dict[str, _Due] = {}
        self._forget = bus.subscribe(self._on_event)

    def start(self) -> None:
        """Begin; may be called twice."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name="upkeep", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End it, keep the readings of runs that just ended; may be called twice."""
        if self._cancel.cancelled:
            return
        self._forget()
        self._cancel.cancel()
        if self._thread is not None:
            self._thread.join()
        self._look()
        with self._lock:
            ours = [replace(one, at_s=-math.inf) if one.ours else one for one in self._due.values()]
            self._due = {one.run_id: one for one in ours}
        self.keep_due()

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

    def find_owed(self) -> None:
        """Look for runs whose readings nobody kept, as a program that was killed left them. Raises UserFacing."""
        now_s = self._clock()
        owed = self._workspace.submit(lambda db: owed_runs(db.conn, now_s)).result()  # also at the end, on the main thread
        for one in owed:
            self._add(_Due(one.over_s + MARGIN_S + LATE_S, one.run_id, one.node_id))

    def keep_due(self) -> None:
        """Keep the readings of runs whose minute after the end is over; what can't be written is told once, and tried again."""
        now_s = self._clock()
        with self._lock:
            due = [one for one in self._due.values() if one.at_s <= now_s]
        for one in due:
            fault = self._fault(one.run_id, now_s)
            with self._lock:
                if fault is None:
                    self._due.pop(one.run_id, None)
                else:
                    self._due[one.run_id] = replace(one, at_s=now_s + AGAIN_S, told=True)
            if fault is not None and not one.told:
                self._bus.publish(ReadingsNotKept(one.node_id, one.run_id, _words(fault)))

    def _fault(self, run_id: str, now_s: float) -> UserFacing | None:
        """What the world refused. A run or node that is not there any more owes nothing."""
        fault = self._workspace.submit(lambda db: keep_own(db, run_id, now_s)).exception()
        return fault if isinstance(fault, UserFacing) and not isinstance(fault, UsageError) else None

    def _live(self) -> None:
        next_s, goes_on = self._clock(), False
        while not self._cancel.wait(LOOK_S):
            self.keep_due()
            self.end_forsaken()
            if self._clock() >= next_s:
                if not goes_on:
                    self._look()
                goes_on = self._stepped()
                next_s = self._clock() + (0.0 if goes_on else ROUND_S)

    def _stepped(self) -> bool:
        try:
            return self.step()
        except UserFacing:
            return False  # a disk that is full says so where the user saves; the next round tries again

    def _look(self) -> None:
        try:
            self.find_owed()
        except UserFacing:
            return

    def _add(self, one: _Due) -> None:
        with self._lock:
            self._due.setdefault(one.run_id, one)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            self._add(_Due(self._clock() + MARGIN_S + LATE_S, event.run_id, event.node_id, ours=True))


def _words(fault: UserFacing) -> Text:
    why = fault.whole_text
    return Text(f"{why.en}. It is tried again by itself, at the next start at the latest.", f"{why.zh}。将自动重试，最迟在下次启动时。")
