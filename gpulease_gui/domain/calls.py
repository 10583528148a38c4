"""Does a piece of work wait for somebody who does not answer?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

# A command may take so long before it gives an output, and nobody takes its node for one that hangs.
COMMAND_S = 4.0


class Calls:
    """How long the call that a piece of work makes has gone without a word; whoever gives out places for work may look."""

    __slots__ = ("_heard_at",)

    def __init__(self) -> None:
        self._heard_at: float | None = None

    @contextmanager
    def calling(self) -> Iterator[None]:
        """A block that may have to wait for the other end."""
        self._heard_at = time.monotonic()
        try:
            yield
        finally:
            self._heard_at = None

    def heard(self) -> None:
        """The other end, or the line before it, got a step on; nothing where nobody is called. Any thread."""
        if self._heard_at is not None:
            self._heard_at = time.monotonic()

    def nothing_came(self) -> None:
        """What a command gives is waited for; its silence begins to count COMMAND_S after the first such word."""
        if self._heard_at is None:
            self._heard_at = time.monotonic() + COMMAND_S

    def something_came(self) -> None:
        """A command gave something, or ended: now it is at us."""
        self._heard_at = None

    @property
    def silent_s(self) -> float:
        """Seconds without a word; 0 where nobody is waited for."""
        heard_at = self._heard_at
        return 0.0 if heard_at is None else max(0.0, time.monotonic() - heard_at)
