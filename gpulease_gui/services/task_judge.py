"""What do the checks say of a task that ran, and what is kept of it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import CheckState, Finding, Reason, Verdict
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import TaskSpec
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.events import Bus, CheckChanged, FindingSaved
from gpulease_gui.services.fleet import fleet_of
from gpulease_gui.services.identity_pin import history_of, machine_from, same_task_before
from gpulease_gui.services.joined import joined_in
from gpulease_gui.services.judging import Judging, RuleFault, evidence_of
from gpulease_gui.services.outcome import kept_promises
from gpulease_gui.store import claims, runs
from gpulease_gui.store.evidence import collected
from gpulease_gui.store.records import EvidenceBlob, Run, RunEvidence
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from sqlite_utils import Database


class TaskJudge:
    """The evidence and the findings of one run of a task; each finding is saved before it is told."""

    def __init__(self, workspace: Workspace, bus: Bus, node: Node, run: Run, checks: Sequence[str], promise: Promise) -> None:
        self._workspace, self._bus, self._node, self._run = workspace, bus, node, run
        self._checks = checks
        self.promise = promise
        self.evidence: dict[str, Evidence] = {}
        self.lines: dict[str, tuple[RunEvidence, tuple[EvidenceBlob, ...]]] = {}
        self.findings: list[Finding] = []
        self.states: dict[str, str] = {}

    def take(self, fact_id: str, command: str, output: CommandOutput, found: Evidence | None = None) -> str:
        """Keep an output, read by its fact where it is not read already (`found`); its hash."""
        line, blobs = collected(self._run.id, fact_id, command, output, utc_now())
        self.lines[fact_id] = (line, blobs)
        if found is not None:
            self.evidence[fact_id] = replace(found, sha256=line.stdout_sha256)
        elif fact_id in readers():
            self.evidence[fact_id] = evidence_of(fact_id, output, line.stdout_sha256)
        return line.stdout_sha256

    def recall(self, at: datetime, host_key: HostKey | None, spec: TaskSpec) -> None:
        """What earlier runs, those of this task too, and other nodes say counts beside this one."""
        with self._workspace.read() as connection:
            before = same_task_before(connection, self._node, spec, at)
            fleet = fleet_of(connection, self._node, at)
            history = history_of(connection, self._node, at, host_key, machine_from(self.evidence))
        self.promise = replace(self.promise, history=replace(history, fleet=fleet, same_task=before))

    def judge(self, missing: Reason = Reason.NOT_COLLECTED, said: Text = NO_TEXT) -> None:
        """All checks of the task; `missing` says why an output did not come, `said` more of it. A rule of ours that breaks is an error of its check."""
        judging = Judging([rules()[id_] for id_ in self._checks], self.promise)
        judging.evidence.update(self.evidence)
        for fact_id in {id_ for check in self._checks for id_ in rules()[check].check.facts}:
            judging.give_up(fact_id, missing, said)
        for rule in judging.rest():
            state, detail = CheckState.DONE, ""
            try:
                for finding in judging.findings(rule):
                    self._save(finding)
            except RuleFault as fault:
                state, detail = CheckState.ERROR, str(fault)
                self.states[rule.check.id] = str(state)
            self._bus.publish(CheckChanged(self._run.id, rule.check.id, state, detail))

    def _save(self, finding: Finding) -> None:
        used = [pair for pair in self.lines.values() if pair[0].stdout_sha256 in finding.evidence]
        lines, blobs = [line for line, _ in used], [blob for _, own in used for blob in own]
        run_id, contract, now = self._run.id, self._run.contract_id, utc_now()

        def work(db: Database) -> None:
            runs.save_finding(db, run_id, finding, blobs, lines, saved_at=now)
            if contract is not None and finding.verdict is Verdict.FAIL:
                claims.apply_finding(db, contract, self._node.id, finding, at=now)

        self._workspace.submit(work).result()
        self.findings.append(finding)
        self._bus.publish(FindingSaved(run_id, self._node.id, finding))

    def proven(self) -> tuple[Finding, ...]:
        """The promises that this run proves; nothing that the whole run it joins speaks against."""
        base = self._run.original_id
        if base is None or base == self._run.id:
            return kept_promises(self.findings)
        with self._workspace.read() as connection:
            known = joined_in(connection, base).findings
        asked = {finding.term for finding in self.findings}
        return tuple(finding for finding in kept_promises(known) if finding.term in asked)
