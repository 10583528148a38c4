"""How does what was typed into a cell or a field of a page, and not entered yet, outlive a crash?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, SignalInstance

from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.drafts import WAIT_MS, find_draft
from gpulease_gui.gui.forms.in_place import InPlaceView
from gpulease_gui.gui.open_frame import Unsaved
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.store.records import Draft
from gpulease_gui.store.settings import remove_draft, save_draft


class Typing(Protocol):
    """A place where words stand that are entered later, by Enter, a button, or when it loses the keyboard."""

    @property
    def dirty(self) -> bool:
        """Whether something was typed and not entered."""

    def words_now(self) -> tuple[str, ...]:
        """What stands there."""

    def put_words(self, words: Sequence[str]) -> bool:
        """Put back what `words_now` gave; False where that can't be now."""


class TypedDraft(Unsaved):
    """Keeps the words of one place for the record that it shows, until they are entered or taken back.

    `typed` comes with every key, `over` when the words were entered or taken back. `tell` says what was brought back, and
    gets "" when that is over.
    """

    def __init__(self, frame: Frame, kind: str, place: Typing, typed: SignalInstance, over: SignalInstance,
                 tell: Callable[[Words], None], parent: QObject) -> None:  # fmt: skip
        super().__init__(parent)
        self._frame, self._kind, self._place, self._tell = frame, kind, place, tell
        self._record, self._written = "", False
        self._is_new = True  # nothing was typed for this record yet
        self._words: tuple[str, ...] = ()
        self._found: Draft | None = None
        self._changing: Future[None] | None = None  # the last that was asked of the store
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT_MS)
        self._wait.timeout.connect(self._write)
        typed.connect(self._touch)
        over.connect(self._over)

    def open(self, record: str) -> None:
        """The place shows this record now; what was typed for it and not entered is put back."""
        if record == self._record:
            self.put_back()
            return
        self.flush()
        self._record, self._words, self._written, self._found, self._is_new = record, (), False, None, True
        self._tell("")
        find_draft(self._frame, self._changing, self._kind, record, lambda draft: self._take(record, draft))

    def _take(self, record: str, draft: Draft | None) -> None:
        if draft is None or record != self._record:
            return
        self._written = True
        if self._is_new:
            self._found = draft
            self.put_back()
        elif not self._words:  # others were entered before this one was found
            self._over()

    def put_back(self) -> None:
        """Put back what was found and could not be shown yet."""
        found = self._found
        if found is None or not self._place.put_words([str(words) for _, words in found.fields]):
            return
        self._found, at = None, found.saved_at.astimezone()
        self._tell(Text(f"Brought back: typed {at:%Y-%m-%d %H:%M}, not entered", f"已恢复 {at:%Y-%m-%d %H:%M} 输入但未确认的内容"))

    def soon(self) -> None:
        """The place came into sight: put back what waits, a turn later."""
        QTimer.singleShot(0, self, self.put_back)

    def flush(self) -> None:
        """Keep what was typed in the last moment."""
        if self._wait.isActive():
            self._write()

    def _touch(self) -> None:
        if not self._place.dirty:
            self._over()
            return
        self._words, self._found, self._is_new = self._place.words_now(), None, False
        self._wait.start()

    def _write(self) -> None:
        self._wait.stop()
        if self._record and self._frame.is_open:
            self._written = True
            draft = Draft(self._kind, self._record, tuple((str(n), words) for n, words in enumerate(self._words)), utc_now())
            self._changing = self._frame.services.change(lambda db: save_draft(db, draft), "draft")

    def _over(self) -> None:
        if self._found is not None:  # it waits for its place
            return
        self._wait.stop()
        self._words, kind, record = (), self._kind, self._record
        self._tell("")
        if self._written:
            self._written = False
            self._changing = self._frame.services.change(lambda db: remove_draft(db, kind, record), "draft")


def cell_draft(frame: Frame, kind: str, view: InPlaceView, band: Band, parent: QObject) -> TypedDraft:
    """Of the cells of a table; the band over it says what was brought back."""
    made = TypedDraft(frame, kind, view, view.editors.typed, view.editing_ended, lambda words: band.tell(words) if str(words) else band.hide(), parent)
    view.shown.connect(made.soon)
    return made


class BackNote(PlainLabel):
    """The line in a narrow pane that says what was brought back."""

    def __init__(self) -> None:
        super().__init__("", size="dense", level="warn", wrap=True)
        self.hide()

    def tell(self, words: Words) -> None:
        """Say it; "" hides the line."""
        self.set_words(words)
        self.setVisible(bool(str(words)))
