"""What does one look at a verification show: its plan, its findings, their evidence, their past?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpulease_gui.checks.check import GROUPS, NOTHING_WRITTEN, Check, rules
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.term import Term, TermValue
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.facts.fact import readers
from gpulease_gui.reports.wording import finding_name, with_unit
from gpulease_gui.services.joined import Rerun, joined_in
from gpulease_gui.services.kept_words import trouble_of
from gpulease_gui.services.plan import PAIR_FACTS, USUAL_SHARE, Choice, Level
from gpulease_gui.store import claims, evidence, nodes, runs, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.imported import ImportedFrom, imported_from
from gpulease_gui.store.kept_state import kept_states
from gpulease_gui.store.records import Run, RunEvidence, RunState

if TYPE_CHECKING:
    import sqlite3

    from gpulease_gui.services.verify import Request

Key = tuple[str, str | None, str]

SHOWN_CHARACTERS = 300_000
SHOWN_LINE = 2_000
HISTORY_RUNS = 12
NO_CHOICE = Choice()
JUDGED = frozenset([Verdict.PASS, Verdict.WARN, Verdict.FAIL])


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The exact text that is sent to a node for one fact, and its time limit there in seconds."""

    fact: str
    line: str
    seconds: int


@dataclass(frozen=True, slots=True)
class CheckInfo:
    """A check as people see it before it runs."""

    id: str
    title: Text
    why: Text
    group: Text
    order: int
    impact: Impact
    terms: tuple[str, ...]
    rule_version: int
    commands: tuple[CommandLine, ...]
    needs_peer: bool = False
    level: int = 1
    writes: Text = NOTHING_WRITTEN
    takes_s: int = 0

    @property
    def seconds(self) -> int:
        """The longest that its commands may take together."""
        return sum(command.seconds for command in self.commands)

    @property
    def usual_s(self) -> int:
        """How long it usually takes by itself."""
        return self.takes_s or max(1, round(self.seconds * USUAL_SHARE))


def check_infos() -> Mapping[str, CheckInfo]:
    """All checks that can run, by id, in the order of their groups."""
    groups = list(dict.fromkeys(group.en for group in GROUPS.values()))
    made = [_info(rule.check, groups) for rule in rules().values()]
    return {info.id: info for info in sorted(made, key=lambda info: (info.order, info.id))}


def _info(check: Check, groups: list[str]) -> CheckInfo:
    facts = [readers()[id_].fact for id_ in (*check.facts, *check.optional) if id_ in readers()]
    lines = tuple(CommandLine(fact.id, fact.command.line, fact.seconds) for fact in facts if fact.command)
    order = groups.index(check.group.en) if check.group.en in groups else len(groups)
    return CheckInfo(
        check.id, check.title, check.why, check.group, order, check.impact, check.terms, check.rule_version, lines,
        bool(PAIR_FACTS.intersection(check.facts)), check.level, check.writes, check.takes_s,
    )  # fmt: skip


def key_of(finding: Finding) -> Key:
    """What tells a finding of a run from its others."""
    return finding.check, finding.term, finding.direction


def differs(before: Finding | None, now: Finding) -> bool:
    """Whether an earlier run said something else of the same question; a new question is no difference."""
    return before is not None and (before.verdict is not now.verdict or before.measured != now.measured)


@dataclass(frozen=True, slots=True)
class NodeRuns:
    """A node with its contract, everything that it was verified with, and who could be its peer."""

    node: Node
    contract: Contract | None
    supplier: str
    runs: tuple[Run, ...]
    nodes: tuple[Node, ...]
    contracts: tuple[Contract, ...]
    peer_id: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, TermValue] = field(default_factory=dict)

    def number(self, run_id: str) -> int:
        """The running number of a run of this node, the first is 1; 0 for one of another node."""
        ids = [run.id for run in reversed(self.runs)]
        return ids.index(run_id) + 1 if run_id in ids else 0

    def run(self, run_id: str) -> Run | None:
        """The run of this id."""
        return next((run for run in self.runs if run.id == run_id), None)

    @property
    def newest(self) -> Run | None:
        """The run that is shown first: the newest whole one, with the parts that join it; else the newest part."""
        return next((run for run in self.runs if not run.is_part), self.runs[0] if self.runs else None)


