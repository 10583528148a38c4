"""How are suppliers listed with what they offered and what was signed, twenty thousand deals at once?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QStyleOptionViewItem

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.money import Money, amount_text
from gpulease_gui.domain.supplier import Contract, Offer
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.forms.two_lines import Line, LinesDelegate, LinesModel, LinesView, deal_height
from gpulease_gui.gui.pages.overview_tables import nodes_en
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.deal_list import (
    ALL,
    BY_END,
    BY_MODEL,
    BY_PRICE,
    BY_SUPPLIER,
    CONTRACTS,
    ENDING,
    NO_PRICE,
    OFFERS,
    DealList,
)
from gpulease_gui.services.directory import Deal
from gpulease_gui.store.deal_list import DealLine

Index = QModelIndex | QPersistentModelIndex
SUPPLIER, OFFER, CONTRACT = "supplier", "offer", "contract"
MANY = 400  # from here on all entries are equally high: Qt would ask for each


def key_of(kind: str, record_id: str) -> str:
    """How an entry of the list is known."""
    return f"{kind}/{record_id}"


def deal_key(deal: Deal) -> str:
    """The key of an offer or a contract."""
    return key_of(CONTRACT if isinstance(deal.record, Contract) else OFFER, deal.record.id)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which entries of a list are shown, in which order: ten milliseconds at twenty thousand deals, on any thread."""

    all: DealList
    order: Sequence[int]
    words: str
    chip: str
    grouped: bool

    def __call__(self) -> list[int]:
        """The places, and -1 - s for the supplier s."""
        found = self.all.holding(self.order, self.words, self.chip)
        return self.all.grouped(found, self.words, empty_suppliers=self.chip == ALL) if self.grouped else found


