"""What stands behind one commercial term: its wording, its evidence, its history, the questions that it answers?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QPlainTextEdit, QVBoxLayout

from gpulease_gui.domain.commercial import Stated
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.field_cells import CLAIM_ONLY, stated_text, value_text
from gpulease_gui.gui.forms.fields import Chooser, LineField
from gpulease_gui.gui.forms.typed_drafts import BackNote, TypedDraft
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_inspector_parts import NameHead, PartsPane, Question, body_of, change_lines
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import Section, clear_layout
from gpulease_gui.services.fields_view import FieldChange, FieldRow

_NONE = "-"
_BETTER = {
    "more": Text("more is better", "越多越好"), "less": Text("less is better", "越少越好"),
    "yes": Text("yes is better", "“是”更好"), "no": Text("no is better", "“否”更好"),
}  # fmt: skip


class ProofSection(Section):
    """Which file proves the term, where in it, and in which words; kept by Save. `kept` carries what is said now."""

    kept = Signal(object)
    typed = Signal()

    def __init__(self) -> None:
        super().__init__(Text("Evidence", "凭据"))
        self.back = BackNote()
        self.column.addWidget(self.back)
        self.file = Chooser(Text("File that proves it", "作为凭据的文件"), ((_NONE, CLAIM_ONLY),))
        self.source = LineField(Text("Where it is written", "出处"), Text("page and clause, or who said it", "页码与条款，或由谁所说"))
        self.wording = QPlainTextEdit()
        self.wording.setFixedHeight(64)
        self.wording.setTabChangesFocus(True)
        self.save = Button(Text("Save evidence", "保存凭据"), small=True)
        for part in (self.file, self.source, self.wording):
            self.column.addWidget(part)
        self.column.addWidget(self.save, 0, Qt.AlignmentFlag.AlignLeft)
        self._before = Stated(None)
        self.file.picked.connect(self._touch)
        self.source.textEdited.connect(self._touch)
        self.source.returnPressed.connect(self._keep)
        self.wording.textChanged.connect(self._touch)
        self.save.clicked.connect(self._keep)
        self.retranslate_wording()

    def retranslate_wording(self) -> None:
        """Name the field of the wording."""
        words = say(Text("Wording of the supplier, as it stands there", "供应商原文"))
        self.wording.setPlaceholderText(words)
        self.wording.setAccessibleName(words)

    def show_proof(self, said: Stated, files: Sequence[Attachment]) -> None:
        """Show another term's evidence."""
        self._before = said
        self.file.set_choices(((_NONE, CLAIM_ONLY), *((file.id, file.name) for file in files)), said.evidence or _NONE)
        self.source.setText(said.source)
        self.wording.blockSignals(True)  # nobody typed it
        self.wording.setPlainText(said.note)
        self.wording.blockSignals(False)
        self.retranslate_wording()
        self._fit()

    @property
    def now(self) -> Stated:
        """What is said with the evidence as it stands in the fields."""
        file = self.file.current
        return replace(
            self._before, evidence=None if file in ("", _NONE) else file, source=self.source.text().strip(),
            note=self.wording.toPlainText().strip(),
        )  # fmt: skip

    @property
    def dirty(self) -> bool:
        """Whether something was changed and not kept."""
        return self.now != self._before

    def words_now(self) -> tuple[str, ...]:
        """File, source and wording."""
        return self.file.current, self.source.text(), self.wording.toPlainText()

    def put_words(self, words: Sequence[str]) -> bool:
        """Put back what was typed."""
        if len(words) != 3 or self.isHidden():
            return False
        self.file.choose(words[0])
        self.source.setText(words[1])
        self.wording.blockSignals(True)
        self.wording.setPlainText(words[2])
        self.wording.blockSignals(False)
        self._fit()
        return True

    def _touch(self) -> None:
        self._fit()
        self.typed.emit()

    def _fit(self) -> None:
        self.save.setVisible(self.dirty)

    def _keep(self) -> None:
        if self.dirty:
            self._before = self.now
            self._fit()
            self.kept.emit(self._before)


