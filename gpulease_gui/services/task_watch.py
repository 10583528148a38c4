"""How busy was the hardware while a task ran?"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from gpulease_gui.domain.node import Node
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.task_live import Pause
from gpulease_gui.services.watch import Watching

_USE = "gpu.util_percent"
_FEWEST, _MOST = 5, 20
# A GPU works on what it was given for a moment after the last line.
_IDLE_PERCENT, _SETTLE_S = 10.0, 2.0


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

    @property
    def view(self) -> WatchView | None:
        """What was sampled so far."""
        return self._watching.view(self._node.id)


def gpu_use(view: WatchView | None, since_s: float, until_s: float) -> tuple[tuple[str, float], ...]:
    """The median use of each GPU (UUID) in per cent between two UTC times; none of a card with fewer than five samples."""
    return tuple((uuid, round(median(values), 1)) for uuid, values in _uses(view, since_s, until_s))


def stalls(view: WatchView | None, pauses: Iterable[Pause]) -> tuple[tuple[int, int, int], ...]:
    """Those pauses in which no GPU worked: line, seconds, step; twenty at most. A pause that nobody watched is none."""
    return tuple((p.line, round(p.until_s - p.since_s), p.step) for p in pauses if _is_idle(view, p))[:_MOST]


def _is_idle(view: WatchView | None, pause: Pause) -> bool:
    uses = _uses(view, pause.since_s + _SETTLE_S, pause.until_s)
    return bool(uses) and all(median(values) < _IDLE_PERCENT for _, values in uses)


def _uses(view: WatchView | None, since_s: float, until_s: float) -> list[tuple[str, list[float]]]:
    found: list[tuple[str, list[float]]] = []
    for (metric, subject), ring in (view.rings if view else {}).items():
        if metric != _USE:
            continue
        seen = ring.view()
        values = [float(v) for at, v in zip(seen.times_s, seen.values, strict=True) if since_s <= at <= until_s and v == v]
        if len(values) >= _FEWEST:
            found.append((subject, values))
    return sorted(found)
