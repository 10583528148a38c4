"""Which nodes are there, who rents them out, and how did each do last time?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding, Value
from gpulease_gui.domain.node import AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.remote.address import Target
from gpulease_gui.services.acceptance import Acceptance, acceptance_in
from gpulease_gui.services.kept_secrets import KeptSecret, kept_for, list_kept
from gpulease_gui.services.pinned_keys import pinned_keys
from gpulease_gui.store import hostkeys, nodes, runs, suppliers
from gpulease_gui.store.records import KeyDecision, Run, new_id

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node with what is known of it. `cards` and `driver` are what its last run read, "" = never read."""

    node: Node
    contract: Contract | None = None
    supplier: str = ""
    keys: tuple[KeyDecision, ...] = ()
    pinned: tuple[HostKey, ...] = ()
    run: Run | None = None
    runs: int = 0
    cards: str = ""
    driver: str = ""
    note: Text = NO_TEXT
    kept: tuple[KeptSecret, ...] = ()

    @property
    def key_was_changed(self) -> bool:
        """Whether a key of a kind that was trusted before was decided on later."""
        kinds = [decision.key.kind for decision in self.keys]
        return len(kinds) != len(set(kinds))


@dataclass(frozen=True, slots=True)
class NodesView:
    """All nodes by contract and name, and how the delivery of each contract stands (by contract id)."""

    rows: tuple[NodeRow, ...]
    acceptances: Mapping[str, Acceptance]
    contracts: tuple[Contract, ...]


def nodes_view(connection: sqlite3.Connection) -> NodesView:
    """Everything that the page of nodes shows."""
    contracts = suppliers.list_contracts(connection)
    names = {supplier.id: supplier.name for supplier in suppliers.list_suppliers(connection)}
    by_id = {contract.id: contract for contract in contracts}
    latest = {run.node_id: run for run in runs.list_latest_runs(connection)}
    rows = [_row(connection, node, by_id, names, latest.get(node.id)) for node in nodes.list_nodes(connection)]
    kept = list_kept(connection)
    rows = [replace(row, kept=found) if kept and (found := kept_for(row.node, kept)) else row for row in rows]
    rows.sort(key=lambda row: (row.contract is None, row.contract.number if row.contract else "", row.node.name))
    rented = {row.contract.id for row in rows if row.contract}
    return NodesView(tuple(rows), {id_: acceptance_in(connection, id_) for id_ in rented}, contracts)


def _row(
    connection: sqlite3.Connection, node: Node, contracts: Mapping[str, Contract], names: Mapping[str, str], run: Run | None
) -> NodeRow:
    contract = contracts.get(node.contract_id or "")
    found = [stored.finding for stored in runs.list_current_findings(connection, run.id)] if run else []
    cards, driver = read_hardware(found)
    return NodeRow(
        node, contract, names.get(contract.supplier_id, "") if contract else "",
        hostkeys.list_key_decisions(connection, node.id), hostkeys.list_trusted_keys(connection, node.id), run,
        len(runs.list_runs(connection, node_id=node.id)) if run else 0, cards, driver,
        _note(node),
    )  # fmt: skip


def _note(node: Node) -> Text:
    if node.reach is not Reach.DEMO:
        return foreign(node.note)
    from gpulease_gui.services.demo_data import note_of

    return note_of(node)


def read_hardware(findings: Iterable[Finding]) -> tuple[str, str]:
    """(cards as "8 × H100 PCIe 80GB", driver) as a run read them; "" for what it did not read."""
    made = [finding for finding in findings if finding.measured is not None]
    by_check: dict[str, Value] = {finding.check: finding.measured for finding in made}
    by_term: dict[str, Value] = {finding.term: finding.measured for finding in made if finding.term}
    cards = _cards(by_check.get("gpu.count"), by_check.get("gpu.model"), "GPU")
    cards = cards or _cards(by_term.get("npu.count"), by_term.get("npu.model"), "NPU")
    ascend = re.match(r"driver ([\w.]+)", str(by_check.get("npu.versions") or ""))
    return cards, str(by_check.get("drv.version") or (ascend[1] if ascend else ""))


def _cards(count: Value, model: Value, kind: str) -> str:
    name = str(model or "")
    if isinstance(count, bool) or not isinstance(count, int | float):
        return name
    return f"{number_text(count)} × {name}" if name else f"{number_text(count)} {kind}"


@dataclass(frozen=True, slots=True)
class KeyStory:
    """A trusted host key: since when (UTC), compared with what, and in how many runs it was met."""

    key: HostKey
    since: datetime
    compared_with: str
    seen: int


def key_stories(connection: sqlite3.Connection, node: Node) -> tuple[KeyStory, ...]:
    """The stories of the keys of a node that are trusted now, be it for another record of its place."""
    met = [run.host_key for run in runs.list_runs(connection, node_id=node.id, parts=True)]
    return tuple(
        KeyStory(decision.key, decision.decided_at, decision.compared_with, met.count(decision.key))
        for decision in pinned_keys(connection, node).decisions
    )


def new_nodes(targets: Iterable[Target], template: Node, taken: Iterable[str]) -> tuple[Node, ...]:
    """Records for pasted targets: login, key file, way and contract from `template` where the line names none.

    One that comes with a password logs in by it; the password itself is no part of a record. Names that are missing or taken become the host, then host:port.
    """
    used, made = set(taken), []
    for target in targets:
        choices = (target.name, target.address.host, target.address.host_port, str(target.address))
        name = next((choice for choice in choices if choice and choice not in used), f"{target.address}-{len(used)}")
        used.add(name)
        made.append(replace(
            template, id=new_id(), name=name, reach=Reach.SSH, address=target.address, note="",
            auth=AuthMethod.PASSWORD if target.password and not target.identity_file else template.auth,
            identity_file=target.identity_file or template.identity_file, jump=target.jump or template.jump,
            certificate_file=target.certificate_file or template.certificate_file, host_key_alias=target.host_key_alias,
            known_hosts="\n".join(target.known_hosts) or template.known_hosts, ssh_options=target.ssh_options,
        ))  # fmt: skip
    return tuple(made)
