"""What does an exit code of `gpulease` mean?"""

from __future__ import annotations

from enum import IntEnum

from gpulease_gui.domain.finding import Verdict


class Exit(IntEnum):
    """The exit codes; scripts rely on them."""

    OK = 0
    FAIL = 1
    INCONCLUSIVE = 2
    NOT_CONNECTED = 3
    USAGE = 64
    OUR_FAULT = 70
    INTERRUPTED = 130


def of_verdict(verdict: Verdict) -> Exit:
    """The exit code of a run with this overall verdict."""
    if verdict is Verdict.FAIL:
        return Exit.FAIL
    return Exit.INCONCLUSIVE if verdict is Verdict.INCONCLUSIVE else Exit.OK
