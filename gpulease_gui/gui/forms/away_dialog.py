"""How does the user write down that a lost card was taken away by agreement?"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import LineField
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.fields import Field

TITLE = Text("Card taken away by agreement", "显卡经协商移除")
RECORD = Text("Record", "记录")
MOST_LETTERS = 200


class AwayDialog(FactDialog):
    """Who says so and what was agreed; "Record" wakes up with a note."""

    def __init__(self, node: str, card: str, by: str, parent: QWidget | None = None) -> None:
        facts = ((Text("Node", "节点"), foreign(node)), (Text("Card", "卡"), foreign(card)))
        super().__init__(TITLE, TITLE, facts, icon="gpu", parent=parent,
                         consequence=Text("From now on the card is not missed: its degraded time ends, and no samples of it are expected.",
                                          "自此不再视为丢卡：降级时间到此为止，也不再计其应有样本。"))  # fmt: skip
        self.by = LineField(Text("Recorded by", "记录人"))
        self.by.setText(by)
        self.note = LineField(Text("What was agreed", "约定内容"))
        for field in (self.by, self.note):
            field.setMaxLength(MOST_LETTERS)
        self.column.addWidget(Field(Text("Recorded by", "记录人"), self.by))
        self.column.addWidget(Field(Text("What was agreed, and with whom", "约定内容及对方"), self.note))
        self.add_button(Button(CANCEL), rejects=True)
        self.record = self.add_button(Button(RECORD, kind="primary"), accepts=True, default=True)
        self.record.setEnabled(False)
        for field in (self.by, self.note):
            field.textChanged.connect(self._wake)
        self.note.setFocus()

    def _wake(self) -> None:
        self.record.setEnabled(bool(self.by.text().strip() and self.note.text().strip()))
