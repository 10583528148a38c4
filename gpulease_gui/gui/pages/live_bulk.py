"""How are many nodes watched, or watched no more, at once?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_acts import RULES
from gpulease_gui.gui.pages.live_all import AllNodes
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.buttons import Button

# A watch is a thread and a connection: they begin one after the other, so that neither window nor network stumbles.
APART_MS = 20


class Bulk(QObject):
    """The buttons over all nodes. They speak of the chosen ones, or of all that are shown; `changed`: they are others."""

    changed = Signal()

    def __init__(self, frame: Frame, nodes: AllNodes) -> None:
        super().__init__(nodes)
        self._frame, self._all = frame, nodes
        self._queue: list[Node] = []
        self._counts = (-1, -1)
        self.watch_button, self.stop_button = Button(kind="primary", icon="nav-live"), Button(icon="stop")
        self.rules_button = Button(RULES, icon="bell")
        self.rules_button.clicked.connect(self._show_rules)
        self._timer = QTimer(self)
        self._timer.setInterval(APART_MS)
        self._timer.timeout.connect(self._next)
        self.watch_button.clicked.connect(self.watch)
        self.stop_button.clicked.connect(self.stop)
        nodes.chosen_changed.connect(self.look)
        nodes.counted.connect(self.look)

    def buttons(self) -> tuple[Button, ...]:
        """Stop those that are watched, watch those that are not."""
        self._name()
        unwatched, watched = self._split()
        return (self.rules_button, *((self.stop_button,) if watched else ()), *((self.watch_button,) if unwatched else ()))

    def _show_rules(self) -> None:
        from gpulease_gui.gui.forms.watch_dialog import watch_dialog

        numbers = {card: number for view in self._frame.services.watching.views() for card, number in view.numbers.items()}
        watch_dialog(self._frame, self._all, numbers=numbers)

    def _split(self) -> tuple[Sequence[str], Sequence[str]]:
        running = {view.node_id for view in self._frame.services.watching.views()}
        chosen = self._all.chosen
        return [id_ for id_ in chosen if id_ not in running], [id_ for id_ in chosen if id_ in running]

    def look(self) -> None:
        """Name them anew when other nodes are chosen or watched."""
        unwatched, watched = self._split()
        if (len(unwatched), len(watched)) != self._counts:
            self.changed.emit()

    def _name(self) -> None:
        unwatched, watched = self._split()
        self._counts = len(unwatched), len(watched)
        self.watch_button.set_words(_counted(Text("Watch {n} node", "监控 {n} 个节点"), len(unwatched)))
        self.stop_button.set_words(_counted(Text("Stop watching {n} node", "停止监控 {n} 个节点"), len(watched)))

    def watch(self) -> None:
        """Begin with those that are not watched, one after the other."""
        self._queue = [node for id_ in self._split()[0] if (node := self._all.node(id_)) is not None]
        self._timer.start()

    def _next(self) -> None:
        if self._queue:
            self._frame.services.watching.start(self._queue.pop(0))
        if not self._queue:
            self._timer.stop()

    def stop(self) -> None:
        """End the watches of those that are watched; also those that wait for their turn."""
        self._queue = []
        for id_ in self._split()[1]:
            self._frame.services.watching.stop(id_)


def _counted(words: Text, count: int) -> Text:
    plural = "s" if count != 1 else ""
    return Text(words.en.format(n=count) + plural, words.zh.format(n=count))
