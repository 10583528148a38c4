"""Which tasks ran before, here and elsewhere, and how does a run stand beside its reference?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.task import TaskRun
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.verification_task_result import ENDS, speed_text
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.chart_lines import Chart, ChartLine
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.services.task_compare import Comparison, Overlay, StepRow
    from gpulease_gui.services.task_history import TaskLine

_PLACES = 200


class TaskRunsPane(QWidget):
    """All runs of tasks, newest first. `picked` carries the id of the run in sight, `compared` asks to lay it beside its reference."""

    picked = Signal(str)
    compared = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.compare = Button(Text("Compare with the reference", "与参考运行比较"), small=True)
        self.compare.clicked.connect(self._compare)
        columns = (
            Column["TaskLine"](Text("Task", "任务"), _task, lambda line: line.run.spec.name, width=150),
            Column["TaskLine"](Text("Node", "节点"), lambda line: Cell(foreign(line.node), tip=foreign(line.supplier)), lambda line: line.node, width=84, stretch=True),
            Column["TaskLine"](Text("When", "时间"), lambda line: Cell(f"{line.run.started_at.astimezone():%m-%d %H:%M}", tone="2"),
                               lambda line: line.run.started_at.timestamp(), width=92),
            Column["TaskLine"](Text("Ended", "结束"), lambda line: Cell(ENDS[line.run.end] if line.run.end else Text("under way", "进行中")), width=84),
            Column["TaskLine"](Text("Median speed", "速度中位数"), _speed, width=124, number=True),
            Column["TaskLine"](Text("Verdict", "判定"), lambda line: state_cell(badge_of(line.verdict)) if line.verdict else NOTHING, width=96),
        )  # fmt: skip
        self.model = TableModel["TaskLine"](columns, lambda line: line.run.id)
        self.table = TableView(self.model, Text("Runs of tasks", "任务运行记录"))
        self.table.selectionModel().currentChanged.connect(lambda *_: self._chosen())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(16, 6, 16, 6)
        head.addWidget(PlainLabel(Text("Runs", "运行记录"), size="dense", weight=600))
        head.addStretch()
        head.addWidget(self.compare)
        column.addLayout(head)
        column.addWidget(self.table, 1)
        self._quiet = False
        self._fit()

    def show_lines(self, lines: Sequence[TaskLine], chosen: str = "") -> None:
        """Show the runs; `chosen` is selected without telling anyone."""
        self._quiet = True
        self.model.set_rows(lines)
        if chosen:
            self.table.choose(chosen)
        self._quiet = False
        self._fit()

    def _chosen(self) -> None:
        self._fit()
        line = self.table.current_row
        if line is not None and not self._quiet:
            self.picked.emit(line.run.id)

    def _fit(self) -> None:
        line = self.table.current_row
        others = {one.run.spec.name for one in self.model.rows if one.is_reference}
        self.compare.setEnabled(line is not None and not line.is_reference and line.run.spec.name in others)

    def _compare(self) -> None:
        line = self.table.current_row
        if line is not None:
            self.compared.emit(line.run.id)


def _task(line: TaskLine) -> Cell:
    return Cell(foreign(line.run.spec.name), weight=500, tag=Text("reference", "参考") if line.is_reference else "")


def _speed(line: TaskLine) -> Cell:
    rates = line.run.reading.rates if line.run.reading else ()
    return Cell(f"{speed_text(rates[0].median)} {rates[0].unit}") if rates else NOTHING


class TaskComparePane(QWidget):
    """Both runs step by step: what is different in words, two overlaid charts, a table. `closed` when the user goes back."""

    closed = Signal()

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        # Imported here: numpy is heavy, and modules of pages are imported before the first paint.
        from gpulease_gui.gui.widgets.line_chart import LineChart

        self._frame, self._asked = frame, 0
        self.badge = BadgeLabel(None)
        self.said = PlainLabel("", weight=600, wrap=True, select=True)
        self.step = PlainLabel("", size="dense", level="2", wrap=True)
        self.charts = (LineChart(), LineChart())
        columns = (
            Column["StepRow"](Text("Steps", "步"), lambda row: Cell(str(row.first) if row.first == row.last else f"{row.first}–{row.last}"), width=110, stretch=True),
            Column["StepRow"](Text("Loss here", "本次损失"), lambda row: _number(row.loss, 4), width=120, number=True),
            Column["StepRow"](Text("Loss, reference", "参考损失"), lambda row: _number(row.loss_reference, 4), width=130, number=True),
            Column["StepRow"](Text("Speed here", "本次速度"), lambda row: _rate(row.rate), width=130, number=True),
            Column["StepRow"](Text("Speed, reference", "参考速度"), lambda row: _rate(row.rate_reference), width=140, number=True),
            Column["StepRow"](Text("Part of it", "占参考"), _share, width=110, number=True),
        )  # fmt: skip
        self.model = TableModel["StepRow"](columns, lambda row: row.first)
        self.table = TableView(self.model, Text("Step by step", "逐步比较"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        charts = QHBoxLayout()
        charts.setContentsMargins(16, 0, 0, 8)
        charts.setSpacing(8)
        for chart in self.charts:
            charts.addWidget(chart, 1)
        column.addLayout(charts)
        column.addWidget(self.table, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(10)
        self.back = Button(Text("Back to the task", "返回任务"), icon="chevron-left", small=True)
        self.back.clicked.connect(self.closed)
        row.addWidget(self.back)
        row.addWidget(self.badge)
        row.addWidget(self.said, 1)
        column.addLayout(row)
        column.addWidget(self.step)
        return head

    def show_run(self, run_id: str) -> None:
        """Lay a run beside the reference of its task."""
        from gpulease_gui.services.task_history import compare_with_reference

        self._asked += 1
        asked, catalogue = self._asked, self._frame.services.catalogue
        found = self._frame.services.query(lambda connection: compare_with_reference(connection, run_id, catalogue))
        self._frame.bridge.when_done(found, lambda compared: self._show(asked, compared), self._failed)

    def _failed(self, trouble: UserFacing) -> None:
        self.badge.set_state(None)
        self.said.set_words(trouble.what_text)
        self.model.set_rows(())

    def _show(self, asked: int, compared: Comparison) -> None:
        if asked != self._asked:
            return
        self.badge.set_state(compared.verdict)
        self.said.set_words(compared.words)
        parts = [compared.next_step, *compared.notes]
        self.step.set_words(Text("\n".join(p.en for p in parts if p.en), "\n".join(p.zh for p in parts if p.zh)))
        self.step.setVisible(any(p.en for p in parts))
        for place, chart in enumerate(self.charts):
            overlay = compared.overlays[place] if place < len(compared.overlays) else None
            chart.setVisible(overlay is not None)
            chart.set_chart(overlay_chart(overlay, compared.run, compared.reference) if overlay is not None else None)
        self.model.set_rows(compared.rows)


def overlay_chart(overlay: Overlay, run: TaskRun, reference: TaskRun) -> Chart:
    """Both runs over common steps. Where only one of them went on, the last value of the other stands still."""
    last = max(overlay.here[-1][0], overlay.reference[-1][0], 1)
    xs = tuple(last * place / _PLACES for place in range(_PLACES + 1))
    here, there = (tuple(_at(points, x) for x in xs) for points in (overlay.here, overlay.reference))
    loss = overlay.unit == "loss"
    name = Text("Loss", "损失") if loss else Text("Speed", "速度")
    lines = (
        ChartLine(Text(f"{name.en}, {run.started_at.astimezone():%m-%d %H:%M}", f"{name.zh}，{run.started_at.astimezone():%m-%d %H:%M}"), here),
        ChartLine(Text(f"reference, {reference.started_at.astimezone():%m-%d %H:%M}", f"参考，{reference.started_at.astimezone():%m-%d %H:%M}"), there),
    )  # fmt: skip
    sentence = Text(f"{name.en} of this run and of its reference over {last} steps", f"{last} 步内本次与参考运行的{name.zh}")
    return Chart(xs, lines, Text("steps", "步"), "" if loss else overlay.unit, sentence)


def _at(points: Sequence[tuple[int, float]], x: float) -> float:
    """The value at a step, on the line between the points beside it."""
    place = bisect_left(points, x, key=lambda point: point[0])
    if place == 0 or place == len(points):
        return points[min(place, len(points) - 1)][1]
    (before, low), (after, high) = points[place - 1], points[place]
    return low + (high - low) * (x - before) / (after - before) if after > before else high


def _number(value: float | None, decimals: int) -> Cell:
    return NOTHING if value is None else Cell(f"{value:.{decimals}f}")


def _rate(value: float | None) -> Cell:
    return NOTHING if value is None else Cell(speed_text(value))


def _share(row: StepRow) -> Cell:
    return NOTHING if row.share is None else Cell(f"{number_text(row.share * 100, 1)} %")
