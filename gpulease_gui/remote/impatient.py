"""How long is a node waited for once nobody wants its answer any more?"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.remote.transport import Channel, Line

# Who cancels waits no longer than that to see it. A node that is well answers sooner; the commands of one that stalls end when
# it sees that the connection did.
CANCEL_S = 0.4


@contextlib.contextmanager
def impatient(line: Line, cancel: CancelToken) -> Iterator[None]:
    """A block in which a command is opened and handed its input: nothing of it runs yet that has to be ended with care.

    A moment after `cancel` the line is closed, which ends the block's calls with LineLost. Commands that run beside it on
    the same line end with it: a node that takes longer than that to answer is not one to keep a line to.
    """
    timer = threading.Timer(CANCEL_S, line.close)
    timer.daemon = True
    forget = cancel.on_cancel(timer.start)
    try:
        yield
    finally:
        forget()
        timer.cancel()


class Ending:
    """The end of a command that runs: a cancel ends its input at once, whoever reads, and who cancels waits for nothing."""

    def __init__(self, channel: Channel, cancel: CancelToken) -> None:
        self._channel, self._cancel = channel, cancel
        self._cancelled_at: float | None = None
        self._forget: Callable[[], None] = lambda: None

    def watch(self) -> None:
        """From now on, until `over`."""
        self._forget = self._cancel.on_cancel(self._end)

    def over(self) -> None:
        """There is nothing left to end; any number of times."""
        self._forget()

    def _end(self) -> None:
        """In a thread of its own: what is sent to a node that stalls may wait."""
        self._cancelled_at = time.monotonic()
        threading.Thread(target=self._channel.end_input, name="gpulease-ending", daemon=True).start()

    def seconds(self, patience_s: float) -> float:
        """How long the far side is still waited for: `patience_s`, after a cancel what is left of a moment."""
        if not self._cancel.cancelled:
            return patience_s
        since_s = 0.0 if self._cancelled_at is None else time.monotonic() - self._cancelled_at
        return max(0.0, CANCEL_S - since_s)
