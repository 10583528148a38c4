"""Is it this computer that has no network? A line that is lost then says nothing about the node."""

from __future__ import annotations

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.remote.address import parse_jump
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.way_out import has_way


def without_network(node: Node) -> bool:
    """Whether this computer has no network on which it would reach that node."""
    return node.address is not None and not has_way(*first_stop(node.address, node.jump, node.proxy))


def told_of(node: Node, reason: Reason) -> Reason:
    """Why nothing came of a node: a line that is lost, or says nothing, while this computer has no network is not its fault."""
    return Reason.OWN_NETWORK if reason in (Reason.CONNECTION_LOST, Reason.TIMEOUT) and without_network(node) else reason


def first_stop(address: Address, jump: str, proxy: str) -> tuple[str, int]:
    """Host and port that this computer itself connects to: the proxy, else the first jump host, else the node."""
    try:
        out, hops = parse_proxy(proxy), parse_jump(jump)
    except UsageError:
        return address.host, address.port
    if out is not None:
        return out.host, out.port
    return (hops[0].host, hops[0].port or 22) if hops else (address.host, address.port)