def node_runs(connection: sqlite3.Connection, node_id: str | None) -> NodeRuns | None:
    """The node of this id, else the one that was verified last, else the first; None when there is no node."""
    known = nodes.list_nodes(connection)
    if not known:
        return None
    latest = runs.list_latest_runs(connection)
    wanted = (node_id, latest[0].node_id if latest else None, known[0].id)
    node = next(node for id_ in wanted for node in known if node.id == id_)
    contracts = suppliers.list_contracts(connection)
    contract = next((c for c in contracts if c.id == node.contract_id), None)
    supplier = suppliers.get_supplier(connection, contract.supplier_id).name if contract else ""
    held = claims.list_claims(connection, Holder.contract(contract.id)) if contract else ()
    return NodeRuns(
        node, contract, supplier, runs.list_runs(connection, node_id=node.id, parts=True), known, contracts, _peer(node, known),
        {claim.term: claim.source for claim in held}, {c.term: c.value for c in held if c.value is not None},
    )  # fmt: skip


def _peer(node: Node, known: Sequence[Node]) -> str | None:
    """The node that network measurements go to unless the user picks another."""
    if node.reach is Reach.DEMO:
        from gpulease_gui.services.targets import demo_brings

        peer = demo_brings(node.target).peer
        return next((other.id for other in known if other.target == peer), None)
    same = (other.id for other in known if other.id != node.id and other.contract_id and other.contract_id == node.contract_id)
    return next(same, None)


@dataclass(frozen=True, slots=True)
class RunFindings:
    """A stored run with the newest finding of each question, and what the finished run before it said.

    `reruns`: the checks of a whole run that were asked again since, by check id; `findings` holds their answers.
    `imported`: the file that the run came in; None for one that was measured here. `altered`: what was done to readings that
    were kept of it; nothing where they are what they were.
    """

    run: Run
    findings: tuple[Finding, ...]
    before: Mapping[Key, Finding]
    before_run: Run | None = None
    reruns: Mapping[str, Rerun] = field(default_factory=dict)
    imported: ImportedFrom | None = None
    altered: Text | None = None


def run_findings(connection: sqlite3.Connection, run_id: str) -> RunFindings:
    """Raises UsageError for an unknown run."""
    run = runs.get_run(connection, run_id)
    earlier = next((r for r in runs.list_runs(connection, node_id=run.node_id) if _is_earlier(r, run)), None)
    joined = joined_in(connection, run.id)
    before = {key_of(f): f for f in _current(connection, earlier)}
    altered = next(filter(None, map(trouble_of, kept_states(connection, run.id))), None)
    return RunFindings(run, joined.findings, before, earlier, joined.reruns, imported_from(connection, run.id), altered)


def _is_earlier(candidate: Run, run: Run) -> bool:
    return candidate.state is RunState.FINISHED and candidate.id != run.id and candidate.started_at < run.started_at


def _current(connection: sqlite3.Connection, run: Run | None) -> tuple[Finding, ...]:
    return tuple(stored.finding for stored in runs.list_current_findings(connection, run.id)) if run else ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the promises that a check can judge were judged."""

    judged: int
    stated: int


def coverage(terms: Iterable[tuple[str, TermValue]], findings: Iterable[Finding]) -> Coverage:
    """Promises with a pass, a warning or a fail, of all that some check could judge."""
    checkable = {term for rule in rules().values() for term in rule.check.terms}
    stated = {term for term, _ in terms} & checkable
    judged = {finding.term for finding in findings if finding.verdict in JUDGED}
    return Coverage(len(stated & judged), len(stated))


@dataclass(frozen=True, slots=True)
class OutputView:
    """One raw output as a screen shows it: the head of its visible text, its whole size in bytes, where it came from."""

    evidence: RunEvidence
    title: Text
    text: str
    error_text: str
    size: int
    is_head: bool
    trouble: str = ""


def outputs_of(connection: sqlite3.Connection, run_id: str, check_id: str) -> tuple[OutputView, ...]:
    """What a run read for one check, in the order of the check's facts."""
    rule = rules().get(check_id)
    wanted = (*rule.check.facts, *rule.check.optional) if rule else ()
    lines = {line.fact_id: line for line in evidence.list_run_evidence(connection, run_id)}
    return tuple(_output(connection, lines[fact_id]) for fact_id in wanted if fact_id in lines)


def _output(connection: sqlite3.Connection, line: RunEvidence) -> OutputView:
    title = readers()[line.fact_id].fact.title if line.fact_id in readers() else Text(line.fact_id, line.fact_id)
    try:
        output = evidence.get_output(connection, line)
    except UserFacing as trouble:
        return OutputView(line, title, "", "", 0, is_head=True, trouble=str(trouble))
    head = output.stdout[: SHOWN_CHARACTERS * 4].decode("utf-8", "replace")[:SHOWN_CHARACTERS]
    is_head = len(head.encode("utf-8", "replace")) < len(output.stdout)
    return OutputView(
        line, title, visible(shortened(head)), visible(shortened(output.error_text[:SHOWN_CHARACTERS])), len(output.stdout),
        is_head,
    )  # fmt: skip


