"""What does the selected finding say, and what proves it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.verification_evidence import (
    CommandTab,
    RawTab,
    RuleTab,
    copy_button,
    history_table,
    subjects_table,
)
from gpulease_gui.gui.pages.verification_figures import FiguresLine
from gpulease_gui.gui.pages.verification_state import FindingRow, Picture
from gpulease_gui.gui.pages.verification_table import rerun_words, ruler_of, sentence
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Pane, TabRow, hairline
from gpulease_gui.gui.widgets.ruler import RulerBar
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import finding_name, with_unit
from gpulease_gui.services.run_view import (
    NodeRuns,
    OutputView,
    PastFinding,
    check_history,
    outputs_of,
    subject_words,
    supplier_question,
)

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

DEVICES, RAW, COMMAND, RULE, HISTORY, NOTHING = range(6)
_TABS = (Text("Devices", "各设备"), Text("Raw", "原始输出"), Text("Command", "命令"), Text("Rule", "规则"), Text("History", "历史"))
_LOUD = {Verdict.FAIL: "fail", Verdict.WARN: "warn"}


class _Headline(QWidget):
    """A caption, a large value, and a note under it."""

    def __init__(self, caption: Words) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.value = ElidedLabel("", size="headline", weight=600)
        self.note = ElidedLabel("", size="caption", level="3")
        column.addWidget(PlainLabel(caption, size="caption", level="3"))
        column.addWidget(self.value)
        column.addWidget(self.note)

    def show_value(self, value: Words, note: Words, level: str) -> None:
        """Show another value."""
        self.value.set_words(value)
        self.value.set_level(level)
        self.note.set_words(note)


class DetailPane(Pane):
    """The right pane: promise and measurement, the reason, what to do, and the evidence in tabs.

    `rerun_wanted` carries the id of the check that is to be asked again.
    """

    rerun_wanted = Signal(str)

    def __init__(self, frame: Frame, terms: Mapping[str, Term], *, parent: QWidget | None = None) -> None:
        super().__init__(1, parent=parent)
        self._frame, self._terms = frame, terms
        self._row: FindingRow | None = None
        self._picture = Picture()
        self._node: NodeRuns | None = None
        self._loaded: tuple[object, ...] = ()
        self._wanted_tab, self._fitting = DEVICES, False
        self.column.addWidget(self._head())
        self.tabs = TabRow(_TABS)
        self.tabs.setUsesScrollButtons(False)
        tabs = QWidget()
        line = QHBoxLayout(tabs)
        line.setContentsMargins(16, 0, 16, 0)
        line.addWidget(self.tabs)
        self.column.addWidget(hairline())
        self.column.addWidget(tabs)
        self.column.addWidget(hairline())
        self.column.addWidget(self._pages(), 1)
        self.tabs.currentChanged.connect(self._tab_changed)
        self.show_row(None, Picture(), None)

    def _head(self) -> QWidget:
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(16, 10, 16, 12)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.title = ElidedLabel("", size="section", weight=600)
        self.check = PlainLabel("", size="caption", level="3", code=True)
        self.badge = BadgeLabel(None)
        row.addWidget(self.title, 1)
        row.addWidget(self.badge)
        column.addLayout(row)
        column.addWidget(self.check)
        self.rerun_note = PlainLabel("", size="caption", level="2", wrap=True)
        column.addWidget(self.rerun_note)
        self.values = QWidget()
        pair = QHBoxLayout(self.values)
        pair.setContentsMargins(0, 0, 0, 0)
        pair.setSpacing(16)
        self.promised = _Headline(Text("Promised", "承诺"))
        self.measured = _Headline(Text("Measured", "实测"))
        pair.addWidget(self.promised, 1)
        pair.addWidget(hairline(vertical=True))
        pair.addWidget(self.measured, 1)
        column.addWidget(self.values)
        self.ruler = RulerBar()
        column.addWidget(self.ruler)
        self.reason = PlainLabel("", size="dense", wrap=True, select=True)
        column.addWidget(self.reason)
        self.step = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        column.addWidget(self.step)
        self.figures = FiguresLine()
        self.figures.edit_wanted.connect(self._edit_figures)
        column.addWidget(self.figures)
        foot = QHBoxLayout()
        self.ask = copy_button(Text("Copy question to supplier", "复制给供应商的询问"))
        self.ask.clicked.connect(self._copy_question)
        self.rerun = Button(Text("Re-run", "重测"), icon="refresh", small=True)
        self.rerun.clicked.connect(lambda: self.rerun_wanted.emit(self._row.info.id if self._row else ""))
        foot.addWidget(self.rerun)
        foot.addWidget(self.ask)
        foot.addStretch()
        column.addLayout(foot)
        return head

    def _pages(self) -> QWidget:
        self.stack = QStackedWidget()
        self.subjects, self.subjects_view = subjects_table()
        self.raw = RawTab(self._frame)
        self.command = CommandTab()
        self.rule = RuleTab()
        self.history, self.history_view = history_table()
        for page in (self.subjects_view, self.raw, self.command, self.rule, self.history_view, QWidget()):
            self.stack.addWidget(page)
        return self.stack

    # -- what the page calls --------------------------------------------------------------------------------------------

    def show_row(self, row: FindingRow | None, picture: Picture, node: NodeRuns | None) -> None:
        """Show another line of the table; None shows that nothing is selected."""
        same_run = picture.run == self._picture.run and picture.is_running == self._picture.is_running
        if row is not None and row == self._row and node is self._node and same_run:
            return
        self._row, self._picture, self._node = row, picture, node
        self._loaded = ()
        finding = row.finding if row else None
        with_row: tuple[QWidget, ...] = (self.badge, self.tabs, self.check, self.rerun)
        with_finding: tuple[QWidget, ...] = (self.values, self.reason, self.ask)
        for widget in with_row:
            widget.setVisible(row is not None)
        for widget in with_finding:
            widget.setVisible(finding is not None)
        self._show_title(row)
        self._show_finding(finding)
        self.command.show_check(row.info if row else None)
        source = node.sources.get(finding.term or "", "") if node and finding else ""
        self.rule.show_check(row.info if row else None, finding, self._terms, source)
        self.subjects.set_rows(finding.subjects if finding else ())
        self._fit_tabs(finding)

    def _show_title(self, row: FindingRow | None) -> None:
        if row is None:
            self.title.set_words(Text("No check selected", "未选择检查项"))
            self.rerun_note.hide()
            return
        self.title.set_words(finding_name(row.finding, self._terms) if row.finding else row.info.title)
        self.check.set_words(row.info.id)
        self.rerun_note.setVisible(row.rerun is not None)
        self.rerun_note.set_words(rerun_words(row.rerun) if row.rerun else "")
        self.rerun.setEnabled(not row.is_rerunning and not self._picture.is_running)
        self.badge.set_state(badge_of(row.finding.verdict if row.finding else row.state))

    def _show_finding(self, finding: Finding | None) -> None:
        ruler = ruler_of(finding) if finding else None
        self.figures.show_figures(finding.judged_by if finding else ())
        self.ruler.setVisible(ruler is not None)
        if finding is None:
            self.step.hide()
            return
        self.ruler.set_ruler(ruler, sentence(finding))
        self._show_values(finding)
        self.reason.set_words(finding.reason)
        self.step.setVisible(finding.next_step != NO_TEXT and bool(say(finding.next_step)))
        step = finding.next_step
        self.step.set_words(Text(f"Next: {step.en}", f"下一步：{step.zh}"))

    def _show_values(self, finding: Finding) -> None:
        source = self._node.sources.get(finding.term or "", "") if self._node else ""
        implied = finding.reason_code == Reason.IMPLIED
        note: Words = Text("implied by the GPU model", "由 GPU 型号推得") if implied else foreign(source)
        stated = finding.promised is not None
        value: Words = with_unit(finding.promised, finding.unit) if stated else Text("not stated", "未约定")
        self.promised.show_value(value, note, "1" if stated else "3")
        read = finding.measured is not None
        found: Words = with_unit(finding.measured, finding.unit) if read else Text("not readable", "读不到")
        level = _LOUD.get(finding.verdict, "1") if read else "3"
        self.measured.show_value(found, subject_words(finding), level)

    def _fit_tabs(self, finding: Finding | None) -> None:
        """Only tabs that hold something; the one that the user looked at last stays, if it is there."""
        there = {DEVICES: finding is not None and bool(finding.subjects), RAW: finding is not None, HISTORY: finding is not None}
        wanted = self._wanted_tab if there.get(self._wanted_tab, True) else RAW if finding is not None else COMMAND
        self._fitting = True
        for tab in (DEVICES, RAW, HISTORY):
            self.tabs.setTabVisible(tab, there[tab])
        self.tabs.setCurrentIndex(wanted)
        self.tabs.retranslate()  # lays the tabs out anew: one that was hidden comes back out of sight
        self._fitting = False
        self._look()

    # -- evidence, read when it is looked at ------------------------------------------------------------------------------

    def _tab_changed(self, tab: int) -> None:
        if not self._fitting:
            self._wanted_tab = tab
            self._look()

    def _look(self) -> None:
        tab, row, node = self.tabs.currentIndex(), self._row, self._node
        self.stack.setCurrentIndex(tab if row is not None and tab >= 0 else NOTHING)
        if row is None or row.finding is None or node is None:
            return
        if tab == RAW:
            self._load_raw(row)
        elif tab == HISTORY:
            self._load_history(row, node)

    def _load_raw(self, row: FindingRow) -> None:
        run_id = self._run_of(row)
        wanted = ("raw", run_id, row.key, row.finding)
        if self._loaded != wanted:
            self._loaded = wanted
            self.raw.show_outputs((), None)
            found = self._frame.services.query(lambda connection: outputs_of(connection, run_id, row.info.id))
            self._frame.bridge.when_done(found, lambda outputs: self._show_outputs(wanted, outputs))

    def _run_of(self, row: FindingRow) -> str:
        """The run whose outputs prove what the row says."""
        if row.rerun is not None and row.rerun.stands:
            return row.rerun.run.id
        return self._picture.live.id if self._picture.live else self._picture.run.id if self._picture.run else ""

    def _show_outputs(self, wanted: tuple[object, ...], outputs: tuple[OutputView, ...]) -> None:
        if self._loaded == wanted and self._row is not None:
            self.raw.show_outputs(outputs, self._row.finding)

    def _load_history(self, row: FindingRow, node: NodeRuns) -> None:
        wanted = ("history", node.node.id, row.key, len(node.runs))
        if self._loaded != wanted:
            self._loaded = wanted
            found = self._frame.services.query(lambda connection: check_history(connection, node.node.id, row.key))
            self._frame.bridge.when_done(found, lambda past: self._show_history(wanted, past))

    def _show_history(self, wanted: tuple[object, ...], past: tuple[PastFinding, ...]) -> None:
        if self._loaded == wanted:
            self.history.set_rows(past)

    def _edit_figures(self) -> None:
        from gpulease_gui.gui.forms.thresholds_dialog import thresholds_dialog

        thresholds_dialog(self._frame, self.window(), self._row.info.id if self._row else "")

    def _copy_question(self) -> None:
        node, run, row = self._node, self._picture.run, self._row
        if node is not None and run is not None and row is not None and row.finding is not None:
            words = supplier_question(node.node, node.contract, row.finding, run, self._terms)
            QGuiApplication.clipboard().setText(say(words))
            self._frame.note(Text("Question copied", "询问已复制"))
