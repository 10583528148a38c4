"""What does a workload need, and what do the offers really cost for it?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.forms.two_lines import Line, LinesView
from gpulease_gui.gui.pages.overview_parts import HeadLine, is_open
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers_panes import UndoBand
from gpulease_gui.gui.pages.workloads_chart import chart_of, chart_sentence
from gpulease_gui.gui.pages.workloads_cost import CostPane
from gpulease_gui.gui.pages.workloads_form import WorkloadForm
from gpulease_gui.gui.pages.workloads_sizing import SizingPane
from gpulease_gui.gui.pages.workloads_what_if import WhatIf
from gpulease_gui.gui.taking_back import undo_act
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, Section, TabRow, ThinSplitter, hairline
from gpulease_gui.services.commerce_cost import SavedWorkload, remove_workload, save_workload
from gpulease_gui.services.directory import fresh_id
from gpulease_gui.services.events import Event, RecordsChanged
from gpulease_gui.services.overview import local_day
from gpulease_gui.services.sizing_view import ServedPlan, SizingView, serving_in, size_up
from gpulease_gui.services.workload_desk import Ask, Desk, Sieve, desk_in
from gpulease_gui.services.workload_result import Outcome, Turn, work_out

if TYPE_CHECKING:
    import sqlite3

_TITLE = Text("Workloads", "负载")
_WAIT_MS = 120
_KINDS = frozenset(["workload", "offer", "contract", "terms", "price", "rate", "claim", "supplier"])
_LIST_WIDTH = 216


class WorkloadsPage(Page):
    """Saved workloads; the editor, what-if and the model; the offers' cost. Figures are counted on a worker, newest only."""

    narrow_navigation = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        from gpulease_gui.gui.widgets.line_chart import LineChart

        self.scenarios = load_scenarios()
        self._desk: Desk | None = None
        self._key = ""
        self._chosen = ""
        self._sieve = Sieve()
        self._busy = self._again = False
        self._filling = False
        self.list = LinesView(Text("Saved workloads", "已存负载"))
        self.form, self.what_if, self.cost = WorkloadForm(), WhatIf(), CostPane()
        self.sizing = SizingPane(self.scenarios)
        self.chart = LineChart()
        self.chart_words = PlainLabel("", size="dense", level="2", wrap=True)
        self.undo = UndoBand()
        self.add = Button(Text("New workload", "新建负载"), icon="add")
        self.copy = Button(Text("Duplicate", "复制"), icon="copy")
        self.drop = Button(Text("Delete", "删除"), icon="delete")
        self._soon = _once(self, _WAIT_MS, self.refresh)
        self._build()
        self._connect()

    # -- layout ----------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.stack = QStackedWidget()
        self.waiting, self.empty = Pane(2), self._empty()
        self.split = ThinSplitter()
        left, middle = Pane(2), Pane(2)
        head = Pane(1)
        head.column.addWidget(HeadLine(Text("Saved workloads", "已存负载")))
        for part in (head, hairline(), self.list):
            left.column.addWidget(part)
        self.tabs = TabRow((Text("Workload", "负载"), Text("Model and GPUs", "模型与 GPU")))
        self.tabs.setContentsMargins(16, 0, 16, 0)
        tab_row = QVBoxLayout()
        tab_row.setContentsMargins(16, 4, 16, 0)
        tab_row.addWidget(self.tabs)
        middle.column.addLayout(tab_row)
        middle.column.addWidget(hairline())
        self.sides = QStackedWidget()
        self.sides.addWidget(_scrolled(self._use_side()))
        self.sides.addWidget(_scrolled(self.sizing))
        for below in (self.sides, self.undo, self.form.band):
            middle.column.addWidget(below)
        for pane in (left, middle, self.cost):
            self.split.addWidget(pane)
        for place, stretch in enumerate((0, 1, 1)):
            self.split.setStretchFactor(place, stretch)
        self.split.setSizes([_LIST_WIDTH, 560, 610])
        for whole in (self.waiting, self.empty, self.split):
            self.stack.addWidget(whole)
        self.column.addWidget(self.stack)

    def _use_side(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        meeting = Section(Text("By the hour or by the month", "按小时还是包月"), Text("cost of one month", "一个月的成本"), last=True)
        meeting.column.addWidget(self.chart)
        meeting.column.addWidget(self.chart_words)
        for part in (self.form, self.what_if, meeting):
            column.addWidget(part)
        column.addStretch()
        return made

    def _empty(self) -> EmptyState:
        add = Button(Text("New workload", "新建负载"), icon="add", kind="primary")
        add.clicked.connect(self.new)
        offers = Button(Text("Go to the offers", "转到报价"))
        offers.clicked.connect(lambda: self.frame.go("suppliers"))
        return EmptyState(
            "coin", Text("No workload yet", "还没有负载"),
            Text("Write down what you will run: GPUs, hours a day, storage. Every offer is then priced for it.",
                 "写下要运行什么：GPU 数、每日小时、存储；随后所有报价都按它计价。"),
            primary=add, secondary=offers,
        )  # fmt: skip

    def _connect(self) -> None:
        self.list.selectionModel().currentRowChanged.connect(self._picked)
        self.form.edited.connect(self._edited)
        self.form.saved.connect(self._save)
        self.form.left.connect(lambda: self._open(self._key))
        self.what_if.turned.connect(self.recount)
        self.what_if.taken.connect(self._take_over)
        self.cost.chosen.connect(self._choose)
        self.cost.currency_chosen.connect(self._convert)
        self.cost.opened.connect(lambda id_: self.frame.go("suppliers", "offer", id_))
        self.sizing.edited.connect(self.resize_plan)
        self.sizing.added.connect(self._price_too)
        self.tabs.currentChanged.connect(self._turn)
        self.add.clicked.connect(self.new)
        self.copy.clicked.connect(self.duplicate)
        self.drop.clicked.connect(self.remove)

    # -- reading -----------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read workloads and offers anew on a worker; what is shown stays."""
        if is_open(self.frame):
            sieve = replace(self._sieve, currency=self.cost.currency.current)
            future = self.frame.services.query(lambda c: desk_in(c, local_day(utc_now()), sieve))
            self.frame.bridge.when_done(future, self._take)

    def _take(self, desk: Desk) -> None:
        self._desk = desk
        known = {saved.id for saved in desk.workloads}
        self.frame.set_count("workloads", str(len(known)) if known else "")
        is_new = self.form.record_id == self._key and self._key not in known and self.form.band.isVisibleTo(self)
        if self._key not in known and not is_new:
            self._key = desk.workloads[0].id if desk.workloads else ""
        self._fill_list()
        if not desk.workloads and not is_new:
            self._show(self.empty)
            return
        if not (is_new or self.form.dirty):
            self._open(self._key)
        else:
            self.recount()
        self._show(self.split)

    def _show(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.header_changed.emit()

    def _fill_list(self) -> None:
        self._filling = True
        saved = self._desk.workloads if self._desk else ()
        self.list.rows.set_lines([Line(w.id, foreign(w.name), _note(w), icon="coin") for w in saved])
        self.list.choose(self._key)
        self._filling = False

    def _picked(self) -> None:
        line = self.list.current
        if self._filling or line is None or line.key == self._key:
            return
        if self.may_leave():
            self._key = line.key
            self._open(line.key)
        else:
            QTimer.singleShot(0, self, self._fill_list)

    @property
    def current(self) -> SavedWorkload | None:
        """The saved workload that is shown."""
        return next((w for w in (self._desk.workloads if self._desk else ()) if w.id == self._key), None)

    def _open(self, key: str) -> None:
        if self.current is not None:
            self.form.open_record(self.current)
            self._edited()
        elif self._desk is not None and self._desk.workloads:
            self._key = self._desk.workloads[0].id
            self._fill_list()
            self._open(self._key)
        else:
            self._show(self.empty)
        self.header_changed.emit()

    # -- counting ----------------------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        try:
            record = self.form.read()
        except Invalid:
            return
        self.what_if.begin(record.workload, record.pattern)
        self.recount()
        if self.sides.currentIndex() == 1:
            self.resize_plan()

    def turn(self) -> Turn | None:
        """What is asked of the desk now; None while a field can't be read."""
        try:
            record = self.form.read()
        except Invalid:
            return None
        ask = Ask(record.workload, self.cost.currency.current, record.tax_recoverable)
        what_if = replace(ask, workload=self.what_if.workload) if self.what_if.is_turned else None
        return Turn(ask, what_if, self.what_if.pattern if what_if else record.pattern, self._chosen)

    def recount(self) -> None:
        """Count on a worker; while one count is under way only the newest wish is kept."""
        if self._busy:
            self._again = True
            return
        turn = self.turn()
        if self._desk is None or turn is None or not is_open(self.frame):
            return
        self._busy = True
        future = self.frame.services.jobs.local(partial(work_out, self._desk, turn))
        self.frame.bridge.when_done(future, self._counted, lambda trouble: self._failed(trouble.what))

    def _counted(self, outcome: Outcome) -> None:
        self._busy = False
        if self._again:
            self._again = False
            self.recount()
        self.show_outcome(outcome)

    def _failed(self, words: str) -> None:
        self._busy = self._again = False
        self.what_if.tell(foreign(words))

    def show_outcome(self, outcome: Outcome) -> None:
        """Show the figures of one count."""
        self.cost.show_outcome(outcome, len(self._desk.rows) if self._desk else 0)
        self.sizing.added_ids = frozenset(offer.facts.row.id for offer in outcome.offers)
        self.chart.setVisible(outcome.line is not None)
        self.chart.set_chart(chart_of(outcome.line) if outcome.line else None)
        self.chart_words.set_words(chart_sentence(outcome.line))
        detail = outcome.detail
        if detail is not None and detail.more is not None:
            sign = "+" if detail.more >= 0 else "−"
            more = f"{sign}{outcome.ask.currency}\N{NARROW NO-BREAK SPACE}{abs(detail.more):,f}"
            self.what_if.tell(Text(f"{detail.offer.name}: {more} against the workload", f"{detail.offer.name}：相对原负载 {more}"))

    def _choose(self, offer_id: str) -> None:
        if offer_id != self._chosen:
            self._chosen = offer_id
            self.recount()

    def _convert(self) -> None:
        self.refresh()

    # -- the model ---------------------------------------------------------------------------------------------------------

    def _turn(self, place: int) -> None:
        self.sides.setCurrentIndex(place)
        if place == 1:
            self.resize_plan()

    def resize_plan(self) -> None:
        """Size the model for the GPUs of the workload, and price the offers that serve it."""
        turn, desk, services = self.turn(), self._desk, self.frame.services
        if turn is None or desk is None:
            return
        ask = turn.what_if or turn.ask
        try:
            plan = self.sizing.form.plan(ask.workload.gpus)
        except Invalid:
            return

        def work(connection: sqlite3.Connection) -> tuple[SizingView, tuple[ServedPlan, ...]]:
            view = size_up(plan.setup, plan.scenario, self.scenarios, services.catalogue)
            return view, serving_in(connection, desk.rows, view.choices, services.catalogue, ask, desk.rates, desk.day)

        self.frame.bridge.when_done(services.query(work), lambda found: self.sizing.show_view(*found))

    def _price_too(self, offer_id: str) -> None:
        shown = tuple(offer.facts.row.id for offer in self.cost.offers.rows)
        self._chosen = offer_id
        self._sieve = Sieve((offer_id, *shown) if offer_id not in shown else shown)
        self.refresh()

    # -- workloads ---------------------------------------------------------------------------------------------------------

    def new(self) -> None:
        """Begin a new workload."""
        if self.may_leave():
            pattern = Pattern()
            self._begin(SavedWorkload(fresh_id(), "", workload_of(pattern), pattern))

    def duplicate(self) -> None:
        """Begin a copy of the shown workload."""
        if self.current is not None and self.may_leave():
            name = self.current.name
            self._begin(replace(self.current, id=fresh_id(), name=f"{name} (2)"))

    def _begin(self, saved: SavedWorkload) -> None:
        self._key = saved.id
        self.form.open_record(saved, is_new=True)
        self.tabs.setCurrentIndex(0)
        self._show(self.split)
        self.list.clearSelection()
        self._edited()
        self.form.name.setFocus()
        self.form.name.selectAll()

    def _save(self, record: SavedWorkload) -> None:
        future = self.frame.services.change(lambda db: save_workload(db, record), "workload")
        self.frame.bridge.when_done(future, self._kept, lambda trouble: self.frame.trouble(trouble.what, trouble.why))

    def _kept(self, record: SavedWorkload) -> None:
        self._key = record.id
        self.form.done()
        self.frame.note(Text(f"Saved {record.name}", f"已保存 {record.name}"))

    def _take_over(self) -> None:
        """Write what the sliders say into the editor."""
        try:
            record = self.form.read()
        except Invalid:
            return
        turned = replace(record, workload=self.what_if.workload, pattern=self.what_if.pattern)
        self.form.open_record(turned)
        self.form._changed()

    def remove(self) -> None:
        """Delete the shown workload; Undo brings it back."""
        saved = self.current
        if saved is None:
            return
        self.form.done()
        future = self.frame.services.change(lambda db: remove_workload(db, saved.id), "workload")
        done = Text(f"{saved.name} was deleted", f"已删除 {saved.name}")
        self.frame.bridge.when_done(future, lambda _: self.undo.offer(done, lambda: undo_act(self.frame)))

    # -- what the window asks ----------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The workload that is shown."""
        return (self.current.name,) if self.current is not None and self.stack.currentWidget() is self.split else ()

    def buttons(self) -> tuple[Button, ...]:
        """What can be done with workloads; Save stands at the foot of the editor."""
        return (self.add, self.copy, self.drop) if self.stack.currentWidget() is self.split else ()

    def doable(self) -> frozenset[str]:
        """New, save, delete."""
        return frozenset(["new", "save", "delete"] if self.stack.currentWidget() is self.split else ["new"])

    def act(self, action: str) -> None:
        """Do a menu action."""
        {"new": self.new, "save": self.form.save, "delete": self.remove}[action]()

    def visit(self, path: tuple[str, ...]) -> None:
        """`offers` and ids of those to price; or the id of a workload."""
        if path[:1] == ("offers",):
            self._sieve = Sieve(path[1:])
        elif path:
            self._key = path[0]
        self.refresh()

    def search(self, words: str) -> None:
        """Price the offers that hold all of `words`; none asks for the cheapest quotes again."""
        self._sieve = Sieve(words=words)
        self._soon.start()

    def handle(self, event: Event) -> None:
        """Records changed."""
        if isinstance(event, RecordsChanged) and event.kinds & _KINDS and not self._soon.isActive():
            self._soon.start()

    def may_leave(self) -> bool:
        """Something typed keeps the user here until it is saved or thrown away."""
        if not self.form.dirty:
            return True
        self.form.band.tell(Text("Save or discard first", "请先保存或放弃"), self.form.name.text())
        self.form.band.save.setFocus(Qt.FocusReason.OtherFocusReason)
        return False


def _note(saved: SavedWorkload) -> Text:
    hours = float(saved.workload.ready_gpu_hours)
    return Text(f"{saved.workload.gpus} GPUs · {hours:,.0f} GPU-hours", f"{saved.workload.gpus} 卡 · {hours:,.0f} 卡时")


def _once(owner: QWidget, wait_ms: int, work: object) -> QTimer:
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(wait_ms)
    timer.timeout.connect(work)
    return timer


def _scrolled(inside: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    return area


PAGE = PageSpec("workloads", _TITLE, "coin", NavGroup.CHOOSE, 28, WorkloadsPage)
