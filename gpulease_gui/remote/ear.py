"""How do the lines of two hundred nodes come in without two hundred threads that wake for each of them?

The library has a thread a connection. While nothing but lines comes, it sleeps, and one thread listens to all sockets; what
is for the library is handed to its thread. Where the system has no epoll each thread listens for itself.
"""

from __future__ import annotations

import math
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

if sys.platform == "linux":
    _Poll: TypeAlias = select.epoll
else:
    _Poll: TypeAlias = Any

_PATIENCE_S = 0.5  # how long the thread stays when nobody is left
_AT_ONCE = 256
# Where lines come so soon after one another, a short rest lets one wake-up serve several of them.
_OFTEN_S, _REST_S = 0.002, 0.001


class Parked(Protocol):
    """A connection that is listened to for its thread."""

    def hear(self) -> bool:
        """Take what came, without waiting; False when its own thread is to go on. Does nothing if it went on already."""

    def go_on(self) -> None:
        """Let its own thread go on, whatever came."""


class Ear:
    """Listens while anyone is parked; one for all connections of a program."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, rest: Callable[[float], None] = time.sleep) -> None:
        self._clock, self._rest = clock, rest
        self._lock = threading.Lock()
        self._parked: dict[int, Parked] = {}
        self._poll: _Poll | None = None

    @property
    def works(self) -> bool:
        """Whether this system has what it takes."""
        return sys.platform == "linux"

    def park(self, number: int, one: Parked) -> None:
        """From now on listen to the socket with this file number. Raises OSError."""
        if sys.platform != "linux":
            raise OSError("this system has no epoll")
        with self._lock:
            if self._poll is None:
                poll = select.epoll()
                threading.Thread(target=self._listen, args=(poll,), name="gpulease-ear", daemon=True).start()
                self._poll = poll
            known = self._parked.pop(number, None)
            if known is not None and known is not one:
                known.go_on()  # its socket was closed, and the system gave the number away again
            try:
                self._poll.register(number, select.EPOLLIN)
            except FileExistsError:
                self._poll.modify(number, select.EPOLLIN)
            self._parked[number] = one

    def leave(self, number: int, one: Parked) -> None:
        """Don't listen to it any more."""
        with self._lock:
            if self._parked.get(number) is one:
                del self._parked[number]
                self._forget(number)

    def _forget(self, number: int) -> None:
        try:
            if self._poll is not None:
                self._poll.unregister(number)
        except (OSError, ValueError):
            return  # it was closed, and with that forgotten

    def _listen(self, poll: _Poll) -> None:
        try:
            woken_s = -math.inf
            while not self._idle(poll):
                for number, _ in poll.poll(_PATIENCE_S, _AT_ONCE):
                    one = self._parked.get(number)
                    if one is not None and not one.hear():
                        self.leave(number, one)
                        one.go_on()
                before_s, woken_s = woken_s, self._clock()
                if woken_s - before_s < _OFTEN_S:
                    self._rest(_REST_S)
        finally:
            self._stop(poll)

    def _idle(self, poll: _Poll) -> bool:
        with self._lock:
            if not self._parked and self._poll is poll:
                self._poll = None
            return self._poll is not poll

    def _stop(self, poll: _Poll) -> None:
        """If listening failed everyone goes on alone."""
        with self._lock:
            left = list(self._parked.values()) if self._poll is poll else []
            if self._poll is poll:
                self._poll = None
                self._parked.clear()
        poll.close()
        for one in left:
            one.go_on()
