"""How is something typed in a form: label above, unit inside, error below?"""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractSpinBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon

Spin = TypeVar("Spin", bound=QAbstractSpinBox)


class UnitEdit(QLineEdit):
    """A field with its unit inside at the right; the unit is no part of the text."""

    def __init__(self, text: str = "", unit: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._unit = ""
        self.set_unit(unit)

    def set_unit(self, unit: str) -> None:
        """Write another unit."""
        self._unit = unit
        room = self.fontMetrics().horizontalAdvance(unit) + 6 if unit else 0
        self.setTextMargins(0, 0, room, 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The field, then the unit."""
        super().paintEvent(event)
        if self._unit:
            painter = QPainter(self)
            painter.setFont(sized(self.font(), TextSize.DENSE))
            painter.setPen(QColor(colours().t3))
            box = QRectF(self.rect()).adjusted(0, 0, -9, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._unit)


class Field(Lively, QWidget):
    """A labelled editor; `set_error` outlines it and says below what is wrong."""

    def __init__(self, label: Words, editor: QWidget, hint: Words = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = editor
        self._label, self._hint = label, hint
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        words = PlainLabel(label, size="dense", level="2")
        words.setBuddy(editor)
        column.addWidget(words)
        column.addWidget(editor)
        row = QHBoxLayout()
        row.setSpacing(5)
        self._mark = Icon("verdict-fail", "fail", 13)
        self._below = PlainLabel(hint, size="caption", level="3", wrap=True)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._below, 1)
        column.addLayout(row)
        column.addStretch()
        self.set_error("")
        self.retranslate()

    def set_error(self, words: Words) -> None:
        """Say what is wrong; an empty text says that nothing is."""
        wrong = bool(say(words))
        self._mark.setVisible(wrong)
        self._below.set_words(words if wrong else self._hint)
        self._below.set_level("fail" if wrong else "3")
        self._below.setVisible(wrong or bool(say(self._hint)))
        self.editor.setAccessibleDescription(self._below.text())
        set_role(self.editor, "state", "error" if wrong else "")

    @property
    def error(self) -> str:
        """What stands below as an error now."""
        return self._below.text() if not self._mark.isHidden() else ""

    def retranslate(self) -> None:
        """Name the editor for assistive tools."""
        self.editor.setAccessibleName(say(self._label))


def padded(spin: Spin) -> Spin:
    """A spin box whose number stands as far from the edge as text in other fields: the sheet cannot move it."""
    inside = spin.findChild(QLineEdit)
    if inside is not None:
        inside.setTextMargins(6, 0, 0, 0)
    return spin
