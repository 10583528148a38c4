"""Which form is open on the suppliers page, for which record, and how is what it made kept?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.domain.supplier import Attachment, Contract, Offer, Price, Site, Supplier
from gpulease_gui.gui.forms.contract_form import ContractForm
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.offer_form import OfferForm
from gpulease_gui.gui.forms.price_form import PriceEntry, PriceForm
from gpulease_gui.gui.forms.record_form import RecordForm
from gpulease_gui.gui.forms.supplier_form import SupplierForm
from gpulease_gui.gui.pages.suppliers_deals import key_of
from gpulease_gui.gui.pages.suppliers_sites import SiteForm
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.commerce_edit import accept_offer, save_contract, save_offer, save_site, save_supplier
from gpulease_gui.services.directory import fresh_id
from gpulease_gui.store import suppliers as kept

if TYPE_CHECKING:
    from sqlite_utils import Database

    from gpulease_gui.gui.pages.suppliers import SuppliersPage

F = TypeVar("F", bound=RecordForm)


class FormsDesk:
    """The forms of the page. Each is built when it is first needed, and keeps a draft while something is unsaved."""

    def __init__(self, page: SuppliersPage) -> None:
        self._page = page
        self._drafts: dict[RecordForm, DraftKeeper] = {}

    @cached_property
    def supplier(self) -> SupplierForm:
        """The form of a supplier."""
        return self._take_in(SupplierForm(), "supplier", self._save_supplier)

    @cached_property
    def offer(self) -> OfferForm:
        """The form of an offer."""
        return self._take_in(OfferForm(), "offer", self._save_offer)

    @cached_property
    def contract(self) -> ContractForm:
        """The form of a contract."""
        return self._take_in(ContractForm(), "contract", self._save_contract)

    @cached_property
    def price(self) -> PriceForm:
        """The form of a price."""
        return self._take_in(PriceForm(), "price", self._save_price)

    @cached_property
    def site(self) -> SiteForm:
        """The form of a site."""
        return self._take_in(SiteForm(), "site", self._save_site)

    def _take_in(self, form: F, kind: str, save: Callable[..., None]) -> F:
        self._page.stack.addWidget(form)
        self._drafts[form] = DraftKeeper(self._page.frame, form, kind)
        form.saved.connect(save)
        form.left.connect(self._page.show_current)
        return form

    def _open(self, form: RecordForm, draft: str) -> None:
        self._page.show_form(form)
        self._drafts[form].open(draft)

    # -- opening ---------------------------------------------------------------------------------------------------------

    def new_supplier(self) -> None:
        """Write a new supplier down."""
        self.supplier.open_record(Supplier(fresh_id(), ""), is_new=True)
        self._open(self.supplier, "new")

    def new_offer(self, supplier: Supplier) -> None:
        """Write a new offer of a supplier down."""
        self.offer.open_record(Offer(fresh_id(), supplier.id, ""), supplier, is_new=True)
        self._open(self.offer, f"new/{supplier.id}")

    def accept(self, offer: Offer, stated: int) -> None:
        """Begin a contract out of an offer."""
        self.contract.accept(offer, fresh_id(), stated)
        self._open(self.contract, f"new/{offer.id}")

    def edit(self, record: Supplier | Offer | Contract, supplier: Supplier) -> None:
        """Edit a record."""
        if isinstance(record, Supplier):
            self.supplier.open_record(record, is_new=False)
            self._open(self.supplier, record.id)
        elif isinstance(record, Offer):
            self.offer.open_record(record, supplier, is_new=False)
            self._open(self.offer, record.id)
        else:
            self.contract.open_record(record)
            self._open(self.contract, record.id)

    def open_price(self, price: Price, is_new: bool, title: Words, files: Sequence[Attachment]) -> None:
        """Write a price down, or correct one."""
        if self._page.may_leave():
            self.price.open_price(price, files, is_new=is_new, title=title)
            self._open(self.price, f"new/{self._page.key}" if is_new else price.id)

    def open_site(self, site: Site, is_new: bool) -> None:
        """Write a site down, or edit one."""
        if self._page.may_leave():
            self.site.open_record(site, is_new=is_new)
            self._open(self.site, f"new/{site.supplier_id}" if is_new else site.id)

    # -- keeping ---------------------------------------------------------------------------------------------------------

    def _keep(self, form: RecordForm, work: Callable[[Database], object], *kinds: str, key: str = "") -> None:
        self._page.undo.do(work, *kinds, done=lambda: self._kept(form, key), failed=form.refuse)

    def _kept(self, form: RecordForm, key: str) -> None:
        form.done()
        self._page.show_kept(key)

    def _save_supplier(self, supplier: Supplier) -> None:
        self._keep(self.supplier, lambda db: save_supplier(db, supplier), "supplier", key=key_of("supplier", supplier.id))

    def _save_offer(self, offer: Offer) -> None:
        self._keep(self.offer, lambda db: save_offer(db, offer), "offer", "price", key=key_of("offer", offer.id))

    def _save_contract(self, contract: Contract) -> None:
        def work(db: Database) -> Contract:
            known = any(c.id == contract.id for c in kept.list_contracts(db.conn))
            if known or contract.offer_id is None:
                return save_contract(db, contract)
            return accept_offer(db, contract.offer_id, contract)

        kinds = ("contract", "claim", "terms", "price", "answer")
        self._keep(self.contract, work, *kinds, key=key_of("contract", contract.id))

    def _save_price(self, entry: PriceEntry) -> None:
        self._keep(self.price, self._page.desks.prices.keep(entry), "price", "offer", "contract")

    def _save_site(self, site: Site) -> None:
        self._keep(self.site, lambda db: save_site(db, site), "site")


