"""Which parts of a record are read and shown when it comes into sight, and what stands at its right?

A part is built when its tab is first turned to, and read when it is in sight; the tabs' counts are read apart.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QStackedWidget

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.pages.suppliers_field_inspector import FieldInspector
from gpulease_gui.gui.pages.suppliers_fields import FieldsDesk, FieldsPane
from gpulease_gui.gui.pages.suppliers_files import FilesDesk, files_of
from gpulease_gui.gui.pages.suppliers_inspector import TermInspector
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
)
from gpulease_gui.gui.pages.suppliers_prices import PricesDesk
from gpulease_gui.gui.pages.suppliers_risks import RisksDesk, RisksPane
from gpulease_gui.gui.pages.suppliers_sites import SitesDesk
from gpulease_gui.gui.pages.suppliers_terms import TermsDesk
from gpulease_gui.gui.widgets.panes import ThinSplitter
from gpulease_gui.services.deal_risks import DealRisks
from gpulease_gui.services.directory import Deal
from gpulease_gui.services.fields_view import PartCounts, counts_in

if TYPE_CHECKING:
    import sqlite3


class RecordDesks(QObject):
    """The desks of a deal and of a supplier, and the pane beside them."""

    price_form_wanted = Signal(object, bool, object, object)
    site_form_wanted = Signal(object, bool)

    def __init__(self, frame: Frame, deal: DealPane, acts: ActsBand) -> None:
        super().__init__(deal)
        self._frame, self._deal, self._acts = frame, deal, acts
        self._wanted = True
        self.subject: Subject | None = None
        self.stated = 0
        self._has_supplier = self._has_risks = False
        self.term_inspector = TermInspector(frame.services.catalogue)
        self.aside, self.pages = ThinSplitter(Qt.Orientation.Vertical), QStackedWidget()
        self.aside.addWidget(self.pages)
        self.pages.addWidget(self.term_inspector)
        self.terms = TermsDesk(frame, deal, self.term_inspector, acts)
        self._later = QTimer(self)  # what stands beside the terms is built in a turn of its own
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._open_risks)
        deal.turned.connect(lambda _: self._turned(deal=True))

    # -- desks that are made with their part -------------------------------------------------------------------------------

    @cached_property
    def supplier(self) -> SupplierPane:
        """The pane of a supplier; the page puts it into its stack."""
        made = SupplierPane(self._frame.services.catalogue)
        made.turned.connect(lambda _: self._turned(deal=False))
        self._has_supplier = True
        return made

    @property
    def in_supplier(self) -> bool:
        """Whether a supplier is in sight."""
        return self._has_supplier and self.supplier.isVisible()

    @cached_property
    def risk_pane(self) -> RisksPane:
        """Red flags and cost, under what stands beside the terms."""
        made = RisksPane()
        self.aside.addWidget(made)
        self.aside.setSizes([460, 360])
        self._has_risks = True
        return made

    @cached_property
    def risks(self) -> RisksDesk:
        """Red flags and cost of a deal."""
        made = RisksDesk(self._frame, self.risk_pane)
        made.counted.connect(self._risks_counted)
        return made

    def _open_risks(self) -> None:
        if self.subject is not None and self.subject.kind is not HolderOf.SUPPLIER:
            self.risks.open_subject(self.subject)
            self.risk_pane.setVisible(self._deal.isVisible())

    @cached_property
    def field_inspector(self) -> FieldInspector:
        """Beside commercial terms."""
        made = FieldInspector()
        self.pages.addWidget(made)
        return made

    @cached_property
    def fields(self) -> FieldsDesk:
        """Commercial terms of a deal."""
        return FieldsDesk(self._frame, self._deal.fields, self.field_inspector, self._acts)

    @cached_property
    def about(self) -> FieldsDesk:
        """What is stated of a company."""
        return FieldsDesk(self._frame, self.supplier.fields, self.field_inspector, self._acts)

    @cached_property
    def site_fields(self) -> FieldsDesk:
        """What is stated of a site."""
        return FieldsDesk(self._frame, self.supplier.sites.fields, self.field_inspector, self._acts)

    @cached_property
    def prices(self) -> PricesDesk:
        """Prices of a deal."""
        made = PricesDesk(self._frame, self._deal.prices, self._acts)
        made.form_wanted.connect(self.price_form_wanted)
        return made

    @cached_property
    def files(self) -> FilesDesk:
        """Files of a deal."""
        return FilesDesk(self._frame, self._deal.files, self._acts)

    @cached_property
    def supplier_files(self) -> FilesDesk:
        """Files of a supplier."""
        return FilesDesk(self._frame, self.supplier.files, self._acts)

    @cached_property
    def sites(self) -> SitesDesk:
        """Sites of a supplier."""
        made = SitesDesk(self._frame, self.supplier.sites, self._acts)
        made.form_wanted.connect(self.site_form_wanted)
        made.chosen.connect(self.site_fields.open_subject)
        made.shown.connect(lambda: self.show_aside(deal=self._deal.isVisible(), supplier=self.in_supplier))
        return made

    # -- showing -----------------------------------------------------------------------------------------------------------

    def open_deal(self, deal: Deal) -> None:
        """Read what is in sight of an offer or contract."""
        kind = HolderOf.CONTRACT if isinstance(deal.record, Contract) else HolderOf.OFFER
        self._open(Subject(kind, deal.record.id))
        self.terms.open_holder(deal.holder)
        self._later.start()

    def open_supplier(self, supplier: str) -> None:
        """Read what is in sight of a supplier."""
        self._open(Subject(HolderOf.SUPPLIER, supplier))

    def _open(self, subject: Subject) -> None:
        self.subject = subject
        catalogue = self._frame.services.catalogue

        def work(connection: sqlite3.Connection) -> PartCounts:
            return counts_in(connection, subject, catalogue)

        self._frame.bridge.when_done(self._frame.services.query(work), lambda counts: self._count(subject, counts))
        self._read_part()

    def _count(self, subject: Subject, counts: PartCounts) -> None:
        if subject != self.subject:
            return
        self.stated = counts.stated
        stated, files = f"{counts.stated} / {counts.fields}", str(counts.files) if counts.files else ""
        if subject.kind is HolderOf.SUPPLIER:
            self.supplier.count(ABOUT, stated)
            self.supplier.count(SITES, str(counts.sites) if counts.sites else "")
            self.supplier.count(SUPPLIER_FILES, files)
        else:
            self._deal.count(COMMERCIAL, stated)
            self._deal.count(PRICES, str(counts.prices) if counts.prices else "")
            self._deal.count(FILES, files)

    def _read_part(self) -> None:
        """Read the part that is in sight; the technical terms are always read."""
        subject = self.subject
        if subject is None:
            return
        if subject.kind is HolderOf.SUPPLIER:
            tab = self.supplier.tab
            if tab == ABOUT:
                self.about.open_subject(subject)
            elif tab == SITES:
                self.sites.open_supplier(subject.id)
            elif tab == SUPPLIER_FILES:
                self.supplier_files.open_subject(subject)
        elif self._deal.tab == COMMERCIAL:
            self.fields.open_subject(subject)
        elif self._deal.tab == PRICES:
            self.prices.open_subject(subject)
        elif self._deal.tab == FILES:
            self.files.open_subject(subject)

    def _turned(self, *, deal: bool) -> None:
        self._read_part()
        self.show_aside(deal=deal, supplier=not deal)

    def _risks_counted(self, risks: DealRisks) -> None:
        self._deal.show_cost(risks.cost)

    def show_aside(self, *, deal: bool, supplier: bool) -> None:
        """Show beside the record what belongs to the part in sight."""
        tab = self._deal.tab if deal else self.supplier.tab if supplier else -1
        of_terms, of_fields = deal and tab == TERMS, (deal and tab == COMMERCIAL) or (supplier and (tab == ABOUT or (tab == SITES and self.supplier.sites.has_sites)))
        self.pages.setVisible(of_terms or of_fields)
        if of_terms:
            self.pages.setCurrentWidget(self.term_inspector)
        if self._has_risks:
            self.risk_pane.setVisible(deal)
        self.aside.setVisible(self._wanted and (deal or of_fields))
        if of_fields:
            self.pages.setCurrentWidget(self.field_inspector)
            (self.fields if deal else self.about if tab == ABOUT else self.site_fields).show_current()

    def toggle_aside(self) -> None:
        """Show or hide what stands beside the record."""
        self._wanted = not self._wanted
        self.aside.setVisible(self._wanted)

    # -- keys, search, drops -----------------------------------------------------------------------------------------------

    def _fields_in_sight(self) -> FieldsPane | None:
        if self._deal.isVisible():
            return self._deal.fields if self._deal.tab == COMMERCIAL else None
        if self.in_supplier and self.supplier.tab in (ABOUT, SITES):
            return self.supplier.fields if self.supplier.tab == ABOUT else self.supplier.sites.fields
        return None

    def search(self, words: str) -> bool:
        """Narrow the terms in sight; False when there are none."""
        fields = self._fields_in_sight()
        if fields is not None:
            fields.view.rows.find(words)
        elif self._deal.isVisible() and self._deal.tab == TERMS:
            self._deal.terms.rows.find(words)
        else:
            return False
        return True

    def remove_within(self) -> bool:
        """Delete what has the keyboard within the record: a term, a price, a file, a site; False when nothing has."""
        fields = self._fields_in_sight()
        if fields is not None and fields.view.hasFocus():
            fields.view.clear_current()
        elif self._deal.isVisible() and self._deal.terms.hasFocus():
            self.terms.clear_current()
        elif self._deal.isVisible() and self._deal.tab == PRICES and self._deal.prices.table.hasFocus():
            self.prices.withdraw()
        elif self._deal.isVisible() and self._deal.tab == FILES and self._deal.files.table.hasFocus():
            self.files.delete()
        elif self.in_supplier and self.supplier.tab == SITES and self.supplier.sites.table.hasFocus():
            self.sites.delete()
        elif self.in_supplier and self.supplier.tab == SUPPLIER_FILES and self.supplier.files.table.hasFocus():
            self.supplier_files.delete()
        else:
            return False
        return True

    @property
    def unfinished(self) -> bool:
        """Whether an editor in sight holds what can't be meant."""
        fields = self._fields_in_sight()
        return (fields is not None and fields.view.unfinished) or (self._deal.isVisible() and self._deal.terms.unfinished)

    def welcome(self, event: QDragEnterEvent) -> bool:
        """Whether dropped files can be kept with the record in sight; the hint names it."""
        if self.subject is None or not files_of(event):
            return False
        event.acceptProposedAction()
        name = self._deal.title.text() if self._deal.isVisible() else self.supplier.title.text()
        self._frame.note(Text(f"Drop: keep with {name}", f"松开即作为附件存入 {name}"))
        return True

    def take(self, event: QDropEvent) -> bool:
        """Keep dropped files with the record in sight."""
        paths = files_of(event)
        if self.subject is None or not paths:
            return False
        event.acceptProposedAction()
        desk, pane = (self.files, self._deal) if self._deal.isVisible() else (self.supplier_files, self.supplier)
        desk.open_subject(self.subject)
        pane.turn_to(FILES)
        desk.attach(paths)
        return True
