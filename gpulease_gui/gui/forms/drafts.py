"""How does what was typed in a form outlive a crash?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal

from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.record_form import RecordForm
from gpulease_gui.gui.open_frame import Unsaved
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.workloads_form import WorkloadForm
from gpulease_gui.store.records import Draft
from gpulease_gui.store.settings import list_drafts, remove_draft, save_draft

if TYPE_CHECKING:
    import sqlite3

WAIT_MS = 400
Drafted = RecordForm | WorkloadForm | DraftDialog


class DraftKeeper(Unsaved):
    """Writes what stands in a form into the workspace a moment after it was typed; forgets it when it is kept or discarded.

    A record that is not kept yet has no id to come back to: its draft is known by what it will belong to.
    `looked` comes when a draft of the record was brought back, or there is none.
    """

    looked = Signal()

    def __init__(self, frame: Frame, form: Drafted, kind: str) -> None:
        super().__init__(form)
        self._frame, self._form, self._kind = frame, form, kind
        self._record = ""
        self._written = False
        self._changing: Future[None] | None = None  # the last that was asked of the store
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT_MS)
        self._wait.timeout.connect(self.write)
        (form.typed if isinstance(form, WorkloadForm) else form.edited).connect(self._wait.start)
        form.closed.connect(self._forget)

    @property
    def record(self) -> str:
        """The record whose draft is kept now."""
        return self._record

    def open(self, record: str) -> None:
        """The form shows this record now; an unsaved draft of it is brought back."""
        self._record, self._written = record, False
        find_draft(self._frame, self._changing, self._kind, record, lambda draft: self._look(record, draft))

    def _look(self, record: str, draft: Draft | None) -> None:
        self._take(record, draft)
        self.looked.emit()

    def _take(self, record: str, draft: Draft | None) -> None:
        if draft is None or record != self._record:
            return
        self._written = True
        if self._form.dirty:  # what is being typed takes its place
            return
        at = draft.saved_at.astimezone()
        told = Text(f"Brought back: typed {at:%Y-%m-%d %H:%M}, not saved", f"已恢复 {at:%Y-%m-%d %H:%M} 输入但未保存的内容")
        self._form.bring_back([str(words) for _, words in draft.fields], told)

    def write(self) -> None:
        """Keep what stands in the form now."""
        self._wait.stop()
        if not self._form.dirty or not self._record or not self._frame.is_open:
            return
        self._written = True
        words = tuple((str(n), said) for n, said in enumerate(self._form.words_now()))
        draft = Draft(self._kind, self._record, words, utc_now())
        self._changing = self._frame.services.change(lambda db: save_draft(db, draft), "draft")

    def flush(self) -> None:
        """Keep what was typed in the last moment."""
        if self._wait.isActive():
            self.write()

    def _forget(self) -> None:
        self._wait.stop()
        kind, record = self._kind, self._record
        if self._written and record:
            self._written = False
            self._changing = self._frame.services.change(lambda db: remove_draft(db, kind, record), "draft")


def find_draft(frame: Frame, changing: Future[None] | None, kind: str, record: str, take: Callable[[Draft | None], None]) -> None:
    """Look for a draft on a worker thread and hand it over, once `changing` is over: what is being saved or removed just now counts."""

    def look(_: None) -> None:
        frame.bridge.when_done(frame.services.query(partial(draft_of, kind, record)), take)

    if changing is None or changing.done():
        look(None)
    else:
        frame.bridge.when_done(changing, look)


def draft_of(kind: str, record: str, connection: sqlite3.Connection) -> Draft | None:
    """The draft of a record; None = there is none."""
    return next((d for d in list_drafts(connection) if (d.kind, d.record_id) == (kind, record)), None)


def latest_draft(kind: str, connection: sqlite3.Connection) -> str:
    """The record of the newest draft of a kind; "" without any."""
    return next((d.record_id for d in list_drafts(connection) if d.kind == kind), "")
