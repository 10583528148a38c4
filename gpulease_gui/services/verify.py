"""How is one node verified from connect to verdict, with nothing shown that is not saved?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.profiles import find_profile
from gpulease_gui.checks.check import Rule
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.finding import CheckState, Finding, Verdict
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import HostKey, Node, Reach
from gpulease_gui.domain.right_of_way import RightOfWay
from gpulease_gui.domain.span import Clocks, utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.facts.clock_now import ClockNow
from gpulease_gui.facts.fact import Fact, readers
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.no_output import no_output
from gpulease_gui.remote.own_network import told_of
from gpulease_gui.services.drift import since_accepted
from gpulease_gui.services.events import Bus, CheckChanged, FindingSaved, LoadChanged, RunEnded, RunStarted
from gpulease_gui.services.fleet import fleet_of
from gpulease_gui.services.identity_pin import MARK_FACTS, history_of, machine_from, sightings_of
from gpulease_gui.services.joined import joined_in, run_to_join
from gpulease_gui.services.judging import Judging, RuleFault, evidence_of
from gpulease_gui.services.links import Links, NotConnected, Opened
from gpulease_gui.services.lost_lines import lost_at, must_be_the_node, unmeasured
from gpulease_gui.services.measure import MEASURES, output_text
from gpulease_gui.services.measure_lines import MeasureLines, Task
from gpulease_gui.services.one_machine import MachineTurns
from gpulease_gui.services.outcome import Outcome, Trouble, current, kept_promises
from gpulease_gui.services.peer import Peer
from gpulease_gui.services.plan import PAIR_FACTS, Choice, Level, Plan, make_plan
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store import claims, runs
from gpulease_gui.store.evidence import collected, save_run_evidence
from gpulease_gui.store.records import EvidenceBlob, Run, RunEvidence, RunState, new_id
from gpulease_gui.store.sightings import save_sightings
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from sqlite_utils import Database

CLOCK_FACT = "clock_now"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be verified: the promises, which checks, and the peer of network measurements.

    `urls` are large files that the node may load to measure its line to the internet (http or https, four at most).
    `level`, `profile` (an id), `left_out`, `added` and `sustained` choose the checks as plan.Choice has them.
    """

    terms: Mapping[str, TermValue] = field(default_factory=dict)
    contract_id: str | None = None
    contract_label: str | None = None
    only: tuple[str, ...] = ()
    heavy: bool = False
    seconds: int | None = None
    peer: Node | None = None
    peer_address: str = ""
    urls: tuple[str, ...] = ()
    level: Level | None = None
    profile: str = ""
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    sustained: bool = False

    @property
    def choice(self) -> Choice:
        """Which checks it asks for. Raises UsageError for an unknown profile."""
        return Choice(
            self.only, self.level, find_profile(self.profile), self.left_out, self.added, self.heavy, self.sustained,
            self.peer is not None, bool(self.urls),
        )  # fmt: skip

    @property
    def names_a_plan(self) -> bool:
        """Whether the user chose what is asked, and so is told what is not."""
        return bool(self.level or self.profile or self.left_out or self.heavy) and not self.only


class _Turn:
    """A lock that one thread holds at a time, and takes only when the window is at rest."""

    def __init__(self, way: RightOfWay) -> None:
        self._way, self._lock, self.machines = way, threading.Lock(), MachineTurns()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._way.wait()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Verification:
    """Runs checks on nodes and keeps every finding before it is told."""

    def __init__(self, workspace: Workspace, bus: Bus, catalogue: Catalogue, links: Links) -> None:
        self._workspace = workspace
        self._bus = bus
        self._catalogue = catalogue
        self._links = links
        # The outputs of one node are read at a time: Python runs one thread at once anyway, and thirty-two that want
        # to be it keep the window waiting. The one that may waits until the window has done what it is at.
        self._turn = _Turn(workspace.way)

    def run(
        self, node: Node, request: Request, cancel: CancelToken, on_finding: Callable[[Finding], None] | None = None
    ) -> Outcome:
        """Verify one node; blocks. What was found before a cancel or a lost line is in the answer and saved.

        Raises UsageError for an unknown check, UserFacing when the workspace can't be written.
        """
        with self._turn:
            plan = make_plan(request.choice, promise=Promise(self._catalogue, request.terms, request.seconds))
        started = utc_now()
        try:
            opened = self._links.open(node, cancel)
        except NotConnected as error:
            return self._not_connected(node, request, started, error)
        except Cancelled:
            return _outcome(node, request, started, None, None, (), cancelled=True)
        with opened:
            peer = Peer(request.peer, self._links)
            with self._turn:
                work = _Run(self._workspace, self._bus, self._catalogue, node, request, plan, opened, started, on_finding, peer, self._turn)
            return work.go(self._links, cancel)

    def _not_connected(self, node: Node, request: Request, started: datetime, error: NotConnected) -> Outcome:
        why, step = error.why_text if error.why else error.what_text, error.next_text
        trouble = Trouble(error.phase, why.en, error.next_step, why, step)
        return _outcome(node, request, started, None, error.offered, (), error=trouble)


