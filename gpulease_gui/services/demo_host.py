"""Which simulated nodes are there, and how are they offered to other SSH clients?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.text import Text


@dataclass(frozen=True, slots=True)
class DemoLine:
    """One simulated node as it is listed; `address` is empty while nothing is served."""

    name: str
    title: Text
    story: Text
    fingerprint: str
    address: str = ""
    identity_file: str = ""


def demo_list() -> tuple[DemoLine, ...]:
    """All simulated nodes, the honest one first."""
    return tuple(DemoLine(n.name, n.title, n.story, n.host_key.fingerprint) for n in demo_nodes().values())


@contextmanager
def serving() -> Iterator[tuple[DemoLine, ...]]:
    """Serve the nodes on loopback for as long as the block lasts. Raises OSError."""
    with DemoServer() as server:
        key = str(server.client_key_path)
        yield tuple(
            DemoLine(n.name, n.title, n.story, n.host_key.fingerprint, str(server.address(n.name)), key)
            for n in server.nodes.values()
        )
