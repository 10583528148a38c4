"""How does the page do something, say what it was, and offer the way back without standing in the way?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.taking_back import undo_act
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.commerce_undo import can_undo
from gpulease_gui.store.journal import Act

if TYPE_CHECKING:
    from sqlite_utils import Database


class ActsBand(Band):
    """The strip at the foot of a page: what was done last here, with Undo; typing goes on under it."""

    def __init__(self, frame: Frame) -> None:
        self.undo = Button(Text("Undo", "撤销"), icon="undo", small=True)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        super().__init__("accent", "", "", self.undo, close)
        close.clicked.connect(self.hide)
        self.undo.clicked.connect(self._back)
        self._frame = frame
        self._act: Act | None = None
        self.hide()

    def do(self, work: Callable[[Database], object], *kinds: str, words: Words = "", done: Callable[[], None] | None = None,
           failed: Callable[[UserFacing], None] | None = None) -> None:  # fmt: skip
        """Change something as one act, then say what it was: in `words`, else in those of the journal."""

        def whole(db: Database) -> Act | None:
            before = can_undo(db.conn)
            work(db)
            after = can_undo(db.conn)
            return after if after != before else None

        future = self._frame.services.change(whole, *kinds)
        self._frame.bridge.when_done(future, lambda act: self._done(act, words, done), failed or self._refused)

    def _done(self, act: Act | None, words: Words, done: Callable[[], None] | None) -> None:
        at = utc_now().astimezone()
        self._frame.note(Text(f"Saved {at:%H:%M:%S}", f"已保存 {at:%H:%M:%S}"))
        if act is not None:
            self._act = act
            self.tell(words or act.words)
        if done is not None:
            done()

    def _refused(self, trouble: UserFacing) -> None:
        self._frame.trouble(trouble.headline_text, trouble.rest_text)

    def _back(self) -> None:
        """Take exactly that act back; when something else was done since, say so and leave it."""
        self.hide()
        act = self._act
        if act is None:
            return
        undo_act(self._frame, act.entry)
