"""What needs a decision, and how do the contracts stand?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.finding import Finding, Value, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.reports.unit_words import unit_text
from gpulease_gui.reports.wording import value_text
from gpulease_gui.services.acceptance import acceptance_in
from gpulease_gui.services.claims_view import Found, found_in, shown_model
from gpulease_gui.services.events import NodeState
from gpulease_gui.store import claims, nodes, runs, samples, settings, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.records import Run, RunState

if TYPE_CHECKING:
    import sqlite3

LATEST_RUNS = 12
SOURCE_SEEN = "demo.source_seen"  # the setting that a demo visitor has looked at where a promise is written
_REFUSED = frozenset([NodeState.KEY_CHANGED, NodeState.REFUSED])


class Kind(StrEnum):
    """Why something needs a decision, the loudest first."""

    BROKEN = "broken"
    HOST_KEY = "host_key"
    UNKNOWN = "unknown"
    NEVER_VERIFIED = "never_verified"
    NO_NODES = "no_nodes"


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of "Needs a decision". `place` is the page and the ids that its action goes to.

    `promised`: the finding is about a promise; a fault of the hardware breaks none by itself.
    """

    kind: Kind
    title: Text
    nodes: tuple[str, ...]
    contract: str
    supplier: str
    weight: Text
    place: tuple[str, ...]
    key: str
    promised: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How many promises of a contract were kept, broken, kept with a warning, or cannot be told yet."""

    kept: int = 0
    broken: int = 0
    warned: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class ContractLine:
    """One contract. `days_left` None = no end was written down; `verdict` None = no node was verified."""

    contract: Contract
    supplier: str
    model: str | None
    gpus_per_node: int | None
    nodes: int
    days_left: int | None
    standing: Standing
    verdict: Verdict | None
    sentence: Text


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as the list of the day shows it; `counts` by verdict of its current findings."""

    run: Run
    node_name: str
    fails: int
    passes: int


@dataclass(frozen=True, slots=True)
class DemoSteps:
    """What a visitor of the demo has already done."""

    source_seen: bool = False
    verified: bool = False
    watched: bool = False
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """All that the first page shows, at one moment of the store. `states` of nodes come from the open lines."""

    decisions: tuple[Decision, ...]
    contracts: tuple[ContractLine, ...]
    runs: tuple[RunLine, ...]
    node_names: Mapping[str, str]
    unknown_musts: int
    unknown: int
    steps: DemoSteps

    @property
    def broken(self) -> int:
        """How many checks of a promise fail, counted once per contract."""
        return sum(decision.kind is Kind.BROKEN and decision.promised for decision in self.decisions)

    @property
    def faults(self) -> int:
        """How many checks fail that no promise is about, counted once per contract."""
        return sum(decision.kind is Kind.BROKEN and not decision.promised for decision in self.decisions)


@dataclass(frozen=True, slots=True)
class _Part:
    """A contract with everything that was read of it."""

    contract: Contract
    supplier: str
    nodes: tuple[Node, ...]
    claims: tuple[Claim, ...]
    findings: tuple[tuple[Node, Finding], ...]
    found: Mapping[str, Found]
    verified: bool


def overview_in(
    connection: sqlite3.Connection, catalogue: Catalogue, today: date, states: Mapping[str, NodeState]
) -> Overview:
    """The overview of the workspace; `states` are the connections that were refused or changed their key."""
    known = {supplier.id: supplier for supplier in suppliers.list_suppliers(connection)}
    parts = [_part(connection, contract, known, catalogue) for contract in suppliers.list_contracts(connection)]
    names = {node.id: node.name for node in nodes.list_nodes(connection)}
    findings = [finding for part in parts for _, finding in part.findings if finding.verdict is Verdict.INCONCLUSIVE]
    decisions = [d for part in parts for d in _decisions(part, states)] + _loose(connection, states)
    return Overview(
        tuple(sorted(decisions, key=_loudness)), tuple(_line(connection, part, catalogue, today) for part in parts),
        _latest(connection, names), names, sum(f.required for f in findings), len(findings), _steps(connection),
    )  # fmt: skip


