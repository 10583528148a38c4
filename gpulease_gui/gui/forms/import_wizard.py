"""How does a quote from a file, the clipboard or a chat become offers, in four looks and with one way back?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.import_pages import DoubtsPage, MappingPage, OutcomePage
from gpulease_gui.gui.forms.import_source import QuoteEdit
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.services import importing_desk as desk
from gpulease_gui.services.importing_desk import DryRun, Loaded, Source
from gpulease_gui.services.jobs import Job

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_TITLE = Text("Import offers", "导入报价")
_HEADLINES = (
    Text("Paste a quote or choose a file", "粘贴报价或选择文件"), Text("What does each column say?", "每一列是什么？"),
    Text("What do these cells mean?", "这些单元格是什么意思？"), Text("What would be saved", "将保存的内容"),
)  # fmt: skip
_NEXT = Text("Next", "下一步")
SOURCE, MAPPING, DOUBTS, OUTCOME = range(4)


class ImportWizard(FactDialog):
    """Source, columns, doubts, dry run. `saved` carries the dry run that was saved; nothing is written before."""

    saved = Signal(object)

    def __init__(self, frame: Frame, supplier_id: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(_TITLE, _HEADLINES[SOURCE], icon="import", parent=parent)
        self.facts.hide()
        self.setMinimumSize(780, 600)
        self._frame, self._supplier_id = frame, supplier_id
        self._job: Job | None = None
        self._run: DryRun | None = None
        self.stack = QStackedWidget()
        self.mapping, self.doubts, self.outcome = MappingPage(), DoubtsPage(), OutcomePage()
        for page in (self._source_page(), self.mapping, self.doubts, self.outcome):
            self.stack.addWidget(page)
        self.column.addWidget(self.stack, 1)
        outer = self.layout()
        if isinstance(outer, QVBoxLayout):
            outer.setStretchFactor(self.column, 1)
        self.trouble = PlainLabel("", level="fail", wrap=True)
        self.trouble.hide()
        self.column.addWidget(self.trouble)
        self.cancel = self.add_button(Button(CANCEL), rejects=True)
        self.back = self.add_button(Button(Text("Back", "上一步"), icon="chevron-left"))
        self.next = self.add_button(Button(_NEXT, kind="primary"), default=True)
        self._connect()
        self._show(SOURCE)

    def _source_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        self.edit = QuoteEdit()
        column.addWidget(self.edit, 1)
        row = QHBoxLayout()
        self.choose_file = Button(Text("Choose a file…", "选择文件…"), icon="document")
        row.addWidget(self.choose_file)
        row.addWidget(PlainLabel(Text("CSV, TSV or XLSX; macros are never run, links never followed", "CSV、TSV 或 XLSX；不运行宏，不跟随链接"), size="dense", level="3"))
        row.addStretch()
        column.addLayout(row)
        return page

    def _connect(self) -> None:
        self.edit.textChanged.connect(self._refresh)
        self.edit.dropped.connect(self.open_file)
        self.choose_file.clicked.connect(self._choose_file)
        self.mapping.changed.connect(self._refresh)
        self.mapping.reread.connect(self._read)
        self.mapping.owner_picked.connect(self._map_as_before)
        self.doubts.answered.connect(self._answered)
        self.back.clicked.connect(self._go_back)
        self.next.clicked.connect(self._go_on)
        self.finished.connect(self._stop)

    # -- where the table comes from ----------------------------------------------------------------------------------------

    def open_file(self, path: Path) -> None:
        """Read a file and show its columns."""
        self._read(Source(path))

    def open_text(self, text: str) -> None:
        """Show what was pasted, and its columns at once."""
        self.edit.setPlainText(text)
        self._read(Source(text=text))

    def _choose_file(self) -> None:
        kinds = f"{say(Text('Tables', '表格'))} (*.xlsx *.csv *.tsv *.txt)"
        chosen, _ = QFileDialog.getOpenFileName(self, say(_TITLE), "", kinds)
        if chosen:
            self.open_file(Path(chosen))

    def _read(self, source: Source) -> None:
        self._begin(Text("Reading…", "正在读取…"))
        self._job = desk.load(self._frame.services, source, self._supplier_id)
        self._frame.bridge.when_done(self._job.done, self._was_read, self._failed)  # type: ignore[arg-type]

    def _map_as_before(self, supplier_id: str) -> None:
        """The mapping of a supplier's last table counts as soon as the supplier is known."""
        future = desk.for_supplier(self._frame.services, self.mapping.loaded, supplier_id)
        self._frame.bridge.when_done(future, self.mapping.show_table, self._failed)

    def _was_read(self, loaded: Loaded) -> None:
        self._end()
        self.mapping.show_table(loaded)
        self._show(MAPPING)

    # -- from step to step ---------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        step = self.stack.currentIndex()
        if step == SOURCE:
            self._read(Source(text=self.edit.toPlainText()))
        elif step == MAPPING:
            self._try(self.mapping.loaded)
        elif step == DOUBTS:
            self._try(self._loaded)
        elif self._run is not None:
            self._save(self._run)

    def _go_back(self) -> None:
        self._show(max(self.stack.currentIndex() - 1, SOURCE))

    def _try(self, loaded: Loaded) -> None:
        self._begin(Text("Trying…", "正在试算…"))
        self._loaded = loaded
        asked = self.stack.currentIndex() == DOUBTS
        self._job = desk.try_out(self._frame.services, loaded)
        self._frame.bridge.when_done(self._job.done, lambda run: self._tried(run, asked=asked), self._failed)  # type: ignore[arg-type]

    def _tried(self, run: DryRun, *, asked: bool) -> None:
        """Doubts come between columns and dry run, and again when an answer raised another one."""
        self._end()
        self._run = run
        self.outcome.show_run(run)
        if asked and not run.open:
            self._show(OUTCOME)
            return
        self.doubts.show_questions((*run.lines.questions, *run.lines.choices), dict(self._loaded.layout.answers))
        self._show(DOUBTS)

    def _answered(self, key: str, option: str) -> None:
        self._loaded = replace(self._loaded, layout=self._loaded.layout.with_answer(key, option))
        self._refresh()

    def _save(self, run: DryRun) -> None:
        self._begin(Text("Saving…", "正在保存…"))
        self._frame.bridge.when_done(desk.save(self._frame.services, self._loaded, run), lambda _: self._was_saved(run), self._failed)

    def _was_saved(self, run: DryRun) -> None:
        self.accept()
        self.saved.emit(run)

    # -- looks -----------------------------------------------------------------------------------------------------------------

    def _show(self, step: int) -> None:
        self.stack.setCurrentIndex(step)
        self.headline.set_words(_HEADLINES[step])
        self.back.setVisible(step > SOURCE)
        self._refresh()  # a button that can't be pressed takes no keyboard
        open_question = self.doubts.choosers[0] if step == DOUBTS and not self.doubts.complete else self.next
        first = (self.edit, self.mapping.first_field, open_question, self.next)[step]
        first.setFocus()

    def _refresh(self) -> None:
        step, run = self.stack.currentIndex(), self._run
        count = run.added + run.changed if run else 0
        offers = "offer" if count == 1 else "offers"
        self.next.set_words(Text(f"Save {count} {offers}", f"保存 {count} 个报价") if step == OUTCOME else _NEXT)
        ready = (bool(self.edit.toPlainText().strip()), self.mapping.complete, self.doubts.complete, count > 0)[step]
        self.next.setEnabled(ready)

    def _begin(self, words: Words) -> None:
        self.trouble.hide()
        self.next.setEnabled(False)
        self.next.set_words(words)

    def _end(self) -> None:
        self._job = None

    def _failed(self, trouble: UserFacing) -> None:
        self._end()
        self.trouble.set_words(foreign(str(trouble)))
        self.trouble.show()
        self._refresh()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel.cancel()
            self._job = None
