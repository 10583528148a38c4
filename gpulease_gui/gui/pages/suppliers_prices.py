"""Which prices did an offer or contract have from which day on, and how are they added, corrected, withdrawn?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money, amount_text
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.field_cells import CLAIM_ONLY
from gpulease_gui.gui.forms.price_form import PriceEntry
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import Pane, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commerce_edit import change_price, save_price
from gpulease_gui.services.commercial_words import PRICE_MODES, PRICE_UNITS, plain
from gpulease_gui.services.directory import fresh_id
from gpulease_gui.services.prices_view import PRICE_STATE_WORDS, PriceLine, PricesSheet, PriceState, price_sheet_in
from gpulease_gui.store.prices import PriceVersion

if TYPE_CHECKING:
    from sqlite_utils import Database


class PricesPane(Pane):
    """The prices by first day, the buttons that change them, and every version that was ever saved."""

    def __init__(self) -> None:
        super().__init__(2)
        self.lines: TableModel[PriceLine] = TableModel(_price_columns(), lambda line: line.price.id)
        self.table = TableView(self.lines, Text("Prices", "价格"))
        self.versions: TableModel[tuple[int, PriceVersion]] = TableModel(_version_columns(), lambda entry: entry[0])
        self.history = TableView(self.versions, Text("History of the prices", "价格沿革"))
        self.add = Button(Text("New price…", "新价格…"), icon="add", small=True)
        self.correct = Button(Text("Correct…", "更正…"), icon="edit", small=True)
        self.withdraw = Button(Text("Withdraw", "撤回"), icon="delete", small=True)
        self.today = PlainLabel("", size="dense", level="2")
        self.none = PlainLabel(Text("No price yet. Write down the one that the quote names; a later one keeps this on record.",
                                    "还没有价格。请记下报价单上的价格；之后改价时旧价格会保留。"), level="2", wrap=True)  # fmt: skip
        self.none.setContentsMargins(16, 12, 16, 12)
        tools = QHBoxLayout()
        tools.setContentsMargins(16, 8, 16, 8)
        tools.setSpacing(8)
        tools.addWidget(self.today, 1)
        for button in (self.add, self.correct, self.withdraw):
            tools.addWidget(button)
        self.column.addLayout(tools)
        self.column.addWidget(hairline())
        self.column.addWidget(self.none)
        self.column.addWidget(self.table, 2)
        self.column.addWidget(hairline())
        self.column.addWidget(HeadLine(Text("Every version, newest first", "全部版本，最新在前")))
        self.column.addWidget(self.history, 1)
        self.table.chosen.connect(lambda _: self._fit())
        self._fit()

    def show_sheet(self, sheet: PricesSheet) -> None:
        """Show the prices of a deal."""
        self.lines.set_rows(sheet.lines)
        self.versions.set_rows(reversed(list(enumerate(sheet.versions))))
        self.none.setVisible(not sheet.lines)
        self.table.setVisible(bool(sheet.lines))
        today = sheet.today
        if today is None:
            self.today.set_words(Text("No price counts today", "当前没有现行价格"))
        else:
            said = money_text(today)
            hour = ""
            if sheet.gpu_hour is not None and today.unit != "gpu_hour":
                hour = f" = {today.money.currency} {plain(sheet.gpu_hour)}"
            more_en, more_zh = (f"{hour} per GPU-hour", f"{hour} / 卡时") if hour else ("", "")
            self.today.set_words(Text(f"Today: {said.en}{more_en}", f"现行：{said.zh}{more_zh}"))
        if self.table.current_row is None and sheet.lines:
            self.table.choose_first()
        self._fit()

    def _fit(self) -> None:
        chosen = self.table.current_row is not None
        self.correct.setEnabled(chosen)
        self.withdraw.setEnabled(chosen)


class PricesDesk(QObject):
    """Between the prices and the services. `form_wanted` carries (price, is new, title, files) for the form."""

    form_wanted = Signal(object, bool, object, object)

    def __init__(self, frame: Frame, pane: PricesPane, acts: ActsBand) -> None:
        super().__init__(pane)
        self._frame, self._pane, self._acts = frame, pane, acts
        self._subject: Subject | None = None
        self.sheet: PricesSheet | None = None
        pane.add.clicked.connect(self.add)
        pane.correct.clicked.connect(self.correct)
        pane.withdraw.clicked.connect(self.withdraw)
        pane.table.opened.connect(lambda _: self.correct())

    def open_subject(self, subject: Subject) -> None:
        """Show the prices of an offer or contract."""
        self._subject = subject
        if subject.kind not in (HolderOf.OFFER, HolderOf.CONTRACT):
            return
        day = utc_now().astimezone().date()
        future = self._frame.services.query(lambda connection: price_sheet_in(connection, subject, day))
        self._frame.bridge.when_done(future, lambda sheet: self._take(subject, sheet))

    def _take(self, subject: Subject, sheet: PricesSheet) -> None:
        if subject == self._subject:
            self.sheet = sheet
            self._pane.show_sheet(sheet)

    def add(self) -> None:
        """A new price: like the one of today, from today on."""
        if self.sheet is None:
            return
        today = self.sheet.today
        blank = Price(fresh_id(), Money(Decimal(0), "CNY"))
        day = utc_now().astimezone().date()
        price = blank if today is None else replace(today, id=fresh_id(), valid_from=day, valid_to=None, evidence=None, note="")
        title = Text("New price; the one before ends the day before", "新价格；原价格于前一天失效")
        self.form_wanted.emit(price, True, title, self.sheet.files)

    def correct(self) -> None:
        """Correct the chosen price; the wrong one stays on record."""
        line: PriceLine | None = self._pane.table.current_row
        if line is not None and self.sheet is not None:
            title = Text("Correct a price; the earlier version stays on record", "更正价格；原版本保留在沿革中")
            self.form_wanted.emit(line.price, False, title, self.sheet.files)

    def withdraw(self) -> None:
        """Take the chosen price back; it stays in the history."""
        line: PriceLine | None = self._pane.table.current_row
        if line is not None and self._subject is not None:
            subject, price = self._subject, replace(line.price, withdrawn=True)
            self._acts.do(lambda db: save_price(db, subject, price), "price", "offer", "contract")

    def keep(self, entry: PriceEntry) -> Callable[[Database], object]:
        """The work that keeps what the form made; for `ActsBand.do`."""
        subject = self._subject

        def work(db: Database) -> object:
            if subject is None:
                return None
            if entry.since is not None:
                return change_price(db, subject, entry.price, entry.since, entry.why)
            return save_price(db, subject, entry.price, entry.why)

        return work


def money_text(price: Price) -> Text:
    """Amount, currency, what it is per."""
    unit = PRICE_UNITS.get(price.unit, foreign(price.unit))
    money = f"{price.money.currency}\N{NARROW NO-BREAK SPACE}{amount_text(price.money.amount)}"
    return Text(f"{money} per {unit.en}", f"{money} / {unit.zh}")


_OUR_REASONS = {
    "saved with the record": Text("with the record", "随记录保存"), "taken back": Text("taken back", "撤销"), "done again": Text("done again", "重做"),
}  # fmt: skip


def why_words(why: str) -> Text:
    """A stored reason; those that the program itself writes are said in the user's language."""
    return _OUR_REASONS.get(why, foreign(why))


