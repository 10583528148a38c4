"""How does a quote from a file, the clipboard or a chat become offers, in four looks and with one way back?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.import_pages import DoubtsPage, MappingPage, OutcomePage
from gpulease_gui.gui.forms.import_source import QuoteEdit
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.services import importing_desk as desk
from gpulease_gui.services.importing_desk import DryRun, Loaded, Source
from gpulease_gui.services.importing_draft import LARGEST, ImportDraft, begun_with, import_draft
from gpulease_gui.services.jobs import Job

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_TITLE = Text("Import offers", "导入报价")
_HEADLINES = (
    Text("Paste a quote or choose a file", "粘贴报价或选择文件"), Text("What does each column say?", "每一列是什么？"),
    Text("What do these cells mean?", "这些单元格是什么意思？"), Text("What would be saved", "将保存的内容"),
)  # fmt: skip
_NEXT = Text("Next", "下一步")
_TOO_LARGE = Text(f"A text of more than {LARGEST:,} characters is not kept over a crash; it can be imported, or come from a file.",
                  f"超过 {LARGEST:,} 个字符的文本在崩溃后无法恢复；仍可导入，也可改用文件。")  # fmt: skip
SOURCE, MAPPING, DOUBTS, OUTCOME = range(4)


class ImportWizard(DraftDialog):
    """Source, columns, doubts, dry run. `saved` carries the dry run that was saved; nothing but a draft is written before."""

    saved = Signal(object)

    def __init__(self, frame: Frame, supplier_id: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(_TITLE, _HEADLINES[SOURCE], icon="import", parent=parent)
        self.facts.hide()
        self.setMinimumSize(780, 600)
        self._frame, self._supplier_id = frame, supplier_id
        self._job: Job | None = None
        self._run: DryRun | None = None
        self._source, self._begun = Source(), Source()  # the file that was chosen; what waits for the look for a draft
        self._kept: ImportDraft | None = None  # to be put onto the table when it is read
        self._looked = False
        self._answers: dict[str, str] = {}
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
        self.drafts = DraftKeeper(frame, self, "import")
        self.drafts.looked.connect(self._was_looked)
        self.drafts.open("offers")

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
        self.chosen = PlainLabel("", size="dense", level="2", wrap=True)
        self.too_large = PlainLabel(_TOO_LARGE, size="dense", level="warn", wrap=True)
        for label in (self.chosen, self.too_large):
            label.hide()
            column.addWidget(label)
        return page

    def _connect(self) -> None:
        self.edit.textChanged.connect(self._typed)
        self.edit.dropped.connect(self.open_file)
        self.choose_file.clicked.connect(self._choose_file)
        self.mapping.changed.connect(self._mapped)
        self.mapping.reread.connect(self._read)
        self.mapping.owner_picked.connect(self._map_as_before)
        self.doubts.answered.connect(self._answered)
        self.back.clicked.connect(self._go_back)
        self.next.clicked.connect(self._go_on)
        self.finished.connect(self._stop)

    # -- where the table comes from ----------------------------------------------------------------------------------------

    def open_file(self, path: Path) -> None:
        """Read a file and show its columns."""
        self._point(Source(path))
        self.touch()
        self._read(self._source)

    def open_text(self, text: str) -> None:
        """Show what was pasted, and its columns at once; what was begun before a crash comes first."""
        if not self._looked:
            self._begun = Source(text=text)
            return
        self.edit.setPlainText(text)
        self._read(Source(text=text))

    def _was_looked(self) -> None:
        begun, self._begun, self._looked = self._begun, Source(), True
        if begun.text and not self.dirty:
            self.open_text(begun.text)

    def _point(self, source: Source) -> None:
        """This file is the source now; none = the text is."""
        self._source, self._answers, self._kept = source, {}, None
        self.chosen.set_words(Text(f"File: {source.name}", f"文件：{source.name}") if source.path else "")
        self.chosen.setVisible(source.path is not None)

    def _typed(self) -> None:
        self._point(Source())
        self.too_large.setVisible(self.edit.document().characterCount() - 1 > LARGEST)
        self.touch()
        self._refresh()

    def _mapped(self) -> None:
        self.touch()
        self._refresh()

    # -- what outlives a crash ---------------------------------------------------------------------------------------------

    def words_now(self) -> tuple[str, ...]:
        """The source, whose offers, the columns, the answers."""
        table, page = self.mapping.table_shown, self.mapping
        if self._kept is not None:
            return self._kept.words
        if table is None or self.stack.currentIndex() == SOURCE:
            source = self._source if self._source.path else Source(text=self.edit.toPlainText())
            return ImportDraft(source, page.supplier.current, page.new_name.text()).words
        return begun_with(table, page.supplier.current, page.new_name.text(), self._answers).words

    def put_words(self, words: Sequence[str]) -> bool:
        """Put the import back. A text is read again at once, a file only on the user's word: its path comes from the workspace."""
        draft = import_draft(words)
        if draft is None:
            return False
        self.edit.setPlainText(draft.source.text)
        self._point(draft.source if draft.source.path else Source())
        self._kept = draft
        self._refresh()
        if draft.begun and draft.source.path is None:
            self._read(draft.source)
        return True

    def _choose_file(self) -> None:
        kinds = f"{say(Text('Tables', '表格'))} (*.xlsx *.csv *.tsv *.txt)"
        chosen, _ = QFileDialog.getOpenFileName(self, say(_TITLE), "", kinds)
        if chosen:
            self.open_file(Path(chosen))

    def _read(self, source: Source) -> None:
        self._begin(Text("Reading…", "正在读取…"))
        owner = self._kept.supplier if self._kept else self._supplier_id
        self._job = desk.load(self._frame.services, source, owner)
        self._frame.bridge.when_done(self._job.done, self._was_read, self._failed)  # type: ignore[arg-type]

    def _map_as_before(self, supplier_id: str) -> None:
        """The mapping of a supplier's last table counts as soon as the supplier is known."""
        future = desk.for_supplier(self._frame.services, self.mapping.loaded, supplier_id)
        self._frame.bridge.when_done(future, self.mapping.show_table, self._failed)

    def _was_read(self, loaded: Loaded) -> None:
        self._rest()
        kept, self._kept = self._kept, None
        if kept is None:
            self.mapping.show_table(loaded)
        else:
            self._answers = dict(kept.answers)
            self.mapping.show_table(kept.onto(loaded) if kept.begun else loaded)
            self.mapping.put_owner(kept.supplier, kept.name)
        self._show(MAPPING)

    # -- from step to step ---------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        step = self.stack.currentIndex()
        if step == SOURCE:
            self._read(self._kept.source if self._kept else self._source if self._source.path else Source(text=self.edit.toPlainText()))
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
        self._rest()
        self._run = run
        self.outcome.show_run(run)
        if asked and not run.open:
            self._show(OUTCOME)
            return
        self.doubts.show_questions((*run.lines.questions, *run.lines.choices), dict(self._loaded.layout.answers))
        self._show(DOUBTS)

    def _answered(self, key: str, option: str) -> None:
        self._answers[key] = option
        self._loaded = replace(self._loaded, layout=self._loaded.layout.with_answer(key, option))
        self.touch()
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
        sourced = self._source.path is not None or bool(self.edit.toPlainText().strip())
        ready = (sourced, self.mapping.complete, self.doubts.complete, count > 0)[step]
        self.next.setEnabled(ready)

    def _begin(self, words: Words) -> None:
        self.trouble.hide()
        self.next.setEnabled(False)
        self.next.set_words(words)

    def _rest(self) -> None:
        self._job = None

    def _failed(self, trouble: UserFacing) -> None:
        self._rest()
        if self.stack.currentIndex() == SOURCE and self.edit.toPlainText().strip():
            self._point(Source())  # a file that can't be read does not stand before the text
        self.trouble.set_words(trouble.whole_text)
        self.trouble.show()
        self._refresh()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel.cancel()
            self._job = None
