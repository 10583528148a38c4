"""What is the record of this computer called in the window, whatever language it was made in?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.node import THIS_COMPUTER, Node
from gpulease_gui.gui.language import say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.widgets.lively import Lively

if TYPE_CHECKING:
    from sqlite_utils import Database

    from gpulease_gui.store.doors import Reader


class OwnComputer(Lively, QWidget):
    """Is never shown: as a part of the window it hears of another language. A name that the user gave stays."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.hide()

    def retranslate(self) -> None:
        """Look again."""
        self.look()

    def look(self) -> None:
        """Name the record anew where it has the name of another language."""
        services = self._window.open_services
        if services is None:
            return
        name = say(THIS_COMPUTER)

        def read(connection: Reader) -> list[Node]:
            from gpulease_gui.services.targets import is_own_unnamed
            from gpulease_gui.store.nodes import list_nodes

            return [replace(node, name=name) for node in list_nodes(connection) if is_own_unnamed(node) and node.name != name]

        self._window.bridge.when_done(services.query(read), self._name)

    def _name(self, nodes: list[Node]) -> None:
        services = self._window.open_services
        if services is None or not nodes:
            return
        from gpulease_gui.store.nodes import save_node

        def work(db: Database) -> None:
            for node in nodes:
                save_node(db, node)

        self._window.bridge.when_done(services.change(work, "node"), lambda _: None)
