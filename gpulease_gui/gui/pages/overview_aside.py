"""What is there to try in the demo, and what happened lately?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.pages.nodes_drift import DIFFERENCES, changed_sentence, drift_of
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon, Pane, Section, clear_layout
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.services.overview import Overview, RunLine, local_day
from gpulease_gui.store.records import RunState

WIDTH, MOST_WIDTH = 292, 380
_MOST_CHANGED = 4
PART = Text("part", "部分")
_USUAL_HEIGHT = 18  # of the base font


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try: what, with what, where it is done, and whether it was done."""

    title: Text
    note: Text
    place: tuple[str, ...]
    done: bool


def steps_of(seen: Overview, *, connected: bool) -> tuple[Step, ...]:
    """The way through the demo; it ends with a report."""
    node_id, node = next(((i, n) for i, n in seen.node_names.items() if n == "pcie-as-sxm"),
                         next(iter(seen.node_names.items()), ("", "")))  # fmt: skip
    contract = next((line.contract.id for line in seen.contracts), "")
    done = seen.steps
    return (
        Step(Text("See a promise and its source", "查看一条承诺及其出处"), Text("the terms of a contract", "合同里的条款"),
             ("suppliers", "contract", contract), done.source_seen),
        Step(Text("Connect a node", "连接一个节点"), Text("they answer on this computer", "节点就在本机应答"),
             ("nodes", node_id), connected or done.verified),
        Step(Text(f"Verify {node}", f"验收 {node}"), Text("read-only checks, under a minute", "只读检查，不到一分钟"),
             ("verification", node_id), done.verified),
        Step(Text("Watch a node live", "实时监控节点"), Text("with the contract's figure as a line", "合同指标画成一条线"),
             ("live", node_id), done.watched),
        Step(Text("Export the evaluation", "导出评估报告"), Text("PDF, Chinese or English", "PDF，中文或英文"),
             ("reports", contract), done.exported),
    )  # fmt: skip