def _days(price: Price) -> Text:
    always = Text("always", "一直有效")
    if price.valid_from is None and price.valid_to is None:
        return always
    first, last = price.valid_from or "…", price.valid_to or "…"
    return foreign(f"{first} – {last}")


def _tax(price: Price) -> Cell:
    if price.tax_included is None and price.tax_rate is None:
        return Cell(Text("not stated", "未约定"), missing=True)
    rate = f" {plain(price.tax_rate * 100)} %" if price.tax_rate is not None else ""
    if price.tax_included is None:
        return Cell(rate.strip())
    return Cell(Text(f"included{rate}", f"含税{rate}") if price.tax_included else Text(f"not included{rate}", f"不含税{rate}"))


def _mode(price: Price) -> Cell:
    return Cell(PRICE_MODES.get(price.mode, foreign(price.mode)), tone="2") if price.mode else Cell(Text("not stated", "未约定"), missing=True)


def _state(line: PriceLine) -> Cell:
    today = line.state is PriceState.TODAY
    return Cell(PRICE_STATE_WORDS[line.state], weight=600 if today else 400, tone="1" if today else "3", icon="check" if today else "")


def _price_columns() -> tuple[Column[PriceLine], ...]:
    return (
        Column(Text("Price", "价格"), lambda line: Cell(money_text(line.price), weight=500), width=150),
        Column(Text("Valid", "有效期"), lambda line: Cell(_days(line.price), tone="2"), width=148),
        Column(Text("State", "状态"), _state, width=78),
        Column(Text("Rented", "租用方式"), lambda line: _mode(line.price), width=78),
        Column(Text("Tax", "税"), lambda line: _tax(line.price), width=108),
        Column(Text("Invoice", "发票"), lambda line: Cell(line.price.invoice_kind, tone="2") if line.price.invoice_kind else NOTHING, width=60),
        Column(Text("Evidence", "凭据"), lambda line: Cell(line.evidence, icon="attachment") if line.evidence else Cell(CLAIM_ONLY, tone="3"),
               width=90, stretch=True),
    )  # fmt: skip


def _version_columns() -> tuple[Column[tuple[int, PriceVersion]], ...]:
    return (
        Column(Text("Saved", "保存时间"), lambda e: Cell(f"{e[1].at.astimezone():%Y-%m-%d %H:%M}", tone="2"), width=130),
        Column(Text("By", "操作人"), lambda e: Cell(e[1].by, tone="2") if e[1].by else NOTHING, width=80),
        Column(Text("Price", "价格"), lambda e: Cell(money_text(e[1].price)), width=150),
        Column(Text("Valid", "有效期"), lambda e: Cell(_days(e[1].price), tone="2"), width=148),
        Column(Text("Act", "操作"), lambda e: Cell(Text("withdrawn", "撤回") if e[1].price.withdrawn else Text("saved", "保存"), tone="2"), width=80),
        Column(Text("Why", "原因"), lambda e: Cell(why_words(e[1].why), tone="2") if e[1].why else NOTHING, width=120, stretch=True),
    )  # fmt: skip