class FieldInspector(PartsPane):
    """The right pane beside the commercial terms. `changed` carries a row and what is said of it now."""

    changed = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._row: FieldRow | None = None
        self.head = _Head()
        self.question = Question()
        self.question.asked.connect(self._was_asked)
        self.proof = ProofSection()
        self.items = Section(Text("Answers in the checklist", "对应的清单项"))
        self.history = Section(Text("History", "沿革"), last=True)
        self._bodies = {section: body_of(section) for section in (self.items, self.history)}
        self.stack_parts((self.head, self.question, self.proof, self.items, self.history))
        self.proof.kept.connect(self._proof_kept)
        self._draft: TypedDraft | None = None

    def open_draft(self, frame: Frame, record: str) -> None:
        """What is typed here now is of this record: what was left of an earlier time comes back."""
        if self._draft is None:
            self._draft = TypedDraft(frame, "evidence", self.proof, self.proof.typed, self.proof.kept, self.proof.back.tell, self)
        self._draft.open(record)

    @property
    def row(self) -> FieldRow | None:
        """The term that is shown."""
        return self._row

    def show_row(self, row: FieldRow | None, files: Sequence[Attachment] = ()) -> None:
        """Show another term; its history comes by `show_history`."""
        other = row is None or self._row is None or row.key != self._row.key
        self._row = row
        self._inside.setVisible(row is not None)
        if row is None:
            return
        self.head.show_row(row)
        if other or not self.proof.dirty:
            self.proof.show_proof(row.said or Stated(None), files)
        self.proof.setVisible(row.value is not None)
        self._show_question(row)
        self._show_items(row)
        if other:
            self.show_history(())

    def _show_question(self, row: FieldRow) -> None:
        self.question.setVisible(row.value is None)
        if row.value is None:
            self.question.show_question(row.question, row.state)

    def _was_asked(self) -> None:
        if self._row is not None:
            self.changed.emit(self._row, replace(self._row.said or Stated(None), asked=True))

    def _show_items(self, row: FieldRow) -> None:
        body = self._bodies[self.items]
        clear_layout(body)
        self.items.setVisible(bool(row.items))
        for words in row.items:
            body.addWidget(PlainLabel(words, size="dense", level="2", wrap=True))

    def show_history(self, changes: Sequence[FieldChange]) -> None:
        """Show who wrote what and when, newest last: the old value, then the new one."""
        body = self._bodies[self.history]
        clear_layout(body)
        self.history.setVisible(bool(changes))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for place, change in enumerate(changes):
            at = PlainLabel(f"{change.at.astimezone():%m-%d %H:%M}", size="dense", level="3")
            grid.addWidget(at, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(self._change(change), place, 1)
        body.addLayout(grid)

    def _change(self, change: FieldChange) -> QVBoxLayout:
        by = " · ".join(part for part in (change.by, change.why) if part)
        return change_lines(_said_of(self._row, change) if self._row is not None else None, by)

    def _proof_kept(self, said: Stated) -> None:
        if self._row is not None:
            self.changed.emit(self._row, said)


def _said_of(row: FieldRow, change: FieldChange) -> Text:
    """Old → new; where only the evidence changed, that."""
    before, after = stated_text(row, change.before), stated_text(row, change.after)
    if (change.before or Stated(None)).value == (change.after or Stated(None)).value:
        source = change.after.source if change.after is not None else ""
        return Text(f"{after.en}: source or evidence {source}".rstrip(), f"{after.zh}：出处或凭据 {source}".rstrip())
    return Text(f"{before.en} → {after.en}", f"{before.zh} → {after.zh}")


class _Head(NameHead):
    """Label, key, state, value."""

    def show_row(self, row: FieldRow) -> None:
        """Show another term."""
        self.name_row(row.field.label, row.key, row.state)
        pairs: list[tuple[Text, Text]] = [(Text("Stated", "约定值"), value_text(row))]
        if row.field.better:
            pairs.append((Text("Order", "优劣"), _BETTER[row.field.better]))
        self.pairs.set_pairs(pairs)
