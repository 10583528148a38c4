"""Which nodes can be watched, and what was promised for each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.term import TermValue

if TYPE_CHECKING:
    import sqlite3

    from gpulease_gui.services.composition import Services


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A node with its contract's number, its supplier's name and the stated terms."""

    node: Node
    contract: str = ""
    supplier: str = ""
    terms: Mapping[str, TermValue] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """How the node is reached, for the target band."""
        return str(self.node.address) if self.node.address else self.node.target


def load_nodes(connection: sqlite3.Connection) -> tuple[LiveNode, ...]:
    """All nodes by name, this computer last."""
    from gpulease_gui.services.acceptance import promises_in
    from gpulease_gui.store import nodes, suppliers

    contracts = {contract.id: contract for contract in suppliers.list_contracts(connection)}
    names = {supplier.id: supplier.name for supplier in suppliers.list_suppliers(connection)}
    made = []
    for node in nodes.list_nodes(connection):
        contract = contracts.get(node.contract_id or "")
        if contract is None:
            made.append(LiveNode(node))
        else:
            made.append(LiveNode(node, contract.number, names.get(contract.supplier_id, ""), promises_in(connection, contract.id)))
    return tuple(sorted(made, key=lambda one: one.node.reach is Reach.LOCAL))


def make_this_computer(services: Services, name: str) -> Node:
    """The record of this computer, made with this name if there is none; blocks, for a worker thread."""
    from gpulease_gui.services.targets import LOCAL_ID
    from gpulease_gui.store.nodes import list_nodes, save_node

    with services.workspace.read() as connection:
        known = next((node for node in list_nodes(connection) if node.reach is Reach.LOCAL), None)
    if known is not None:
        return known
    made = Node(LOCAL_ID, name, Reach.LOCAL)
    services.workspace.submit(lambda db: save_node(db, made)).result()
    return made
