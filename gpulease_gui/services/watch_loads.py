"""Which metrics does a check load just now on a watched node, so that a promised rate may be expected there?"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from gpulease_gui.checks.check import rules
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import CheckState
from gpulease_gui.services.events import CheckChanged, Event, RunEnded, RunStarted


class Loads:
    """Remembers by run which checks that load their node are running."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[str, str] = {}
        self._running: dict[tuple[str, str], frozenset[str]] = {}

    def hear(self, event: Event) -> None:
        """Take an event of the bus."""
        with self._lock:
            if isinstance(event, RunStarted):
                self._nodes[event.run_id] = event.node_id
            elif isinstance(event, CheckChanged):
                self._running.pop((event.run_id, event.check), None)
                rule = rules().get(event.check)
                if event.state is CheckState.RUNNING and rule is not None and rule.check.impact is not Impact.PASSIVE:
                    self._running[event.run_id, event.check] = frozenset(rule.check.terms)
            elif isinstance(event, RunEnded):
                self._nodes.pop(event.run_id, None)
                self._running = {key: terms for key, terms in self._running.items() if key[0] != event.run_id}

    def metrics_of(self, node_id: str, floors: Mapping[str, tuple[str, float]]) -> frozenset[str]:
        """The metrics of `floors` (metric -> term, figure) whose term is measured now."""
        with self._lock:
            terms = {term for (run_id, _), some in self._running.items() if self._nodes.get(run_id) == node_id for term in some}
        return frozenset(metric for metric, (term, _) in floors.items() if term in terms)
