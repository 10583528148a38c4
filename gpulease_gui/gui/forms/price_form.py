"""How is a price written down: from which day, with or without tax, and on what evidence?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from gpulease_gui.domain.supplier import Attachment, Price
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.field_cells import CLAIM_ONLY
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField
from gpulease_gui.gui.forms.record_form import DateField, Invalid, NoteField, PriceField, RecordForm
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.commercial_words import PRICE_MODES, plain
from gpulease_gui.services.typed_field import read_rate

_NOT_SAID = ("", Text("not stated", "未约定"))
_TAX = (_NOT_SAID, ("yes", Text("included", "含税")), ("no", Text("not included", "不含税")))


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """A price as the form makes it. `since`: from this day on it takes the place of the one before; None = a correction."""

    price: Price
    since: date | None
    why: str


class PriceForm(RecordForm):
    """Amount ("3.6万" is 36,000), unit, mode, days, tax, invoice, evidence, and why it is changed."""

    def __init__(self) -> None:
        super().__init__()
        self._price: Price | None = None
        self._is_new = True
        self.price = PriceField()
        self.mode = Chooser(Text("How it is rented", "租用方式"), (_NOT_SAID, *PRICE_MODES.items()))
        self.first, self.last = DateField(Text("Valid from", "生效日期")), DateField(Text("Valid until", "失效日期"))
        self.tax = Chooser(Text("Tax", "税"), _TAX)
        self.rate = LineField(Text("Tax rate", "税率"), "6 %")
        self.invoice = LineField(Text("Invoice", "发票"), Text("such as special VAT invoice", "例如 增值税专用发票"))
        self.file = Chooser(Text("File that proves it", "作为凭据的文件"))
        self.note, self.why = NoteField(), LineField(Text("Why it changes", "变更原因"), Text("for the history", "写入沿革"))
        self._first = Field(Text("Valid from", "生效日期"), self.first)
        self._last = Field(Text("Valid until", "失效日期"), self.last)
        self._rate = Field(Text("Tax rate", "税率"), self.rate)
        self.arrange([
            self.price, (Field(Text("How it is rented", "租用方式"), self.mode), self._first, self._last),
            (Field(Text("Tax", "税"), self.tax), self._rate, Field(Text("Invoice", "发票"), self.invoice)),
            Field(Text("Evidence", "凭据"), self.file), Field(Text("Note", "备注"), self.note),
            Field(Text("Why it changes", "变更原因"), self.why),
        ])  # fmt: skip

    def open_price(self, price: Price, files: Sequence[Attachment], *, is_new: bool, title: Words) -> None:
        """Correct a price, or write a new one down that begins on its first day."""
        self._price, self._is_new = price, is_new
        self.price.show_price(price.money if not is_new or price.money.amount else None, price.unit)
        self.mode.choose(price.mode or "")
        self.first.show_day(price.valid_from)
        self.last.show_day(price.valid_to)
        self.tax.choose({True: "yes", False: "no", None: ""}[price.tax_included])
        self.rate.setText("" if price.tax_rate is None else f"{plain(price.tax_rate * 100)} %")
        self.invoice.setText(price.invoice_kind)
        self.file.set_choices((("", CLAIM_ONLY), *((file.id, file.name) for file in files)), price.evidence or "")
        self.note.setPlainText(price.note)
        self.why.clear()
        self.begin(title, unsaved=Text("New price, not saved yet", "新价格，尚未保存") if is_new else "")

    def build(self) -> PriceEntry:
        """The price that the fields make. Raises Invalid."""
        money, before = self.price.price(), self._price
        if money is None or before is None:
            raise Invalid(self.price, Text("Write the amount", "请填写金额"))
        first, last = self.first.day(self._first), self.last.day(self._last)
        if first and last and last < first:
            raise Invalid(self._last, Text("The price ends before it begins", "失效日期早于生效日期"))
        made = replace(
            before, money=money, unit=self.price.unit.current, mode=self.mode.current or None, valid_from=first, valid_to=last,
            tax_included={"yes": True, "no": False}.get(self.tax.current), tax_rate=self._tax_rate(),
            invoice_kind=self.invoice.text().strip(), evidence=self.file.current or None, note=self.note.toPlainText().strip(),
        )  # fmt: skip
        return PriceEntry(made, first if self._is_new else None, self.why.text().strip())

    def _tax_rate(self) -> Decimal | None:
        words = self.rate.text().strip()
        found = read_rate(words) if words else None
        if isinstance(found, Text):
            raise Invalid(self._rate, found)
        return found
