"""What does the checklist page write: answers, notes, waivers, files, each as one step that can be taken back?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFileDialog

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.gui.forms.checklist_dialogs import ReasonDialog, WaiverDialog, items_words
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.checklist_bands import Foot
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.taking_back import way_back
from gpulease_gui.services import checklist_edit, checklist_entry
from gpulease_gui.services.checklist_edit import Given
from gpulease_gui.services.checklist_page import Proof
from gpulease_gui.services.checklist_view import ChecklistRow
from gpulease_gui.services.evaluate import write_whole
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    import sqlite3

    from PySide6.QtWidgets import QWidget
    from sqlite_utils import Database

LARGEST = 64 << 20


class ChecklistDesk:
    """Writes for the items that are chosen on the page; the page reads them anew when RecordsChanged tells."""

    def __init__(self, frame: Frame, parent: QWidget, foot: Foot) -> None:
        self._frame, self._parent, self._foot = frame, parent, foot
        self.subject: Subject | None = None
        self.rows: tuple[ChecklistRow, ...] = ()
        self.user = ""

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the chosen items."""
        return tuple(row.item.id for row in self.rows)

    def _change(self, work: Callable[[Database, Subject], Any], done: Text | Callable[[Any], Text], *kinds: str) -> None:
        subject = self.subject
        if subject is None:
            return
        many = len(self.rows) > 1
        future = self._frame.services.change(lambda db: work(db, subject), *(kinds or ("answer",)))
        self._frame.bridge.when_done(future, lambda found: self._done(done if isinstance(done, Text) else done(found), many=many))

    def _done(self, done: Text, *, many: bool) -> None:
        """Say what was done; where it was done to many items, the way back stands beside it."""
        self._frame.note(done)
        if many:
            way_back(self._frame, lambda back: self._foot.offer(done, back))
        else:
            self._foot.settle()

    # -- answers ----------------------------------------------------------------------------------------------------------

    def enter(self, value: AnswerValue) -> None:
        """Answer the chosen items."""
        items = self.items
        if items:
            about = items_words(items)
            self._change(lambda db, subject: checklist_entry.enter_value(db, subject, items, value),
                         Text(f"Answered: {about.en}", f"已答复：{about.zh}"))  # fmt: skip

    def state(self, state: AnswerState) -> None:
        """Say how the answers are proven; not applicable asks for its reason."""
        items = self.items
        if state is AnswerState.NOT_APPLICABLE:
            self.ask_reason()
        elif items:
            about = items_words(items)
            self._change(lambda db, subject: checklist_edit.answer_items(db, subject, items, Given(state)),
                         Text(f"Saved: {about.en}", f"已保存：{about.zh}"))  # fmt: skip

    def mark_asked(self, items: tuple[str, ...] | None = None) -> None:
        """Note that the supplier was asked; what is known stays."""
        asked = self.items if items is None else items
        if asked:
            self._change(lambda db, subject: checklist_edit.ask_items(db, subject, asked),
                         lambda count: Text(f"Marked as asked: {count} that were not answered", f"已标为待答复：{count} 项未答复的条目"))  # fmt: skip

    def ask_reason(self) -> ReasonDialog | None:
        """Ask why the chosen items do not apply, then mark them: one step for all."""
        items = self.items
        if not items:
            return None
        dialog = ReasonDialog(items, parent=self._parent)
        self._keep_draft(dialog, "not_applicable", items)
        dialog.accepted.connect(lambda: self._not_applicable(items, dialog.reason.text()))
        open_dialog(dialog)
        return dialog

    def _keep_draft(self, dialog: DraftDialog, kind: str, items: tuple[str, ...]) -> None:
        subject = self.subject
        if subject is not None:
            DraftKeeper(self._frame, dialog, kind).open(" ".join((subject.kind, subject.id, *items)))

    def _not_applicable(self, items: tuple[str, ...], reason: str) -> None:
        about = items_words(items)
        given = Given(AnswerState.NOT_APPLICABLE, note=reason)
        self._change(lambda db, subject: checklist_edit.answer_items(db, subject, items, given, reason),
                     Text(f"Marked {about.en} not applicable", f"已将 {about.zh} 标为不适用"))  # fmt: skip

    def note(self, items: tuple[str, ...], text: str) -> None:
        """Keep a note."""
        if items:
            self._change(lambda db, subject: checklist_entry.write_note(db, subject, items, text), Text("Note saved", "备注已保存"))

    # -- waivers ----------------------------------------------------------------------------------------------------------

    def ask_waiver(self) -> WaiverDialog | None:
        """Ask for name, reason and last day, then waive the chosen items."""
        items, rows = self.items, self.rows
        if not items:
            return None
        before = rows[0].waiver if len(rows) == 1 else None
        dialog = WaiverDialog(items, self.user, utc_now().astimezone().date(), before, parent=self._parent)
        self._keep_draft(dialog, "waiver", items)
        dialog.accepted.connect(lambda: self._waive(items, dialog.waiver))
        open_dialog(dialog)
        return dialog

    def _waive(self, items: tuple[str, ...], waiver: Waiver) -> None:
        about = items_words(items)
        self._change(lambda db, subject: checklist_edit.waive_items(db, subject, items, waiver),
                     Text(f"Waived {about.en} to {waiver.expires}", f"已豁免 {about.zh}，至 {waiver.expires}"), "waiver")  # fmt: skip

    def end_waivers(self) -> None:
        """Take the waivers of the chosen items back."""
        items = tuple(row.item.id for row in self.rows if row.waiver is not None)
        if items:
            self._change(lambda db, subject: checklist_edit.end_waivers(db, subject, items), Text("Waiver ended", "豁免已取消"), "waiver")

    # -- files ------------------------------------------------------------------------------------------------------------

    def choose_file(self) -> None:
        """Ask for a file and attach it."""
        if self.items:
            chosen, _ = QFileDialog.getOpenFileName(self._parent, say(Text("Attach a file", "添加附件")), "")
            if chosen:
                self.attach(Path(chosen))

    def attach(self, path: Path) -> None:
        """Keep a file as the proof of the chosen items; it is read and packed on a worker."""
        items, subject = self.items, self.subject
        if items and subject is not None:
            packed = self._frame.services.jobs.local(lambda: read_file(path))
            self._frame.bridge.when_done(packed, lambda blob: self._attached(items, path, blob))

    def _attached(self, items: tuple[str, ...], path: Path, blob: EvidenceBlob) -> None:
        kind = path.suffix.lower().lstrip(".")[:12]
        self._change(lambda db, subject: checklist_entry.attach_proof(db, subject, items, path.name, kind, blob),
                     Text(f"Attached: {path.name}", f"已添加附件：{path.name}"), "answer", "attachment")  # fmt: skip

    def detach(self, proof: Proof) -> None:
        """A file proves the item no longer."""
        items = self.items
        if len(items) == 1:
            self._change(lambda db, subject: checklist_entry.detach_proof(db, subject, items[0], proof.id),
                         Text(f"No longer a proof: {proof.name}", f"不再作为证明：{proof.name}"))  # fmt: skip

    def save_copy(self, proof: Proof) -> None:
        """Ask where a copy of an attachment goes, and write it on a worker. It is never opened from here."""
        chosen, _ = QFileDialog.getSaveFileName(self._parent, say(Text("Save a copy", "另存为")), proof.name)
        if chosen:
            path = Path(chosen)

            def work(connection: sqlite3.Connection) -> str:
                return write_whole(path, get_content(connection, proof.sha256))

            written = self._frame.services.query(work)
            self._frame.bridge.when_done(written, lambda _: self._frame.note(Text(f"Written: {path.name}", f"已写入：{path.name}")))


def read_file(path: Path) -> EvidenceBlob:
    """A file packed for the workspace. Raises UserFacing when it can't be read or is larger than 64 MiB."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise UserFacing(Text(f"{path.name} was not attached", f"未附上 {path.name}"), Text(f"It has {size >> 20} MiB; at most 64 are kept", f"大小 {size >> 20} MiB，最多保存 64 MiB"), Text("Attach the pages that matter", "请只附上相关页"))
        return EvidenceBlob.of(path.read_bytes())
    except OSError as error:
        raise UserFacing(Text(f"{path.name} was not attached", f"未附上 {path.name}"), os_reason(error), Text("Close it elsewhere and try again", "请在别处关闭该文件后重试")) from error
