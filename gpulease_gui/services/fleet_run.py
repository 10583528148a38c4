"""How are many nodes verified at once, seen as they go, and asked again only where no answer came?"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import CheckState, Finding, Verdict, overall
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.services.events import CheckChanged, Event, FindingSaved, NodeState, NodeStateChanged, RunStarted
from gpulease_gui.services.fleet_rest import (
    END_UNSEEN,
    in_its_phase,
    known_since,
    loudness,
    unanswered,
    untold_words,
    what_is_left,
)
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.services.plan import make_plan
from gpulease_gui.services.run_view import Key, key_of
from gpulease_gui.store.nodes import get_node

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services
    from gpulease_gui.services.jobs import Job, Whole
    from gpulease_gui.services.verify import Request
    from gpulease_gui.store.doors import Reader

RequestOf = Callable[["Reader", Node], "Request"]


class Phase(StrEnum):
    """How far a node of a fleet is."""

    WAITING = "waiting"
    CONNECTING = "connecting"
    READING = "reading"
    CANCELLING = "cancelling"
    DONE = "done"
    NOT_REACHED = "not_reached"
    CANCELLED = "cancelled"
    BROKEN = "broken"


UNDER_WAY = frozenset([Phase.WAITING, Phase.CONNECTING, Phase.READING, Phase.CANCELLING])


@dataclass(frozen=True, slots=True)
class FleetLine:
    """One node as the table has it. `answered` of `planned` checks; findings by verdict; the loudest one in words.

    `seconds`: since its turn came, None before. `reason`, `next_step`: why it was not reached, broke or has not answered all.
    """

    node: Node
    phase: Phase = Phase.WAITING
    run_id: str | None = None
    answered: int = 0
    planned: int = 0
    passed: int = 0
    warned: int = 0
    failed: int = 0
    unknown: int = 0
    worst: Verdict | None = None
    worst_check: str = ""
    worst_words: Text = NO_TEXT
    overall: Verdict | None = None
    seconds: int | None = None
    reason: Text = NO_TEXT
    next_step: Text = NO_TEXT

    @property
    def is_over(self) -> bool:
        """Whether nobody works on it any more."""
        return self.phase not in UNDER_WAY

    @property
    def is_done(self) -> bool:
        """Whether it was asked everything and answered everything."""
        return self.phase is Phase.DONE and self.answered >= self.planned


@dataclass(frozen=True, slots=True)
class FleetTotals:
    """How many nodes ended how; `left`: over, but not done."""

    nodes: int
    over: int
    passed: int
    warned: int
    failed: int
    unknown: int
    not_reached: int
    cancelled: int
    left: int


def totals_of(lines: Iterable[FleetLine]) -> FleetTotals:
    """Count nodes by verdict; one that was not reached or was cancelled has none."""
    counted = list(lines)
    done = [line.overall for line in counted if line.phase is Phase.DONE]
    return FleetTotals(
        len(counted), sum(line.is_over for line in counted), done.count(Verdict.PASS), done.count(Verdict.WARN),
        done.count(Verdict.FAIL), done.count(Verdict.INCONCLUSIVE),
        sum(line.phase in (Phase.NOT_REACHED, Phase.BROKEN) for line in counted),
        sum(line.phase is Phase.CANCELLED for line in counted), sum(line.is_over and not line.is_done for line in counted),
    )  # fmt: skip


@dataclass(slots=True)
class _Going:
    """What is known of one node while it goes; only verdicts are kept of findings, whatever a node says."""

    node: Node
    phase: Phase = Phase.WAITING
    run_id: str | None = None
    is_asked: bool = False
    planned: int = 0
    open_checks: set[str] = field(default_factory=set)
    verdicts: dict[Key, Verdict] = field(default_factory=dict)
    counts: Counter[Verdict] = field(default_factory=Counter)
    worst: tuple[tuple[int, int], Verdict, str, Text] | None = None
    overall: Verdict | None = None
    began: float | None = None
    ended: float | None = None
    reason: Text = NO_TEXT
    next_step: Text = NO_TEXT
    shown: FleetLine | None = None

    def line(self, now: float, is_asked: bool = True) -> FleetLine:
        """As frozen value; the same object while nothing changed, and while it `is_asked` for only in passing."""
        if not is_asked and self.shown is not None:
            return self.shown
        said = self.counts
        _, verdict, check, words = self.worst or ((0, 0), None, "", NO_TEXT)
        made = FleetLine(
            self.node, self.phase, self.run_id, self.planned - len(self.open_checks), self.planned,
            said[Verdict.PASS], said[Verdict.WARN], said[Verdict.FAIL], said[Verdict.INCONCLUSIVE],
            verdict, check, words, self.overall,
            None if self.began is None else int((self.ended or now) - self.began), self.reason, self.next_step,
        )  # fmt: skip
        if made != self.shown:
            self.shown = made
        assert self.shown is not None
        return self.shown

    def take(self, finding: Finding) -> None:
        key = key_of(finding)
        if key in self.verdicts:
            self.counts[self.verdicts[key]] -= 1
        self.counts[finding.verdict] += 1
        self.verdicts[key] = finding.verdict
        loud = loudness(finding)
        if loud is not None and (self.worst is None or loud < self.worst[0]):
            self.worst = (loud, finding.verdict, finding.check, finding.reason)

    def clear(self) -> None:
        """What was found counts no more: it is found anew."""
        self.verdicts.clear()
        self.counts.clear()
        self.worst = self.overall = None

    def begin(self) -> None:
        self.phase, self.reason, self.next_step = Phase.WAITING, NO_TEXT, NO_TEXT
        self.began = self.ended = None

    def end(self, phase: Phase) -> None:
        self.phase = phase
        self.ended = time.monotonic()


class FleetRun:
    """Verifies nodes side by side. Everything may be called from any thread; `lines` never waits for a node.

    `request_of` says what a node is asked. `since` (UTC): what was answered from then on is not asked again. `anew`: its record is read in the first round, too.
    `on_outcome` gets each outcome on the thread of its node; None of it is kept here.
    """

    def __init__(self, services: Services, nodes: Sequence[Node], request_of: RequestOf, *, since: datetime | None = None, anew: bool = False,
                 on_outcome: Callable[[Node, Outcome], None] | None = None,
                 on_finding: Callable[[Node, Finding], None] | None = None) -> None:  # fmt: skip
        self._services, self._request_of = services, request_of
        self._on_outcome, self._on_finding = on_outcome, on_finding
        self.started = utc_now()
        self._since = since
        self._lock = threading.Lock()
        self._going = {node.id: _Going(node, is_asked=anew) for node in nodes}
        self._node_of: dict[str, str] = {}
        self._jobs: dict[str, Job] = {}
        self._forget = services.bus.subscribe(self._heard)

    # -- what is asked ------------------------------------------------------------------------------------------------

    def start(self, title: Text | str) -> Whole:
        """Verify all nodes."""
        return self._start(title, tuple(self._going))

    def again(self, title: Text | str, node_ids: Iterable[str] | None = None) -> Whole | None:
        """Ask what is without an answer: of these nodes, or of all that are over and not done. None = nothing is."""
        left = self.left if node_ids is None else tuple(id_ for id_ in node_ids if id_ in self._going and self.is_over(id_))
        self._since = self._since or self.started
        return self._start(title, left) if left else None

    def _start(self, title: Text | str, node_ids: Sequence[str]) -> Whole:
        with self._lock:
            for node_id in node_ids:
                self._going[node_id].begin()
        works = [self._work(node_id) for node_id in node_ids]
        whole = self._services.jobs.start_all(title, works)
        self._jobs.update(zip(node_ids, whole.parts, strict=True))
        for node_id, part in zip(node_ids, whole.parts, strict=True):
            part.done.add_done_callback(partial(self._over, node_id))
        return whole

    @property
    def since(self) -> datetime:
        """From when on (UTC) an answer of these nodes counts."""
        return self._since or self.started

    def cancel(self, *node_ids: str) -> None:
        """End the work on nodes; what they found stays. `lines` says so at once, their connections are told beside."""
        told = []
        for node_id in node_ids:
            job = self._jobs.get(node_id)
            with self._lock:
                going = self._going[node_id]
                if job is None or going.phase not in UNDER_WAY:
                    continue
                if going.phase is Phase.WAITING:
                    going.end(Phase.CANCELLED)
                else:
                    going.phase = Phase.CANCELLING
            told.append(job.cancel)
        if told:  # one after another, whatever the node is at: nobody who clicks waits for that
            threading.Thread(target=lambda: list(map(CancelToken.cancel, told)), name="fleet-cancel", daemon=True).start()

    def cancel_all(self) -> None:
        """End the work on all nodes."""
        self.cancel(*self._going)

    def close(self) -> None:
        """Listen to events no more."""
        self._forget()

    # -- what is seen -------------------------------------------------------------------------------------------------

    def lines(self, part: int = 0, of: int = 1) -> tuple[FleetLine, ...]:
        """All nodes in their order; a line is the same object until it changes.

        `part` `of` several: only those are looked at, the others are as they were last.
        """
        now = time.monotonic()
        with self._lock:
            return tuple(going.line(now, place % of == part) for place, going in enumerate(self._going.values()))

    def job_of(self, node_id: str) -> Job | None:
        """The work under way on a node."""
        return None if node_id not in self._going or self.is_over(node_id) else self._jobs.get(node_id)

    def is_over(self, node_id: str) -> bool:
        """Whether nobody works on that node."""
        return self._going[node_id].phase not in UNDER_WAY

    @property
    def left(self) -> tuple[str, ...]:
        """Ids of the nodes that are over and not done."""
        return tuple(line.node.id for line in self.lines() if line.is_over and not line.is_done)

    @property
    def running(self) -> bool:
        """Whether a node is still under way."""
        return any(going.phase in UNDER_WAY for going in self._going.values())

    # -- what happens -------------------------------------------------------------------------------------------------

    def _work(self, id_: str) -> Callable[[CancelToken], object]:
        def work(cancel: CancelToken) -> None:
            going = self._going[id_]
            with self._lock:
                if going.phase is Phase.CANCELLED:  # in this moment, before its turn
                    return
                going.began, going.phase = time.monotonic(), Phase.CONNECTING
            node, request = self._request(going.node)
            if request is None:
                self._settle(node.id)
                return
            tell = self._on_finding
            outcome = self._services.verification.run(node, request, cancel, (lambda found: tell(node, found)) if tell else None)
            self._ended(node, request, outcome)
            if self._on_outcome is not None:
                self._on_outcome(node, outcome)

        return work

    def _request(self, node: Node) -> tuple[Node, Request | None]:
        """The node, from the second round on as it is written now (it may have been corrected), and what it is asked."""
        going = self._going[node.id]
        with self._services.workspace.read() as connection, suppress(UsageError):  # removed meanwhile, or never kept
            if going.is_asked:
                node = going.node = get_node(connection, node.id)
        going.is_asked = True
        with self._services.workspace.read() as connection:
            request = self._request_of(connection, node)
            return node, what_is_left(connection, node.id, request, self._since) if self._since else request

    def _ended(self, node: Node, request: Request, outcome: Outcome) -> None:
        if outcome.run is None and outcome.error is not None:
            with self._lock:
                going = self._going[node.id]
                going.reason, going.next_step = in_its_phase(outcome.error), outcome.error.next_text
                going.end(Phase.NOT_REACHED)
        elif outcome.cancelled:
            with self._lock:
                going = self._going[node.id]
                if outcome.end_unseen:
                    going.reason = END_UNSEEN
                going.end(Phase.CANCELLED)
        elif request.only:
            self._settle(node.id)
        else:
            self._answered(node.id, outcome.run, outcome.findings)

    def _settle(self, node_id: str) -> None:
        """A node answered: what is known of it now, parts joined, as the store has it."""
        since = self._since or self.started
        with self._services.workspace.read() as connection:
            request = self._request_of(connection, self._going[node_id].node)
            run, findings = known_since(connection, node_id, request, since)
        if request.only or request.names_a_plan:  # what else is known of the node was not asked
            asked = frozenset(make_plan(request.choice).checks)
            findings = tuple(finding for finding in findings if finding.check in asked)
        self._answered(node_id, run.id if run else None, findings)

    def _answered(self, node_id: str, run_id: str | None, findings: Sequence[Finding]) -> None:
        with self._lock:
            going = self._going[node_id]
            going.clear()
            for finding in findings:
                going.take(finding)
            going.open_checks = set(unanswered(findings))
            going.planned = max(going.planned, len({finding.check for finding in findings}))
            going.run_id = run_id or going.run_id
            going.overall = overall(findings)
            going.reason, going.next_step = untold_words(findings)
            going.end(Phase.DONE)

    def _over(self, node_id: str, done: Future[object]) -> None:
        """A job ended without having said how: cancelled before its turn, or by our own fault."""
        broke = None if done.cancelled() else done.exception()
        with self._lock:
            going = self._going[node_id]
            if going.phase in UNDER_WAY:
                going.reason = foreign(str(broke)) if broke else NO_TEXT
                going.end(Phase.BROKEN if broke else Phase.CANCELLED)

    def _heard(self, event: Event) -> None:
        if isinstance(event, RunStarted) and event.node_id in self._going:
            self._begins(event)
        elif isinstance(event, FindingSaved) and event.run_id in self._node_of:
            with self._lock:
                self._going[event.node_id].take(event.finding)
        elif isinstance(event, CheckChanged) and event.run_id in self._node_of and event.state in (CheckState.DONE, CheckState.ERROR):
            with self._lock:
                self._going[self._node_of[event.run_id]].open_checks.discard(event.check)
        elif isinstance(event, NodeStateChanged) and event.state is NodeState.CONNECTING and event.node_id in self._going:
            self._connects(event.node_id)

    def _begins(self, event: RunStarted) -> None:
        with self._lock:
            going = self._going[event.node_id]
            if going.phase is not Phase.CONNECTING:
                return
            self._node_of[event.run_id] = event.node_id
            going.phase = Phase.READING
            going.open_checks = set(event.checks)
            going.planned = going.planned or len(event.checks)
            if event.joins is None:
                going.run_id, going.planned = event.run_id, len(event.checks)
                going.clear()

    def _connects(self, node_id: str) -> None:
        with self._lock:
            going = self._going[node_id]
            if going.phase is Phase.WAITING:
                going.phase = Phase.CONNECTING
