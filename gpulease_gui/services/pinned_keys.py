"""Which host keys are pinned for a node, by its own record or by another one of the same place?

As in ssh, a key belongs to the name by which a host is known. A name is not enough: behind another way the same address
is another machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.ssh_options import parse_options
from gpulease_gui.store import hostkeys, nodes
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import KeyDecision, KeyState


@dataclass(frozen=True, slots=True)
class Pinned:
    """The decisions that trust the keys of a node: `own` ones of its record, and while there is none, `lent` ones of others."""

    own: tuple[KeyDecision, ...]
    lent: tuple[KeyDecision, ...] = ()

    @property
    def decisions(self) -> tuple[KeyDecision, ...]:
        """Those that count."""
        return self.own or self.lent

    @property
    def keys(self) -> tuple[HostKey, ...]:
        """The keys that count; empty = nothing is pinned."""
        return tuple(decision.key for decision in self.decisions)

    def lender(self, key: HostKey) -> KeyDecision | None:
        """The decision about another record by which the key counts."""
        return None if self.own else next((decision for decision in self.lent if decision.key == key), None)


def pinned_keys(connection: Reader, node: Node) -> Pinned:
    """What was decided last about a key counts, whichever record of the place it was decided for: a key that was replaced for one is
    replaced for all.
    """
    here = [node.id, *(other.id for other in at_its_place(connection, node))]
    own = _trusted(hostkeys.list_key_decisions(connection, node.id))
    if len(here) == 1:
        return Pinned(tuple(own.values()))
    every = _trusted(hostkeys.list_key_decisions(connection, *here))
    mine = tuple(decision for key, decision in own.items() if key in every)
    return Pinned(mine, () if mine else tuple(every.values()))


def _trusted(history: Sequence[KeyDecision]) -> Mapping[HostKey, KeyDecision]:
    """By key the decision since which it has been trusted, with the place where it was met last."""
    found: dict[HostKey, KeyDecision] = {}
    for decision in history:
        if decision.state is KeyState.TRUSTED:
            found[decision.key] = replace(found.get(decision.key, decision), place=decision.place)
        else:
            found.pop(decision.key, None)
    return found


def at_its_place(connection: Reader, node: Node) -> tuple[Node, ...]:
    """The other records by which a host is known by the same name, over a way and with known_hosts files that are written in the same words."""
    if node.address is None:
        return ()
    same = nodes.list_others_at(connection, node)
    return tuple(other for other in same if other.jump or other.ssh_options == node.ssh_options or _way_out(other) == _way_out(node))


def _way_out(node: Node) -> object:
    """From where it is called: over another interface the same address is another machine."""
    return parse_options(node.ssh_options).way_out


def lent_words(name: str) -> Text:
    """Of which node the key is that counts, for a sentence beside the connection."""
    return Text(f"{name} has the same address and this very key: both are one machine", f"{name} 使用相同地址，且密钥相同：两条记录应为同一台机器")


def once_words(once: Mapping[str, HostKey]) -> tuple[Text, Text, Text]:
    """What stands beside a connection whose host key nobody vouched for: what, why (nothing), what to do."""
    keys = ", ".join(f"{hop} {key.fingerprint}".lstrip() for hop, key in once.items())
    what = Text(f"connected once: its host key is not pinned ({keys})", f"仅此次连接：主机密钥未固定（{keys}）")
    return what, NO_TEXT, Text("compare the fingerprint with the supplier's; the next connection asks again", "与供应商提供的指纹核对；下次连接时会再次询问")


def hop_place(node: Node, hop: str) -> str:
    """As `place_of_hop`, for the jump host that shows itself as host:port on the way to a node. Reads the user's ssh config."""
    # Imported late: the first window is drawn before paramiko is loaded.
    from gpulease_gui.remote.ssh_config import resolve_jumps

    places = resolve_jumps(node.jump)
    number = next((number for number, place in enumerate(places, 1) if place.address.host_port == hop), 0)
    return place_of_hop(node, places[:number]) if number else hop


def place_of_hop(node: Node, places: Sequence[Target]) -> str:
    """By what the key of the last of the jump hosts is pinned: its host:port, and over what it is called unless it is called straight."""
    *before, last = (place.address.host_port for place in places)
    proxy = parse_proxy(node.proxy)
    way = [*([f"{proxy.kind}://{proxy.host_port}"] if proxy is not None else []), *before]
    return " via ".join([last, *reversed(way)])
