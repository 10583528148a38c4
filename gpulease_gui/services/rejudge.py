"""What do today's rules, or another contract, say of evidence that was stored before?

Nothing is sent to the node. The answer is saved as a run of its own kind, linked to the one whose evidence it read; it
is no news of the node, so acceptance, claims and history keep resting on what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import Rule, rules
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.errors import Unreadable, UsageError, UserFacing
from gpulease_gui.domain.finding import CheckState, Finding, Reason
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import Origin
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.fleet import fleet_of
from gpulease_gui.services.identity_pin import history_of, machine_from, same_task_before
from gpulease_gui.services.judging import Judging, RuleFault, evidence_of
from gpulease_gui.services.outcome import Outcome, current
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store import nodes, runs
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.evidence import get_output, list_run_evidence
from gpulease_gui.store.records import Run, RunEvidence, RunKind, RunState, new_id
from gpulease_gui.store.task_runs import find_task
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable

EVIDENCE_CHANGED = "evidence_changed"


@dataclass(frozen=True, slots=True)
class Against:
    """What to judge against; nothing stated = the terms as they stood when the run began."""

    terms: Mapping[str, TermValue] | None = None
    contract_id: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """A question whose answer is another one now; `before` None = a new question, `after` None = asked no more."""

    before: Finding | None
    after: Finding | None

    @property
    def finding(self) -> Finding:
        """The side that is there, the newer one first."""
        found = self.after or self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The run that was judged again, the answer, and what is different."""

    original: Run
    outcome: Outcome
    changed: tuple[Rejudgement, ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    run: Run
    node: Node
    findings: tuple[Finding, ...]
    evidence: Mapping[str, Evidence]
    promise: Promise


def rejudge(workspace: Workspace, catalogue: Catalogue, run_id: str, against: Against | None = None) -> Rejudged:
    """Judge a stored run again and save the answer; blocks. `run_id` may be the beginning of an id.

    Raises UsageError for an unknown run or one without evidence, UserFacing when the workspace can't be written.
    """
    against = against or Against()
    with workspace.read() as connection:
        stored = _stored(connection, catalogue, run_id, against)
    findings, states = _judged(stored)
    original, started = stored.run, utc_now()
    contract = against.contract_id if against.terms is not None else original.contract_id
    run = Run(
        new_id(), original.node_id, started, contract, tool_version=__version__, host_key=original.host_key,
        demo=original.demo, clock_offset_s=original.clock_offset_s, terms=tuple(stored.promise.terms.items()),
        kind=RunKind.REJUDGED, original_id=original.evidence_run,
    )  # fmt: skip
    cut_short = original.state is not RunState.FINISHED
    outcome = Outcome(
        stored.node.target, run.id, started, original.host_key, against.label or contract, original.demo, findings,
        cut_short, None, states, name=stored.node.name,
    )  # fmt: skip
    workspace.submit(lambda db: _save(db, run, outcome)).result()
    return Rejudged(original, outcome, changed(stored.findings, findings))


def _stored(connection: Reader, catalogue: Catalogue, run_id: str, against: Against) -> _Stored:
    run = runs.find_run(connection, run_id)
    lines = list_run_evidence(connection, run.evidence_run)
    if not lines:
        raise UsageError(
            Text(f"run {run.id[:12]} kept no output", f"验收 {run.id[:12]} 没有留下输出"), Text("nothing was read in it", "其中没有读取到任何内容"),
            Text("verify the node again", "请重新验收该节点"),
        )  # fmt: skip
    node = nodes.get_node(connection, run.node_id)
    # The last output of a fact counts: a rate that was measured again holds both tries.
    evidence = {line.fact_id: _evidence(connection, line) for line in lines if line.fact_id in readers()}
    terms = dict(run.terms) if against.terms is None else against.terms
    asked_at = runs.get_run(connection, run.evidence_run).started_at
    history = history_of(connection, node, asked_at, run.host_key, machine_from(evidence))
    task = find_task(connection, run.evidence_run)
    same_task = same_task_before(connection, node, task.spec, asked_at) if task else ()
    history = replace(history, fleet=fleet_of(connection, node, asked_at), same_task=same_task)
    findings = tuple(stored.finding for stored in runs.list_current_findings(connection, run.id))
    return _Stored(run, node, findings, evidence, Promise(catalogue, terms, history=history, thresholds=effective(connection)))


def _evidence(connection: Reader, line: RunEvidence) -> Evidence:
    try:
        output = get_output(connection, line)
    except UserFacing as trouble:
        words = Unreadable(trouble.what, code=EVIDENCE_CHANGED, next_step=trouble.next_step)
        return Evidence(trouble=words, sha256=line.stdout_sha256)
    return evidence_of(line.fact_id, output, line.stdout_sha256)


def _judged(stored: _Stored) -> tuple[tuple[Finding, ...], dict[str, str]]:
    """What today's rules say, and which checks of that run could not be asked again."""
    asked = {finding.check for finding in stored.findings}
    chosen = [rule for rule in rules().values() if rule.check.id in asked or _can_judge(rule, stored.evidence)]
    judging = Judging(chosen, stored.promise)
    judging.evidence.update(stored.evidence)
    for fact_id in {id_ for rule in chosen for id_ in rule.check.facts}:
        judging.give_up(fact_id, Reason.NOT_COLLECTED)
    states = {check: str(CheckState.NOT_RUN) for check in sorted(asked - set(rules()))}
    findings: list[Finding] = []
    for rule in judging.rest():
        try:
            findings += judging.findings(rule)
        except RuleFault:
            states[rule.check.id] = str(CheckState.ERROR)
    return current(findings), states


def _can_judge(rule: Rule, evidence: Mapping[str, Evidence]) -> bool:
    return all(fact_id in evidence for fact_id in rule.check.facts)


def changed(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[Rejudgement, ...]:
    """The questions whose answer, promise or rule is another one, in the order of the newer findings."""
    old = {_key(finding): finding for finding in before}
    new = {_key(finding): finding for finding in after}
    found = [Rejudgement(old.get(key), finding) for key, finding in new.items() if _differs(old.get(key), finding)]
    return (*found, *(Rejudgement(finding, None) for key, finding in old.items() if key not in new))


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.check, finding.term, finding.direction


def _differs(old: Finding | None, new: Finding) -> bool:
    if old is None:
        return True
    if bool(old.judged_by) and _figures(old) != _figures(new):
        return True
    return (old.verdict, old.promised, old.measured, old.required, old.rule_version) != (
        new.verdict, new.promised, new.measured, new.required, new.rule_version,
    )  # fmt: skip


def _figures(finding: Finding) -> frozenset[tuple[str, str, float]]:
    """What it was held against; a finding of a version before these were kept names none."""
    return frozenset((one.check, one.name, one.value) for one in finding.judged_by if one.origin is not Origin.FLEET)


def _save(db: Database, run: Run, outcome: Outcome) -> None:
    now = utc_now()
    runs.save_run(db, run)
    for finding in outcome.findings:
        runs.save_finding(db, run.id, finding, saved_at=now)
    runs.finish_run(db, run.id, RunState.FINISHED, now, outcome.overall)
