"""What is known of the run in sight, be it stored or under way?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import VERDICT_WORDS, CheckState, Finding, Value, Verdict, overall
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.services.joined import Rerun
from gpulease_gui.services.run_view import (
    CheckInfo,
    Key,
    NodeRuns,
    RunFindings,
    check_infos,
    differs,
    key_of,
    node_runs,
    run_findings,
)
from gpulease_gui.store.imported import ImportedFrom
from gpulease_gui.store.records import Run, RunState

if TYPE_CHECKING:
    import sqlite3

_UNDER_WAY = (CheckState.PLANNED, CheckState.RUNNING)


class LiveRun:
    """A run as its events tell it, on top of what the store had when it was first looked at."""

    def __init__(self, run_id: str, node_id: str, checks: Iterable[str]) -> None:
        self.id, self.node_id, self.checks = run_id, node_id, tuple(checks)
        self.findings: dict[Key, Finding] = {}
        self.states: dict[str, CheckState] = {}
        self.details: dict[str, str] = {}
        self.is_over = False

    def merge(self, stored: Iterable[Finding]) -> None:
        """Add what was saved before anyone listened; what events told since is newer."""
        for finding in stored:
            self.findings.setdefault(key_of(finding), finding)

    @property
    def done(self) -> int:
        """How many of the planned checks are over."""
        over = {check for check, state in self.states.items() if state is not CheckState.RUNNING}
        return len((over | {finding.check for finding in self.findings.values()}) & set(self.checks))

    @property
    def running(self) -> str:
        """The check that loads the node now; empty while all passive ones run together."""
        return next((check for check, state in self.states.items() if state is CheckState.RUNNING), "")

    def state(self, check: str) -> CheckState:
        """What became of a planned check that has no finding."""
        known = self.states.get(check, CheckState.PLANNED)
        return CheckState.CANCELLED if self.is_over and known in _UNDER_WAY else known


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A line of the table: a finding, or a planned check that has none (yet)."""

    info: CheckInfo
    finding: Finding | None = None
    state: CheckState = CheckState.PLANNED
    changed: bool = False
    promised: Value = None
    rerun: Rerun | None = None
    is_rerunning: bool = False

    @property
    def key(self) -> Key:
        """What tells the line from others."""
        return key_of(self.finding) if self.finding else (self.info.id, None, "")

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of its finding."""
        return self.finding.verdict if self.finding else None

    @property
    def has_promise(self) -> bool:
        """Whether something was promised that it speaks of."""
        return (self.finding.promised if self.finding else self.promised) is not None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that the page draws of one run at one moment."""

    rows: tuple[FindingRow, ...] = ()
    run: Run | None = None
    number: int = 0
    live: LiveRun | None = None
    before: Mapping[Key, Finding] = field(default_factory=dict)
    reruns: Mapping[str, Rerun] = field(default_factory=dict)
    imported: ImportedFrom | None = None
    altered: Text | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of the run."""
        return tuple(row.finding for row in self.rows if row.finding is not None)

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self.live is not None and not self.live.is_over

    @property
    def impact(self) -> Impact:
        """The load that is on the node now."""
        if self.live is None or not self.is_running or not self.live.running:
            return Impact.PASSIVE
        return next((row.info.impact for row in self.rows if row.info.id == self.live.running), Impact.ACTIVE)

    @property
    def state_words(self) -> Text | None:
        """Why this run is not a whole one, not ours, or not what was kept; None for one that was measured here and ran to its end."""
        told = [self.altered, self.imported.words if self.imported else None, self._end_words()]
        said = [one for one in told if one is not None]
        return Text("; ".join(one.en for one in said), "；".join(one.zh for one in said)) if said else None

    def _end_words(self) -> Text | None:
        if self.run is None or self.run.state in (RunState.FINISHED, RunState.RUNNING):
            return self._joined_words()
        if self.run.state is RunState.INTERRUPTED:
            return Text("interrupted: the program ended before the run did", "已中断：程序在验收结束前退出")
        return Text("cancelled: what was found before is kept", "已取消：此前的结果已保留")

    def _joined_words(self) -> Text | None:
        """What the checks that were asked again make of it; the run keeps its own verdict."""
        if self.run is not None and self.run.is_part:
            return Text("some checks only: accepts no node", "仅部分检查，不构成验收")
        if not self.reruns:
            return None
        word, count = VERDICT_WORDS[overall(self.findings)], len(self.reruns)
        checks = "1 check" if count == 1 else f"{count} checks"
        return Text(
            f"with {checks} asked again: {word.en.lower()}. Only a whole run accepts the node.",
            f"计入 {count} 项重测后：{word.zh}。只有完整验收才构成通过。",
        )


def rows_of(infos: Mapping[str, CheckInfo], findings: Iterable[Finding], live: LiveRun | None,
            before: Mapping[Key, Finding], terms: Mapping[str, TermValue], *, whole: bool = True) -> tuple[FindingRow, ...]:  # fmt: skip
    """Findings in the order of groups and checks; checks without one stand at their place.

    A read-only check that a whole run did not ask is shown as not run: never as passed.
    """
    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    rows: list[FindingRow] = []
    for id_, info in infos.items():
        found = by_check.get(id_, [])
        rows += [FindingRow(info, f, CheckState.DONE, differs(before.get(key_of(f)), f)) for f in found]
        planned = live is not None and id_ in live.checks
        if not found and (planned or whole and info.impact is Impact.PASSIVE):
            state = live.state(id_) if live is not None and planned else CheckState.NOT_RUN
            rows.append(FindingRow(info, None, state, promised=promised_for(info, terms)))
    return tuple(rows)


def promised_for(info: CheckInfo, terms: Mapping[str, TermValue]) -> Value:
    """The first promise that a check will look at."""
    return next((terms[term] for term in info.terms if term in terms), None)


def planned_rows(infos: Mapping[str, CheckInfo], terms: Mapping[str, TermValue]) -> tuple[FindingRow, ...]:
    """What a first run will ask, beside what was promised."""
    passive = (info for info in infos.values() if info.impact is Impact.PASSIVE)
    return tuple(FindingRow(info, None, CheckState.NOT_RUN, promised=promised_for(info, terms)) for info in passive)


def picture_of(infos: Mapping[str, CheckInfo], stored: RunFindings | None, live: LiveRun | None, number: int,
               terms: Mapping[str, TermValue], asked_again: Collection[str] = ()) -> Picture:  # fmt: skip
    """The picture of a stored run with what its events added; without a run that of the plan.

    `asked_again`: the checks that a run under way asks once more.
    """
    if stored is None:
        return Picture(planned_rows(infos, terms))
    if live is not None:
        live.merge(stored.findings)
    # A check that was asked again is in the store, not in what the whole run told while it was under way.
    findings = live.findings.values() if live is not None and not stored.reruns else stored.findings
    rows = rows_of(infos, findings, live, stored.before, dict(stored.run.terms), whole=not stored.run.is_part)
    marked = tuple(
        replace(row, rerun=stored.reruns.get(row.info.id), is_rerunning=row.info.id in asked_again)
        if row.info.id in stored.reruns or row.info.id in asked_again else row
        for row in rows
    )  # fmt: skip
    return Picture(marked, stored.run, number, live, stored.before, stored.reruns, stored.imported, stored.altered)


def named(picture: Picture, models: Mapping[str, GpuModel]) -> Picture:
    """Promised products by their names, as findings have them."""
    rows = (
        replace(row, promised=models[str(row.promised)].name) if str(row.promised) in models else row for row in picture.rows
    )
    return replace(picture, rows=tuple(rows))


Loaded = tuple[NodeRuns | None, RunFindings | None, Mapping[str, CheckInfo]]


def load(connection: sqlite3.Connection, node_id: str | None, run_id: str | None) -> Loaded:
    """A node with one of its runs (the newest if none is named) and the checks; read on a worker."""
    node = node_runs(connection, node_id)
    if node is None:
        return None, None, {}
    wanted = run_id if run_id and node.run(run_id) else node.newest.id if node.newest else None
    return node, run_findings(connection, wanted) if wanted else None, check_infos()
