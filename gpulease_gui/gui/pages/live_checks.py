"""Which checks put a load on a watched node, and when?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from gpulease_gui.checks.check import Check, rules
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import CheckState
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.chart_spec import Happening
from gpulease_gui.services.events import CheckChanged, Event, RunEnded, RunStarted

_MOST = 200


@dataclass(frozen=True, slots=True)
class _Stretch:
    """One running or ended check of one run."""

    run_id: str
    check: str
    node_id: str
    happening: Happening


class Checks:
    """Remembers when checks ran, as the bus tells it. Passive checks put no load on and are left out."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._node_of: dict[str, str] = {}
        self._stretches: list[_Stretch] = []

    def hear(self, event: Event) -> None:
        """Take an event of the bus."""
        if isinstance(event, RunStarted):
            self._node_of[event.run_id] = event.node_id
        elif isinstance(event, CheckChanged):
            self._close(event.run_id, event.check)
            check = self._loading(event.check)
            if event.state is CheckState.RUNNING and check is not None and event.run_id in self._node_of:
                self._open(event.run_id, check)
        elif isinstance(event, RunEnded):
            self._close(event.run_id)
            self._node_of.pop(event.run_id, None)

    @staticmethod
    def _loading(id_: str) -> Check | None:
        rule = rules().get(id_)
        return rule.check if rule is not None and rule.check.impact is not Impact.PASSIVE else None

    def _open(self, run_id: str, check: Check) -> None:
        words = Text(f"Check {check.title.en}", f"检查 {check.title.zh}")
        happening = Happening(self._clock(), None, words, "nav-verify", "run", tuple(check.terms))
        self._stretches = self._stretches[-_MOST:] + [_Stretch(run_id, check.id, self._node_of[run_id], happening)]

    def _close(self, run_id: str, check: str | None = None) -> None:
        now_s = self._clock()
        self._stretches = [
            replace(one, happening=replace(one.happening, end_s=now_s))
            if one.run_id == run_id and check in (None, one.check) and one.happening.end_s is None else one
            for one in self._stretches
        ]  # fmt: skip

    def of(self, node_id: str) -> tuple[Happening, ...]:
        """What ran on a node, oldest first."""
        return tuple(one.happening for one in self._stretches if one.node_id == node_id)

    def impact(self, node_id: str) -> Impact:
        """The heaviest load that is on a node now."""
        now = [rules()[one.check].check.impact for one in self._stretches if one.node_id == node_id and one.happening.end_s is None]
        order = (Impact.DISRUPTIVE, Impact.ACTIVE)
        return next((impact for impact in order if impact in now), Impact.PASSIVE)
