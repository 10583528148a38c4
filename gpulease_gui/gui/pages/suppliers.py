"""Who offers what, what exactly was promised, and how far is it proven?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.contract_form import ContractForm
from gpulease_gui.gui.forms.offer_form import OfferForm
from gpulease_gui.gui.forms.record_form import RecordForm
from gpulease_gui.gui.forms.supplier_form import SupplierForm
from gpulease_gui.gui.forms.two_lines import LinesView
from gpulease_gui.gui.pages.overview_parts import HeadLine, is_open
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers_import import QuoteDesk
from gpulease_gui.gui.pages.suppliers_inspector import TermInspector
from gpulease_gui.gui.pages.suppliers_list import find_deal, first_key, key_of, lines_of
from gpulease_gui.gui.pages.suppliers_panes import DealPane, SupplierPane, UndoBand
from gpulease_gui.gui.pages.suppliers_terms import TermsDesk
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, ThinSplitter, hairline
from gpulease_gui.services import directory
from gpulease_gui.services.directory import Deal, SupplierDeals, fresh_id, suppliers_in
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.store import suppliers as kept

if TYPE_CHECKING:
    from sqlite_utils import Database

F = TypeVar("F", bound=RecordForm)

_WAIT_MS = 120
_KINDS = frozenset(["supplier", "offer", "contract", "claim", "node"])
_LIST_WIDTH, _INSPECTOR_WIDTH = 252, 284


class SuppliersPage(Page):
    """The list, the record in the middle, the term at the right; forms take the place of the middle."""

    narrow_navigation = True  # three panes and seven columns of terms need the width

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        catalogue = frame.services.catalogue
        self._all: tuple[SupplierDeals, ...] = ()
        self._key = ""
        self._words = ""
        self._filling = False
        self._wanted_new = False
        self.list = LinesView(Text("Suppliers, offers, contracts", "供应商、报价、合同"))
        self.deal_pane, self.supplier_pane = DealPane(catalogue), SupplierPane()
        self.inspector = TermInspector(catalogue)
        self.undo, self.imported = UndoBand(), UndoBand()
        self.desk = TermsDesk(frame, self.deal_pane, self.inspector, self.undo)
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
        self.stack = QStackedWidget()
        self.waiting = Pane(2)
        self.empty = self._empty()
        for part in (self.waiting, self.empty, self.deal_pane, self.supplier_pane):
            self.stack.addWidget(part)
        centre = Pane(2)
        centre.column.addWidget(self.stack, 1)
        centre.column.addWidget(self.undo)
        centre.column.addWidget(self.imported)
        self.split = ThinSplitter()
        left, head = Pane(2), Pane(1)
        head.column.addWidget(HeadLine(Text("Supplier / offer", "供应商 / 报价"), Text("Price", "单价")))
        for line in (head, hairline(), self.list):
            left.column.addWidget(line)
        self.left = left
        for pane in (left, centre, self.inspector):
            self.split.addWidget(pane)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([_LIST_WIDTH, 850, _INSPECTOR_WIDTH])
        self.column.addWidget(self.split)
        self._show(self.waiting)

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
        self.supplier_pane.opened.connect(self.open_key)
        self.add_supplier.clicked.connect(self.new_supplier)
        self.add_offer.clicked.connect(self.new_offer)
        self.edit_button.clicked.connect(self.edit)
        self.accept.clicked.connect(self.accept_offer)
        self.nodes.clicked.connect(lambda: self.frame.go("nodes"))
        self.imports = QuoteDesk(self)

    # -- reading ---------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read suppliers and deals anew on a worker; what is shown stays chosen."""
        if is_open(self.frame):
            self.frame.bridge.when_done(self.frame.services.query(suppliers_in), self._take)

    def _take(self, found: tuple[SupplierDeals, ...]) -> None:
        self._all = found
        self.frame.set_count("suppliers", str(len(found)) if found else "")
        if find_deal(found, self._key) is None:
            self._key = first_key(found)
        self._fill_list()
        if self._wanted_new:
            self._wanted_new = False
            self.new_supplier()
        elif not self._in_form:
            self._show_key(self._key)

    def _fill_list(self) -> None:
        self._filling = True
        self.list.rows.set_lines(lines_of(self._all, self._words))
        self.list.choose(self._key)
        self._filling = False

    def _picked(self) -> None:
        line = self.list.current
        if not self._filling and line is not None:
            self.open_key(line.key)

    def open_key(self, key: str) -> None:
        """Show a supplier, an offer or a contract; something unsaved keeps the user where it is."""
        if key != self._key and not self.may_leave():
            self._fill_list()
            return
        self._key = key
        self._fill_list()
        self._show_key(key)

    def _show_key(self, key: str) -> None:
        found = find_deal(self._all, key)
        if found is None:
            self._show(self.empty if not self._all else self.waiting)
            return
        entry, deal = found
        if deal is None:
            self.supplier_pane.show_supplier(entry)
            self._show(self.supplier_pane)
        else:
            self.deal_pane.show_deal(entry, deal)
            self.desk.open_holder(deal.holder)
            self._show(self.deal_pane)

    def _show(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.inspector.setVisible(part is self.deal_pane)
        self.left.setVisible(part is not self.empty and bool(self._all))
        self.header_changed.emit()

    @property
    def current(self) -> tuple[SupplierDeals, Deal | None] | None:
        """The supplier that is shown, and the deal if one is."""
        return find_deal(self._all, self._key)

    @property
    def _in_form(self) -> bool:
        return isinstance(self.stack.currentWidget(), RecordForm)

    # -- forms -------------------------------------------------------------------------------------------------------------

    @cached_property
    def supplier_form(self) -> SupplierForm:
        """Built when it is first needed, like the other forms."""
        return self._take_in(SupplierForm(), self._save_supplier)

    @cached_property
    def offer_form(self) -> OfferForm:
        """The form of an offer."""
        return self._take_in(OfferForm(), self._save_offer)

    @cached_property
    def contract_form(self) -> ContractForm:
        """The form of a contract."""
        return self._take_in(ContractForm(), self._save_contract)

    def _take_in(self, form: F, save: Callable[[Any], None]) -> F:
        self.stack.addWidget(form)
        form.saved.connect(save)
        form.left.connect(lambda: self._show_key(self._key))
        return form

    def new_supplier(self) -> None:
        """Write a new supplier down."""
        if self.may_leave():
            self.supplier_form.open_record(Supplier(fresh_id(), ""), is_new=True)
            self._show_form(self.supplier_form)

    def new_offer(self) -> None:
        """Write a new offer of the shown supplier down."""
        if self.current is not None and self.may_leave():
            supplier = self.current[0].supplier
            self.offer_form.open_record(Offer(fresh_id(), supplier.id, ""), supplier, is_new=True)
            self._show_form(self.offer_form)

    def accept_offer(self) -> None:
        """Begin a contract out of the shown offer."""
        deal = self.current[1] if self.current is not None else None
        if deal is not None and isinstance(deal.record, Offer) and self.may_leave():
            self.contract_form.accept(deal.record, fresh_id(), deal.stated)
            self._show_form(self.contract_form)

    def edit(self) -> None:
        """Edit what is shown."""
        if self.current is None or not self.may_leave():
            return
        entry, deal = self.current
        if deal is None:
            self.supplier_form.open_record(entry.supplier, is_new=False)
            self._show_form(self.supplier_form)
        elif isinstance(deal.record, Offer):
            self.offer_form.open_record(deal.record, entry.supplier, is_new=False)
            self._show_form(self.offer_form)
        else:
            self.contract_form.open_record(deal.record)
            self._show_form(self.contract_form)

    def _show_form(self, form: RecordForm) -> None:
        self.undo.hide()
        self._show(form)
        form.focus_first()

    def _save_supplier(self, supplier: Supplier) -> None:
        future = self.frame.services.change(lambda db: directory.save_supplier(db, supplier), "supplier")
        done = key_of("supplier", supplier.id)
        self.frame.bridge.when_done(future, lambda _: self._kept(self.supplier_form, done), self.supplier_form.refuse)

    def _save_offer(self, offer: Offer) -> None:
        future = self.frame.services.change(lambda db: directory.save_offer(db, offer), "offer")
        done = key_of("offer", offer.id)
        self.frame.bridge.when_done(future, lambda _: self._kept(self.offer_form, done), self.offer_form.refuse)

    def _save_contract(self, contract: Contract) -> None:
        def work(db: Database) -> Contract:
            known = any(c.id == contract.id for c in kept.list_contracts(db.conn))
            if known or contract.offer_id is None:
                return directory.save_contract(db, contract)
            return directory.sign_offer(db, contract.offer_id, contract)

        future = self.frame.services.change(work, "contract", "claim")
        done = key_of("contract", contract.id)
        self.frame.bridge.when_done(future, lambda _: self._kept(self.contract_form, done), self.contract_form.refuse)

    def _kept(self, form: RecordForm, key: str) -> None:
        form.done()
        self._key = key
        self._saved()
        self._show(self.waiting)
        self.refresh()

    def _saved(self) -> None:
        at = utc_now().astimezone()
        self.frame.note(Text(f"Saved {at:%H:%M:%S}", f"已保存 {at:%H:%M:%S}"))

    # -- quotes that come as a table -------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A spreadsheet or a text table may be dropped anywhere on the page."""
        self.imports.welcome(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Begin an import of the file."""
        self.imports.take(event)

    # -- removing ----------------------------------------------------------------------------------------------------------

    def remove(self) -> None:
        """Clear the chosen promise, or remove the shown supplier; both can be taken back."""
        if self.deal_pane.terms.hasFocus():
            self.desk.clear_current()
            return
        if self.current is None or self.current[1] is not None:
            return
        supplier = self.current[0].supplier
        future = self.frame.services.change(lambda db: kept.remove_supplier(db, supplier.id), "supplier")
        self.frame.bridge.when_done(future, lambda _: self._removed(supplier))

    def _removed(self, supplier: Supplier) -> None:
        done = Text(f"{supplier.name} was removed", f"已删除 {supplier.name}")
        self.undo.offer(done, lambda: self._bring_back(supplier))

    def _bring_back(self, supplier: Supplier) -> None:
        self._key = key_of("supplier", supplier.id)
        future = self.frame.services.change(lambda db: directory.save_supplier(db, supplier), "supplier")
        self.frame.bridge.when_done(future, lambda _: None, self._not_back)

    def _not_back(self, trouble: UserFacing) -> None:
        self.frame.trouble(trouble.what, trouble.why)

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
        if self._in_form or self.stack.currentWidget() in (self.empty, self.waiting) or self.current is None:
            return ()
        deal = self.current[1]
        usual = (self.add_supplier, self.add_offer, self.quote, self.edit_button)
        if deal is None:
            return usual
        return (*usual, self.accept if isinstance(deal.record, Offer) else self.nodes)

    def doable(self) -> frozenset[str]:
        """New, save, delete."""
        return frozenset(["save"] if self._in_form else ["new", "delete", "inspector"])

    def act(self, action: str) -> None:
        """Do a menu action."""
        form = self.stack.currentWidget()
        if action == "save" and isinstance(form, RecordForm):
            form.save()
        elif action == "new":
            self.new_supplier()
        elif action == "delete":
            self.remove()
        elif action == "inspector" and form is self.deal_pane:
            self.inspector.setVisible(not self.inspector.isVisible())

    def visit(self, path: tuple[str, ...]) -> None:
        """`new`, or the kind and id of a record."""
        if len(path) == 2 and path[1]:
            self._key = key_of(path[0], path[1])
        self._wanted_new = path[:1] == ("new",)
        self.refresh()

    def search(self, words: str) -> None:
        """Narrow the terms of the shown deal, else the list."""
        if self.stack.currentWidget() is self.deal_pane:
            self.deal_pane.terms.rows.find(words)
        else:
            self._words = words
            self._fill_list()

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
        return not (form is self.deal_pane and self.deal_pane.terms.unfinished)


PAGE = PageSpec("suppliers", Text("Suppliers", "供应商"), "nav-suppliers", NavGroup.CHOOSE, 20, SuppliersPage)
