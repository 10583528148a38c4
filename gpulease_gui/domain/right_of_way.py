"""Does the window have something to do just now, so that other work lets it go first?"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

# Longer than a turn of the window should last. What is held longer is held by mistake, or by a turn that is slow anyway.
MOST_S = 0.03


class RightOfWay:
    """Python runs one thread at a time: while the window is at work, pieces of work that can wait a moment do.

    `held` is for the main thread. `wait` is for all others: between two pieces of their work, with no lock in hand that
    the window needs. It lasts `MOST_S` seconds at most, whatever happens.
    """

    __slots__ = ("_clear", "_depth", "_since")

    def __init__(self) -> None:
        self._clear = threading.Event()
        self._clear.set()
        self._depth, self._since = 0, 0.0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """The window is at work for as long as the block lasts; blocks may lie within each other."""
        self._depth += 1
        if self._depth == 1:
            self._since = time.monotonic()
            self._clear.clear()
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._clear.set()

    def wait(self) -> None:
        """Come back when the window is at rest, or has been at work for long."""
        if self._clear.is_set() or threading.current_thread() is threading.main_thread():
            return
        left = self._since + MOST_S - time.monotonic()
        if left > 0:
            self._clear.wait(left)
