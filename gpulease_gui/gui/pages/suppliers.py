"""Who offers what, what exactly was promised, and how far is it proven?"""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Offer
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.record_form import RecordForm
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.pages.suppliers_compare import CompareFoot
from gpulease_gui.gui.pages.suppliers_deals import MANY, DealsView, first_key, has_key, key_of
from gpulease_gui.gui.pages.suppliers_desks import RecordDesks
from gpulease_gui.gui.pages.suppliers_forms import FormsDesk
from gpulease_gui.gui.pages.suppliers_import import QuoteDesk
from gpulease_gui.gui.pages.suppliers_panes import (
    ABOUT,
    COMMERCIAL,
    FILES,
    PRICES,
    SITES,
    SUPPLIER_FILES,
    TERMS,
    DealPane,
    SupplierPane,
    UndoBand,
)
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, ThinSplitter, hairline
from gpulease_gui.services.commerce_edit import delete
from gpulease_gui.services.deal_list import DealList, deal_list_in
from gpulease_gui.services.directory import Deal, SupplierDeals, record_in
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.services.go_to import HERE, OWNER

_WAIT_MS = 120
_KINDS = frozenset(["supplier", "offer", "contract", "claim", "node", "terms", "price", "attachment", "site", "workload", "rate", "market"])
_DEAL_PARTS = {"terms": TERMS, "fields": COMMERCIAL, "prices": PRICES, "files": FILES}
_SUPPLIER_PARTS = {"about": ABOUT, "sites": SITES, "files": SUPPLIER_FILES}
_LIST_WIDTH, _INSPECTOR_WIDTH = 264, 292


