"""How are nodes saved and listed?"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.store.node_moves import MOVE_MARK, note_move
from gpulease_gui.store.settings import save_setting

if TYPE_CHECKING:
    from sqlite_utils import Database

# They are this computer's, as settings are: another one has other addresses and agents.
_OPTIONS = "node.ssh_options."
_NODE = (
    "SELECT id, name, reach, host, port, user_name, contract_id, auth, identity_file, demo_name, use_sudo, note, "
    "jump, proxy, certificate_file, host_key_alias, known_hosts, "
    f"COALESCE((SELECT value FROM settings WHERE key = '{_OPTIONS}' || nodes.id), '\"\"') "
    "FROM nodes"
)


def save_node(db: Database, node: Node) -> None:
    """Insert or replace by id. Raises sqlite3.IntegrityError for an unknown contract or a port out of range."""
    address = node.address
    _note_move(db, node)
    row = {
        "id": node.id, "name": node.name, "reach": node.reach, "host": address.host if address else None,
        "port": address.port if address else None, "user_name": address.user if address else None,
        "contract_id": node.contract_id, "auth": node.auth, "identity_file": node.identity_file,
        "demo_name": node.demo_name, "use_sudo": int(node.use_sudo), "note": node.note, "jump": node.jump,
        "proxy": node.proxy, "certificate_file": node.certificate_file, "host_key_alias": node.host_key_alias,
        "known_hosts": node.known_hosts,
    }  # fmt: skip
    db.table("nodes").upsert(row, pk="id")
    if node.ssh_options:
        save_setting(db, f"{_OPTIONS}{node.id}", node.ssh_options)
    else:
        _forget_options(db, node.id)


def _note_move(db: Database, node: Node) -> None:
    """What a node cost before is priced by the contract that it had then."""
    found = db.conn.execute("SELECT contract_id FROM nodes WHERE id = ?", (node.id,)).fetchone()
    if found is not None and found[0] != node.contract_id:
        note_move(db, node.id, found[0], node.contract_id, utc_now())


def _forget_options(db: Database, node_id: str) -> None:
    db.conn.execute("DELETE FROM settings WHERE key = ?", (f"{_OPTIONS}{node_id}",))


def remove_node(db: Database, node_id: str) -> None:
    """Remove a node that was never verified, watched or trusted. Raises UserFacing otherwise."""
    try:
        db.conn.execute("DELETE FROM marks WHERE node_id = ? AND kind = ?", (node_id, MOVE_MARK))
        db.conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
    except sqlite3.IntegrityError as error:
        raise UserFacing(
            Text("this node can't be removed", "无法移除该节点"), Text("runs, samples or host keys belong to it", "有验收、采样或主机密钥属于它"),
            Text("what was measured stays on record", "测量记录须保留"),
        ) from error
    _forget_options(db, node_id)


def list_nodes(connection: sqlite3.Connection, contract_id: str | None = None) -> tuple[Node, ...]:
    """All nodes, or those of one contract, by name."""
    rows = connection.execute(f"{_NODE} WHERE :id IS NULL OR contract_id = :id ORDER BY name, id", {"id": contract_id})
    return tuple(_node(*row) for row in rows)


def list_others_at(connection: sqlite3.Connection, node: Node) -> tuple[Node, ...]:
    """Other nodes that have its host key alias, or its host and port, and its jump hosts, proxy and known_hosts files."""
    assert node.address is not None
    rows = connection.execute(
        f"{_NODE} WHERE id != :id AND reach = 'ssh' AND host_key_alias = :alias "
        "AND (:alias != '' OR (lower(host) = lower(:host) AND port = :port)) AND jump = :jump AND proxy = :proxy AND known_hosts = :files",
        {
            "id": node.id, "alias": node.host_key_alias, "host": node.address.host, "port": node.address.port, "jump": node.jump,
            "proxy": node.proxy, "files": node.known_hosts,
        },
    )  # fmt: skip
    return tuple(_node(*row) for row in rows)


def get_node(connection: sqlite3.Connection, node_id: str) -> Node:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_NODE} WHERE id = ?", (node_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no node {node_id!r}", f"没有节点 {node_id!r}"))
    return _node(*row)


def _node(
    id_: str, name: str, reach: str, host: str | None, port: int | None, user: str | None, contract_id: str | None,
    auth: str, identity_file: str, demo_name: str, use_sudo: int, note: str, jump: str, proxy: str, certificate_file: str,
    host_key_alias: str, known_hosts: str, options: str,
) -> Node:  # fmt: skip
    address = Address(host, port, user) if host is not None and port is not None and user is not None else None
    return Node(
        id_, name, Reach(reach), address, contract_id, AuthMethod(auth), identity_file, demo_name, bool(use_sudo), note,
        jump, proxy, certificate_file, host_key_alias, known_hosts, str(json.loads(options)),
    )  # fmt: skip
