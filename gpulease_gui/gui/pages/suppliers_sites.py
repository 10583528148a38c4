"""Where do a supplier's machines stand, and what is stated of each place?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.supplier import Site
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import NoteField, RecordForm, needed
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.pages.suppliers_fields import FieldsPane
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import Pane, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commerce_edit import delete
from gpulease_gui.services.directory import fresh_id
from gpulease_gui.store.suppliers import list_sites

if TYPE_CHECKING:
    import sqlite3


class SiteForm(RecordForm):
    """Name, city, country, note of a place."""

    def __init__(self) -> None:
        super().__init__()
        self._site = Site("", "", "")
        self.name = LineField(Text("Name of the data centre", "机房名称"))
        self.city, self.country = LineField(Text("City", "城市")), LineField(Text("Country or region", "国家或地区"))
        self.note = NoteField()
        self._name = Field(Text("Name of the data centre", "机房名称"), self.name)
        beside = (Field(Text("City", "城市"), self.city), Field(Text("Country or region", "国家或地区"), self.country))
        self.arrange([self._name, beside, Field(Text("Note", "备注"), self.note)])

    def open_record(self, site: Site, *, is_new: bool) -> None:
        """Edit a site, or write a new one down."""
        self._site = site
        self.name.setText(site.name)
        self.city.setText(site.city)
        self.country.setText(site.country)
        self.note.setPlainText(site.note)
        title = Text("New site", "新机房") if is_new else Text("Site", "机房")
        self.begin(title, unsaved=Text("New site, not saved yet", "新机房，尚未保存") if is_new else "")

    def build(self) -> Site:
        """The site that the fields make. Raises Invalid without a name."""
        name = needed(self._name, self.name, Text("Write the name of the data centre", "请填写机房名称"))
        return Site(
            self._site.id, self._site.supplier_id, name, self.city.text().strip(), self.country.text().strip(),
            self.note.toPlainText().strip(),
        )  # fmt: skip


class SitesPane(Pane):
    """The places of a supplier, and below the terms of the chosen one."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(2)
        self.sites: TableModel[Site] = TableModel(_columns(), lambda site: site.id)
        self.table = TableView(self.sites, Text("Sites", "机房"))
        self.add = Button(Text("Add site…", "添加机房…"), icon="add", small=True)
        self.edit = Button(Text("Edit…", "编辑…"), icon="edit", small=True)
        self.delete = Button(Text("Delete", "删除"), icon="delete", small=True)
        self.fields = FieldsPane(catalogue)
        self.none = PlainLabel(Text("No site yet: where a machine stands decides law, distance and power.",
                                    "还没有机房：机器放在哪里决定适用法律、距离和供电。"), size="dense", level="2", wrap=True)  # fmt: skip
        tools = QHBoxLayout()
        tools.setContentsMargins(16, 8, 16, 8)
        tools.setSpacing(8)
        tools.addWidget(self.none, 1)
        tools.addStretch()
        for button in (self.add, self.edit, self.delete):
            tools.addWidget(button)
        self.column.addLayout(tools)
        self.column.addWidget(hairline())
        self.column.addWidget(self.table, 2)
        self.column.addWidget(hairline())
        self.column.addWidget(self.fields, 3)

    @property
    def has_sites(self) -> bool:
        """Whether a site is shown."""
        return bool(self.sites.rows)

    def show_sites(self, sites: tuple[Site, ...]) -> None:
        """Show the places of a supplier."""
        self.sites.set_rows(sites)
        self.none.setVisible(not sites)
        if self.table.current_row is None:
            self.table.choose_first()
        self.fields.setVisible(bool(sites))
        self.edit.setEnabled(bool(sites))
        self.delete.setEnabled(bool(sites))


class SitesDesk(QObject):
    """Between the sites and the services.

    `form_wanted` carries (site, is new), `chosen` the subject of a site; `shown` comes when they were read.
    """

    form_wanted = Signal(object, bool)
    chosen = Signal(object)
    shown = Signal()

    def __init__(self, frame: Frame, pane: SitesPane, acts: ActsBand) -> None:
        super().__init__(pane)
        self._frame, self._pane, self._acts = frame, pane, acts
        self._supplier = ""
        pane.add.clicked.connect(lambda: self.form_wanted.emit(Site(fresh_id(), self._supplier, ""), True))
        pane.edit.clicked.connect(self.edit)
        pane.delete.clicked.connect(self.delete)
        pane.table.opened.connect(lambda _: self.edit())
        pane.table.chosen.connect(self._choose)

    def open_supplier(self, supplier: str) -> None:
        """Show the places of a supplier."""
        self._supplier = supplier

        def work(connection: sqlite3.Connection) -> tuple[Site, ...]:
            return list_sites(connection, supplier)

        self._frame.bridge.when_done(self._frame.services.query(work), lambda sites: self._take(supplier, sites))

    def _take(self, supplier: str, sites: tuple[Site, ...]) -> None:
        if supplier == self._supplier:
            self._pane.show_sites(sites)
            self.shown.emit()

    def _choose(self, site: Site | None) -> None:
        if site is not None:
            self.chosen.emit(Subject(HolderOf.SITE, site.id))

    def edit(self) -> None:
        """Open the chosen site in its form."""
        site: Site | None = self._pane.table.current_row
        if site is not None:
            self.form_wanted.emit(site, False)

    def delete(self) -> None:
        """Put the chosen site into the trash."""
        site: Site | None = self._pane.table.current_row
        if site is not None:
            self._acts.do(lambda db: delete(db, "site", site.id), "site")


def _columns() -> tuple[Column[Site], ...]:
    return (
        Column(Text("Site", "机房"), lambda site: Cell(site.name, weight=500), width=200),
        Column(Text("City", "城市"), lambda site: Cell(site.city) if site.city else NOTHING, width=120),
        Column(Text("Country or region", "国家或地区"), lambda site: Cell(site.country) if site.country else NOTHING, width=140),
        Column(Text("Note", "备注"), lambda site: Cell(site.note, tone="2") if site.note else NOTHING, width=200, stretch=True),
    )