class SuppliersPage(Page):
    """The list, the record in the middle, what stands behind it at the right; forms take the place of the middle."""

    narrow_navigation = True  # three panes and seven columns of terms need the width

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.found = DealList()
        self.key = ""
        self._current: tuple[SupplierDeals, Deal | None] | None = None
        self._filling = False
        self._wanted_new = False
        self.list = DealsView()
        self.undo, self.imported = ActsBand(frame), UndoBand()
        self.deal_pane = DealPane(frame.services.catalogue)
        self.desks = RecordDesks(frame, self.deal_pane, self.undo)
        self.inspector = self.desks.term_inspector
        self.forms = FormsDesk(self)
        self.add_supplier = Button(Text("Add supplier", "添加供应商"), icon="add")
        self.add_offer = Button(Text("Add offer", "添加报价"), icon="add")
        self.quote = Button(Text("Paste or import…", "粘贴或导入…"), icon="import")
        self.edit_button = Button(Text("Edit", "编辑"), icon="edit")
        self.accept = Button(Text("Accept as contract…", "转为合同…"), icon="document", kind="primary")
        self.nodes = Button(Text("Add nodes…", "添加节点…"), icon="nav-nodes", kind="primary")
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        self._build()
        self._connect()

    def _build(self) -> None:
        # From the outside in: at each change of parent, Qt tells every widget below of a new style.
        self.split = ThinSplitter()
        self.column.addWidget(self.split)
        self.left, centre = Pane(2), Pane(2)
        for pane in (self.left, centre, self.desks.aside):
            self.split.addWidget(pane)
        self.split.setStretchFactor(1, 1)
        self.stack = QStackedWidget()
        centre.column.addWidget(self.stack, 1)
        centre.column.addWidget(self.undo)
        centre.column.addWidget(self.imported)
        self.waiting = Pane(2)
        self.empty = self._empty()
        for part in (self.waiting, self.empty, self.deal_pane):
            self.stack.addWidget(part)
        self.ticks = CompareFoot(self.frame, self.list)
        head = Pane(1)
        head.column.addWidget(HeadLine(Text("Supplier / offer", "供应商 / 报价"), Text("Per GPU-hour", "单价 / 卡时")))
        for line in (head, hairline(), self.list.chooser, hairline(), self.list, self.ticks):
            self.left.column.addWidget(line)
        self.split.setSizes([_LIST_WIDTH, 850, _INSPECTOR_WIDTH])
        self._show(self.waiting)

    @cached_property
    def supplier_pane(self) -> SupplierPane:
        """Built when a supplier is first shown."""
        made = self.desks.supplier
        self.stack.addWidget(made)
        made.opened.connect(self.open_key)
        return made

    def _empty(self) -> EmptyState:
        add = Button(Text("Add supplier", "添加供应商"), icon="add", kind="primary")
        add.clicked.connect(self.new_supplier)
        self.first_quote = Button(Text("Paste a quote…", "粘贴报价…"), icon="paste")
        self.first_quote.clicked.connect(lambda: self.imports.paste())
        return EmptyState(
            "nav-suppliers", Text("No suppliers yet", "还没有供应商"),
            Text("Write down who offers GPUs; then what they promise, term by term.", "先记下谁在出租 GPU，再逐条记下承诺。"),
            primary=add, secondary=self.first_quote,
        )  # fmt: skip

    def _connect(self) -> None:
        self.list.selectionModel().currentRowChanged.connect(self._picked)
        self.list.narrowed.connect(self._choose_shown)
        self.desks.price_form_wanted.connect(self.forms.open_price)
        self.desks.site_form_wanted.connect(self.forms.open_site)
        self.add_supplier.clicked.connect(self.new_supplier)
        self.add_offer.clicked.connect(self.new_offer)
        self.edit_button.clicked.connect(self.edit)
        self.accept.clicked.connect(self.accept_offer)
        self.nodes.clicked.connect(lambda: self.frame.go("nodes"))
        self.imports = QuoteDesk(self)

    # -- reading ---------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the list and the shown record anew on workers; what is shown stays chosen."""
        if self.frame.is_open:
            day = utc_now().astimezone().date()
            self.frame.bridge.when_done(self.frame.services.query(lambda connection: deal_list_in(connection, day)), self._take)

    def _take(self, found: DealList) -> None:
        self.found = found
        self.frame.set_count("suppliers", str(len(found.suppliers)) if found.suppliers else "")
        if not has_key(found, self.key):
            self.key = first_key(found)
        self._filling = True
        self.list.show_list(found)
        self.list.choose(self.key)
        self._filling = False
        if self._wanted_new:
            self._wanted_new = False
            self.new_supplier()
        self._read()

    def _read(self) -> None:
        """Read the record that is to be shown."""
        kind, _, record = self.key.partition("/")
        if not record:
            self._current = None
            if not self.in_form:
                self.show_current()
            return
        key = self.key
        future = self.frame.services.query(lambda connection: record_in(connection, kind, record))
        self.frame.bridge.when_done(future, lambda current: self._take_record(key, current), self._gone)

    def _gone(self, trouble: UserFacing) -> None:
        """It was deleted meanwhile; the next reading of the list chooses another one."""
        self.frame.note(trouble.whole_text)

    def _take_record(self, key: str, current: tuple[SupplierDeals, Deal | None]) -> None:
        if key == self.key:
            self._current = current
            if not self.in_form:
                self.show_current()

    def _choose_shown(self) -> None:
        self._filling = True
        self.list.choose(self.key)
        self._filling = False

    def _picked(self) -> None:
        line = self.list.current
        if not self._filling and line is not None:
            self.undo.hide()
            self.open_key(line.key)

    def open_key(self, key: str) -> None:
        """Show a supplier, an offer or a contract; something unsaved keeps the user where it is."""
        if key != self.key and not self.may_leave():
            self._choose_shown()
            return
        self.key = key
        self._choose_shown()
        self._read()

    def show_current(self) -> None:
        """Show the record that was read, in place of a form too."""
        if self._current is None:
            self._show(self.empty if not self.found.suppliers else self.waiting)
            return
        entry, deal = self._current
        if deal is None:
            self.supplier_pane.show_supplier(entry)
            self.desks.open_supplier(entry.supplier.id)
            self._show(self.supplier_pane)
        else:
            self.deal_pane.show_deal(entry, deal)
            self.desks.open_deal(deal)
            self._show(self.deal_pane)

    def _show(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.desks.show_aside(deal=part is self.deal_pane, supplier=isinstance(part, SupplierPane))
        self.left.setVisible(part is not self.empty and bool(self.found.suppliers))
        self.header_changed.emit()

    @property
    def current(self) -> tuple[SupplierDeals, Deal | None] | None:
        """The supplier that is shown, and the deal if one is."""
        return self._current

    @property
    def in_form(self) -> bool:
        """Whether a form stands in the middle."""
        return isinstance(self.stack.currentWidget(), RecordForm)

    # -- forms -------------------------------------------------------------------------------------------------------------

    def new_supplier(self) -> None:
        """Write a new supplier down."""
        if self.may_leave():
            self.forms.new_supplier()

    def new_offer(self) -> None:
        """Write a new offer of the shown supplier down."""
        if self.current is not None and self.may_leave():
            self.forms.new_offer(self.current[0].supplier)

    def accept_offer(self) -> None:
        """Begin a contract out of the shown offer."""
        deal = self.current[1] if self.current is not None else None
        if deal is not None and isinstance(deal.record, Offer) and self.may_leave():
            self.forms.accept(deal.record, deal.stated + self.desks.stated)

    def edit(self) -> None:
        """Edit what is shown."""
        if self.current is not None and self.may_leave():
            entry, deal = self.current
            self.forms.edit(entry.supplier if deal is None else deal.record, entry.supplier)

    def show_form(self, form: RecordForm) -> None:
        """A form takes the place of the middle."""
        self.undo.hide()
        self._show(form)
        form.focus_first()

    def show_kept(self, key: str) -> None:
        """A form was saved: show its record ("" = the one that was shown)."""
        self.key = key or self.key
        self._show(self.waiting)
        self.refresh()

    # -- files and quotes that are dropped ------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A table begins an import, a PDF or a picture is kept with the record that is shown."""
        if self.in_form or not self.desks.welcome(event):
            self.imports.welcome(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Begin an import of a table or a bundle; keep other files."""
        if self.in_form or not self.desks.take(event):
            self.imports.take(event)

    # -- removing ----------------------------------------------------------------------------------------------------------

    def remove(self) -> None:
        """Make the chosen term not stated, else put the shown record into the trash; both can be taken back."""
        if self.in_form or self.current is None or self.desks.remove_within():
            return
        entry, deal = self.current
        kind, record = self.key.partition("/")[::2]
        name = entry.supplier.name if deal is None else deal.number
        words = Text(f"{name} is in the trash", f"{name} 已移入回收站")
        if deal is not None:
            self.key = key_of("supplier", entry.supplier.id)
        self.undo.do(lambda db: delete(db, kind, record), kind, "offer", "contract", words=words)

    # -- what the window asks -------------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The supplier, and the number of the deal."""
        form = self.stack.currentWidget()
        if isinstance(form, RecordForm):
            return (form.title.text(),)
        if self.current is None:
            return ()
        entry, deal = self.current
        return (entry.supplier.name,) if deal is None else (entry.supplier.name, deal.number)

    def buttons(self) -> tuple[Button, ...]:
        """What can be added or done here; in a form Save at its foot is the one primary."""
        if self.in_form or self.stack.currentWidget() in (self.empty, self.waiting) or self.current is None:
            return ()
        deal = self.current[1]
        usual = (self.add_supplier, self.add_offer, self.quote, self.edit_button)
        if deal is None:
            return usual
        return (*usual, self.accept if isinstance(deal.record, Offer) else self.nodes)

    def doable(self) -> frozenset[str]:
        """New, save, delete; pasting where no field has the keyboard begins an import."""
        return frozenset(["save"] if self.in_form else ["new", "delete", "inspector", "paste"])

    def act(self, action: str) -> None:
        """Do a menu action."""
        form = self.stack.currentWidget()
        if action == "save" and isinstance(form, RecordForm):
            form.save()
        elif action == "new":
            self.new_supplier()
        elif action == "delete":
            self.remove()
        elif action == "paste":
            self.imports.paste()
        elif action == "inspector":
            self.desks.toggle_aside()

    def visit(self, path: tuple[str, ...]) -> None:
        """`new`, or the kind and id of a record, and then the part of it; HERE and OWNER stand for the record in sight."""
        if len(path) >= 2 and path[1]:
            self.key = key_of(path[0], path[1])
        elif path[:1] == (HERE,) and self.key.startswith("supplier/"):
            self.key = first_key(self.found)
        elif path[:1] == (OWNER,) and self.current is not None:
            self.key = key_of("supplier", self.current[0].supplier.id)
        self._wanted_new = path[:1] == ("new",)
        if len(path) >= 3:
            of_supplier = path[0] in ("supplier", OWNER)
            (self.supplier_pane if of_supplier else self.deal_pane).turn_to((_SUPPLIER_PARTS if of_supplier else _DEAL_PARTS).get(path[2], 0))
        self.refresh()

    def search(self, words: str) -> None:
        """Narrow the terms that are in sight, else the list."""
        if not self.desks.search(words):
            self._narrow(words)

    def _narrow(self, words: str) -> None:
        """A long list is searched by a worker."""
        deals = self.list.deals
        if len(deals.all) <= MANY:
            deals.narrow(words=words)
            self._choose_shown()
            return
        plan = deals.plan(words)

        def show(found: list[int]) -> None:
            if deals.take(plan, found):
                self._choose_shown()

        self.frame.bridge.when_done(self.frame.services.jobs.local(plan), show)

    def handle(self, event: Event) -> None:
        """Records changed, or a run ended."""
        mine = isinstance(event, RunEnded) or (isinstance(event, RecordsChanged) and bool(event.kinds & _KINDS))
        if mine and not self._soon.isActive():
            self._soon.start()

    def may_leave(self) -> bool:
        """A form with unsaved words, or a value that can't be meant, keeps the user here."""
        form = self.stack.currentWidget()
        if isinstance(form, RecordForm) and form.dirty:
            form.band.tell(Text("Save or discard first", "请先保存或放弃"), form.title.text())
            form.band.save.setFocus(Qt.FocusReason.OtherFocusReason)
            return False
        return isinstance(form, RecordForm) or not self.desks.unfinished


PAGE = PageSpec("suppliers", Text("Suppliers", "供应商"), "nav-suppliers", NavGroup.CHOOSE, 20, SuppliersPage)
