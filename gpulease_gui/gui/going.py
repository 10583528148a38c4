"""What does Ctrl+K know, and what happens when a place is chosen?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.gui.actions import ActionSpec
from gpulease_gui.gui.menus import Menus
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.widgets.go_to import GoToPanel
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.services.go_to import Place, PlaceKind, Places, places_in, places_of

if TYPE_CHECKING:
    from gpulease_gui.gui.main_window import MainWindow


_AHEAD_MS = 1000


class Going(QObject):
    """Between the panel and the window. What is known is read on a worker when the panel opens and something changed.

    The first time it is read ahead, a second after a workspace was opened: it imports all checks, which takes half a second.
    """

    def __init__(self, window: MainWindow, menus: Menus, pages: Sequence[PageSpec]) -> None:
        super().__init__(window)
        self._window, self._menus, self._pages = window, menus, tuple(pages)
        self._stale, self._empty = True, True
        self._under_way: Future[Places] | None = None
        self.panel = GoToPanel(window)
        self.panel.chosen.connect(self._go)
        self._ahead = QTimer(self)
        self._ahead.setSingleShot(True)
        self._ahead.setInterval(_AHEAD_MS)
        self._ahead.timeout.connect(self._read)

    def heard(self, event: Event) -> None:
        """Records changed: names may be others; or a run ended."""
        if isinstance(event, RecordsChanged | RunEnded):
            self._stale = True

    def forget(self) -> None:
        """Another workspace."""
        self._stale, self._empty, self._under_way = True, True, None
        self.panel.hide()
        self.panel.show_places(Places())
        self._ahead.start()

    def begin(self) -> None:
        """Open the panel."""
        self.panel.begin()
        if self._empty:
            # Pages and commands are there at the first letter, before the records are read.
            self.panel.show_places(places_of(self._of_window()), reading=self._window.open_services is not None)
        self._read()

    def _read(self) -> None:
        self._ahead.stop()
        services = self._window.open_services
        if self._stale and services is not None:
            self._stale, catalogue, more = False, services.catalogue, self._of_window()
            future = services.query(lambda connection: places_in(connection, catalogue, more))
            self._under_way = future
            self.panel.tell_reading()
            self._window.bridge.when_done(future, lambda places: self._take(future, places), lambda trouble: self._failed(future, trouble))

    def _take(self, future: Future[Places], places: Places) -> None:
        if future is self._under_way:  # not of a workspace that was left, nor of one read anew
            self._empty = False
            self.panel.show_places(places)

    def _failed(self, future: Future[Places], trouble: UserFacing) -> None:
        if future is self._under_way:
            self._stale = True
            self.panel.show_places(places_of(self._of_window()))
            self._window.bridge.troubled.emit(trouble)

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
