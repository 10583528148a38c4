"""What do the offers cost for the workload, step by step, and in which order?"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import KeyValues, Pane, Section, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commercial_words import NOT_STATED, plain, seconds_text
from gpulease_gui.services.cost_steps import CostStep, ExitToday, money
from gpulease_gui.services.workload_desk import PricedOffer
from gpulease_gui.services.workload_result import OfferDetail, Outcome

CURRENCIES = ("CNY", "USD", "EUR", "HKD", "JPY", "SGD")
_MOST_ROWS = 9
_REST = 320  # px for what stands around the table
_NAME = 90
_QUOTED, _HIDDEN = 1, 3


class CostPane(Lively, Pane):
    """The offers, the two orders, and the chosen one step by step. `chosen` carries the id of an offer."""

    chosen = Signal(str)
    currency_chosen = Signal(str)
    opened = Signal(str)

    _made = False

    def __init__(self, parent: QWidget) -> None:
        super().__init__(2, parent=parent)
        self._widths: dict[int, int] = {}
        self.offers: TableModel[PricedOffer] = TableModel(_columns(), lambda o: o.facts.row.id)
        self.table = TableView(self.offers, Text("Offers priced for the workload", "按负载计价的报价"), parent=self)
        self.currency = Chooser(Text("Currency", "币种"), [(code, code) for code in CURRENCIES])
        self.count = PlainLabel("", size="dense", level="3")
        self.order = PlainLabel("", size="dense", level="2", wrap=True)
        self.order.setContentsMargins(16, 8, 16, 8)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        inside = QWidget(self._area.viewport())
        self._inside = QVBoxLayout(inside)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(0)
        self._area.setWidget(inside)
        self.steps = StepGrid()
        self.detail_head = Section("", parent=inside)
        self.assumed = Section(Text("Assumed, as nobody stated it", "未约定项按以下假设"), parent=inside)
        self.assumed_words = PlainLabel("", size="dense", level="2", wrap=True)
        self.rules = Section(Text("What the rules add here", "各条款在此负载下的代价"), parent=inside)
        self.rule_pairs = KeyValues(label_width=220)
        self.leaving = Section(Text("Leaving today", "今日退出"), last=True, parent=inside)
        self.leaving_pairs = KeyValues(label_width=160)
        self.no_exit = PlainLabel("", size="dense", level="2", wrap=True)
        self._filling = False
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._arrange()
        self._made = True

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 16, 8)
        head.setSpacing(8)
        head.addWidget(PlainLabel(Text("Cost of the offers", "各报价的成本"), size="dense", weight=600))
        head.addWidget(self.count, 1)
        head.addWidget(self.currency)
        self.column.addLayout(head)
        for part in (hairline(), self.table, self.order, hairline()):
            self.column.addWidget(part)
        below = self._inside
        self.detail_head.column.addWidget(self.steps)
        self.assumed.column.addWidget(self.assumed_words)
        self.rules.column.addWidget(self.rule_pairs)
        self.leaving.column.addWidget(self.leaving_pairs)
        self.leaving.column.addWidget(self.no_exit)
        for section in (self.detail_head, self.assumed, self.rules, self.leaving):
            below.addWidget(section)
        below.addStretch()
        self.column.addWidget(self._area, 1)
        self.table.chosen.connect(self._picked)
        self.table.opened.connect(lambda offer: self.opened.emit(offer.facts.row.id))
        self.currency.picked.connect(self.currency_chosen)

    def _picked(self, offer: PricedOffer | None) -> None:
        if offer is not None and not self._filling:
            self.chosen.emit(offer.facts.row.id)

    def show_outcome(self, outcome: Outcome, total: int) -> None:
        """Show other figures; the chosen offer stays chosen."""
        self._filling = True
        self.offers.renew_rows(outcome.offers)
        if outcome.detail is not None:
            self.table.choose(outcome.detail.offer.facts.row.id)
        self._filling = False
        self._fit()
        shown = len(outcome.offers)
        self.count.set_words(str(shown) if shown == total else Text(f"{shown} of {total}", f"{shown} / {total}"))
        self.order.set_words(order_words(outcome))
        self.order.set_level("warn" if outcome.order.leader_changes else "2")
        if outcome.detail is not None:
            self._show_detail(outcome.detail, outcome)

    def _fit(self) -> None:
        """As high as its rows, so that the steps follow at once, but never more than leaves room for them."""
        row = self.table.verticalHeader().defaultSectionSize()
        room = max(3, (self.height() - _REST) // row)
        rows = max(1, min(self.offers.rowCount(), _MOST_ROWS, room))
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + rows * row + 2)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Where room is short, what stands in the steps too gives way, so that the names stay readable."""
        head = self.table.horizontalHeader()
        wanted = {place: head.sectionSize(place) or self._widths.get(place, 0) for place in range(1, len(self.offers.columns))}
        self._widths.update({place: width for place, width in wanted.items() if width})
        spare = self.width() - sum(self._widths.values()) - _NAME
        for place in (_HIDDEN, _QUOTED):
            self.table.setColumnHidden(place, spare < 0)
            spare += self._widths[place] if spare < 0 else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rows and columns follow the room."""
        super().resizeEvent(event)
        self._fit()

    def retheme(self) -> None:
        """The height follows the font."""
        if self._made:
            self._fit()

    def _show_detail(self, detail: OfferDetail, outcome: Outcome) -> None:
        row = detail.offer.facts.row
        self.detail_head.title.set_words(Text(f"{detail.offer.name} step by step", f"{detail.offer.name} 逐步计算"))
        self.detail_head.note.set_words(foreign(row.supplier))
        self.steps.show_steps(detail.steps, detail.offer.trouble)
        self.assumed.setVisible(bool(detail.assumed))
        self.assumed_words.set_words(assumed_words(detail.assumed))
        self.rules.setVisible(bool(detail.savings))
        currency = detail.offer.found.cost.currency if detail.offer.found else ""
        self.rule_pairs.set_pairs([(saving.rule, money(currency, saving.amount)) for saving in detail.savings])
        self.leaving_pairs.setVisible(bool(detail.exits))
        self.leaving_pairs.set_pairs([pair for leaving in detail.exits for pair in exit_pairs(leaving)])
        self.no_exit.setVisible(not detail.exits)
        self.no_exit.set_words(Text(
            "No contract signed from this offer says what leaving costs.", "由此报价签订的合同均未约定提前退出的费用。",
        ))  # fmt: skip


class StepGrid(QWidget):
    """What is counted, by which rule, how much comes out; its labels are kept and filled anew."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 2, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(0, 118)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[PlainLabel, PlainLabel, PlainLabel]] = []

    def show_steps(self, steps: Sequence[CostStep], trouble: str) -> None:
        """Show other steps; an offer that can't be priced says why."""
        shown = list(steps)
        if not shown:
            shown = [CostStep(Text("Can't be priced", "无法计价"), Text("", ""), foreign(trouble))]
        while len(self._rows) < len(shown):
            self._add_row()
        for number, row in enumerate(self._rows):
            for label in row:
                label.setVisible(number < len(shown))
            if number < len(shown):
                self._fill(row, shown[number])

    def _add_row(self) -> None:
        place = len(self._rows)
        what = PlainLabel("", size="dense", level="2")
        rule = PlainLabel("", size="caption", level="3", wrap=True)
        result = PlainLabel("", size="dense", select=True)
        result.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        for column, label in enumerate((what, rule, result)):
            self._grid.addWidget(label, place, column, Qt.AlignmentFlag.AlignTop if column != 2 else Qt.AlignmentFlag(0))
        self._rows.append((what, rule, result))

    @staticmethod
    def _fill(row: tuple[PlainLabel, PlainLabel, PlainLabel], step: CostStep) -> None:
        what, rule, result = row
        what.set_words(step.what)
        rule.set_words(step.rule)
        result.set_words(step.result)
        weight = "600" if step.total else "400"
        for label in (what, result):
            if label.property("weight") != weight:
                set_role(label, "weight", weight)

    @property
    def lines(self) -> tuple[tuple[str, str, str], ...]:
        """The words of the rows that are shown."""
        return tuple((w.text(), r.text(), v.text()) for w, r, v in self._rows if not w.isHidden())


