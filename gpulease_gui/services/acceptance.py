"""Is a contract's delivery accepted, node by node, and what changed since the last look?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.store import claims, nodes, runs, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.records import RunState
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    import sqlite3


def find_contract(workspace: Workspace, word: str) -> Contract:
    """The contract with this id or number. Raises UsageError, naming those that are there."""
    with workspace.read() as connection:
        known = suppliers.list_contracts(connection)
    found = [c for c in known if word in (c.id, c.number)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(c.number for c in known)
    raise UsageError(
        Text(f"more than one contract is called {word!r}", f"有多个合同名为 {word!r}") if found
        else Text(f"there is no contract {word!r}", f"没有合同 {word!r}"),
        next_step=Text(f"the contracts are: {names or 'none yet'}", f"现有合同：{names or '尚无'}"),
    )  # fmt: skip


def promises_in(connection: sqlite3.Connection, contract_id: str) -> dict[str, TermValue]:
    """The stated terms of a contract."""
    held = claims.list_claims(connection, Holder.contract(contract_id))
    return {claim.term: claim.value for claim in held if claim.value is not None}


def promises_of(workspace: Workspace, contract_id: str) -> Mapping[str, TermValue]:
    """The stated terms of a contract."""
    with workspace.read() as connection:
        return promises_in(connection, contract_id)


@dataclass(frozen=True, slots=True)
class NodeAcceptance:
    """The newest finished run of one node; `broken` are the checks of its required fails."""

    node_id: str
    node_name: str
    overall: Verdict | None
    broken: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A contract's nodes and the one sentence about them."""

    nodes: tuple[NodeAcceptance, ...]

    @property
    def accepted(self) -> int:
        """How many nodes passed (with or without warnings)."""
        return sum(1 for node in self.nodes if node.overall in (Verdict.PASS, Verdict.WARN))

    @property
    def verdict(self) -> Verdict:
        """Fail if any node fails, pass only if all are accepted."""
        if any(node.overall is Verdict.FAIL for node in self.nodes):
            return Verdict.FAIL
        return Verdict.PASS if self.nodes and self.accepted == len(self.nodes) else Verdict.INCONCLUSIVE

    @property
    def sentence(self) -> Text:
        """Such as: 31 of 32 accepted, node-07 fails power.limit."""
        total = len(self.nodes)
        failing = [node for node in self.nodes if node.overall is Verdict.FAIL]
        en, zh = f"{self.accepted} of {total} accepted", f"{total} 个节点中 {self.accepted} 个通过验收"
        if failing:
            first, more = failing[0], len(failing) - 1
            others = "1 more node fails" if more == 1 else f"{more} more nodes fail"
            en += f", {first.node_name} fails {', '.join(first.broken[:3])}" + (f" and {others}" if more else "")
            zh += f"，{first.node_name} 不符：{'、'.join(first.broken[:3])}" + (f"，另有 {more} 个节点不符" if more else "")
        return Text(en, zh)


def acceptance_in(connection: sqlite3.Connection, contract_id: str) -> Acceptance:
    """The acceptance of a contract as its newest runs have it."""
    return Acceptance(tuple(_of_node(connection, n.id, n.name) for n in nodes.list_nodes(connection, contract_id)))


def _of_node(connection: sqlite3.Connection, node_id: str, name: str) -> NodeAcceptance:
    latest = next((r for r in runs.list_runs(connection, node_id=node_id) if r.state is RunState.FINISHED), None)
    if latest is None:
        return NodeAcceptance(node_id, name, None)
    findings = [stored.finding for stored in runs.list_current_findings(connection, latest.id)]
    return NodeAcceptance(
        node_id, name, latest.overall, _checks(findings, Verdict.FAIL), _checks(findings, Verdict.INCONCLUSIVE)
    )


def _checks(findings: Iterable[Finding], verdict: Verdict) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.check for f in findings if f.required and f.verdict is verdict))


def changes_since_before(workspace: Workspace, outcome: Outcome) -> list[str]:
    """What is different from the node's finished run before this one, one English line each."""
    if outcome.run is None:
        return []
    with workspace.read() as connection:
        this = runs.get_run(connection, outcome.run)
        earlier = [
            r for r in runs.list_runs(connection, node_id=this.node_id, parts=this.is_part)
            if r.state is RunState.FINISHED and r.started_at < this.started_at
        ]  # fmt: skip
        if not earlier:
            return ["this is the first run"]
        # A run of some checks is held against the last answer to each of them, wherever it was given.
        counted = reversed(earlier) if this.is_part else earlier[:1]
        before = {_key(s.finding): s.finding for run in counted for s in runs.list_current_findings(connection, run.id)}
    return [line for finding in outcome.findings for line in _difference(before.get(_key(finding)), finding)]


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.check, finding.term, finding.direction


def _difference(old: Finding | None, new: Finding) -> list[str]:
    if old is None:
        return [f"{new.check}: new, {new.verdict}"]
    if old.verdict is not new.verdict:
        return [f"{new.check}: {old.verdict} before, {new.verdict} now ({old.measured} -> {new.measured})"]
    if old.measured != new.measured:
        return [f"{new.check}: {old.measured} before, {new.measured} now"]
    return []
