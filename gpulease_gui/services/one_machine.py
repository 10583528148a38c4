"""How do two records of one machine keep from measuring it at the same time?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.services.identity_pin import place_of


class MachineTurns:
    """Each machine is measured by one at a time: a rate that is taken beside another one of the same disk is half of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._machines: dict[tuple[str, str, str], threading.Lock] = {}

    @contextmanager
    def alone(self, node: Node, cancel: CancelToken) -> Iterator[None]:
        """A block in which nobody else here measures that machine. Raises Cancelled while it waits for its turn."""
        # One private address behind two gates are two machines.
        with self._lock:
            machine = self._machines.setdefault((place_of(node), node.jump, node.proxy), threading.Lock())
        while not machine.acquire(timeout=0.2):
            cancel.check()
        try:
            yield
        finally:
            machine.release()
