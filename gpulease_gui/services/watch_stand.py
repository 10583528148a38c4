"""Does another program change what watched nodes are judged by?"""

from __future__ import annotations

from collections.abc import Callable

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.store.rules_stand import Stand, rules_stand
from gpulease_gui.store.workspace import Workspace

# What others change counts after so long.
STAND_S = 10.0


class Standing:
    """What stands in the store, looked up once in a while for all watches of a program. Any thread."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float]) -> None:
        self._workspace, self._clock = workspace, clock
        self._looked_s = 0.0
        self._stand: Stand | None = None

    def changed(self) -> bool:
        """Whether anything differs since it was looked last, which is not done more often than every STAND_S."""
        now_s, before = self._clock(), self._stand
        if 0 <= now_s - self._looked_s < STAND_S:
            return False
        self._looked_s = now_s
        try:
            with self._workspace.read() as connection:
                self._stand = rules_stand(connection)
        except UserFacing:
            return False  # the store says so itself when the next readings are written
        return before is not None and self._stand != before
