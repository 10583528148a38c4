"""What does the Live page say of a line that carries a part of what is promised, and that no test of ours asks for all of it?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.services.watch_words import check_of, unjudged_words

if TYPE_CHECKING:
    from gpulease_gui.checks.watch_rules import Judged
    from gpulease_gui.gui.pages.live import LivePage
    from gpulease_gui.services.watch import WatchView

# A job that rests for a moment does not move the chart, and words do not flicker.
STAYS_S, SAYS_AGAIN_S = 60.0, 5.0


class Asked(QObject):
    """A band: so much of so much, a way to the test that tells which of the two it is, and out of the way."""

    def __init__(self, page: LivePage, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(page)
        self._page, self._clock = page, clock
        self._shown: tuple[str, Judged] | None = None
        self._seen_s = self._said_s = -STAYS_S
        self._put_away: set[str] = set()
        self.test, self.away = Button(Text("Test…", "测试…"), small=True), Button(Text("Not now", "暂不"), kind="quiet", small=True)
        self.band = Band("inc", "", "", self.test, self.away)
        self.band.hide()
        self.test.clicked.connect(self._open)
        self.away.clicked.connect(self._put)

    def tell(self, view: WatchView | None) -> None:
        """Speak of the node in sight."""
        now_s, node_id = self._clock(), view.node_id if view is not None else ""
        usual = view.unjudged if view is not None and self._page.running else ()
        if not self._page.charted or not node_id or node_id in self._put_away or not self._page.running:
            self._hide()
        elif usual:
            self._seen_s = now_s
            self._say(node_id, min(usual, key=_share), now_s)
        elif self._shown is not None and (self._shown[0] != node_id or now_s - self._seen_s > STAYS_S):
            self._hide()

    def _say(self, node_id: str, carried: Judged, now_s: float) -> None:
        same = self._shown is not None and self._shown[0] == node_id and self._shown[1].metric == carried.metric
        if same and now_s - self._said_s < SAYS_AGAIN_S:
            return
        self._shown, self._said_s = (node_id, carried), now_s
        self.band.tell(*unjudged_words(carried))

    def _hide(self) -> None:
        self._shown = None
        self.band.hide()

    def _put(self) -> None:
        if self._shown is not None:
            self._put_away.add(self._shown[0])
        self._hide()

    def _open(self) -> None:
        if self._shown is not None:
            node_id, carried = self._shown
            self._page.frame.go("verification", node_id, check_of(carried))


def _share(carried: Judged) -> float:
    return (carried.value or 0.0) / (carried.promised or 1.0)
