"""What stands behind one promise: its source, its history, its checks, its question?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.claim import CLAIM_WORDS, ClaimChange
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import LineField
from gpulease_gui.gui.forms.term_cells import found_text, promise_with_unit
from gpulease_gui.gui.forms.typed_drafts import BackNote
from gpulease_gui.gui.pages.suppliers_inspector_parts import NameHead, PartsPane, Question, body_of, change_lines
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button, Segment
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, Section, clear_layout
from gpulease_gui.gui.widgets.ruler import RulerBar
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.paint import Ruler
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.reports.wording import figure
from gpulease_gui.services.claims_view import TermRow

WRITTEN, SAID = "written", "said"
_TOKENS = {Verdict.PASS: "t3", Verdict.WARN: "warn", Verdict.FAIL: "fail", Verdict.INCONCLUSIVE: "inc"}


class SourceSection(Section):
    """Where the promise is written; changed in place, kept by Save. `kept` carries words and whether a document."""

    kept = Signal(str, bool)
    typed = Signal()

    def __init__(self) -> None:
        super().__init__(Text("Source", "出处"))
        self.back = BackNote()
        self.column.addWidget(self.back)
        self.words = LineField(Text("Source", "出处"), Text("document and clause, or who said it", "文件与条款，或由谁所说"))
        self.kind = Segment(((WRITTEN, Text("Written", "书面")), (SAID, Text("Spoken", "口头"))), current=WRITTEN)
        self.save = Button(Text("Save source", "保存出处"), small=True)
        self.column.addWidget(self.words)
        row = QHBoxLayout()
        row.addWidget(self.kind)
        row.addStretch()
        self.column.addLayout(row)
        self.column.addWidget(self.save, 0, Qt.AlignmentFlag.AlignLeft)
        self._before = ("", WRITTEN)
        self.words.textEdited.connect(self._touch)
        self.words.returnPressed.connect(self._keep)
        self.kind.chosen.connect(self._touch)
        self.save.clicked.connect(self._keep)
        self._fit()

    def show_source(self, row: TermRow) -> None:
        """Show the source of a row, unless other words are being typed for it."""
        self._before = (row.claim.source if row.claim else "", SAID if row.written is False else WRITTEN)
        self.words.setText(self._before[0])
        self.kind.choose(self._before[1])
        self._fit()

    @property
    def dirty(self) -> bool:
        """Whether the source was changed and not kept."""
        return (self.words.text().strip(), self.kind.current) != self._before

    def words_now(self) -> tuple[str, ...]:
        """The source and whether it is written."""
        return self.words.text(), self.kind.current

    def put_words(self, words: Sequence[str]) -> bool:
        """Put back what was typed."""
        if len(words) != 2 or self.isHidden():
            return False
        self.words.setText(words[0])
        self.kind.choose(words[1])
        self._fit()
        return True

    def _touch(self) -> None:
        self._fit()
        self.typed.emit()

    def _fit(self) -> None:
        self.save.setVisible(self.dirty)

    def _keep(self) -> None:
        if self.dirty:
            self._before = (self.words.text().strip(), self.kind.current)
            self._fit()
            self.kept.emit(self.words.text().strip(), self.kind.current == WRITTEN)


class TermInspector(PartsPane):
    """The right pane beside the terms. `asked` says that the supplier was asked, `opened` goes to the finding."""

    asked = Signal(object)
    opened = Signal(object)
    sourced = Signal(object, str, bool)

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._row: TermRow | None = None
        self.head = _Head()
        self.source = SourceSection()
        self.source.kept.connect(self._source_kept)
        self.torn = Section(Text("Contradicts another term", "与其他条款矛盾"))
        self.question = Question()
        self.question.asked.connect(lambda: self.asked.emit(self._row))
        self.finding = Section(Text("Last finding", "最近结果"))
        self.checks = Section(Text("Verified by", "由哪些检查核对"))
        self.history = Section(Text("History", "沿革"), last=True)
        self.stack_parts((self.head, self.torn, self.question, self.source, self.finding, self.checks, self.history))
        self._bodies = {s: body_of(s) for s in (self.torn, self.finding, self.checks, self.history)}

    @property
    def row(self) -> TermRow | None:
        """The term that is shown."""
        return self._row

    def show_row(self, row: TermRow | None) -> None:
        """Show another term; its history comes by `show_history`."""
        other = row is None or self._row is None or row.term.key != self._row.term.key
        self._row = row
        self._inside.setVisible(row is not None)
        if row is None:
            return
        self.head.show_row(row, self._catalogue)
        if other or not self.source.dirty:
            self.source.show_source(row)
        self.source.setVisible(row.value is not None)
        self._show_conflict(row)
        self._show_question(row)
        self._show_finding(row)
        self._show_checks(row)
        if other:
            self.show_history(())

    def _show_conflict(self, row: TermRow) -> None:
        body = self._bodies[self.torn]
        clear_layout(body)
        self.torn.setVisible(row.conflict is not None)
        if row.conflict is not None:
            body.addWidget(PlainLabel(row.conflict, size="dense", level="warn", wrap=True))

    def _show_question(self, row: TermRow) -> None:
        self.question.setVisible(row.value is None)
        if row.value is not None:
            return
        implied = None
        if row.implied is not None:
            said = promise_with_unit(row.term, row.implied, self._catalogue)
            implied = Text(f"Implied by the GPU model: {said.en}. A stated value always wins.", f"由 GPU 型号推得：{said.zh}。明确约定的值优先。")
        self.question.show_question(row.question, row.state, implied)

    def _show_finding(self, row: TermRow) -> None:
        body = self._bodies[self.finding]
        clear_layout(body)
        self.finding.setVisible(row.found is not None)
        if row.found is None:
            return
        finding, at = row.found.finding, row.found.at.astimezone()
        line = QHBoxLayout()
        line.addWidget(BadgeLabel(finding.verdict))
        line.addSpacing(8)
        where = ElidedLabel(f"{row.found.node_name} · {at:%m-%d %H:%M}", size="caption", level="3")
        where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(where, 1)
        body.addLayout(line)
        body.addWidget(PlainLabel(finding.reason, size="dense", wrap=True))
        link = Button(Text("Open finding", "查看结果"), kind="link", small=True)
        link.clicked.connect(lambda: self.opened.emit(row))
        body.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_checks(self, row: TermRow) -> None:
        body = self._bodies[self.checks]
        clear_layout(body)
        for check in row.checks:
            body.addWidget(PlainLabel(check.title, size="dense", weight=500))
            body.addWidget(PlainLabel(check.id, size="caption", level="3", code=True))
            body.addWidget(PlainLabel(check.why, size="dense", level="2", wrap=True))
            body.addSpacing(4)
        if not row.checks:
            body.addWidget(PlainLabel(Text("No check of this version verifies it: get it in writing.",
                                           "本版本没有核对它的检查项：请取得书面约定。"), size="dense", level="2", wrap=True))  # fmt: skip

    def show_history(self, changes: Sequence[ClaimChange]) -> None:
        """Show who wrote what and when, newest last."""
        body = self._bodies[self.history]
        clear_layout(body)
        self.history.setVisible(bool(changes))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)
        for place, change in enumerate(changes):
            badge = badge_of(change.state)
            grid.addWidget(PlainLabel(f"{change.at.astimezone():%m-%d}", size="dense", level="3"), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(Icon(badge.icon, badge.token, 14), place, 1, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(self._change(change), place, 2)
        body.addLayout(grid)

    def _change(self, change: ClaimChange) -> QVBoxLayout:
        row = self._row
        value = Text("not stated", "未说明")
        if change.value is not None and row is not None:
            value = promise_with_unit(row.term, change.value, self._catalogue)
        state = CLAIM_WORDS[change.state]
        note = note_text(change.note)
        by = Text(*(" · ".join(part for part in (change.by, said) if part) for said in (note.en, note.zh)))
        return change_lines(Text(f"{state.en}: {value.en}", f"{state.zh}：{value.zh}"), by)

    def _source_kept(self, words: str, written: bool) -> None:
        if self._row is not None:
            self.sourced.emit(self._row, words, written)


class _Head(NameHead):
    """Label, key, state, and the ruler where promise and reading are numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.ruler = RulerBar()
        self.column.insertWidget(self.column.indexOf(self.pairs), self.ruler)

    def show_row(self, row: TermRow, catalogue: Catalogue) -> None:
        """Show another term."""
        self.name_row(row.term.label, row.term.key, row.state)
        stated = row.value if row.value is not None else row.implied
        said = promise_with_unit(row.term, stated, catalogue) if stated is not None else Text("not stated", "未说明")
        found = row.found.finding if row.found is not None else None
        pairs: list[tuple[Words, Words]] = [
            (Text("Promised", "承诺") if row.value is not None or stated is None else Text("Implied", "推得"), said)
        ]
        if found is not None:
            unread = Text("not readable", "读不到")
            pairs.append((Text("Measured", "实测"), found_text(found) if found.measured is not None else unread))
        self.pairs.set_pairs(pairs)
        promised, measured = figure(stated), figure(found.measured) if found is not None else None
        fits = found is not None and promised is not None and measured is not None
        self.ruler.setVisible(fits)
        if found is not None and promised is not None and measured is not None:
            token = _TOKENS.get(found.verdict, "t3")
            self.ruler.set_ruler(Ruler(promised, measured, token, less_is_better=row.term.better == "less"))
