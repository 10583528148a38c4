"""Is a node watched now, and if not: was that the user's wish, or was it refused?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.services.events import NodeState, NodeStateChanged

if TYPE_CHECKING:
    from gpulease_gui.services.watch import WatchView

# Why a node is not watched, where it is not the user's wish.
_REFUSED = frozenset([NodeState.REFUSED, NodeState.KEY_CHANGED])


class States:
    """How the watches stand. A line that once stood, or that a verification has opened, is no watch."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._last: dict[str, NodeState] = {}
        self._stopped: dict[str, WatchView] = {}

    def hear(self, event: NodeStateChanged) -> None:
        """What the line of a node does."""
        self._last[event.node_id] = event.state

    def stop(self, node_id: str) -> None:
        """The user watches it no more; its thread may end later. A watch that begins after that, here or elsewhere, is another one."""
        view = self._frame.services.watching.view(node_id)
        if view is not None:
            self._stopped[node_id] = view

    def running(self, view: WatchView | None) -> bool:
        """Whether this watch goes on."""
        if view is None or self._stopped.get(view.node_id) is view:
            return False
        return any(one is view for one in self._frame.services.watching.views())

    def of(self, nodes: Iterable[LiveNode]) -> dict[str, NodeState]:
        """By id, of all of them."""
        views = self._frame.services.watching.views()
        running = {view.node_id: view.state for view in views if self._stopped.get(view.node_id) is not view}
        return {one.node.id: running.get(one.node.id) or self._resting(one.node.id) for one in nodes}

    def _resting(self, node_id: str) -> NodeState:
        last = self._last.get(node_id, NodeState.NOT_WATCHED)
        if last not in _REFUSED:
            return NodeState.NOT_WATCHED
        stopped, view = self._stopped.get(node_id), self._frame.services.watching.view(node_id)
        return last if stopped is None or stopped is not view else NodeState.NOT_WATCHED
