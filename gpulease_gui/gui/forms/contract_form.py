"""How is a contract written down, and how does an offer become one?"""

from __future__ import annotations

from gpulease_gui.domain.supplier import Contract, Offer
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import DateField, Invalid, NoteField, PriceField, RecordForm, needed


class ContractForm(RecordForm):
    """Number, dates, price, note; accepting an offer copies its terms with their history."""

    def __init__(self) -> None:
        super().__init__()
        self._contract = Contract("", "", "")
        self.number = LineField(Text("Contract number", "合同编号"))
        self.start = DateField(Text("Starts", "开始日期"))
        self.end = DateField(Text("Ends", "结束日期"))
        self.note = NoteField()
        self._number = Field(Text("Contract number", "合同编号"), self.number)
        self._start = Field(Text("Starts", "开始日期"), self.start)
        self._end = Field(Text("Ends", "结束日期"), self.end)
        self.price = PriceField()
        self.arrange([self._number, (self._start, self._end), self.price, Field(Text("Note", "备注"), self.note)])

    def accept(self, offer: Offer, contract_id: str, stated: int) -> None:
        """Begin a contract out of an offer."""
        self._show(Contract(contract_id, offer.supplier_id, "", offer.id, price=offer.price, price_unit=offer.price_unit))
        lead = Text(f"The {stated} stated terms of {offer.quote_no} go into the contract, with their sources and their history. "
                    "The offer stays as it is.",
                    f"{offer.quote_no} 中已约定的 {stated} 条条款连同出处和沿革一并写入合同；报价保持不变。")  # fmt: skip
        self.begin(Text(f"Contract out of {offer.quote_no}", f"由 {offer.quote_no} 转为合同"), lead,
                   unsaved=Text("New contract, not saved yet", "新合同，尚未保存"))  # fmt: skip

    def open_record(self, contract: Contract) -> None:
        """Edit a contract."""
        self._show(contract)
        self.begin(foreign(contract.number))

    def _show(self, contract: Contract) -> None:
        self._contract = contract
        self.number.setText(contract.number)
        self.start.show_day(contract.start)
        self.end.show_day(contract.end)
        self.price.show_price(contract.price, contract.price_unit)
        self.note.setPlainText(contract.note)

    def build(self) -> Contract:
        """The contract that the fields make. Raises Invalid."""
        number = needed(self._number, self.number, Text("Write the number that stands on the paper", "请填写合同上的编号"))
        start, end = self.start.day(self._start), self.end.day(self._end)
        if start and end and end < start:
            raise Invalid(self._end, Text("The contract ends before it starts", "结束日期早于开始日期"))
        before = self._contract
        return Contract(before.id, before.supplier_id, number, before.offer_id, start, end, self.price.price(),
                        self.price.unit.current, self.note.toPlainText().strip())  # fmt: skip
