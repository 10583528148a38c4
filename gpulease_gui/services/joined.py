"""What is known of a node when some checks were asked again after a whole run?

A run of some checks is a run of its own with its own evidence and verdict. It joins the newest whole run: its answers
stand at the place of the older ones, marked with when they came. The verdict of the whole run is never rewritten, and
only a whole run accepts a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpulease_gui.domain.finding import Finding, Verdict, overall, worst
from gpulease_gui.store import runs
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Run, RunState

_LOUD = frozenset([Verdict.FAIL, Verdict.WARN])
_SILENT = frozenset([Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE])


@dataclass(frozen=True, slots=True)
class Rerun:
    """A check that was asked again: in which run, what it said before, and whether the new answer stands.

    A fail or a warning stays until something is judged again: a check that could not be read clears nobody.
    """

    run: Run
    before: tuple[Finding, ...]
    now: tuple[Finding, ...]

    @property
    def stands(self) -> bool:
        """Whether the newer findings take the place of the older ones."""
        was, came = worst(f.verdict for f in self.before), worst(f.verdict for f in self.now)
        return bool(self.now) and not (was in _LOUD and came in _SILENT)


@dataclass(frozen=True, slots=True)
class Joined:
    """A whole run with the checks that were asked again since (by check id, the newest of each)."""

    findings: tuple[Finding, ...]
    reruns: Mapping[str, Rerun] = field(default_factory=dict)

    @property
    def overall(self) -> Verdict:
        """The verdict by what is known now; the run keeps its own."""
        return overall(self.findings)


def join(findings: Iterable[Finding], parts: Iterable[tuple[Run, Iterable[Finding]]]) -> Joined:
    """The findings of a whole run with those of its parts (oldest first) at their places; new checks come last."""
    by_check = _by_check(findings)
    reruns: dict[str, Rerun] = {}
    for run, later in parts:
        for check, now in _by_check(later).items():
            rerun = Rerun(run, tuple(by_check.get(check, ())), tuple(now))
            reruns[check] = rerun
            if rerun.stands:
                by_check[check] = now
    return Joined(tuple(finding for found in by_check.values() for finding in found), reruns)


def _by_check(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.check, []).append(finding)
    return found


def joined_in(connection: Reader, run_id: str) -> Joined:
    """A stored whole run with its parts. A part that is still running or was broken off counts with what it saved."""
    parts = ((run, _current(connection, run.id)) for run in runs.list_parts(connection, run_id))
    return join(_current(connection, run_id), parts)


def run_to_join(connection: Reader, node_id: str) -> Run | None:
    """The newest whole run of a node that ended by itself."""
    made = runs.list_runs(connection, node_id=node_id)
    return next((run for run in made if run.state is RunState.FINISHED), None)


def _current(connection: Reader, run_id: str) -> tuple[Finding, ...]:
    return tuple(stored.finding for stored in runs.list_current_findings(connection, run_id))