def _part(
    connection: sqlite3.Connection, contract: Contract, known: Mapping[str, Supplier], catalogue: Catalogue
) -> _Part:
    rented = nodes.list_nodes(connection, contract.id)
    findings: list[tuple[Node, Finding]] = []
    verified = False
    for node in rented:
        latest = _latest_run(connection, node.id, contract.id)
        verified = verified or latest is not None
        stored = runs.list_current_findings(connection, latest.id) if latest else ()
        findings += [(node, one.finding) for one in stored]
    supplier = known.get(contract.supplier_id)
    held = claims.list_claims(connection, Holder.contract(contract.id))
    found = found_in(connection, contract.id, catalogue)
    return _Part(contract, supplier.name if supplier else "", rented, held, tuple(findings), found, verified)


def _latest_run(connection: sqlite3.Connection, node_id: str, contract_id: str) -> Run | None:
    made = runs.list_runs(connection, node_id=node_id, contract_id=contract_id)
    return next((run for run in made if run.state is RunState.FINISHED), None)


def _decisions(part: _Part, states: Mapping[str, NodeState]) -> list[Decision]:
    made = [*_by_check(part, Verdict.FAIL, Kind.BROKEN), *_by_check(part, Verdict.INCONCLUSIVE, Kind.UNKNOWN)]
    made += [_refused(node, part.contract.number, part.supplier, states[node.id]) for node in part.nodes
             if states.get(node.id) in _REFUSED]  # fmt: skip
    if not part.nodes:
        made.append(_bare(part, Kind.NO_NODES, Text("No node to verify", "没有可验收的节点"), ("nodes",)))
    elif not part.verified:
        made.append(_bare(part, Kind.NEVER_VERIFIED, Text("Never verified", "从未验收"), ("verification", part.nodes[0].id)))
    return made


def _by_check(part: _Part, verdict: Verdict, kind: Kind) -> list[Decision]:
    """Required findings of one verdict, one line per check, with the nodes they were made on."""
    grouped: dict[str, list[tuple[Node, Finding]]] = {}
    for node, finding in part.findings:
        if finding.required and finding.verdict is verdict:
            grouped.setdefault(finding.check, []).append((node, finding))
    return [_grouped(part, kind, check, hits) for check, hits in grouped.items()]


def _grouped(part: _Part, kind: Kind, check: str, hits: list[tuple[Node, Finding]]) -> Decision:
    rule = rules().get(check)
    title = rule.check.title if rule else foreign(check)
    names = tuple(dict.fromkeys(node.name for node, _ in hits))
    worst = next((f for _, f in hits if f.promised is not None and f.measured is not None), hits[0][1])
    place = ("verification", hits[0][0].id, check)
    return Decision(kind, title, names, part.contract.number, part.supplier, _weight(worst), place,
                    f"{kind}/{part.contract.id}/{check}", any(f.promised is not None for _, f in hits))  # fmt: skip


def _weight(finding: Finding) -> Text:
    """What was found against what was promised, as short as a cell."""
    if finding.verdict is Verdict.INCONCLUSIVE:
        return Text("must", "必须项")
    if finding.measured is None:
        return Text("", "")
    found = value_text(finding.measured)
    if finding.promised is None:
        unit = _unit(finding, finding.measured)
        return Text(f"{found.en} {unit.en}".rstrip(), f"{found.zh} {unit.zh}".rstrip())
    promised, unit = value_text(finding.promised), _unit(finding, finding.promised)
    if isinstance(finding.promised, str) and not isinstance(finding.measured, str | bool):
        of = _unit(finding, finding.measured)  # such as "0 links, NVSwitch promised"
        return Text(f"{found.en} {of.en}, {promised.en} promised", f"实测 {found.zh} {of.zh}，承诺 {promised.zh}")
    return Text(
        f"{found.en} for {promised.en} {unit.en}".rstrip(), f"实测 {found.zh}，承诺 {promised.zh} {unit.zh}".rstrip()
    )


