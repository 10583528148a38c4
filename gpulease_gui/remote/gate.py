"""How many handshakes may one host:port get at once?"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gpulease_gui.domain.cancel import CancelToken

AT_ONCE = 4
_SLICE_S = 0.1


class HandshakeGate:
    """Lets `at_once` handshakes per host:port through; owned by the composition, shared by all connects."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._room = threading.Condition()
        self._inside: dict[str, int] = {}

    @contextmanager
    def hold(self, host_port: str, seconds: float, cancel: CancelToken) -> Iterator[None]:
        """Wait for a place, at most `seconds`. Raises Cancelled, TimeoutError."""
        self._enter(host_port, time.monotonic() + seconds, cancel)
        try:
            yield
        finally:
            self._leave(host_port)

    def _enter(self, host_port: str, deadline: float, cancel: CancelToken) -> None:
        with self._room:
            while self._inside.get(host_port, 0) >= self._at_once:
                cancel.check()
                if time.monotonic() >= deadline:
                    raise TimeoutError
                self._room.wait(_SLICE_S)
            self._inside[host_port] = self._inside.get(host_port, 0) + 1

    def _leave(self, host_port: str) -> None:
        with self._room:
            self._inside[host_port] -= 1
            if not self._inside[host_port]:
                del self._inside[host_port]
            self._room.notify_all()
