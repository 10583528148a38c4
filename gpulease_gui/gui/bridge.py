"""How do events and results of worker threads reach the main thread?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.services.events import Bus, Event

T = TypeVar("T")


class Bridge(QObject):
    """The one adapter between the services' bus and Qt; everything it emits and calls is on the main thread.

    `arrived` carries each event of the bus. `troubled` carries a UserFacing that nobody else took.
    """

    arrived = Signal(object)
    troubled = Signal(object)
    _crossed = Signal(object)
    _finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._leave: Callable[[], None] | None = None
        self._round = 0  # results and events of an earlier workspace are dropped
        self._crossed.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._finished.connect(self._hand_over, Qt.ConnectionType.QueuedConnection)

    def attach(self, bus: Bus) -> None:
        """Listen to `bus` from now on, and to no other."""
        self.detach()
        current = self._round
        self._leave = bus.subscribe(lambda event: self._crossed.emit((current, event)))

    def detach(self) -> None:
        """Stop listening; results that are still under way are dropped."""
        self._round += 1
        if self._leave is not None:
            self._leave()
            self._leave = None

    def when_done(self, future: Future[T], done: Callable[[T], None],
                  failed: Callable[[UserFacing], None] | None = None) -> None:  # fmt: skip
        """Call `done(result)` on the main thread when `future` has ended well, else `failed` (default: a band).

        A result is dropped when the window has closed or the future was cancelled. Our own faults are raised here.
        """
        current = self._round
        future.add_done_callback(lambda ended: self._finished.emit((current, ended, done, failed)))

    def _deliver(self, crossed: tuple[int, Event]) -> None:
        current, event = crossed
        if current == self._round:
            self.arrived.emit(event)

    def _hand_over(self, result: tuple[int, Future[Any], Callable[[Any], None], Callable[[UserFacing], None] | None]) -> None:
        current, ended, done, failed = result
        if current != self._round:
            return
        try:
            value = ended.result()
        except CancelledError:
            return
        except UserFacing as trouble:
            if failed is None:
                self.troubled.emit(trouble)
            else:
                failed(trouble)
            return
        done(value)
