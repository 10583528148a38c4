"""Which events of watches could not be written, and when are they written again?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.services.notices import get_notices
from gpulease_gui.store.doors import Database
from gpulease_gui.store.records import EvidenceBlob, Mark
from gpulease_gui.store.samples import save_mark
from gpulease_gui.store.watch_events import WatchEvent, save_event

AGAIN_S = 5.0


class Owed:
    """Writes, by `submit` of the workspace, the events of all watches of a program; what the disk refuses stays owed, each event as it is by then. Any thread."""

    def __init__(self, submit: Callable[[Callable[[Database], bool]], Future[bool]]) -> None:
        self._write, self._lock = submit, threading.Lock()
        self._newest: dict[str, tuple[WatchEvent, EvidenceBlob]] = {}
        self._owed: dict[str, tuple[Mark, ...]] = {}
        self._tried_s = 0.0

    def write(
        self, event: WatchEvent, blob: EvidenceBlob, mark: Mark | None = None, told: Callable[[bool], None] | None = None
    ) -> None:
        """Write an event as it is now; `told` hears whether somebody is to be disturbed by it (not if nothing was written)."""
        with self._lock:
            self._newest[event.id] = event, blob
            marks = self._owed.pop(event.id, ())
        future = self._submit(event.id, marks if mark is None else (*marks, mark), None if mark is None else mark.at)
        if told is not None:
            future.add_done_callback(lambda done: told(_fault(done) is None and done.result()))

    def again(self, at_s: float) -> None:
        """Try what is owed once more, every few seconds (UTC)."""
        if self._owed and abs(at_s - self._tried_s) >= AGAIN_S:
            self._tried_s = at_s
            self.now()

    def now(self) -> None:
        """Try what is owed at once."""
        with self._lock:
            owed, self._owed = self._owed, {}
        for id_, marks in owed.items():
            self._submit(id_, marks, None)

    def _submit(self, id_: str, marks: tuple[Mark, ...], at: datetime | None) -> Future[bool]:
        with self._lock:
            event, blob = self._newest[id_]

        def work(db: Database) -> bool:
            save_event(db, event, blob)
            for mark in marks:
                save_mark(db, mark)
            return at is not None and get_notices(db.conn).disturbs(event.node_id, at.astimezone())

        future = self._write(work)
        future.add_done_callback(lambda done: self._over(event, marks, _fault(done)))
        return future

    def _over(self, event: WatchEvent, marks: tuple[Mark, ...], fault: BaseException | None) -> None:
        """What no disk can be blamed for, such as a node that was deleted, will not be written later either."""
        with self._lock:
            if isinstance(fault, UserFacing):
                self._owed[event.id] = (*marks, *self._owed.get(event.id, ()))
            elif event.ended_ns is not None and event.id not in self._owed:
                self._newest.pop(event.id, None)


def _fault(done: Future[bool]) -> BaseException | None:
    return None if done.cancelled() else done.exception()
