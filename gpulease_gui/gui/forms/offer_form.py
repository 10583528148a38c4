"""How is an offer written down?"""

from __future__ import annotations

from gpulease_gui.domain.supplier import Offer, Supplier
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import DateField, NoteField, PriceField, RecordForm, needed


class OfferForm(RecordForm):
    """Quote number, title, price, how long it is valid, note. The technical promises are typed in its terms."""

    def __init__(self) -> None:
        super().__init__()
        self._offer = Offer("", "", "")
        self.number = LineField(Text("Quote number", "报价单号"))
        self.offer_title = LineField(Text("Title", "标题"), Text("such as 8 x H100 SXM, bare metal", "例如 8 卡 H100 SXM 裸金属"))
        self.valid_until = DateField(Text("Valid until", "有效期至"))
        self.note = NoteField()
        self._number = Field(Text("Quote number", "报价单号"), self.number)
        self._valid = Field(Text("Valid until", "有效期至"), self.valid_until)
        self.price = PriceField()
        title = Field(Text("Title", "标题"), self.offer_title)
        self.arrange([(self._number, self._valid), title, self.price, Field(Text("Note", "备注"), self.note)])

    def open_record(self, offer: Offer, supplier: Supplier, *, is_new: bool) -> None:
        """Edit an offer, or write a new one down."""
        self._offer = offer
        self.number.setText(offer.quote_no)
        self.offer_title.setText(offer.title)
        self.valid_until.show_day(offer.valid_until)
        self.price.show_price(offer.price, offer.price_unit)
        self.note.setPlainText(offer.note)
        title = Text(f"New offer of {supplier.name}", f"{supplier.name} 的新报价") if is_new else foreign(offer.quote_no)
        self.begin(title, unsaved=Text("New offer, not saved yet", "新报价，尚未保存") if is_new else "")

    def build(self) -> Offer:
        """The offer that the fields make. Raises Invalid."""
        number = needed(self._number, self.number, Text("Write the number that stands on the quote", "请填写报价单上的编号"))
        return Offer(
            self._offer.id, self._offer.supplier_id, number, self.offer_title.text().strip(), self.price.price(),
            self.price.unit.current, self.valid_until.day(self._valid), self.note.toPlainText().strip(),
        )  # fmt: skip
