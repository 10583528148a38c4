"""What can be done with the stretch in sight, beside looking at it?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_nodes import make_this_computer
from gpulease_gui.gui.pages.live_note import ADD_NOTE, NoteDialog
from gpulease_gui.gui.widgets.buttons import Button

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.live import LivePage
    from gpulease_gui.services.watch import WatchView


class Acts(QObject):
    """A note, files, the report, rules and their breaches."""

    def __init__(self, page: LivePage) -> None:
        super().__init__(page)
        self._page, self._frame = page, page.frame
        self._unsaved, self._counted = "", 0
        self.local_button = Button(Text("This computer", "本机"), icon="cpu")
        self.note_button = Button(ADD_NOTE, icon="flag")
        self.local_button.clicked.connect(self._this_computer)
        self.note_button.clicked.connect(self._add_note)

    def _add_note(self) -> None:
        page = self._page
        at_cursor, at_s = page.chart.read_at
        at_s = at_s if at_cursor else page.chart.span_s[1]
        from gpulease_gui.gui.widgets.chart_scale import clock_text

        dialog = NoteDialog(page.node.node.name if page.node else "", clock_text(at_s), page)
        dialog.accepted.connect(lambda: page.history.note(dialog.words, datetime.fromtimestamp(at_s, UTC)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _this_computer(self) -> None:
        services = self._frame.services
        self.local_button.setEnabled(False)
        self._frame.bridge.when_done(services.jobs.local(lambda: make_this_computer(services)), self._made_local)

    def _made_local(self, node: Node) -> None:
        self.local_button.setEnabled(True)
        self._page.visit((node.id, "watch"))

    def tell(self, view: WatchView | None) -> None:
        """How many nodes are watched; samples that can't be written are told once."""
        watched = len(self._frame.services.watching.views())
        if watched != self._counted:
            self._counted = watched
            self._frame.set_count("live", str(watched) if watched else "")
        unsaved = view.unsaved if view is not None else ""
        if unsaved and unsaved != self._unsaved:
            self._frame.trouble(Text("Samples are shown but not saved", "采样仅显示，未能保存"), unsaved)
        self._unsaved = unsaved
