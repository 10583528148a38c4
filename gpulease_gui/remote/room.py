"""Who opens the next session of a connection?"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class _Waiting:
    """One who waits, by thread; `has_place` is said before `told`."""

    who: int = field(default_factory=threading.get_ident)
    told: threading.Event = field(default_factory=threading.Event)
    has_place: bool = False


class Room:
    """Places for sessions, given away in the order in which they were asked for. Any thread.

    There are as many as we want at once, and fewer as soon as a node is known to give fewer. A thread that has all of them
    itself waits for nobody.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._inside: list[int] = []
        self._waiting: deque[_Waiting] = deque()
        self._closed = False

    def enter(self, seconds: float) -> bool:
        """Wait for a place, at most `seconds`; False without one, and as soon as the room is closed."""
        one = _Waiting()
        with self._lock:
            if not self._waiting and not self._closed and len(self._inside) < self.most:
                self._inside.append(one.who)
                return True
            if self._has_all(one.who):
                return False
            self._waiting.append(one)
            self._admit()
        return self._wait(one, seconds)

    def leave(self, who: int | None = None) -> None:
        """Give a place back that the thread `who` got, None = this one."""
        with self._lock:
            self._inside.remove(threading.get_ident() if who is None else who)
            self._admit()

    def again(self, most: int, seconds: float) -> bool:
        """Who has a place, but got no session for it, waits as the first of all for one that is given back.

        `most`: as many sessions as the node has given. As `enter`; without a place it has the old one, to be given back.
        """
        one = _Waiting()
        with self._lock:
            self.most = max(1, min(self.most, most))
            self._inside.remove(one.who)
            if self._has_all(one.who):
                self._inside.append(one.who)
                return False
            self._waiting.appendleft(one)
            self._admit()
        if self._wait(one, seconds):
            return True
        with self._lock:
            self._inside.append(one.who)
        return False

    def close(self) -> None:
        """Nobody is let in any more, and nobody waits."""
        with self._lock:
            self._closed = True
            while self._waiting:
                self._waiting.popleft().told.set()

    def _wait(self, one: _Waiting, seconds: float) -> bool:
        one.told.wait(seconds)
        with self._lock:
            if one in self._waiting:
                self._waiting.remove(one)
            return one.has_place

    def _has_all(self, who: int) -> bool:
        """Whether all places are with one who would wait for himself."""
        return len(self._inside) >= self.most and set(self._inside) == {who}

    def _admit(self) -> None:
        """The first of those who wait get what there is."""
        while self._waiting and (self._closed or len(self._inside) < self.most):
            one = self._waiting.popleft()
            one.has_place = not self._closed
            self._inside += [one.who] if one.has_place else []
            one.told.set()
