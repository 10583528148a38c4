"""What stands in the middle of the suppliers page: a supplier with its deals, or a deal with its terms?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.finding import CheckState
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.terms_form import TermsView
from gpulease_gui.gui.models.cell import NOT_STATED, NOTHING, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_tables import PRICE_UNITS, nodes_en
from gpulease_gui.gui.pages.suppliers_deals import deal_key, deal_title, price_words
from gpulease_gui.gui.pages.suppliers_fields import FieldsPane
from gpulease_gui.gui.pages.suppliers_files import FilesPane
from gpulease_gui.gui.pages.suppliers_prices import PricesPane
from gpulease_gui.gui.pages.suppliers_risks import hidden_words, money_words
from gpulease_gui.gui.pages.suppliers_sites import SitesPane
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues, Pane, TabRow, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.gui.widgets.wrap import WrapLayout
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.commerce_cost import DealCost
from gpulease_gui.services.directory import Deal, SupplierDeals

_OPEN = "open"


class UndoBand(Band):
    """What was just done, and the way back."""

    def __init__(self) -> None:
        self.undo = Button(Text("Undo", "撤销"), icon="undo", small=True)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        super().__init__("accent", "", "", self.undo, close)
        close.clicked.connect(self.hide)
        self.undo.clicked.connect(self._back)
        self._way_back: Callable[[], None] | None = None
        self.hide()

    def offer(self, done: Words, way_back: Callable[[], None]) -> None:
        """Say what was done."""
        self._way_back = way_back
        self.tell(done)

    def _back(self) -> None:
        self.hide()
        way_back, self._way_back = self._way_back, None
        if way_back is not None:
            way_back()


class _Fact(QWidget):
    """A caption over a value, at the right of a head."""

    def __init__(self, caption: Words) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.value = PlainLabel("", size="dense", weight=600)
        column.addWidget(PlainLabel(caption, size="caption", level="3"))
        column.addWidget(self.value)

    def tell(self, words: Words) -> None:
        """Show another value; nothing hides the fact."""
        self.value.set_words(words)
        self.setVisible(bool(words))


class _DealHead(QWidget):
    """What a deal is called, its facts, its verdict; the facts stand below where the title would have no room beside them."""

    TITLE_PX, GAP_PX = 160, 20

    def __init__(self, words: QVBoxLayout, facts: Sequence[_Fact], badge: BadgeLabel) -> None:
        super().__init__()
        self._facts, self._badge, self._is_below = QWidget(), badge, False
        row = WrapLayout(self._facts, gap_px=self.GAP_PX)
        row.setContentsMargins(0, 0, 0, 0)
        for fact in facts:
            row.addWidget(fact)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 10, 16, 6)
        self._grid.setHorizontalSpacing(self.GAP_PX)
        self._grid.setColumnStretch(0, 1)
        self._grid.addLayout(words, 0, 0)
        self._grid.addWidget(self._facts, 0, 1)
        self._grid.addWidget(badge, 0, 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, another place."""
        super().resizeEvent(event)
        self._place()

    def event(self, event: QEvent) -> bool:
        """Other words are wider."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def _place(self) -> None:
        beside = self._facts.sizeHint().width() + self._badge.sizeHint().width() + 2 * self.GAP_PX + 32
        is_below = self.width() < self.TITLE_PX + beside
        if is_below is not self._is_below:
            self._is_below = is_below
            self._grid.removeWidget(self._facts)
            self._grid.addWidget(self._facts, *((1, 0, 1, 3) if is_below else (0, 1, 1, 1)))


Part = TypeVar("Part", bound=QWidget)
TERMS, COMMERCIAL, PRICES, FILES = range(4)
_DEAL_TABS = (Text("Technical terms", "技术条款"), Text("Commercial terms", "商务条款"), Text("Prices", "价格"), Text("Files", "附件"))
DEALS, ABOUT, SITES, SUPPLIER_FILES = range(4)
_SUPPLIER_TABS = (Text("Offers and contracts", "报价与合同"), Text("Company and licences", "主体、联系人与许可"), Text("Sites", "机房"), Text("Files", "附件"))


class TabbedPane(Pane):
    """A head, tabs, and one part at a time below, each built when it is first needed.

    `turned` carries the tab that is in sight now.
    """

    turned = Signal(int)

    def __init__(self, head: QHBoxLayout | QVBoxLayout, titles: Sequence[Text]) -> None:
        super().__init__(2)
        self._titles = tuple(titles)
        self.tabs = TabRow(titles)
        self.parts = QStackedWidget()
        row = QHBoxLayout()
        row.setContentsMargins(16, 0, 16, 0)
        row.addWidget(self.tabs, 1)
        self.column.addLayout(head)
        self.column.addLayout(row)
        self.column.addWidget(hairline())
        self.column.addWidget(self.parts, 1)
        self.tabs.currentChanged.connect(self._turn)

    def keep(self, part: Part) -> Part:
        """Take a part in that was just built."""
        self.parts.addWidget(part)
        return part

    def part(self, place: int) -> QWidget:
        """The widget under a tab."""
        raise NotImplementedError

    def _turn(self, place: int) -> None:
        self.parts.setCurrentWidget(self.part(place))
        self.turned.emit(place)

    def turn_to(self, place: int) -> None:
        """Bring a part into sight."""
        self.tabs.setCurrentIndex(place)

    @property
    def tab(self) -> int:
        """The part that is in sight."""
        return self.tabs.currentIndex()

    def count(self, place: int, words: str) -> None:
        """Show a count beside the title of a tab."""
        title = self._titles[place]
        self.tabs.name(place, Text(f"{title.en}  {words}", f"{title.zh}  {words}") if words else title)


class DealPane(TabbedPane):
    """The head of an offer or contract, its technical and commercial terms, its prices, its files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.title = ElidedLabel("", size="section", weight=600)
        self.lead = ElidedLabel("", size="dense", level="2")
        self.price, self.term = _Fact(Text("Price", "单价")), _Fact(Text("Term", "期限"))
        self.effective, self.hidden = _Fact(Text("Effective per GPU-hour", "有效成本 / 卡时")), _Fact(Text("Hidden cost", "隐性成本"))
        self.badge = BadgeLabel()
        self._catalogue = catalogue
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self.title)
        words.addWidget(self.lead)
        head = QHBoxLayout()
        head.addWidget(_DealHead(words, (self.price, self.effective, self.hidden, self.term), self.badge))
        super().__init__(head, _DEAL_TABS)
        self._over_terms = Pane(2)
        self.show_cost(None)
        self._turn(TERMS)

    @cached_property
    def terms(self) -> TermsView:
        """The technical terms, under a band for what was brought back."""
        made, self.back = TermsView(self._catalogue), Band("warn")
        self._over_terms.column.addWidget(self.back)
        self._over_terms.column.addWidget(made, 1)
        self.back.hide()
        self.keep(self._over_terms)
        return made

    def _with_terms(self) -> QWidget:
        self.terms.show()
        return self._over_terms

    @cached_property
    def fields(self) -> FieldsPane:
        """The commercial terms."""
        return self.keep(FieldsPane(self._catalogue))

    @cached_property
    def prices(self) -> PricesPane:
        """The prices."""
        return self.keep(PricesPane())

    @cached_property
    def files(self) -> FilesPane:
        """The files."""
        return self.keep(FilesPane())

    def part(self, place: int) -> QWidget:
        """The widget under a tab."""
        return (self._with_terms, lambda: self.fields, lambda: self.prices, lambda: self.files)[place]()

    def show_deal(self, entry: SupplierDeals, deal: Deal) -> None:
        """Name another deal."""
        record = deal.record
        self.title.set_words(deal_title(record))
        self.lead.set_words(_lead(entry.supplier, deal))
        unit = PRICE_UNITS.get(record.price_unit, Text(record.price_unit, record.price_unit))
        price = price_words(record.price)
        self.price.tell(Text(f"{price} {unit.en}", f"{price} {unit.zh}") if price else Text("not stated", "未说明"))
        self.term.tell(_span(deal))
        is_contract = isinstance(record, Contract)
        self.badge.set_state((deal.verdict if deal.verdict is not None else CheckState.NOT_RUN) if is_contract else None)
        self.badge.setVisible(is_contract)

    def show_count(self, stated: int, total: int) -> None:
        """How many technical terms are stated."""
        self.count(TERMS, f"{stated} / {total}")

    def show_cost(self, cost: DealCost | None) -> None:
        """What the deal costs for the chosen workload; nothing where it can't be counted."""
        known = cost is not None and cost.cost.effective_per_gpu_hour is not None
        self.effective.tell(money_words(cost.cost.effective_per_gpu_hour, cost.cost.currency) if cost is not None and known else "")
        share = cost.cost.hidden_cost_pct if cost is not None else None
        self.hidden.tell(hidden_words(share) if share is not None else "")
        self.hidden.value.set_level("warn" if share is not None and share > 0 else "1")