def assumed_words(assumed: Sequence[Text]) -> Text:
    """One line a value: not stated, so assumed as what costs least."""
    return Text(
        "\n".join(f"not stated, assumed: {words.en}" for words in assumed),
        "\n".join(f"未约定，假设：{words.zh}" for words in assumed),
    )


def order_words(outcome: Outcome) -> Text:
    """Both orders beside each other, and under which minimum the cheapest quote would still win."""
    order = outcome.order
    if len(order.by_price) < 2:
        return Text("", "")
    quoted, real = " < ".join(order.by_price[:6]), " < ".join(order.by_cost[:6])
    if order.by_price == order.by_cost:
        return Text(f"Cheapest first, quoted and here alike: {real}", f"报价与有效成本的次序一致：{real}")
    en, zh = f"By quoted price: {quoted}\nFor this workload: {real}", f"按报价：{quoted}\n按此负载：{real}"
    if outcome.wins_below_s is not None:
        least, leader = seconds_text(outcome.wins_below_s), order.by_price[0]
        en += f"\n{leader} would cost least with a minimum term of at most {least.en}."
        zh += f"\n若最短租期不超过 {least.zh}，{leader} 成本最低。"
    return Text(en, zh)


def exit_pairs(leaving: ExitToday) -> tuple[tuple[Words, Words], ...]:
    """What leaving a contract today gives back and costs, per GPU."""
    cost, currency = leaving.cost, leaving.currency
    period = f"{plain(leaving.used_hours)} / {plain(leaving.period_hours)} h"
    return (
        (Text("Contract", "合同"), leaving.number),
        (Text("Used of the period", "本期已用"), period),
        (Text("Paid per GPU", "每卡已付"), money(currency, cost.paid)),
        (Text("Discount taken back", "收回折扣"), money(currency, cost.clawback)),
        (Text("Fee", "手续费"), money(currency, cost.fee)),
        (Text("Comes back per GPU", "每卡退还"), money(currency, cost.refund)),
        (Text("Lost per GPU", "每卡净支出"), money(currency, cost.net_cost)),
    )


