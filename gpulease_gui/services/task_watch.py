"""How busy was the hardware while a task ran?"""

from __future__ import annotations

from statistics import median

from gpulease_gui.domain.node import Node
from gpulease_gui.services.watch import Watching

_USE = "gpu.util_percent"
_FEWEST = 5


class TaskWatch:
    """Watches a node beside its task; a node that was watched already stays watched afterwards."""

    def __init__(self, watching: Watching, node: Node) -> None:
        self._watching, self._node = watching, node
        self._ours = all(view.node_id != node.id for view in watching.views())

    def start(self) -> None:
        """Record from now on."""
        self._watching.start(self._node)

    def stop(self) -> None:
        """Record no more, if it was for the task's sake."""
        if self._ours:
            self._watching.stop(self._node.id)

    def gpu_use(self, since_s: float, until_s: float) -> tuple[tuple[str, float], ...]:
        """The median use of each GPU (UUID) in per cent between two UTC times; none of a card with fewer than five samples."""
        view = self._watching.view(self._node.id)
        if view is None:
            return ()
        found = []
        for (metric, subject), ring in view.rings.items():
            if metric != _USE:
                continue
            seen = ring.view()
            values = [v for at, v in zip(seen.times_s, seen.values, strict=True) if since_s <= at <= until_s and v == v]
            if len(values) >= _FEWEST:
                found.append((subject, round(median(values), 1)))
        return tuple(sorted(found))
