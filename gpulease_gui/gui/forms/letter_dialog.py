"""What is still to be asked of the supplier, and how does it reach him?"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QStandardPaths, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPlainTextEdit, QWidget

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text, foreign
from gpulease_gui.gui.forms.export_dialog import proposed_name
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.widgets.buttons import Button, Segment
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.services.checklist_view import ChecklistView
from gpulease_gui.services.commerce_letter import letter_of, letter_text
from gpulease_gui.services.letter_file import export_letter, save_letter_text

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

T = TypeVar("T")
_TITLE = Text("Questions to ask", "询问清单")


class LetterDialog(FactDialog):
    """The letter in either language: copied, saved as text or PDF, then marked as asked. `asked` carries the ids."""

    asked = Signal(object)

    def __init__(self, frame: Frame, view: ChecklistView, *, parent: QWidget | None = None) -> None:
        self.letter = letter_of(view, demo=frame.services.demo)
        row, count = view.facts.row, self.letter.count
        to = Text(f"{count} questions to {row.supplier}", f"给{row.supplier}的 {count} 个问题")
        super().__init__(_TITLE, to, [(Text("Offer or contract", "报价或合同"), foreign(f"{row.number} {row.title}".strip()))],
                         icon="question", token="inc", parent=parent)  # fmt: skip
        self._frame, self._view = frame, view
        self.setMinimumSize(720, 560)
        self.language = Segment(((Language.ZH, "中文"), (Language.EN, "English")), current=current_language())
        self.language.chosen.connect(lambda _: self._show())
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setMinimumHeight(300)
        self.done_note = PlainLabel("", size="dense", level="2", wrap=True)
        line = QHBoxLayout()
        line.addWidget(self.language)
        line.addStretch()
        self.column.addLayout(line)
        self.column.addWidget(self.preview, 1)
        self.column.addWidget(self.done_note)
        self.fill()
        self._add_buttons(count)
        self._show()

    def _add_buttons(self, count: int) -> None:
        self.mark = self.add_button(Button(Text(f"Mark {count} as asked", f"将 {count} 项标为已询问"), kind="quiet"))
        self.as_text = self.add_button(Button(Text("Save as text…", "存为文本…"), icon="document"))
        self.as_pdf = self.add_button(Button(Text("Save as PDF…", "存为 PDF…"), icon="export"))
        self.copy = self.add_button(Button(Text("Copy", "复制"), icon="copy", kind="primary"), default=True)
        self.close_button = self.add_button(Button(Text("Close", "关闭")), rejects=True)
        self.mark.setEnabled(bool(count))
        self.mark.clicked.connect(self._mark)
        self.copy.clicked.connect(self._copy)
        self.as_text.clicked.connect(self._ask_text)
        self.as_pdf.clicked.connect(self._ask_pdf)

    @property
    def tongue(self) -> Language:
        """The language of the letter, which need not be the window's."""
        return Language(self.language.current)

    def _show(self) -> None:
        self.preview.setPlainText(letter_text(self.letter, self.tongue))
        self.preview.setAccessibleName(say(_TITLE))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(letter_text(self.letter, self.tongue))
        self.done_note.set_words(Text("Copied: paste it into a mail or a chat.", "已复制，可粘贴到邮件或聊天中。"))

    def _mark(self) -> None:
        self.asked.emit(self.letter.items)
        self.mark.setEnabled(False)
        self.done_note.set_words(Text("Marked as asked.", "已标为待答复。"))

    # -- files --------------------------------------------------------------------------------------------------------------

    def _ask(self, ending: str, title: Text) -> Path | None:
        name = proposed_name(f"questions-{self.letter.number}", self.tongue, self.letter.day).removesuffix(".pdf")
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        chosen, _ = QFileDialog.getSaveFileName(self, say(title), str(Path(folder) / f"{name}.{ending}"), f"*.{ending}")
        path = Path(chosen)
        return None if not chosen else path if path.suffix.lower() == f".{ending}" else path.with_name(f"{path.name}.{ending}")

    def _ask_text(self) -> None:
        path = self._ask("txt", Text("Save as text", "存为文本"))
        if path is not None:
            self.save_text(path)

    def _ask_pdf(self) -> None:
        path = self._ask("pdf", Text("Save as PDF", "存为 PDF"))
        if path is not None:
            self.save_pdf(path)

    def save_text(self, path: Path) -> None:
        """Write the letter as plain text on a worker."""
        letter, language = self.letter, self.tongue
        written = self._frame.services.jobs.local(lambda: save_letter_text(letter, language, path))
        self._tell(written, path)

    def save_pdf(self, path: Path) -> None:
        """Write the letter as PDF in a child process; the task strip shows it."""
        services, view, language = self._frame.services, self._view, self.tongue
        workspace, demo, subject = services.workspace.path, services.demo, view.facts.row.subject

        def work(cancel: CancelToken) -> object:
            return export_letter(workspace, subject, view.scenario, language, path, cancel, demo=demo)

        self.as_pdf.setEnabled(False)
        job = services.jobs.start(Text(f"Letter {self.letter.number}", f"询问清单 {self.letter.number}"), work)
        self._tell(job.done, path)

    def _tell(self, written: Future[T], path: Path) -> None:
        """The task strip says it, also when the dialog is gone by then; so does the dialog while it is there."""
        frame = self._frame
        frame.bridge.when_done(written, lambda _: frame.note(Text(f"Written: {path.name}", f"已写入：{path.name}")), lambda _: None)
        frame.bridge.when_done(written, lambda _: self._say(Text(f"Written: {path}", f"已写入：{path}")), self._not_written)

    def _say(self, words: Words) -> None:
        self.as_pdf.setEnabled(True)
        self.done_note.set_words(words)

    def _not_written(self, trouble: UserFacing) -> None:
        self._say(trouble.whole_text)