def _columns() -> tuple[Column[PricedOffer], ...]:
    return (
        Column(Text("Offer", "报价"), _name, lambda o: o.name, 150, stretch=True),
        Column(Text("Quoted/h", "报价/时"), lambda o: _figure(o.headline), lambda o: _sort(o.headline), 76, number=True,
               tip=Text("quoted price of a GPU-hour", "报价的每卡时单价")),
        Column(Text("Effective/h", "有效/时"), _effective, lambda o: _sort(o.effective), 84, number=True,
               tip=Text("what a useful GPU-hour costs, all counted", "全部计入后每有效卡时的成本")),
        Column(Text("Hidden", "隐性"), _hidden, lambda o: _sort(_hidden_pct(o)), 78, number=True,
               tip=Text("above the quoted price for every hour used", "超出报价的部分")),
        Column(Text("Cost", "成本"), lambda o: _figure(o.total, weight=600), lambda o: _sort(o.total), 98, number=True),
        Column(Text("Place", "名次"), _place, lambda o: o.by_cost or 99, 64, number=True,
               tip=Text("place by quoted price → place by cost", "按报价的名次 → 按成本的名次")),
    )  # fmt: skip


def _name(offer: PricedOffer) -> Cell:
    supplier = visible(offer.facts.row.supplier)
    return Cell(foreign(f"{offer.name} · {supplier}"), weight=500, tip=foreign(f"{offer.name}\n{supplier}\n{visible(offer.facts.row.title)}"))


def _figure(value: Decimal | None, *, weight: int = 400) -> Cell:
    return Cell(NOT_STATED, missing=True) if value is None else Cell(f"{value:,f}", weight=weight)


def _effective(offer: PricedOffer) -> Cell:
    if offer.total is not None and offer.effective is None:
        return Cell(Text("no use", "无使用"), tone="3")
    return _figure(offer.effective, weight=600)


def _hidden_pct(offer: PricedOffer) -> Decimal | None:
    return offer.found.cost.hidden_cost_pct if offer.found is not None else None


def _hidden(offer: PricedOffer) -> Cell:
    pct = _hidden_pct(offer)
    if pct is None:
        return Cell("–", tone="3")
    words = f"{pct:,.1f}\N{THIN SPACE}%".replace("-", "−")
    return Cell(f"+{words}" if pct > 0 else words, tone="warn" if pct >= 50 else "2")


def _place(offer: PricedOffer) -> Cell:
    if offer.by_cost is None:
        return Cell("–", tone="3", tip=offer.trouble)
    if not offer.turned:
        return Cell(str(offer.by_cost), tone="2")
    return Cell(f"{offer.by_price} → {offer.by_cost}", tone="warn" if (offer.by_price or 0) < offer.by_cost else "1", weight=600)


def _sort(value: Decimal | None) -> float:
    return float("inf") if value is None else float(value)
