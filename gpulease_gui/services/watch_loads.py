"""Which tests of ours ask just now for all that a line of a watched node gives, so that the promised rate may be expected there?

A test is told when its own bytes may begin, and when it ended: not the check that it belongs to, which connects, rests and turns
round. One stream alone, small requests and a program that is no test of ours ask for less than a line gives.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from gpulease_gui.checks.watch_line import Load
from gpulease_gui.services.events import Event, LoadChanged


class Loads:
    """Remembers what runs, by node and metric; and of tests that were waited for that they are over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, dict[str, Load]] = {}
        self._count = 0

    def hear(self, event: Event) -> None:
        """Take an event of the bus."""
        if not isinstance(event, LoadChanged):
            return
        with self._lock:
            running = dict(self._running.get(event.node_id, {}))
            if event.runs:
                self._count += 1
                running[event.load.metric] = replace(event.load, number=self._count)
            elif (one := running.pop(event.load.metric, None)) is not None and one.waits and event.believed:
                running[one.metric] = replace(one, over=True)
            self._running[event.node_id] = running

    def of(self, node_id: str) -> Mapping[str, Load]:
        """What runs on a node, by metric; not to be changed."""
        with self._lock:
            return self._running.get(node_id, {})
