"""Which runs are under way or ended since the page was built, and what did their events tell?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpulease_gui.gui.pages.verification_state import LiveRun
from gpulease_gui.services.events import CheckChanged, FindingSaved, RunEnded, RunStarted
from gpulease_gui.services.run_view import RunFindings, key_of
from gpulease_gui.store.records import Run, RunState

# Ended runs whose events are still known; older ones are read from the store, so that a fleet does not fill the memory.
KEPT_RUNS = 8


class UnderWay:
    """Runs by id as their events tell them; those of some checks apart, with the whole run that they join."""

    def __init__(self) -> None:
        self._whole: dict[str, LiveRun] = {}
        self._parts: dict[str, tuple[str, LiveRun]] = {}

    def started(self, event: RunStarted) -> str:
        """The run that shows it: its own, or the whole one that it joins."""
        live = LiveRun(event.run_id, event.node_id, event.checks)
        if event.joins is None:
            self._whole[event.run_id] = live
            return event.run_id
        self._parts[event.run_id] = (event.joins, live)
        return event.joins

    def progressed(self, event: CheckChanged | FindingSaved) -> None:
        """Take in what a whole run found; a part is read from the store when it has ended."""
        live = self._whole.get(event.run_id)
        if live is None:
            return
        if isinstance(event, FindingSaved):
            live.findings[key_of(event.finding)] = event.finding
        else:
            live.states[event.check] = event.state
            live.details[event.check] = event.detail

    def ended(self, event: RunEnded) -> None:
        """The run is over."""
        self._parts.pop(event.run_id, None)
        self.broke_off(event.run_id)

    def broke_off(self, run_id: str) -> None:
        """Nobody works on it any more."""
        if run_id in self._whole:
            self._whole[run_id].is_over = True
        over = [id_ for id_, live in self._whole.items() if live.is_over and id_ != run_id]
        for id_ in over[:-KEPT_RUNS]:
            del self._whole[id_]

    def shown(self, stored: RunFindings | None, checks: Iterable[str]) -> LiveRun | None:
        """What events told of a stored run; one that is running and was never heard of is taken as asking `checks`."""
        if stored is None:
            return None
        run = stored.run
        if run.state is RunState.RUNNING and run.id not in self._whole:
            self._whole[run.id] = LiveRun(run.id, run.node_id, checks)
        return self._whole.get(run.id)

    def asked_again(self, run_id: str | None) -> frozenset[str]:
        """The checks of a whole run that a part under way asks once more."""
        return frozenset(check for joins, live in self._parts.values() if joins == run_id for check in live.checks)


def broken_off(stored: RunFindings) -> RunFindings:
    """A run that nobody works on any more was broken off, whatever the store says."""
    run: Run = replace(stored.run, state=RunState.INTERRUPTED)
    return replace(stored, run=run)