def _outcome(
    node: Node, request: Request, started: datetime, run: str | None, key: HostKey | None, findings: tuple[Finding, ...],
    *, cancelled: bool = False, error: Trouble | None = None, states: Mapping[str, str] | None = None,
) -> Outcome:  # fmt: skip
    return Outcome(
        node.target, run, started, key, request.contract_label or request.contract_id, node.reach is Reach.DEMO, findings, cancelled, error, states or {}, name=node.name,
    )  # fmt: skip


class _Run:
    """One verification of one node on one open line."""

    def __init__(
        self, workspace: Workspace, bus: Bus, catalogue: Catalogue, node: Node, request: Request, plan: Plan,
        opened: Opened, started: datetime, on_finding: Callable[[Finding], None] | None, peer: Peer,
        turn: _Turn,
    ) -> None:  # fmt: skip
        self._workspace, self._bus, self._node, self._request = workspace, bus, node, request
        self._plan, self._opened, self._started, self._tell = plan, opened, started, on_finding
        self._id = new_id()
        with workspace.read() as connection:
            # As they stand when the run begins: a figure that is moved meanwhile counts from the next run on.
            figures, self._fleet = effective(connection), fleet_of(connection, node, started)
        self._judging = Judging(plan.rules, Promise(catalogue, request.terms, request.seconds, thresholds=figures))
        self._unsaved: dict[str, tuple[RunEvidence, tuple[EvidenceBlob, ...]]] = {}
        self._saved_facts: set[str] = set()
        self._findings: list[Finding] = []
        self._states = dict.fromkeys(plan.left_out, str(CheckState.NOT_RUN)) if request.names_a_plan else {}
        self._base: Run | None = None
        self._offset_s: float | None = None
        self._boot_id: str | None = None
        self._peer, self._turn = peer, turn
        self._trouble: Trouble | None = None
        self._end_unseen = self._is_cut = False

    def go(self, links: Links, cancel: CancelToken) -> Outcome:
        part_of = self._part_of()
        run = Run(
            self._id, self._node.id, self._started, self._request.contract_id, tool_version=__version__,
            host_key=self._opened.host_key, demo=self._node.reach is Reach.DEMO, terms=tuple(self._request.terms.items()),
            original_id=part_of,
        )  # fmt: skip
        self._workspace.submit(lambda db: runs.save_run(db, run)).result()
        self._bus.publish(RunStarted(self._id, self._node.id, self._plan.checks, run.joins))
        try:
            cancelled = self._passive(cancel) or self._active(links, cancel)
        except ConnectFailed as error:  # the node let us in, but runs nothing for us
            cancelled, self._trouble = False, Trouble(error.phase, error.why, error.next_step, error.why_text, error.next_text)
            links.tell(self._node, error)
        outcome = replace(self._finish(cancelled=cancelled), end_unseen=self._end_unseen)
        return replace(outcome, run=None) if self._trouble and not outcome.findings else outcome

    def _part_of(self) -> str | None:
        """None for a whole run; the run that a part joins, its own where there is none."""
        if not self._plan.is_part(self._judging.promise):
            return None
        with self._workspace.read() as connection:
            self._base = run_to_join(connection, self._node.id)
        return self._base.id if self._base else self._id

    def _passive(self, cancel: CancelToken) -> bool:
        facts = self._facts()
        if not facts:
            return False
        end = collect(self._opened.line, facts, lambda frame: self._take(frame, cancel), cancel, sudo=self._node.use_sudo)
        if end.cancelled or self._is_cut:
            self._end_unseen = not end.far_end_seen
            return True
        why = {reason: told_of(self._node, reason) for reason in {one.reason for one in end.missing}}
        at = {reason: lost_at(self._opened.line, reason) for reason in why.values()}
        if len(end.missing) == len(facts):  # that is no node of which nothing is known, but one that does not work
            reason = why[end.missing[0].reason]
            raise no_output(self._node.address.host_port if self._node.address else self._node.target, reason, end.said, at[reason])
        for missing in end.missing:
            self._judging.give_up(missing.id, reason := why[missing.reason], at[reason])
        active = {rule.check.id for rule in self._plan.active}
        self._judge([rule for rule in self._judging.rest() if rule.check.id not in active], cancel)
        return self._is_cut

    def _facts(self) -> tuple[Fact, ...]:
        """The planned facts, and the node's clock for the time of handover."""
        clock = readers()[CLOCK_FACT].fact
        return self._plan.passive if clock in self._plan.passive else (clock, *self._plan.passive)

    def _take(self, frame: Frame, cancel: CancelToken) -> None:
        with self._turn:
            if cancel.cancelled:  # of many nodes the last would wait for seconds until all that has come is judged
                self._is_cut = True
                return
            ready = self._read(frame)
        if frame.id in MARK_FACTS:
            self._recall()
        self._judge(ready, cancel)

    def _read(self, frame: Frame) -> list[Rule]:
        command = readers()[frame.id].fact.command
        line, blobs = collected(self._id, frame.id, command.line if command else "", frame.output, utc_now())
        self._unsaved[frame.id] = (line, blobs)
        evidence = evidence_of(frame.id, frame.output, line.stdout_sha256)
        if isinstance(evidence.reading, ClockNow):
            self._boot_id = evidence.reading.boot_id
            self._offset_s = Clocks(frame.arrived_at, evidence.reading.utc).offset_s if frame.arrived_at else None
        return self._judging.take(frame.id, evidence)

    def _recall(self) -> None:
        """What earlier runs say of the machine that these readings show."""
        machine = machine_from(self._judging.evidence)
        with self._workspace.read() as connection:
            history = history_of(connection, self._node, self._started, self._opened.host_key, machine)
        self._judging.promise = replace(self._judging.promise, history=replace(history, fleet=self._fleet))

    def _judge(self, rules: Sequence[Rule], cancel: CancelToken | None = None) -> None:
        """Judge rules, as far as a `cancel` lets it, and save what they say in one go; only then is it told."""
        with self._turn:
            judged = [(rule, self._said(rule)) for rule in rules if cancel is None or not cancel.cancelled]
        self._is_cut |= len(judged) < len(rules)
        writes = [self._write(rule, finding) for rule, said in judged if not isinstance(said, RuleFault) for finding in said]

        def work(db: Database) -> None:
            for write in writes:
                write(db)

        if writes:
            self._workspace.submit(work).result()
        for rule, said in judged:
            if isinstance(said, RuleFault):
                self._state(rule, CheckState.ERROR, str(said))
            else:
                self._told(rule, said)

    def _said(self, rule: Rule) -> tuple[Finding, ...] | RuleFault:
        self._workspace.way.wait()
        try:
            return self._judging.findings(rule)
        except RuleFault as fault:
            return fault

    def _write(self, rule: Rule, finding: Finding) -> Callable[[Database], None]:
        facts = [id_ for id_ in (*rule.check.facts, *rule.check.optional) if id_ in self._unsaved]
        lines = [self._unsaved[id_][0] for id_ in facts]
        blobs = [blob for id_ in facts if id_ not in self._saved_facts for blob in self._unsaved[id_][1]]
        self._saved_facts.update(facts)
        contract, now = self._request.contract_id, utc_now()

        def work(db: Database) -> None:
            runs.save_finding(db, self._id, finding, blobs, lines, saved_at=now)
            # A fail refutes at once; what passes waits for the end, since another check of the term may still speak.
            if contract is not None and finding.verdict is Verdict.FAIL:
                claims.apply_finding(db, contract, self._node.id, finding, at=now)

        return work

    def _told(self, rule: Rule, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._findings.append(finding)
            if self._tell is not None:
                self._tell(finding)
            self._bus.publish(FindingSaved(self._id, self._node.id, finding))
        self._state(rule, CheckState.DONE)

    def _state(self, rule: Rule, state: CheckState, detail: str = "") -> None:
        if state is not CheckState.DONE:
            self._states[rule.check.id] = str(state)
        self._bus.publish(CheckChanged(self._id, rule.check.id, state, detail))

    def _active(self, links: Links, cancel: CancelToken) -> bool:
        for index, rule in enumerate(self._plan.active):
            if cancel.cancelled or not self._measure(links, rule, cancel):
                for left in self._plan.active[index:]:
                    self._states.setdefault(left.check.id, str(CheckState.CANCELLED))
                return True
        return False

    def _measure(self, links: Links, rule: Rule, cancel: CancelToken) -> bool:
        self._bus.publish(CheckChanged(self._id, rule.check.id, CheckState.RUNNING))
        fact_id = next(id_ for id_ in rule.check.facts if id_ in MEASURES)
        request = self._request
        lines = MeasureLines(
            self._opened, self._node, request.peer, request.peer_address, links, self._judging.promise, request.urls,
            lambda load, runs, believed: self._bus.publish(LoadChanged(self._node.id, load, runs, believed)),
        )  # fmt: skip
        try:
            # Two checks of one fact share its measurement.
            if fact_id not in self._judging.evidence:
                if fact_id in PAIR_FACTS:
                    self._peer.require(self._boot_id, cancel)
                with self._turn.machines.alone(self._node, cancel), must_be_the_node(self._node, self._opened.line):
                    self._measure_fact(fact_id, lines, cancel)
        except Cancelled:
            return False
        except UserFacing as trouble:
            self._judging.evidence[fact_id] = Evidence(trouble=unmeasured(self._node, trouble))
        finally:
            lines.close()
        self._judge([rule])
        return True

    def _measure_fact(self, fact_id: str, lines: MeasureLines, cancel: CancelToken) -> None:
        how, seconds = MEASURES[fact_id], self._request.seconds
        output = how.measure(Task(lines, seconds, cancel, how.directions))
        self._keep(fact_id, output)
        reading = self._judging.evidence[fact_id].reading
        again = how.again(reading, self._judging.promise) if reading is not None else ()
        if again:
            # A measured rate that would fail is measured once more at once; both bad = fail, the better is shown.
            self._keep(fact_id, how.measure(Task(lines, seconds, cancel, again, output)))

    def _keep(self, fact_id: str, output: CommandOutput) -> None:
        line, blobs = collected(self._id, fact_id, output_text(fact_id), output, utc_now())
        self._unsaved[fact_id] = (line, blobs)
        self._saved_facts.discard(fact_id)
        self._judging.evidence[fact_id] = evidence_of(fact_id, output, line.stdout_sha256)

    def _finish(self, *, cancelled: bool) -> Outcome:
        left = [pair for id_, pair in self._unsaved.items() if id_ not in self._saved_facts]
        outcome = _outcome(
            self._node, self._request, self._started, self._id, self._opened.host_key, current(self._findings),
            cancelled=cancelled, error=self._trouble or self._peer.trouble, states=self._states,
        )  # fmt: skip
        short = RunState.INTERRUPTED if self._trouble else RunState.FINISHED
        state = RunState.CANCELLED if cancelled else short
        now, overall = utc_now(), outcome.overall
        seen = sightings_of(self._id, self._node.id, now, self._judging.evidence, outcome.findings)

        contract, kept = self._request.contract_id, () if cancelled or self._trouble else self._kept()

        def work(db: Database) -> None:
            for line, blobs in left:
                save_run_evidence(db, line, blobs)
            runs.save_connection(db, self._id, host_key=self._opened.host_key, clock_offset_s=self._offset_s)
            save_sightings(db, seen)
            if contract is not None:
                for finding in kept:
                    claims.apply_finding(db, contract, self._node.id, finding, at=now)
            runs.finish_run(db, self._id, state, now, overall)

        self._workspace.submit(work).result()
        drifted = since_accepted(self._workspace, self._id) if self._trouble is None else None
        if drifted is not None:
            self._bus.publish(drifted)
        self._bus.publish(RunEnded(self._id, self._node.id, overall, cancelled))
        return outcome

    def _kept(self) -> tuple[Finding, ...]:
        """The promises that this run proves; a part of one proves nothing that the rest of the whole run speaks against."""
        if self._base is None:
            return kept_promises(self._findings)
        with self._workspace.read() as connection:
            known = joined_in(connection, self._base.id).findings
        asked = {finding.term for finding in self._findings}
        return tuple(finding for finding in kept_promises(known) if finding.term in asked)
