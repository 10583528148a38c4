"""How do events and results of worker threads reach the main thread?"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from shiboken6 import isValid

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.right_of_way import RightOfWay
from gpulease_gui.services.events import Bus, CheckChanged, Event, FindingSaved

T = TypeVar("T")
TURN_S = 0.004
# What checks say is told thirty times a second: a hundred nodes say ten thousand things, and each turn waits for Python anew.
GATHER_MS = 33


class Bridge(QObject):
    """The one adapter between the services' bus and Qt; everything it emits and calls is on the main thread.

    `arrived` carries each event of the bus. `troubled` carries a UserFacing that nobody else took. Both come in the order
    in which they happened; when many come at once they are spread over turns of the event loop, so that the window is
    drawn and answers clicks in between. What single checks say is gathered for `GATHER_MS`, unless something else comes.
    """

    arrived = Signal(object)
    troubled = Signal(object)
    _waiting = Signal()
    _gathers = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._leave: Callable[[], None] | None = None
        self._way = RightOfWay()
        self._round = 0  # results and events of an earlier workspace are dropped
        self._queue: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._asked = 0  # results that are still to come
        self._called = False  # one call of the main thread serves all that wait for it
        self._gathering = False  # a turn will come soon, if not at once
        self._waiting.connect(self._take_turn, Qt.ConnectionType.QueuedConnection)
        self._gathers.connect(self._begin_gathering, Qt.ConnectionType.QueuedConnection)
        # A signal would be served before anything is drawn; a timer is not.
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._take_turn)

    def attach(self, bus: Bus, way: RightOfWay | None = None) -> None:
        """Listen to `bus` from now on, and to no other; while the main thread is busy with it, `way` is held."""
        self.detach()
        self._way = way or RightOfWay()
        current = self._round
        self._leave = bus.subscribe(
            lambda event: self._cross(lambda: self._deliver(current, event), at_once=not isinstance(event, CheckChanged | FindingSaved))
        )

    def detach(self) -> None:
        """Stop listening; results that are still under way are dropped."""
        self._round += 1
        if self._leave is not None:
            self._leave()
            self._leave = None

    def when_done(self, future: Future[T], done: Callable[[T], None],
                  failed: Callable[[UserFacing], None] | None = None) -> None:  # fmt: skip
        """Call `done(result)` on the main thread when `future` has ended well, else `failed` (default: a band).

        A result is dropped when the window has closed, the future was cancelled, or a dialog or other object of Qt that
        `done` holds was deleted meanwhile; a trouble is then told in a band. Our own faults are raised here.
        """
        current = self._round
        with self._lock:
            self._asked += 1
        future.add_done_callback(lambda ended: self._cross(lambda: self._hand_over(current, ended, done, failed)))

    @property
    def is_at_rest(self) -> bool:
        """Whether all results that were asked for have come, and no event waits for its turn."""
        with self._lock:
            return self._asked == 0 and not self._queue

    def _cross(self, work: Callable[[], None], *, at_once: bool = True) -> None:
        """From any thread: have `work` done on the main thread."""
        self._queue.append(work)
        with self._lock:
            comes = self._called or (self._gathering and not at_once)
            if at_once:
                self._called = True
            else:
                self._gathering = True
        if not comes:
            (self._waiting if at_once else self._gathers).emit()

    def _begin_gathering(self) -> None:
        if not self._next.isActive():
            self._next.start(GATHER_MS)

    def _take_turn(self) -> None:
        """Do what waits, for a few milliseconds. Any of it may open a loop of its own, in which the next turn comes."""
        with self._lock:
            self._called = self._gathering = False
        self._next.stop()
        until = time.perf_counter() + TURN_S
        with self._way.held():
            while self._queue and time.perf_counter() < until:
                work = self._queue.popleft()
                if self._queue and not self._next.isActive():
                    self._next.start(0)  # first of all: `work` may not come back for long, or not at all
                work()
        if self._queue and not self._next.isActive():
            self._next.start(0)

    def _deliver(self, current: int, event: Event) -> None:
        if current == self._round:
            self.arrived.emit(event)

    def _hand_over(
        self, current: int, ended: Future[T], done: Callable[[T], None], failed: Callable[[UserFacing], None] | None
    ) -> None:
        with self._lock:
            self._asked -= 1
        if current != self._round:
            return
        try:
            value = ended.result()
        except CancelledError:
            return
        except UserFacing as trouble:
            if failed is None or _holds_deleted(failed):
                self.troubled.emit(trouble)
            else:
                failed(trouble)
            return
        if not _holds_deleted(done):
            done(value)


def _holds_deleted(call: object) -> bool:
    """Whether a function is bound to, or closes over, an object of Qt that is gone."""
    if isinstance(call, partial):
        return _holds_deleted(call.func) or any(map(_is_deleted, call.args))
    return _is_deleted(getattr(call, "__self__", None)) or any(map(_is_deleted, _closed_over(call)))


def _closed_over(call: object) -> Iterator[object]:
    for cell in getattr(call, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # a name that has no value yet
            yield cell.cell_contents


def _is_deleted(held: object) -> bool:
    return isinstance(held, QObject) and not isValid(held)