def _lead(supplier: Supplier, deal: Deal) -> Text:
    record = deal.record
    if isinstance(record, Contract):
        nodes = Text(f"{nodes_en(deal.nodes)}", f"{deal.nodes} 个节点")
        return Text(f"Contract with {supplier.name} · {nodes.en}", f"与{supplier.name}的合同 · {nodes.zh}")
    signed = ", ".join(deal.contracts)
    more = Text(f" · accepted as {signed}", f" · 已转为合同 {signed}") if signed else Text("", "")
    return Text(f"Offer {record.quote_no} of {supplier.name}{more.en}", f"{supplier.name}的报价 {record.quote_no}{more.zh}")


def _span(deal: Deal) -> Words:
    record = deal.record
    if isinstance(record, Contract):
        if record.start is None and record.end is None:
            return Text("not stated", "未说明")
        return f"{record.start or '?'} – {record.end or '?'}"
    if record.valid_until is None:
        return ""
    return Text(f"valid until {record.valid_until}", f"有效期至 {record.valid_until}")


class SupplierPane(TabbedPane):
    """A supplier: who it is, what it offered and signed, where its machines stand. `opened` carries the key of a deal."""

    opened = Signal(str)

    def __init__(self, catalogue: Catalogue) -> None:
        self.title = ElidedLabel("", size="section", weight=600)
        self.facts = KeyValues()
        self.deals: TableModel[Deal] = TableModel(_deal_columns(), deal_key)
        self.table = TableView(self.deals, Text("Offers and contracts", "报价与合同"))
        self.table.opened.connect(lambda deal: self.opened.emit(deal_key(deal)))
        self.table.acted.connect(lambda deal, _: self.opened.emit(deal_key(deal)))
        self.none = PlainLabel(Text("No offer yet. Add the quote that this supplier sent; its terms are typed next.",
                                    "还没有报价。请添加该供应商发来的报价，随后填写条款。"), level="2", wrap=True)  # fmt: skip
        self.none.setContentsMargins(16, 12, 16, 12)
        self._catalogue = catalogue
        head = QVBoxLayout()
        head.setContentsMargins(16, 12, 16, 6)
        head.setSpacing(8)
        head.addWidget(self.title)
        head.addWidget(self.facts)
        listed = Pane(2)
        listed.column.addWidget(self.none)
        listed.column.addWidget(self.table, 1)
        listed.column.addStretch()
        super().__init__(head, _SUPPLIER_TABS)
        self._listed = self.keep(listed)
        self._turn(DEALS)

    @cached_property
    def fields(self) -> FieldsPane:
        """What is stated of the company."""
        return self.keep(FieldsPane(self._catalogue))

    @cached_property
    def sites(self) -> SitesPane:
        """Where the machines stand."""
        return self.keep(SitesPane(self._catalogue))

    @cached_property
    def files(self) -> FilesPane:
        """The files."""
        return self.keep(FilesPane())

    def part(self, place: int) -> QWidget:
        """The widget under a tab."""
        return (lambda: self._listed, lambda: self.fields, lambda: self.sites, lambda: self.files)[place]()

    def show_supplier(self, entry: SupplierDeals) -> None:
        """Show another supplier."""
        supplier = entry.supplier
        self.title.set_words(supplier.name)
        unknown = Text("not stated", "未说明")
        self.facts.set_pairs((
            (Text("Country or region", "国家或地区"), supplier.country or unknown),
            (Text("Contact", "联系方式"), supplier.contact or unknown),
            *(((Text("Note", "备注"), supplier.note),) if supplier.note else ()),
        ))  # fmt: skip
        self.deals.set_rows(entry.deals)
        self.table.setVisible(bool(entry.deals))
        self.none.setVisible(not entry.deals)
        self.count(DEALS, str(len(entry.deals)) if entry.deals else "")