class Aside(Lively, Pane):
    """The right pane of the overview."""

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        super().__init__(1, parent=parent)
        self._frame = frame
        self._shown_steps: tuple[Step, ...] = ()
        self._shown_runs: tuple[RunLine, ...] | None = None
        self._names: Mapping[str, str] = {}
        self._drift = drift_of(frame)
        self._drift.changed.connect(self._show_changed)
        inside = Pane(1)
        self.steps = Section(Text("Try in the demo", "在演示中试一试"))
        self._steps = QVBoxLayout()
        self._steps.setSpacing(8)
        self.steps.column.addLayout(self._steps)
        self.changed = Section(Text("Changed nodes", "有变化的节点"))
        self._changed = QVBoxLayout()
        self._changed.setSpacing(8)
        self.changed.column.addLayout(self._changed)
        self.changed.hide()
        self.latest = Section(Text("Latest runs", "最近的验收"), last=True)
        self._latest = QGridLayout()
        self._latest.setHorizontalSpacing(10)
        self._latest.setVerticalSpacing(8)
        self._latest.setColumnStretch(2, 1)
        self.latest.column.addLayout(self._latest)
        inside.column.addWidget(self.steps)
        inside.column.addWidget(self.changed)
        inside.column.addWidget(self.latest)
        inside.column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self.column.addWidget(area)
        self.retheme()

    def retheme(self) -> None:
        """The pane grows with the font, up to a limit."""
        scale = max(1.0, self.fontMetrics().height() / _USUAL_HEIGHT)
        self.setFixedWidth(round(min(WIDTH * scale, MOST_WIDTH)))

    def show_overview(self, seen: Overview, *, demo: bool, connected: bool) -> None:
        """Show what was done and what happened."""
        self.steps.setVisible(demo)
        steps = steps_of(seen, connected=connected) if demo else ()
        if steps != self._shown_steps:
            self._shown_steps = steps
            self._show_steps(steps)
        if seen.node_names != self._names:
            self._names = seen.node_names
            self._show_changed()
        if seen.runs != self._shown_runs:
            self._shown_runs = seen.runs
            self._show_runs(seen.runs)

    def _show_changed(self) -> None:
        """Nodes that are no longer what was accepted, and cards that are in two of them, in words."""
        clear_layout(self._changed)
        ids = {name: node_id for node_id, name in self._names.items()}
        for found in self._drift.twice[:_MOST_CHANGED]:
            self._changed.addLayout(self._line(foreign(found.first), found.words, Verdict.FAIL, ids.get(found.first, "")))
        drifted = [one for one in self._drift.drifted if one.node_id in self._names]
        for one in drifted[:_MOST_CHANGED]:
            name, words = foreign(self._names[one.node_id]), changed_sentence(one.changes)
            self._changed.addLayout(self._line(name, words, one.changes[0].verdict, one.node_id))
        count = len(drifted) + len(self._drift.twice)
        self.changed.note.set_words(str(count) if count else "")
        self.changed.setVisible(count > 0)

    def _line(self, name: Text, what: Text, verdict: Verdict, node_id: str) -> QHBoxLayout:
        """A mark, the node as a link to its differences, and what changed."""
        row, words = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(8)
        words.setSpacing(0)
        badge = badge_of(verdict)
        row.addWidget(Icon(badge.icon, badge.token, 16), 0, Qt.AlignmentFlag.AlignTop)
        link = Button(name, kind="link", small=True)
        link.clicked.connect(lambda: self._frame.go("verification", node_id, DIFFERENCES))
        words.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        words.addWidget(_beside_link(PlainLabel(what, size="caption", level="2", wrap=True)))
        row.addLayout(words, 1)
        return row

    def _show_steps(self, steps: Sequence[Step]) -> None:
        clear_layout(self._steps)
        done = sum(step.done for step in steps)
        self.steps.note.set_words(Text(f"{done} of {len(steps)}", f"{done} / {len(steps)}"))
        for step in steps:
            self._steps.addLayout(self._step(step))

    def _step(self, step: Step) -> QHBoxLayout:
        row, words = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(8)
        words.setSpacing(0)
        mark = ("verdict-pass", "pass") if step.done else ("verdict-notrun", "t3")
        row.addWidget(Icon(*mark, 16), 0, Qt.AlignmentFlag.AlignTop)
        if step.done:
            words.addWidget(_beside_link(PlainLabel(step.title, size="dense", level="3")))
        else:
            link = Button(step.title, kind="link", small=True)
            link.clicked.connect(lambda _=False, place=step.place: self._frame.go(place[0], *place[1:]))
            words.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        words.addWidget(_beside_link(PlainLabel(step.note, size="caption", level="2", wrap=True)))
        row.addLayout(words, 1)
        return row

    def _show_runs(self, lines: Sequence[RunLine]) -> None:
        clear_layout(self._latest)
        today = local_day(utc_now())
        self.latest.title.set_words(
            Text("Today", "今天") if any(local_day(line.run.started_at) == today for line in lines) else Text("Latest runs", "最近的验收")
        )
        if not lines:
            self._latest.addWidget(PlainLabel(Text("No run yet", "尚未验收"), size="dense", level="3"), 0, 0, 1, 3)
        for row, line in enumerate(lines):
            at = line.run.started_at.astimezone()
            time = f"{at:%H:%M}" if at.date() == today else f"{at:%m-%d}"
            badge = badge_of_run(line)
            self._latest.addWidget(PlainLabel(time, size="dense", level="3"), row, 0)
            self._latest.addWidget(Icon(badge.icon, badge.token, 14), row, 1)
            self._latest.addWidget(ElidedLabel(run_words(line), size="dense"), row, 2)


def _beside_link(label: PlainLabel) -> PlainLabel:
    """A link keeps room for its focus frame; what stands above or below it starts at its letters."""
    label.setContentsMargins(3, 0, 0, 0)
    return label


def badge_of_run(line: RunLine) -> Badge:
    """The verdict of a finished run, else its state."""
    if line.run.state is RunState.RUNNING:
        return badge_of(CheckState.RUNNING)
    if line.run.state is not RunState.FINISHED or line.run.overall is None:
        return badge_of(CheckState.CANCELLED)
    return badge_of(line.run.overall)


def run_words(line: RunLine) -> Text:
    """Such as: node-07: 9 fail, 27 pass."""
    names = foreign(line.node_name)
    if line.run.is_part:
        names = Text(f"{line.node_name} ({PART.en})", f"{line.node_name}（{PART.zh}）")
    if line.run.state is RunState.RUNNING:
        return Text(f"{names.en}: running", f"{names.zh}：执行中")
    if line.run.state is RunState.CANCELLED:
        return Text(f"{names.en}: cancelled", f"{names.zh}：已取消")
    if line.run.state is RunState.INTERRUPTED:
        return Text(f"{names.en}: interrupted", f"{names.zh}：被中断")
    return Text(f"{names.en}: {line.fails} fail, {line.passes} pass", f"{names.zh}：不符 {line.fails}，通过 {line.passes}")
