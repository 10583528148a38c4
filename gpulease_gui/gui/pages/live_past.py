"""When does the Live page look into the store, and what did it find there?

One reading at a time in a worker; meanwhile what was read before stays in sight.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpulease_gui.domain.span import utc_now
from gpulease_gui.gui.pages.page import Frame

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from sqlite_utils import Database

    from gpulease_gui.domain.errors import UserFacing
    from gpulease_gui.gui.models.past import Past, Wish
    from gpulease_gui.gui.models.stored import Stored
    from gpulease_gui.gui.models.verified import Verified
    from gpulease_gui.services.watch import WatchView

STORED_EVERY_S, PAST_EVERY_S = 60.0, 10.0


class History:
    """What is stored of one node. `changed` is called when something new was read."""

    def __init__(self, frame: Frame, changed: Callable[[], None], clock: Callable[[], float] = time.time) -> None:
        self._frame, self._changed, self._clock = frame, changed, clock
        self._node, self._promised = "", frozenset[str]()
        self.stored: Stored | None = None
        self.past: Past | None = None
        self._stored_at_s = self._past_at_s = 0.0
        self._reading_stored = self._reading_past = False

    @property
    def verified(self) -> Verified | None:
        """What the newest verification found; None as long as the store was not read."""
        return self.stored.verified if self.stored is not None else None

    def choose(self, node_id: str, promised: frozenset[str] = frozenset()) -> None:
        """Speak of this node from now on; `promised` are the terms with a figure."""
        if node_id != self._node or promised != self._promised:
            self._node, self._promised = node_id, promised
            self.stored = self.past = None
            self.refresh()

    def refresh(self) -> None:
        """Read soon what happened to the node and when it was read."""
        self._stored_at_s = 0.0
        self.look()

    def look(self) -> None:
        """Read what is stored anew once a minute."""
        if not self._node or self._reading_stored or self._clock() - self._stored_at_s < STORED_EVERY_S:
            return
        from gpulease_gui.gui.models.stored import read_stored

        node, now_s, promised = self._node, self._clock(), self._promised
        self._stored_at_s, self._reading_stored = now_s, True
        future = self._frame.services.query(lambda db: read_stored(db, node, now_s, promised))
        self._frame.bridge.when_done(future, self._take_stored, self._failed)

    def _take_stored(self, stored: Stored) -> None:
        self._reading_stored = False
        if stored.node_id != self._node:
            self._stored_at_s = 0.0
            self.look()
        elif stored != self.stored:
            self.stored = stored
            self._changed()

    def needed(self, start_s: float, end_s: float, view: WatchView | None) -> bool:
        """Whether something is stored of the stretch that the rings no longer, or never, held."""
        rings = tuple(view.rings.values()) if view is not None else ()
        begins = [ring.view().times_s[0] for ring in rings if ring.total]
        held_s = min(begins, default=end_s) - 2.0
        return self.stored is not None and start_s < held_s and self.stored.holds(start_s, min(end_s, held_s))

    def look_at(self, wish: Wish, view: WatchView | None, *, following: bool) -> Past | None:
        """What was read of the node, the last wish fulfilled or not; reads anew when it is another or time went on."""
        past = self.past if self.past is not None and self.past.wish.node_id == wish.node_id else None
        if not self._reading_past and (past is None or self._stale(past.wish, wish, following)):
            self._read(wish, view)
        return past

    def _stale(self, had: Wish, wish: Wish, following: bool) -> bool:
        if following and had.columns == wish.columns and abs(had.step_s - wish.step_s) < 1e-3 * wish.step_s:
            chosen = wish.figures_s != (wish.start_s, wish.end_s)
            late = self._clock() - self._past_at_s > max(PAST_EVERY_S, 2 * wish.step_s)
            return late or (chosen and had.figures_s != wish.figures_s)
        return had != wish

    def _read(self, wish: Wish, view: WatchView | None) -> None:
        from gpulease_gui.gui.models.past import read_past

        live = dict(view.rings) if view is not None else {}
        self._reading_past, self._past_at_s = True, self._clock()

        def work(connection: sqlite3.Connection) -> Past:
            return read_past(connection, wish, live)

        self._frame.bridge.when_done(self._frame.services.query(work), self._take_past, self._failed)

    def _take_past(self, past: Past) -> None:
        self._reading_past = False
        self.past = past
        self._changed()

    def _failed(self, trouble: UserFacing) -> None:
        """The store could not be read: said once, tried again when its time comes."""
        self._reading_stored = self._reading_past = False
        self._frame.trouble(trouble.headline_text, trouble.rest_text)

    def note(self, words: str, at: datetime | None = None) -> None:
        """Keep a note of the user at a time, now if none is given."""
        import uuid

        from gpulease_gui.gui.models.stored import NOTE
        from gpulease_gui.store.records import Mark
        from gpulease_gui.store.samples import save_mark

        mark = Mark(str(uuid.uuid4()), self._node, at or utc_now(), NOTE, words)

        def work(db: Database) -> None:
            save_mark(db, mark)

        self._frame.bridge.when_done(self._frame.services.change(work, "mark"), lambda _: self.refresh())
