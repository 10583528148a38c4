"""With which words does the command line ask for a secret? With those that tell two machines apart."""

from __future__ import annotations

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import in_one_line
from gpulease_gui.remote.credentials import PASSPHRASES_MAX
from gpulease_gui.services.kept_secrets import JUMP, PROXY
from gpulease_gui.services.ways import SecretAsked

_MOST_NAME, _MOST_WAY, _MOST_WHAT = 60, 100, 600


def question(node: Node, asked: SecretAsked) -> str:
    """What is asked for, whose it is, and the way there: behind another jump host the same address is another machine.

    In one line of plain text that ends with ": ": a node whose question has several lines could begin one that looks like ours.
    """
    again = f"wrong, try {asked.number} of {PASSPHRASES_MAX}: " if asked.number > 1 else ""
    what, called = _short(asked.what, _MOST_WHAT), _called(node)
    if asked.what.startswith((JUMP, PROXY)):
        return f"{again}{what} on the way to {called}: "
    place = f"jump host {in_one_line(asked.hop)} on the way to {called}" if asked.hop else called
    return f"{again}{what} for {place}: "


def _called(node: Node) -> str:
    """Such as `node-01 (root@203.0.113.1:22 via gate, proxy socks5://p:1080)`."""
    way = ", ".join(part for part in (node.jump, f"proxy {node.proxy}" if node.proxy else "") if part)
    place = f"{in_one_line(node.target)}{f' via {_short(way, _MOST_WAY)}' if way else ''}"
    return place if node.name in _own_words(node) else f"{_short(node.name, _MOST_NAME)} ({place})"


def _own_words(node: Node) -> tuple[str, ...]:
    """What the address is called by who types it."""
    address = node.address
    return (node.target,) if address is None else (node.target, address.host, address.host_port, f"{address.user}@{address.host}")


def _short(words: str, most: int) -> str:
    """In one line; what is too long loses its middle, as the ends tell addresses apart."""
    line = in_one_line(words)
    head = (most - 1) // 2
    return line if len(line) <= most else f"{line[:head]}…{line[len(line) - (most - 1 - head) :]}"
