"""How do aliases of an ssh config become nodes, and how are they taken back?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.node import AuthMethod, Node, Reach
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.ssh_aliases import ConfigRow
from gpulease_gui.services.nodes_view import new_nodes
from gpulease_gui.services.ways import method_for, usual_login
from gpulease_gui.store import nodes

if TYPE_CHECKING:
    from sqlite_utils import Database


def is_there(target: Target, known: Iterable[Node], aliases: Collection[str] = ()) -> bool:
    """Whether one of the nodes leads to the same place: address behind the same jump hosts.

    A node that is called as another of the `aliases` does not count: that one may have another login.
    """
    here = (node for node in known if (node.address, node.jump) == (target.address, target.jump))
    return any(node.name == target.name or node.name not in aliases for node in here)


def nodes_of(rows: Iterable[ConfigRow], contract_id: str | None, taken: Iterable[str]) -> tuple[Node, ...]:
    """New records for the rows with a target, each with the login that its config names; else the agent's, if there is one."""
    made = new_nodes((row.target for row in rows if row.target), Node("", "", Reach.SSH, contract_id=contract_id), taken)
    return tuple(replace(n, auth=_login_of(n)) for n in made)


def _login_of(node: Node) -> AuthMethod:
    if node.identity_file:
        return method_for(node.identity_file)
    return usual_login(node)


def take_back(db: Database, made: Sequence[Node]) -> None:
    """Remove all of them or, when something belongs to one by now, none. Raises UserFacing."""
    with db.atomic():
        for node in made:
            nodes.remove_node(db, node.id)