class DealsModel(LinesModel):
    """The list in an order of its own: places of deals, and -1 - s for the supplier s. Entries are made when drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.all = DealList()
        self.words, self.chip, self.order = "", ALL, BY_SUPPLIER
        self._orders: dict[str, Sequence[int]] = {}
        self._shown: list[int] = []
        self._drawn: dict[int, Line] = {}
        self._worst: dict[str, Verdict] = {}
        self._plan: Narrowing | None = None
        self.ticked: dict[str, None] = {}  # keys of deals to compare, in the order in which they were ticked

    def toggle(self, key: str) -> None:
        """Tick or untick a deal; it stays ticked while it is out of sight."""
        if key in self.ticked:
            self.ticked.pop(key)
        else:
            self.ticked[key] = None
        place = self.place_of(key)
        if place >= 0:
            self.dataChanged.emit(self.index(place), self.index(place))

    def show_list(self, found: DealList) -> bool:
        """Show what was read anew; False when it is the same."""
        if found == self.all:
            return False
        self.all = found
        self._worst = _worst_of(found)
        self.ticked = {key: None for key in self.ticked if has_key(found, key)}
        self._orders.clear()
        self._arrange()
        return True

    def narrow(self, words: str | None = None, chip: str | None = None, order: str | None = None) -> None:
        """Show only what holds `words` and what a chip leaves, in an order; None keeps what is set."""
        wanted = (self.words if words is None else words, self.chip if chip is None else chip, order or self.order)
        if wanted != (self.words, self.chip, self.order):
            self.words, self.chip, self.order = wanted
            self._arrange()

    def plan(self, words: str) -> Narrowing:
        """What finds the entries that hold `words`; a worker does it, then `take` shows them."""
        self.words = words
        self._plan = self._narrowing()
        return self._plan

    def take(self, plan: Narrowing, found: list[int]) -> bool:
        """Show what a plan found; False when the list or the words are others meanwhile."""
        if plan is not self._plan:
            return False
        self._show(found)
        return True

    def _narrowing(self) -> Narrowing:
        if self.order not in self._orders:
            self._orders[self.order] = self.all.sorted_by(self.order)
        return Narrowing(self.all, self._orders[self.order], self.words, self.chip, grouped=self.order == BY_SUPPLIER)

    def _arrange(self) -> None:
        self._show(self._narrowing()())

    def _show(self, found: list[int]) -> None:
        self._plan = None
        self._drawn.clear()
        with self.others(len(found)):
            self._shown = found

    def line_at(self, place: int) -> Line | None:
        """The entry at a place."""
        if not 0 <= place < len(self._shown):
            return None
        number = self._shown[place]
        if number < 0:
            return self._supplier_line(-1 - number)
        if number not in self._drawn:
            self._drawn[number] = deal_line(self.all, number, grouped=self.order == BY_SUPPLIER)
        line = self._drawn[number]
        return replace(line, checked=True) if line.key in self.ticked else line

    def _supplier_line(self, s: int) -> Line:
        supplier = self.all.suppliers[s]
        worst = self._worst.get(supplier.id)
        badge = badge_of(worst) if worst is not None else None
        icon, tone = (badge.icon, badge.token) if badge else ("verdict-notrun", "t3")
        return Line(key_of(SUPPLIER, supplier.id), supplier.name, supplier.country, icon=icon, tone=tone, heading=True)

    def place_of(self, key: str) -> int:
        """Where an entry stands; -1 when it is not shown."""
        number = number_of(self.all, key)
        try:
            return -1 if number is None else self._shown.index(number)
        except ValueError:
            return -1


def number_of(found: DealList, key: str) -> int | None:
    """The place of a deal, -1 - s for the supplier s; None when it is not there."""
    kind, _, id_ = key.partition("/")
    if kind == SUPPLIER:
        return next((-1 - s for s, supplier in enumerate(found.suppliers) if supplier.id == id_), None)
    return found.place_of(kind, id_)


def deal_line(all_: DealList, number: int, *, grouped: bool) -> Line:
    """An offer or contract; out of its group it names its supplier."""
    line = all_.line(number)
    owner = "" if grouped else f"{all_.supplier(number).name} · "
    if line.kind == CONTRACT:
        verdict = all_.verdicts.get(line.id)
        badge = badge_of(verdict) if verdict is not None else None
        icon, tone = (badge.icon, badge.token) if badge else ("document", "t3")
        count = all_.nodes.get(line.id, 0)
        nodes = Text(f"{owner}contract · {nodes_en(count)}", f"{owner}合同 · {count} 个节点")
        return Line(key_of(CONTRACT, line.id), line.name, nodes, hour_words(line), icon, tone, checked=False)
    return Line(key_of(OFFER, line.id), line.name, _offer_note(line, owner), hour_words(line), "nav-offers", "t3", checked=False)


def _offer_note(line: DealLine, owner: str) -> Text:
    signed = Text(" · accepted", " · 已转为合同") if line.signed else Text("", "")
    return Text(f"{owner}{line.number} · offer{signed.en}", f"{owner}{line.number} · 报价{signed.zh}")


def _worst_of(found: DealList) -> dict[str, Verdict]:
    """Supplier id -> the worst verdict of its contracts."""
    worst: dict[str, Verdict] = {}
    for contract, verdict in found.verdicts.items():
        place = found.place_of(CONTRACT, contract)
        if place is not None:
            owner = found.deals.supplier_id[place]
            worst[owner] = min(worst.get(owner, verdict), verdict, key=_badness)
    return worst


def _badness(verdict: object) -> int:
    return ("fail", "inconclusive", "warn", "pass").index(str(verdict)) if str(verdict) != "not_applicable" else 9


class _DealsDelegate(LinesDelegate):
    """Entries of a long list are all as high as a deal."""

    def __init__(self, view: DealsView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """In a long list one height for all, which Qt asks for once."""
        if not self._view.uniformItemSizes():
            return super().sizeHint(option, index)
        return QSize(120, deal_height(option.font))


class DealsView(LinesView):
    """The list at the left of the page, and above it what narrows and sorts it. `narrowed` comes after a change of either."""

    narrowed = Signal()

    def __init__(self) -> None:
        self.deals = DealsModel()
        super().__init__(Text("Suppliers, offers, contracts", "供应商、报价、合同"), rows=self.deals)
        self.setItemDelegate(_DealsDelegate(self))
        self.deals.modelAboutToBeReset.connect(self._fit)
        self.chooser = Pane(2)
        self.chip = Chooser(Text("Which are shown", "显示范围"), tuple(CHIPS.items()))
        self.sort = Chooser(Text("Order", "排序"), tuple(ORDERS.items()))
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(6)
        row.addWidget(self.chip, 1)
        row.addWidget(self.sort, 1)
        self.chooser.column.addLayout(row)
        self.chip.picked.connect(lambda key: self._narrow(chip=key))
        self.sort.picked.connect(lambda key: self._narrow(order=key))

    def _narrow(self, chip: str | None = None, order: str | None = None) -> None:
        self.deals.narrow(chip=chip, order=order)
        self.narrowed.emit()

    def show_list(self, found: DealList) -> None:
        """Show what was read, and how many of each kind there are."""
        if self.deals.show_list(found):
            counts = found.counts()
            self.chip.set_choices([(key, Text(f"{w.en} {counts[key]}", f"{w.zh} {counts[key]}")) for key, w in CHIPS.items()])

    def _fit(self) -> None:
        self.setUniformItemSizes(len(self.deals.all) + len(self.deals.all.suppliers) > MANY)


CHIPS = {
    ALL: Text("All", "全部"), OFFERS: Text("Offers", "报价"), CONTRACTS: Text("Contracts", "合同"),
    ENDING: Text("End within 7 days", "7 天内到期"), NO_PRICE: Text("No price", "未报价"),
}  # fmt: skip
ORDERS = {
    BY_SUPPLIER: Text("By supplier", "按供应商"), BY_PRICE: Text("By price per GPU-hour", "按卡时单价"), BY_MODEL: Text("By GPU", "按 GPU 型号"),
    BY_END: Text("By last day", "按到期日"),
}  # fmt: skip


def price_words(price: Money | None) -> Words:
    """Currency before the number with a thin space; nothing where no price is written."""
    return f"{price.currency}\N{NARROW NO-BREAK SPACE}{amount_text(price.amount)}" if price else ""


def hour_words(line: DealLine) -> str:
    """What a GPU-hour costs; ≈ where it was worked out from a price by the month or node, the price itself where it can't be."""
    if line.amount is None or line.currency is None:
        return ""
    agreed, shown = Decimal(line.amount), f"{line.currency}\N{NARROW NO-BREAK SPACE}"
    if line.gpu_hour is None or float(agreed) == float(line.gpu_hour):
        return f"{shown}{amount_text(agreed)}"
    return f"≈\N{NARROW NO-BREAK SPACE}{shown}{float(line.gpu_hour):,.2f}"


def first_key(found: DealList) -> str:
    """Where a first look begins: a contract, else an offer, else a supplier."""
    kinds = found.deals.kind
    place = next((place for place in found.by_supplier if kinds[place] == CONTRACT), None) if CONTRACT in kinds else None
    if place is None and found.by_supplier:
        place = found.by_supplier[0]
    if place is not None:
        return key_of(kinds[place], found.deals.id[place])
    return key_of(SUPPLIER, found.suppliers[0].id) if found.suppliers else ""


def has_key(found: DealList, key: str) -> bool:
    """Whether a record is there."""
    return number_of(found, key) is not None


def deal_title(record: Offer | Contract) -> str:
    """The words over the terms."""
    return record.number if isinstance(record, Contract) else record.title or record.quote_no


