"""Which other nodes stand at the address of one whose host key is not known yet?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.text import Text
from gpulease_gui.services.pin_places import moved
from gpulease_gui.store import hostkeys, nodes
from gpulease_gui.store.doors import Reader

_MOST = 3


def others_at(connection: Reader, node: Node, shown: Sequence[HostKey]) -> tuple[Text, ...]:
    """A sentence for each other record with this host, port and jump hosts: rented addresses go from tenant to tenant.

    `shown`: the keys that answer there now.
    """
    found = [other for other in nodes.list_nodes(connection) if other.id != node.id and _place(other) == _place(node) is not None]
    return tuple(_words(other, _pinned_here(connection, other), shown) for other in found[:_MOST])


def _place(node: Node) -> tuple[str, int, str] | None:
    return (node.address.host.lower(), node.address.port, node.jump) if node.address is not None else None


def _pinned_here(connection: Reader, node: Node) -> tuple[HostKey, ...]:
    """A key that was met before the record was edited speaks of another place."""
    return tuple(key for key in hostkeys.list_trusted_keys(connection, node.id) if moved(connection, node, key) is None)


def _words(other: Node, pinned: Sequence[HostKey], shown: Sequence[HostKey]) -> Text:
    en, zh = f"{other.name} has the same address", f"{other.name} 使用相同地址"
    if not pinned:
        return Text(en, zh)
    if set(pinned) & set(shown):
        return Text(f"{en} and this very key: both are one machine", f"{zh}，且密钥相同：两条记录应为同一台机器")
    return Text(
        f"{en} and another key: the address went to another machine, or somebody stands between",
        f"{zh}，但密钥不同：该地址可能已分配给另一台机器，或连接被中途拦截",
    )
