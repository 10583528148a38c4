"""What ends the wait for a node that does not even begin what it was asked, once nobody wants it any more?"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.remote.transport import Line

# A node that is well answers sooner, from wherever it is.
_PATIENCE_S = 1.0


@contextlib.contextmanager
def impatient(line: Line, cancel: CancelToken) -> Iterator[None]:
    """A block in which a command is opened and handed its input: nothing of it runs yet that has to be ended with care.

    A second after `cancel` the line is closed, which ends the block's calls with LineLost. Commands that run beside it on
    the same line end with it: a node that takes longer than that to answer is not one to keep a line to.
    """
    timer = threading.Timer(_PATIENCE_S, line.close)
    timer.daemon = True
    forget = cancel.on_cancel(timer.start)
    try:
        yield
    finally:
        forget()
        timer.cancel()
