"""What does an evaluation know of a contract, its nodes and their runs?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.finding import WORST_FIRST, Finding, Reason, Verdict
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.task import TaskPoint, TaskRun
from gpulease_gui.domain.term import Term, TermValue
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.reports.document import Blank, Curve

CONCLUSIVE = (Verdict.PASS, Verdict.WARN, Verdict.FAIL)


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """How one output came to be. `intact` False: its bytes no longer fit the hash."""

    fact_id: str
    command: str
    collected_at: datetime
    exit_code: int | None
    sha256: str
    cut: bool = False
    intact: bool = True


@dataclass(frozen=True, slots=True)
class KeptReadings:
    """Readings that were kept as evidence of a run (UTC seconds) with their hash; `trouble` says what was done to them since."""

    start_s: float
    end_s: float
    sha256: str
    trouble: Text | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator as the node names it; None = not told."""

    index: int
    name: str | None
    uuid: str | None
    serial: str | None


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One decision about the node's host key, in words."""

    key: HostKey
    decision: Text
    at: datetime
    compared_with: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class LiveStretch:
    """Stored readings of one metric; `contract` is the promised figure in the same unit.

    `implied`: the contract does not state the figure, the promised model implies it. `coarser`: (start, end, length of one)
    in seconds of what is only kept as summaries that are longer than what would be drawn.
    """

    title: Text
    unit: str
    curves: tuple[Curve, ...]
    start_s: float
    end_s: float
    contract: float | None = None
    blanks: tuple[Blank, ...] = ()
    implied: bool = False
    coarser: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The newest finished run of a node for the contract.

    `verdict` is the run's overall, at most inconclusive while a promise that can be checked was not (`unjudged`).
    `clock_offset_s` is the node's clock minus ours; None = not read. `origin`: the file that it was imported from; empty
    for a run that this computer measured.
    """

    id: str
    started_at: datetime
    finished_at: datetime | None
    verdict: Verdict
    findings: tuple[Finding, ...]
    evidence: tuple[EvidenceLine, ...]
    hash: str
    tool_version: str = ""
    host_key: HostKey | None = None
    clock_offset_s: float | None = None
    devices: tuple[Device, ...] = ()
    driver: str | None = None
    cuda: str | None = None
    unjudged: tuple[str, ...] = ()
    origin: Text = NO_TEXT
    readings: tuple[KeptReadings, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskRow:
    """Steps `first` to `last` of a run beside its reference: medians, None = not told."""

    first: int
    last: int
    loss: float | None
    loss_reference: float | None
    rate: float | None
    rate_reference: float | None


@dataclass(frozen=True, slots=True)
class TaskBeside:
    """What the comparison with the reference run says. `node` is where that one ran, `unit` that of the speeds."""

    node: str
    started_at: datetime
    verdict: Verdict
    words: Text
    unit: str | None
    rows: tuple[TaskRow, ...]
    points: tuple[TaskPoint, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task of the team's own that ran on the node. `costs` are labels with amounts, or why there is none."""

    run: TaskRun
    findings: tuple[Finding, ...]
    verdict: Verdict | None = None
    beside: TaskBeside | None = None
    costs: tuple[tuple[Text, Text], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node of the contract; `run` None = it was never verified for it."""

    node: Node
    run: RunFacts | None = None
    keys: tuple[KeyLine, ...] = ()
    live: tuple[LiveStretch, ...] = ()
    tasks: tuple[TaskFacts, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The run's; a node that was never verified is inconclusive."""
        return self.run.verdict if self.run else Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class ChecklistLine:
    """One item of the contract's checklist. `verdict` None: it is waived, as `waiver` says.

    `answer` is value and proof in words, `by` and `at` who gave it and when (None = it follows from the stated terms).
    """

    id: str
    dimension: Text
    level: Text
    text: Text
    answer: Text
    verdict: Verdict | None
    by: str = ""
    at: datetime | None = None
    note: str = ""
    waiver: Text | None = None


@dataclass(frozen=True, slots=True)
class ChecklistFacts:
    """The contract's checklist by dimension, for which use it counts, and what it comes to."""

    lines: tuple[ChecklistLine, ...]
    use: Text
    conclusion: Text
    score: Text


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """All that a report is made of. `promises` are the contract's claims, `terms` what the catalogue knows of terms.

    `unchecked` are promised terms that no check can judge. `nodes` are failing ones first. `utc_offset_s` is our clock
    minus UTC.
    """

    supplier: Supplier
    contract: Contract
    promises: tuple[Claim, ...]
    nodes: tuple[NodeFacts, ...]
    verdict: Verdict
    sentence: Text
    hash: str
    made_at: datetime
    terms: Mapping[str, Term] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    utc_offset_s: int = 0
    tool_version: str = ""
    demo: bool = False
    checklist: ChecklistFacts | None = None

    @property
    def zone(self) -> timezone:
        """Our clock's zone."""
        return timezone(timedelta(seconds=self.utc_offset_s))

    @property
    def verified(self) -> tuple[NodeFacts, ...]:
        """The nodes that have a run."""
        return tuple(node for node in self.nodes if node.run)

    def findings(self) -> tuple[Finding, ...]:
        """The findings of all runs."""
        return tuple(finding for node in self.nodes if node.run for finding in node.run.findings)

    def coverage(self) -> tuple[int, int]:
        """(promises judged, promises) over all nodes; a node without a run judged none."""
        stated = {claim.term for claim in self.promises if claim.value is not None}
        judged = sum(len(stated & _judged(node.run)) for node in self.nodes if node.run)
        return judged, len(stated) * len(self.nodes)

    def promised(self, term: str) -> TermValue | None:
        """What the contract states of a term."""
        return next((claim.value for claim in self.promises if claim.term == term), None)


def _judged(run: RunFacts) -> set[str]:
    return {f.term for f in run.findings if f.term and f.verdict in CONCLUSIVE} - set(run.unjudged)


def loudest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Required ones before the rest, then worst first; what nobody promised comes last."""
    rank = {verdict: number for number, verdict in enumerate(WORST_FIRST)}
    return tuple(sorted(findings, key=lambda f: (not f.required, f.reason_code == Reason.NOT_PROMISED, rank[f.verdict])))
