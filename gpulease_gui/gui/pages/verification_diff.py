"""What is different between two runs, of one node or of two?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.nodes_table import local_time, run_badge
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import finding_name, value_text, with_unit
from gpulease_gui.services.drift import Comparison, compare
from gpulease_gui.services.events import NodeDrifted
from gpulease_gui.services.rejudge import Rejudgement
from gpulease_gui.store import nodes, runs
from gpulease_gui.store.records import Run

if TYPE_CHECKING:
    import sqlite3

    from gpulease_gui.gui.pages.page import Frame

TWICE = Group("0", Text("One card in two nodes", "同一张卡出现在两个节点"))
MACHINE = Group("1", Text("The machine", "机器本身"))
ANSWERS = Group("2", Text("Answers of the checks", "检查结果"))


@dataclass(frozen=True, slots=True)
class Difference:
    """One line: what it is about, what was said before and what is said now, and how bad that is."""

    key: str
    group: Group
    what: Words
    before: Words
    now: Words
    verdict: Verdict | None
    tip: Words = ""


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run that can be picked, with the name of its node and its number there."""

    run: Run
    node: str
    number: int

    @property
    def words(self) -> Text:
        """Such as: node-07 · 3 · 11-30 08:00 · Fail."""
        word, head = run_badge(self.run).word, f"{self.node} · {self.number} · {local_time(self.run)}"
        part = Text(" · part", " · 部分") if self.run.is_part else NO_TEXT
        return Text(f"{head} · {word.en}{part.en}", f"{head} · {word.zh}{part.zh}")


def known_runs(connection: sqlite3.Connection) -> tuple[KnownRun, ...]:
    """All verifications, newest first, parts of one too."""
    names = {node.id: node.name for node in nodes.list_nodes(connection)}
    made = runs.list_runs(connection, parts=True)
    counts: dict[str, int] = {}
    numbered = []
    for run in reversed(made):
        counts[run.node_id] = counts.get(run.node_id, 0) + 1
        numbered.append(KnownRun(run, names.get(run.node_id, ""), counts[run.node_id]))
    return tuple(reversed(numbered))


def differences(compared: Comparison, frame: Frame) -> tuple[Difference, ...]:
    """The lines of the table, the worst of each part first."""
    return (*_twice(compared), *_machine(compared), *_answers(compared.answers, frame))


def _twice(compared: Comparison) -> Iterator[Difference]:
    for found in compared.duplicates:
        cards = foreign(", ".join(found.cards))
        yield Difference(f"twice {found.cards[0]}", TWICE, cards, foreign(found.first), foreign(found.second), Verdict.FAIL, found.words)


def _machine(compared: Comparison) -> Iterator[Difference]:
    for place, change in enumerate(compared.changes):
        before, now = ("–" if value is None else value_text(value) for value in (change.before, change.after))
        yield Difference(f"change {place}", MACHINE, change.words, before, now, change.verdict, change.words)


def _answers(answers: Sequence[Rejudgement], frame: Frame) -> Iterator[Difference]:
    terms = frame.services.catalogue.terms
    for place, answer in enumerate(answers):
        name = finding_name(answer.finding, terms)
        verdict = answer.after.verdict if answer.after else None
        yield Difference(f"answer {place}", ANSWERS, name, _said(answer.before), _said(answer.after), verdict, answer.finding.reason)


def _said(finding: Finding | None) -> Words:
    """The measured value with the verdict; what one side did not ask is not run, never good."""
    if finding is None:
        return Text("not run", "未执行")
    word = badge_of(finding.verdict).word
    if finding.measured is None:
        return word
    found = with_unit(finding.measured, finding.unit)
    return Text(f"{found.en} · {word.en}", f"{found.zh} · {word.zh}")


def _verdict(line: Difference) -> Cell:
    return NOTHING if line.verdict is None else state_cell(badge_of(line.verdict))


class DifferencesPane(Pane):
    """Two pickers over a table of what is different; `closed` when the user goes back to the run."""

    closed = Signal()

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        super().__init__(2, parent=parent)
        self._frame = frame
        self._asked = 0
        self.column.addWidget(self._head())
        self.note = Band("accent", "")
        self.note.hide()
        self.column.addWidget(self.note)
        columns = (
            Column[Difference](Text("What", "内容"), lambda d: Cell(d.what, tip=d.tip), stretch=True),
            Column[Difference](Text("Before", "之前"), lambda d: Cell(d.before, tone="2"), width=230),
            Column[Difference](Text("Now", "现在"), lambda d: Cell(d.now), width=230),
            Column[Difference](Text("Means", "影响"), _verdict, width=124),
        )
        self.model = TableModel[Difference](columns, lambda d: d.key, group=lambda d: d.group)
        self.table = TableView(self.model, Text("Differences", "差异"))
        self.column.addWidget(self.table, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        back = Button(Text("Back to the run", "返回验收"), icon="chevron-left", small=True)
        back.clicked.connect(self.closed)
        self.old = Chooser(Text("Earlier run", "较早的验收"))
        self.new = Chooser(Text("Later run", "较晚的验收"))
        for chooser in (self.old, self.new):
            chooser.picked.connect(lambda _: self._compare())
        row.addWidget(back)
        row.addWidget(self.old, 1)
        row.addWidget(PlainLabel("→", level="3"))
        row.addWidget(self.new, 1)
        return head

    def show_node(self, drifted: NodeDrifted | None, before: Run | None, shown: str) -> None:
        """The accepted run and the newest look where the node changed, else the run before and the one in sight."""
        if drifted is not None:
            self.show_runs(drifted.since, drifted.run_id)
        else:
            self.show_runs(before.id if before else shown, shown)

    def show_runs(self, old_id: str, new_id: str) -> None:
        """Offer all runs and compare these two."""
        known = self._frame.services.query(known_runs)
        self._frame.bridge.when_done(known, lambda found: self._offer(found, old_id, new_id))

    def _offer(self, known: Sequence[KnownRun], old_id: str, new_id: str) -> None:
        choices: list[tuple[str, Words]] = [(one.run.id, one.words) for one in known]
        self.old.set_choices(choices, old_id)
        self.new.set_choices(choices, new_id)
        self._compare()

    def _compare(self) -> None:
        self._asked += 1
        asked, old, new = self._asked, self.old.current, self.new.current
        found = self._frame.services.query(lambda connection: compare(connection, old, new))
        self._frame.bridge.when_done(found, lambda compared: self._show(asked, compared))

    def _show(self, asked: int, compared: Comparison) -> None:
        if asked != self._asked:
            return
        lines = differences(compared, self._frame)
        self.model.set_rows(lines)
        if not lines:
            self.note.tell(Text("Nothing changed", "没有变化"), Text("Both runs saw the same machine and gave the same answers.", "两次验收看到的机器和结果都相同。"))
        elif compared.old.run.node_id != compared.new.run.node_id:
            self.note.tell(Text("Two nodes", "两个节点"), Text("Their answers are compared; two machines have no history in common.", "仅比较检查结果；两台机器没有共同的历史。"))
        else:
            self.note.hide()
