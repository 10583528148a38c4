"""Is it a sleep of this computer that a line, or a wait for its node, did not outlast?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.remote.awake import VIGIL, Watch
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.transport import SLEPT, STAY_AWAKE, ComputerSlept, LineLost

# How a call ends through which this computer slept: the far side's patience is over, or ours.
_OF_A_SLEEP = ("timeout", "hung_up", "lost")


def of_a_sleep(error: UserFacing, watch: Watch) -> bool:
    """Whether `error` is what befalls a line over which this computer slept, and it did."""
    lost = isinstance(error, LineLost) or (isinstance(error, ConnectFailed) and error.cause in _OF_A_SLEEP)
    return lost and watch.slept


def computer_slept(failed: ConnectFailed) -> ConnectFailed:
    """What is said of a call that did not outlast a sleep."""
    return ConnectFailed(failed.phase, failed.host_port, "computer_slept", SLEPT, STAY_AWAKE)


@contextlib.contextmanager
def told_of_sleep(name: str) -> Iterator[Watch]:
    """A block of work on the line to `name`. Raises ComputerSlept for what befell that line while this computer slept."""
    with VIGIL.kept() as watch:
        try:
            yield watch
        except (LineLost, ConnectFailed) as error:
            if of_a_sleep(error, watch):
                raise ComputerSlept(name) from error
            raise
