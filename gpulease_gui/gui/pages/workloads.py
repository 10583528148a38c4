"""What does a workload need, and what do the offers really cost for it?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QStackedWidget, QWidget

from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.gui.forms.drafts import DraftKeeper, latest_draft
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers_panes import UndoBand
from gpulease_gui.gui.pages.workloads_cost import CostPane
from gpulease_gui.gui.pages.workloads_parts import ListPane, WorkPane, first_look, once
from gpulease_gui.gui.taking_back import way_back
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import Pane, ThinSplitter
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
_LIST_WIDTH = 192
_NEW = "new"


class WorkloadsPage(Page):
    """Saved workloads; the editor, what-if and the model; the offers' cost. Figures are counted on a worker, newest only."""

    narrow_navigation = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.scenarios = load_scenarios()
        self._desk: Desk | None = None
        self._key = ""
        self._chosen = ""
        self._sieve = Sieve()
        self._busy = self._again = self._filling = False
        # From the outside inwards: a tree that is moved into another is styled anew as a whole.
        self.stack = QStackedWidget(self)
        self.split = ThinSplitter(parent=self.stack)
        self.saved, self.work, self.cost = ListPane(self.split), WorkPane(self.scenarios, self.split), CostPane(self.split)
        self.list, self.form, self.what_if = self.saved.list, self.work.form, self.work.what_if
        self.drafts = DraftKeeper(frame, self.form, "workload")
        self._visited = False
        self.undo = UndoBand()
        self.add = Button(Text("New workload", "新建负载"), icon="add")
        self.copy = Button(Text("Duplicate", "复制"), icon="copy")
        self.drop = Button(Text("Delete", "删除"), icon="delete")
        self.first = Button(Text("New workload", "新建负载"), icon="add", kind="primary")
        self.to_offers = Button(Text("Go to the offers", "转到报价"))
        self._soon = once(self, _WAIT_MS)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.waiting, self.empty = Pane(2), first_look(self.first, self.to_offers)
        for place, pane in enumerate((self.saved, self.work, self.cost)):
            self.split.addWidget(pane)
            self.split.setStretchFactor(place, min(place, 1))
        self.split.setSizes([_LIST_WIDTH, 574, 620])
        for whole in (self.waiting, self.empty, self.split):
            self.stack.addWidget(whole)
        self.column.addWidget(self.stack)
        self.column.addWidget(self.undo)

    def _connect(self) -> None:
        self._soon.timeout.connect(self.refresh)
        self.first.clicked.connect(self.new)
        self.to_offers.clicked.connect(lambda: self.frame.go("suppliers"))
        self.list.selectionModel().currentRowChanged.connect(self._picked)
        self.form.edited.connect(self._edited)
        self.form.saved.connect(self._save)
        self.form.left.connect(lambda: self._open(self._key))
        self.what_if.turned.connect(self.recount)
        self.what_if.taken.connect(self._take_over)
        self.cost.chosen.connect(self._choose)
        self.cost.currency_chosen.connect(lambda _: self.refresh())
        self.cost.opened.connect(lambda id_: self.frame.go("suppliers", "offer", id_))
        self.work.model_wanted.connect(self.resize_plan)
        self.work.offer_wanted.connect(self._price_too)
        self.add.clicked.connect(self.new)
        self.copy.clicked.connect(self.duplicate)
        self.drop.clicked.connect(self.remove)

    # -- reading -----------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read workloads and offers anew on a worker; what is shown stays."""
        if self.frame.is_open:
            sieve = replace(self._sieve, currency=self.cost.currency.current)
            future = self.frame.services.query(lambda c: desk_in(c, local_day(utc_now()), sieve))
            self.frame.bridge.when_done(future, self._take)

    def _take(self, desk: Desk) -> None:
        self._desk = desk
        known = {saved.id for saved in desk.workloads}
        self.frame.set_count("workloads", str(len(known)) if known else "")
        is_new = self.form.record_id == self._key and self._key not in known and not self.form.band.isHidden()
        if self._key not in known and not is_new:
            self._key = desk.workloads[0].id if desk.workloads else ""
        self._fill_list()
        if not desk.workloads and not is_new:
            self._show(self.empty)
            return
        if is_new or self.form.dirty:
            self.recount()
        elif self.form.record == self.current and self.drafts.record == self._key:
            self.recount()  # the fields are left alone: the cursor stays where somebody is about to type
            self.resize_plan()
        else:
            self._open(self._key)
        self._show(self.split)

    def _show(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.header_changed.emit()

    def _fill_list(self) -> None:
        self._filling = True
        self.saved.show_saved(self._desk.workloads if self._desk else (), self._key)
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
            if self.drafts.record != self._key:
                self.drafts.open(self._key)
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
        if self._desk is None or turn is None or not self.frame.is_open:
            return
        self._busy = True
        future = self.frame.services.jobs.local(partial(work_out, self._desk, turn))
        self.frame.bridge.when_done(future, self._counted, lambda trouble: self._failed(trouble.what_text))

    def _counted(self, outcome: Outcome) -> None:
        self._busy = False
        if self._again:
            self._again = False
            self.recount()
        self.show_outcome(outcome)

    def _failed(self, words: Text) -> None:
        self._busy = self._again = False
        self.what_if.tell(words)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show the figures of one count."""
        self.cost.show_outcome(outcome, len(self._desk.rows) if self._desk else 0)
        self.work.show_line(outcome.line)
        detail = outcome.detail
        if detail is not None and detail.more is not None:
            sign = "+" if detail.more >= 0 else "−"
            more = f"{sign}{outcome.ask.currency}\N{NARROW NO-BREAK SPACE}{amount_text(abs(detail.more))}"
            self.what_if.tell(Text(f"{detail.offer.name}: {more} against the workload", f"{detail.offer.name}：相对原负载 {more}"))

    def _choose(self, offer_id: str) -> None:
        if offer_id != self._chosen:
            self._chosen = offer_id
            self.recount()

    # -- the model ---------------------------------------------------------------------------------------------------------

    def resize_plan(self) -> None:
        """Size the model for the GPUs of the workload, and price the offers that serve it."""
        turn, desk = self.turn(), self._desk
        if turn is None or desk is None or not self.work.sizes_model or not self.frame.is_open:
            return
        services = self.frame.services
        ask = turn.what_if or turn.ask
        try:
            plan = self.work.sizing.form.plan(ask.workload.gpus)
        except Invalid:
            return

        def work(connection: sqlite3.Connection) -> tuple[SizingView, tuple[ServedPlan, ...]]:
            view = size_up(plan.setup, plan.scenario, self.scenarios, services.catalogue)
            return view, serving_in(connection, desk.rows, view.choices, services.catalogue, ask, desk.rates, desk.day)

        self.frame.bridge.when_done(services.query(work), self._show_plan)

    def _show_plan(self, found: tuple[SizingView, tuple[ServedPlan, ...]]) -> None:
        self.work.sizing.show_view(*found, priced=frozenset(offer.facts.row.id for offer in self.cost.offers.rows))

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
            self._begin(SavedWorkload(fresh_id(), "", workload_of(pattern), pattern), _NEW)

    def duplicate(self) -> None:
        """Begin a copy of the shown workload."""
        if self.current is not None and self.may_leave():
            name = self.current.name
            self._begin(replace(self.current, id=fresh_id(), name=f"{name} (2)"), _NEW)

    def _begin(self, saved: SavedWorkload, draft: str) -> None:
        self._key = saved.id
        self.form.open_record(saved, is_new=True)
        self.drafts.open(draft)
        self._show(self.split)
        self._fill_list()
        self._edited()
        self.work.show_plan()

    def _save(self, record: SavedWorkload) -> None:
        sent = self.form.words_now()
        future = self.frame.services.change(lambda db: save_workload(db, record), "workload")
        self.frame.bridge.when_done(future, partial(self._kept, sent), lambda trouble: self.frame.trouble(trouble.headline_text, trouble.rest_text))

    def _kept(self, sent: tuple[str, ...], record: SavedWorkload) -> None:
        if self.form.record_id == record.id and self.form.words_now() == sent:
            self._key = record.id
            self.form.done()  # what was typed since it was sent stays unsaved
        self.frame.note(Text(f"Saved {record.name}", f"已保存 {record.name}"))

    def _take_over(self) -> None:
        """Write what the sliders say into the editor."""
        try:
            record = self.form.read()
        except Invalid:
            return
        turned = replace(record, workload=self.what_if.workload, pattern=self.what_if.pattern)
        self.form.open_record(turned)
        self.form.touch()

    def remove(self) -> None:
        """Delete the shown workload; Undo brings it back."""
        saved = self.current
        if saved is None:
            return
        self.form.done()
        future = self.frame.services.change(lambda db: remove_workload(db, saved.id), "workload")
        done = Text(f"{saved.name} was deleted", f"已删除 {saved.name}")
        self.frame.bridge.when_done(future, lambda _: way_back(self.frame, lambda back: self.undo.offer(done, back)))

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
        first, self._visited = not self._visited, True
        if first and not path and self.frame.is_open:
            future = self.frame.services.query(partial(latest_draft, "workload"))
            self.frame.bridge.when_done(future, self._take_up)
            return
        self.refresh()

    def _take_up(self, record: str) -> None:
        """Begin with what was typed and not saved before the program ended."""
        if record == _NEW and not self.form.dirty:
            self.new()
        elif record:
            self._key = record
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


PAGE = PageSpec("workloads", _TITLE, "coin", NavGroup.CHOOSE, 28, WorkloadsPage)