def shortened(words: str) -> str:
    """Very long lines end in … with how much is left out; a screen cannot lay them out."""
    return "\n".join(
        line if len(line) <= SHOWN_LINE else f"{line[:SHOWN_LINE]}… (+{len(line) - SHOWN_LINE:,})"
        for line in words.replace("\r\n", "\n").split("\n")
    )


def content_of(connection: sqlite3.Connection, sha256: str) -> bytes:
    """The raw bytes of an output. Raises UserFacing when they no longer fit their hash."""
    return evidence.get_content(connection, sha256)


@dataclass(frozen=True, slots=True)
class PastFinding:
    """What one run of the node said of a question."""

    number: int
    run: Run
    finding: Finding


def check_history(connection: sqlite3.Connection, node_id: str, key: Key) -> tuple[PastFinding, ...]:
    """The same question in the last runs of the node, newest first."""
    made = runs.list_runs(connection, node_id=node_id, parts=True)
    found = []
    for place, run in enumerate(made[:HISTORY_RUNS]):
        said = (finding for finding in _current(connection, run) if key_of(finding) == key)
        found += [PastFinding(len(made) - place, run, finding) for finding in said]
    return tuple(found)


def prepare(
    connection: sqlite3.Connection, node_id: str, choice: Choice = NO_CHOICE, peer_id: str | None = None
) -> tuple[Node, Request]:
    """What is to be verified: the contract's promises against the chosen checks, those that load the node confirmed.

    Raises UsageError for an unknown node.
    """
    from gpulease_gui.services.acceptance import promises_in
    from gpulease_gui.services.verify import Request

    node = nodes.get_node(connection, node_id)
    peer = nodes.get_node(connection, peer_id) if peer_id and _wants_peer(choice) else None
    request = Request(
        only=choice.only, level=choice.level, profile=choice.profile.id if choice.profile else "", peer=peer,
        left_out=choice.left_out, added=choice.added, sustained=choice.sustained,
    )  # fmt: skip
    if node.contract_id is None:
        return node, request
    contract = suppliers.get_contract(connection, node.contract_id)
    terms = promises_in(connection, contract.id)
    return node, replace(request, terms=terms, contract_id=contract.id, contract_label=contract.number)


def _wants_peer(choice: Choice) -> bool:
    named = (rules()[id_].check for id_ in (*choice.only, *choice.added) if id_ in rules())
    by_level = choice.peer and choice.level in (Level.PROBE, Level.LOAD)
    return by_level or any(PAIR_FACTS.intersection(check.facts) for check in named)


def supplier_question(node: Node, contract: Contract | None, finding: Finding, run: Run, terms: Mapping[str, Term]) -> Text:
    """A message to the supplier that holds what was promised, what was found, when, and the hash of the output."""
    name = finding_name(finding, terms)
    promised = with_unit(finding.promised, finding.unit) if finding.promised is not None else Text("not stated", "未约定")
    found = with_unit(finding.measured, finding.unit) if finding.measured is not None else Text("not readable", "读不到")
    number = contract.number if contract else "–"
    where = f"{node.name} ({node.target})"
    hashes = "\n".join(finding.evidence)
    at = f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC"
    return Text(
        f"Contract {number}, node {where}\n{name.en} ({finding.check}), run of {at}\n"
        f"Promised: {promised.en}\nFound: {found.en}\n{finding.reason.en}\n{finding.next_step.en}\n"
        f"SHA-256 of the raw output:\n{hashes}",
        f"合同 {number}，节点 {where}\n{name.zh}（{finding.check}），验收时间 {at}\n"
        f"承诺：{promised.zh}\n实测：{found.zh}\n{finding.reason.zh}\n{finding.next_step.zh}\n"
        f"原始输出的 SHA-256：\n{hashes}",
    )


def subject_words(finding: Finding) -> Text:
    """Of how many of its subjects a finding with a bad verdict is true."""
    total = len(finding.subjects)
    same = sum(1 for subject in finding.subjects if subject.verdict is finding.verdict)
    if not total:
        return Text("", "")
    return Text(f"{same} of {total}", f"{total} 项中 {same} 项")
