"""What does Ctrl+K know, and what happens when a place is chosen?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpulease_gui.gui.actions import ActionSpec
from gpulease_gui.gui.menus import Menus
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.widgets.go_to import GoToPanel
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.services.go_to import Place, PlaceKind, Places, places_in, places_of

if TYPE_CHECKING:
    from gpulease_gui.gui.main_window import MainWindow


class Going(QObject):
    """Between the panel and the window. What is known is read on a worker when the panel opens and something changed."""

    def __init__(self, window: MainWindow, menus: Menus, pages: Sequence[PageSpec]) -> None:
        super().__init__(window)
        self._window, self._menus, self._pages = window, menus, tuple(pages)
        self._stale, self._empty = True, True
        self.panel = GoToPanel(window)
        self.panel.chosen.connect(self._go)

    def heard(self, event: Event) -> None:
        """Records changed: names may be others; or a run ended."""
        if isinstance(event, RecordsChanged | RunEnded):
            self._stale = True

    def forget(self) -> None:
        """Another workspace."""
        self._stale, self._empty = True, True
        self.panel.hide()
        self.panel.show_places(Places())

    def begin(self) -> None:
        """Open the panel."""
        self.panel.begin()
        if self._stale:
            self._stale = False
            services, more = self._window.services, self._of_window()
            if self._empty:
                # Pages and commands are there at the first letter, before the records are read.
                self._empty = False
                self.panel.show_places(places_of(more))
            future = services.query(lambda connection: places_in(connection, services.catalogue, more))
            self._window.bridge.when_done(future, self.panel.show_places)

    def _of_window(self) -> tuple[Place, ...]:
        pages = [Place(PlaceKind.PAGE, spec.title, "", spec.id) for spec in self._pages]
        return (*pages, *(Place(PlaceKind.COMMAND, spec.text, spec.menu.value, spec.id) for spec, _ in self._menus.shown() if _offered(spec)))

    def _go(self, place: Place) -> None:
        if place.kind is PlaceKind.COMMAND:
            action = next(action for spec, action in self._menus.shown() if spec.id == place.page)
            action.trigger()
            return
        self._window.go(place.page, *place.path)
        if place.narrow:
            self._window.header.search.setText(place.narrow)


def _offered(spec: ActionSpec) -> bool:
    """Commands that make sense without the widget that had the keyboard."""
    return spec.scope != "field" and spec.id not in ("go_to", "quit")