def _deal_columns() -> tuple[Column[Deal], ...]:
    return (
        Column(Text("Number", "编号"), lambda deal: Cell(deal.number, weight=500, tone="accent", action=_OPEN), width=140),
        Column(Text("What", "内容"), _what, width=240, stretch=True),
        Column(Text("Terms stated", "已约定条款"), lambda deal: Cell(str(deal.stated)), width=100, number=True),
        Column(Text("Term", "期限"), lambda deal: Cell(_span(deal), tone="2") if _span(deal) else NOTHING, width=190),
        Column(Text("Price", "单价"), lambda deal: Cell(p) if (p := price_words(deal.record.price)) else NOT_STATED, width=100,
               number=True),
        Column(Text("Last run", "最近验收"), _verdict, width=120),
    )  # fmt: skip


def _what(deal: Deal) -> Cell:
    if isinstance(deal.record, Contract):
        return Cell(Text(f"contract, {nodes_en(deal.nodes)}", f"合同，{deal.nodes} 个节点"), tone="2")
    return Cell(deal.record.title or Text("offer", "报价"), tone="2")


def _verdict(deal: Deal) -> Cell:
    if not isinstance(deal.record, Contract):
        return NOTHING
    return state_cell(badge_of(deal.verdict if deal.verdict is not None else CheckState.NOT_RUN))
