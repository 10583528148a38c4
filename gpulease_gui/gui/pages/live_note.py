"""How does the user write a note into the chart?"""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.fields import Field

ADD_NOTE = Text("Add note", "添加备注")
MOST_LETTERS = 200


class NoteDialog(FactDialog):
    """One line of text for one moment; "Add note" wakes up with the first letter."""

    def __init__(self, node: str, at: str, parent: QWidget | None = None) -> None:
        facts = ((Text("Node", "节点"), node), (Text("Time", "时间"), at))
        super().__init__(ADD_NOTE, Text("A note in the chart", "在图表中添加备注"), facts, icon="flag", parent=parent)
        self.edit = QLineEdit()
        self.edit.setMaxLength(MOST_LETTERS)
        self.column.addWidget(Field(Text("Note", "备注"), self.edit))
        self.add_button(Button(CANCEL), rejects=True)
        self.add = self.add_button(Button(ADD_NOTE, kind="primary"), accepts=True, default=True)
        self.add.setEnabled(False)
        self.edit.textChanged.connect(lambda text: self.add.setEnabled(bool(text.strip())))
        self.edit.setFocus()

    @property
    def words(self) -> str:
        """What was written."""
        return self.edit.text().strip()
