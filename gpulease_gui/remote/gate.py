"""How many handshakes may one host:port get at once?"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gpulease_gui.domain.cancel import CancelToken

AT_ONCE = 4
_SLICE_S = 0.1


@dataclass(slots=True)
class _Door:
    """How many are inside at one host:port, and how many have left since somebody is."""

    inside: int = 0
    left: int = 0


class HandshakeGate:
    """Lets `at_once` handshakes per host:port through; owned by the composition, shared by all connects."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._room = threading.Condition()
        self._doors: dict[str, _Door] = {}

    @contextmanager
    def hold(self, host_port: str, seconds: float, cancel: CancelToken) -> Iterator[None]:
        """Wait for a place, at most `seconds`. Raises Cancelled, TimeoutError.

        Each that leaves before is a word of the host's for those who wait (`cancel.calls`).
        """
        self._enter(host_port, time.monotonic() + seconds, cancel)
        try:
            yield
        finally:
            self._leave(host_port)

    def _enter(self, host_port: str, deadline: float, cancel: CancelToken) -> None:
        left = None
        with self._room:
            while (door := self._doors.setdefault(host_port, _Door())).inside >= self._at_once:
                cancel.check()
                if time.monotonic() >= deadline:
                    raise TimeoutError
                if door.left != left:
                    left = door.left
                    cancel.calls.heard()
                self._room.wait(_SLICE_S)
            door.inside += 1

    def _leave(self, host_port: str) -> None:
        with self._room:
            door = self._doors[host_port]
            door.inside, door.left = door.inside - 1, door.left + 1
            if not door.inside:
                del self._doors[host_port]
            self._room.notify_all()