def _unit(finding: Finding, value: Value) -> Text:
    return NO_TEXT if isinstance(value, str | bool) else unit_text(finding.unit, value)


def _refused(node: Node, contract: str, supplier: str, state: NodeState) -> Decision:
    changed = state is NodeState.KEY_CHANGED
    title = (
        Text("Host key changed, connection refused", "主机密钥变更，已拒绝连接") if changed else Text("Connection refused", "连接被拒绝")
    )
    return Decision(Kind.HOST_KEY, title, (node.name,), contract, supplier, Text("blocked", "已阻止"),
                    ("nodes", node.id), f"{Kind.HOST_KEY}/{node.id}")  # fmt: skip


def _bare(part: _Part, kind: Kind, title: Text, place: tuple[str, ...]) -> Decision:
    names = tuple(node.name for node in part.nodes)
    return Decision(kind, title, names, part.contract.number, part.supplier, Text("", ""), place, f"{kind}/{part.contract.id}")


def _loose(connection: sqlite3.Connection, states: Mapping[str, NodeState]) -> list[Decision]:
    """Refused nodes that belong to no contract."""
    return [
        _refused(node, "", "", states[node.id])
        for node in nodes.list_nodes(connection)
        if node.contract_id is None and states.get(node.id) in _REFUSED
    ]


def _loudness(decision: Decision) -> tuple[int, int, str]:
    return list(Kind).index(decision.kind), -len(decision.nodes), decision.contract


def _line(connection: sqlite3.Connection, part: _Part, catalogue: Catalogue, today: date) -> ContractLine:
    stated = {claim.term: claim.value for claim in part.claims if claim.value is not None}
    word = stated.get("gpu.model") or stated.get("npu.model")
    count = stated.get("gpu.count") or stated.get("npu.count")
    acceptance = acceptance_in(connection, part.contract.id)
    return ContractLine(
        part.contract, part.supplier, shown_model(word, catalogue)[0] if word else None,
        count if isinstance(count, int) else None, len(part.nodes),
        (part.contract.end - today).days if part.contract.end else None, standing_of(part.claims, part.found),
        acceptance.verdict if part.verified else None, acceptance.sentence,
    )  # fmt: skip


def standing_of(held: Iterable[Claim], found: Mapping[str, Found]) -> Standing:
    """How the stated promises stand: by their claim, and by the newest finding where that is louder.

    A promise without a pass or a fail is unknown, never kept.
    """
    kept = broken = warned = unknown = 0
    for claim in held:
        if claim.value is None:
            continue
        verdict = found[claim.term].finding.verdict if claim.term in found else None
        if claim.state is ClaimState.REFUTED or verdict is Verdict.FAIL:
            broken += 1
        elif verdict is Verdict.WARN:
            warned += 1
        elif claim.state is ClaimState.VERIFIED and verdict in (Verdict.PASS, None):
            kept += 1
        else:
            unknown += 1
    return Standing(kept, broken, warned, unknown)


def _latest(connection: sqlite3.Connection, names: Mapping[str, str]) -> tuple[RunLine, ...]:
    lines = []
    for run in runs.list_runs(connection, parts=True)[:LATEST_RUNS]:
        verdicts = [stored.finding.verdict for stored in runs.list_current_findings(connection, run.id)]
        lines.append(RunLine(run, names.get(run.node_id, ""), verdicts.count(Verdict.FAIL), verdicts.count(Verdict.PASS)))
    return tuple(lines)


def local_day(at: datetime) -> date:
    """The day of a UTC moment on this computer's calendar."""
    return at.astimezone().date()


def _steps(connection: sqlite3.Connection) -> DemoSteps:
    verified = any(run.state is RunState.FINISHED for run in runs.list_runs(connection))
    watched = any(samples.list_series(connection, node.id) for node in nodes.list_nodes(connection))
    seen = settings.get_setting(connection, SOURCE_SEEN, False)
    return DemoSteps(seen, verified, watched, bool(settings.list_reports(connection)))
