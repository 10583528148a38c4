"""What is asked for, what checks it, what proves it, which terms answer it, and how did it change?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout

from gpulease_gui.catalog.checklist import ChecklistItem
from gpulease_gui.domain.answer import ANSWER_WORDS, VALUE_WORDS, AnswerState, AnswerValue
from gpulease_gui.domain.commercial import Field, Stated
from gpulease_gui.domain.finding import CheckState
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import Icon, Pane, Section, clear_layout
from gpulease_gui.reports.wording import short_hash
from gpulease_gui.services.checklist_page import ItemSeen, LinkedCheck, Proof
from gpulease_gui.services.commercial_words import NOT_STATED, field_text
from gpulease_gui.store.answers import AnswerChange

_MOST_HISTORY = 12


class ItemDetails(Pane):
    """`opened` carries node and check of a finding, `attach` asks for a file, `saved` and `removed` carry a Proof."""

    opened = Signal(str, str)
    attach = Signal()
    copied = Signal()
    saved = Signal(object)
    removed = Signal(object)

    def __init__(self) -> None:
        super().__init__(1)
        self.asked = Section(Text("Evidence asked for", "要求的证据"))
        self.checks = Section(Text("Answered by checks", "自动核对"))
        self.proofs = Section(Text("Evidence", "证据"))
        self.terms = Section(Text("Terms that answer it", "对应条款"))
        self.history = Section(Text("History", "沿革"), last=True)
        self._bodies = {}
        for section in (self.asked, self.checks, self.proofs, self.terms, self.history):
            self.column.addWidget(section)
            self._bodies[section] = QVBoxLayout()
            self._bodies[section].setSpacing(5)
            section.column.addLayout(self._bodies[section])
        self.question = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        copy = Button(Text("Copy as a question", "复制为问题"), icon="copy", kind="link", small=True)
        copy.clicked.connect(self.copied)
        self._bodies[self.asked].addWidget(self.question)
        self._bodies[self.asked].addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        self._files = QVBoxLayout()
        self._files.setSpacing(4)
        self.attach_button = Button(Text("Attach a file…", "添加附件…"), icon="attachment", small=True)
        self.attach_button.clicked.connect(self.attach)
        self._bodies[self.proofs].addLayout(self._files)
        self._bodies[self.proofs].addWidget(self.attach_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._bodies[self.proofs].addWidget(PlainLabel(Text("or drop a file here", "也可将文件拖到此处"), size="caption", level="3"))
        self.clear()

    def clear(self) -> None:
        """Nothing is known of the item yet."""
        for section in (self.checks, self.terms, self.history):
            section.hide()
        clear_layout(self._files)
        self.question.set_words("")
        self._seen: ItemSeen | None = None

    def show_item(self, seen: ItemSeen) -> None:
        """Show another item; the same one is left alone."""
        if seen == self._seen:
            return
        self._seen = seen
        self.question.set_words(_question(seen.row.item))
        self._show_checks(seen.checks)
        self._show_proofs(seen.proofs)
        self._show_terms(seen.terms)
        self._show_history(seen.history)

    def _show_checks(self, checks: Sequence[LinkedCheck]) -> None:
        body = self._fresh(self.checks, bool(checks))
        for check in checks:
            row = QHBoxLayout()
            row.setSpacing(8)
            found = check.found
            row.addWidget(ElidedLabel(check.title, size="dense", weight=500), 1)
            row.addWidget(BadgeLabel(found.finding.verdict if found else CheckState.NOT_RUN, filled=False))
            body.addLayout(row)
            if found is None:
                known = Text("not run on a node of this deal", "未在相关节点上执行") if check.known else Text("not in this version", "本版本没有此检查")
                body.addWidget(PlainLabel(known, size="caption", level="3", wrap=True))
                continue
            at = f"{found.at.astimezone():%m-%d %H:%M}"
            body.addWidget(PlainLabel(found.finding.reason, size="caption", level="2", wrap=True))
            link = Button(Text(f"Open finding on {found.node_name}, {at}", f"查看 {found.node_name} 的结果，{at}"), kind="link", small=True)
            link.clicked.connect(lambda _=False, node=found.node_id, id_=check.id: self.opened.emit(node, id_))
            body.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_proofs(self, proofs: Sequence[Proof]) -> None:
        self.proofs.note.set_words(str(len(proofs)) if proofs else "")
        clear_layout(self._files)
        for proof in proofs:
            row = QHBoxLayout()
            row.setSpacing(6)
            row.addWidget(Icon("attachment" if proof.attachment else "terminal", "t3", 14))
            row.addWidget(ElidedLabel(foreign(proof.name or short_hash(proof.sha256)), size="dense"), 1)
            row.addWidget(PlainLabel(short_hash(proof.sha256), size="caption", level="3", code=True))
            if proof.attachment is not None:
                keep = IconButton("download", Text(f"Save a copy of {proof.name}", f"另存 {proof.name}"), size=14)
                keep.clicked.connect(lambda _=False, proof=proof: self.saved.emit(proof))
                drop = IconButton("close", Text(f"No longer a proof of this item: {proof.name}", f"不再作为本条证明：{proof.name}"), size=14)
                drop.clicked.connect(lambda _=False, proof=proof: self.removed.emit(proof))
                row.addWidget(keep)
                row.addWidget(drop)
            self._files.addLayout(row)

    def _show_terms(self, terms: Sequence[tuple[Field, Stated | None]]) -> None:
        body = self._fresh(self.terms, bool(terms))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 1)
        for place, (field, stated) in enumerate(terms):
            value = stated.value if stated is not None else None
            said = NOT_STATED if value is None else field_text(field, value, "")
            grid.addWidget(PlainLabel(field.label, size="dense", level="2", wrap=True), place, 0)
            grid.addWidget(PlainLabel(said, size="dense", level="3" if value is None else "1"), place, 1, Qt.AlignmentFlag.AlignTop)
        body.addLayout(grid)

    def _show_history(self, changes: Sequence[AnswerChange]) -> None:
        shown = [change for change in changes if change.answer.state is not AnswerState.NOT_ASKED or change.answer.note][-_MOST_HISTORY:]
        body = self._fresh(self.history, bool(shown))
        for change in reversed(shown):
            answer = change.answer
            said = ANSWER_WORDS[answer.state]
            if answer.value is not AnswerValue.UNKNOWN:
                value = VALUE_WORDS[answer.value]
                said = Text(f"{value.en} · {said.en}", f"{value.zh} · {said.zh}")
            note = f" ({answer.note})" if answer.note else ""
            body.addWidget(PlainLabel(Text(f"{said.en}{note}", f"{said.zh}{note}"), size="dense", wrap=True))
            to = f"{change.replaced_at.astimezone():%m-%d %H:%M}"
            why = f" · {change.why}" if change.why else ""
            words = Text(f"{answer.by}; replaced {to} by {change.replaced_by}{why}", f"{answer.by}；{to} 由 {change.replaced_by} 替换{why}")
            body.addWidget(PlainLabel(words, size="caption", level="3", wrap=True))

    def _fresh(self, section: Section, wanted: bool) -> QVBoxLayout:
        body = self._bodies[section]
        clear_layout(body)
        section.setVisible(wanted)
        return body


def _question(item: ChecklistItem) -> Text:
    none = Text("the answer in the quote or the contract", "写入报价单或合同的答复")
    return item.evidence if item.evidence.en or item.evidence.zh else none
