"""How is a supplier written down?"""

from __future__ import annotations

from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import NoteField, RecordForm, needed


class SupplierForm(RecordForm):
    """Name, country, contact, note."""

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self.name = LineField(Text("Name", "名称"), Text("as it stands on the quote", "与报价单一致"))
        self.country = LineField(Text("Country or region", "国家或地区"))
        self.contact = LineField(Text("Contact", "联系方式"), Text("who answers questions, and where", "由谁、在哪里答复"))
        self.note = NoteField()
        self._name = Field(Text("Name", "名称"), self.name)
        rest = (Field(Text("Country or region", "国家或地区"), self.country), Field(Text("Contact", "联系方式"), self.contact))
        self.arrange([self._name, rest, Field(Text("Note", "备注"), self.note)])

    def open_record(self, supplier: Supplier, *, is_new: bool) -> None:
        """Edit a supplier, or write a new one down."""
        self._id = supplier.id
        self.name.setText(supplier.name)
        self.country.setText(supplier.country)
        self.contact.setText(supplier.contact)
        self.note.setPlainText(supplier.note)
        title = Text("New supplier", "新供应商") if is_new else foreign(supplier.name)
        self.begin(title, unsaved=Text("New supplier, not saved yet", "新供应商，尚未保存") if is_new else "")

    def build(self) -> Supplier:
        """The supplier that the fields make. Raises Invalid without a name."""
        name = needed(self._name, self.name, Text("Write the name that stands on the quote", "请填写报价单上的名称"))
        return Supplier(self._id, name, self.country.text().strip(), self.contact.text().strip(), self.note.toPlainText().strip())
