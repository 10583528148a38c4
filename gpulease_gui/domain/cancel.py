"""How is long work told to stop?"""

from __future__ import annotations

import threading
from collections.abc import Callable

from gpulease_gui.domain.calls import Calls
from gpulease_gui.domain.errors import Cancelled


class CancelToken:
    """A one-way switch that any thread may set; work checks it, blocking work is woken by `on_cancel`.

    `calls`: whether the work that may be stopped by it waits for somebody who does not answer.
    """

    __slots__ = ("_callbacks", "_event", "_lock", "calls")

    def __init__(self) -> None:
        self.calls = Calls()
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Set the switch and wake the work once."""
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            self._event.set()
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` at cancel (at once if already cancelled); the answer takes it back."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def check(self) -> None:
        """Raise `Cancelled` if the switch is set."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`; True as soon as cancelled."""
        return self._event.wait(seconds)
