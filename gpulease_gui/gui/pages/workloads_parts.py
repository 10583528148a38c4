"""What stands in the middle of the workloads page: the plan with its sliders and chart, or the model; and the first look?"""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.catalog.scenarios import Scenarios
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.two_lines import Line, LinesView
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.workloads_chart import chart_of, chart_sentence
from gpulease_gui.gui.pages.workloads_form import WorkloadForm
from gpulease_gui.gui.pages.workloads_sizing import SizingPane
from gpulease_gui.gui.pages.workloads_what_if import WhatIf
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, Section, TabRow, hairline
from gpulease_gui.services.break_even import BreakEven
from gpulease_gui.services.commerce_cost import SavedWorkload
from gpulease_gui.services.workload_plan import ModelPlan

PLAN, MODEL = 0, 1


class WorkPane(Pane):
    """Two sides under tabs: what will run, and which model it is; that side is made when it is first looked at.

    `model_wanted` asks for the figures of the model, `offer_wanted` carries an offer that is to be priced, too.
    """

    model_wanted = Signal()
    offer_wanted = Signal(str)

    def __init__(self, scenarios: Scenarios, parent: QWidget) -> None:
        super().__init__(2, parent=parent)
        from gpulease_gui.gui.widgets.line_chart import LineChart

        self._scenarios = scenarios
        self.tabs = TabRow((Text("Workload", "负载"), Text("Model and GPUs", "模型与 GPU")), parent=self)
        row = QVBoxLayout()
        row.setContentsMargins(16, 4, 16, 0)
        row.addWidget(self.tabs)
        self.sides = QStackedWidget(self)
        plan, column = scrolled(self.sides)
        meeting = Section(Text("By the hour or by the month", "按小时还是包月"), Text("cost of one month", "一个月的成本"), last=True, parent=plan)
        self.form, self.what_if = WorkloadForm(plan), WhatIf(plan)
        self.chart = LineChart(parent=meeting)
        self.chart_words = PlainLabel("", size="dense", level="2", wrap=True)
        meeting.column.addWidget(self.chart)
        meeting.column.addWidget(self.chart_words)
        for part in (self.form, self.what_if, meeting):
            column.addWidget(part)
        column.addStretch()
        self.column.addLayout(row)
        for below in (hairline(), self.sides, self.form.band):
            self.column.addWidget(below)
        self.tabs.currentChanged.connect(self._turn)
        self.form.side = self
        self.form.opened.connect(self._show_kept_plan)
        self.form.refused.connect(self._turn_to_field)

    @cached_property
    def sizing(self) -> SizingPane:
        """The side of the model."""
        inside, column = scrolled(self.sides)
        made = SizingPane(self._scenarios, inside)
        made.form.show_plan(self.form.plan)
        made.form.typed.connect(self.form.touch)
        column.addWidget(made)
        made.edited.connect(self.model_wanted)
        made.added.connect(self.offer_wanted)
        return made

    # -- the model belongs to the record ---------------------------------------------------------------------------------------

    @property
    def _sized(self) -> SizingPane | None:
        return self.sizing if "sizing" in vars(self) else None

    def _show_kept_plan(self) -> None:
        if self._sized is not None:
            self._sized.form.show_plan(self.form.plan)

    def read_plan(self) -> ModelPlan | None:
        """The plan as it stands in its fields. Raises Invalid."""
        return self.form.plan if self._sized is None else self._sized.form.told()

    def plan_words(self) -> str:
        """What stands in the fields of the model, nothing while nobody touched them."""
        return "" if self._sized is None else self._sized.form.words_now()

    def bring_plan_back(self, words: str) -> None:
        """Put back what `plan_words` gave."""
        self.sizing.form.bring_back(words)

    def _turn_to_field(self, field: QWidget) -> None:
        """Bring the side into sight on which a field can't be read."""
        in_model = self._sized is not None and self._sized.isAncestorOf(field)
        self.tabs.setCurrentIndex(MODEL if in_model else PLAN)

    def _turn(self, side: int) -> None:
        if side == MODEL:
            self.sizing.show()
        self.sides.setCurrentIndex(side)
        self.model_wanted.emit()

    @property
    def sizes_model(self) -> bool:
        """Whether the side of the model is in sight."""
        return self.sides.currentIndex() == MODEL

    def show_plan(self) -> None:
        """Bring the editor into sight, the keyboard in its name."""
        self.tabs.setCurrentIndex(PLAN)
        self.form.name.setFocus()
        self.form.name.selectAll()

    def show_line(self, line: BreakEven | None) -> None:
        """Show where hourly and monthly prices meet; without a pair, why there is nothing."""
        self.chart.setVisible(line is not None)
        self.chart.set_chart(chart_of(line) if line is not None else None)
        self.chart_words.set_words(chart_sentence(line))


class ListPane(Pane):
    """The saved workloads."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(2, parent=parent)
        self.list = LinesView(Text("Saved workloads", "已存负载"), parent=self)
        head = Pane(1, parent=self)
        head.column.addWidget(HeadLine(Text("Saved workloads", "已存负载")))
        for part in (head, hairline(), self.list):
            self.column.addWidget(part)

    def show_saved(self, saved: tuple[SavedWorkload, ...], key: str) -> None:
        """Show other workloads; the one of `key` is current."""
        self.list.rows.set_lines([Line(w.id, foreign(w.name), _note(w), icon="coin") for w in saved])
        if not self.list.choose(key):
            self.list.clearSelection()


def _note(saved: SavedWorkload) -> Text:
    hours = float(saved.workload.ready_gpu_hours)
    return Text(f"{saved.workload.gpus} GPUs · {hours:,.0f} GPU-hours", f"{saved.workload.gpus} 卡 · {hours:,.0f} 卡时")


def first_look(add: Button, offers: Button) -> EmptyState:
    """What stands where no workload is yet."""
    return EmptyState(
        "coin", Text("No workload yet", "还没有负载"),
        Text("Write down what you will run: GPUs, hours a day, storage. Every offer is then priced for it.",
             "写下要运行什么：GPU 数、每日小时、存储；随后所有报价都按它计价。"),
        primary=add, secondary=offers,
    )  # fmt: skip


def once(owner: QWidget, wait_ms: int) -> QTimer:
    """A timer that fires once after each start."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(wait_ms)
    return timer


def scrolled(stack: QStackedWidget) -> tuple[QWidget, QVBoxLayout]:
    """A new page of `stack` that scrolls: its inside, and the column in which its parts stand."""
    area = QScrollArea(stack)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    stack.addWidget(area)
    inside = QWidget(area.viewport())
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    area.setWidget(inside)
    return inside, column
