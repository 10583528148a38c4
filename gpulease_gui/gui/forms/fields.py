"""Which parts are forms built from: a labelled field, a chooser whose words follow the language?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon

_AROUND_WORDS = 54  # padding and arrow


class LineField(Lively, QLineEdit):
    """One line of input whose name and hint follow the language."""

    def __init__(self, name: Words, hint: Words = "", *, code: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._hint = name, hint
        self.setProperty("code", str(code).lower())
        self.retranslate()

    def retranslate(self) -> None:
        """Say name and hint."""
        self.setAccessibleName(say(self._name))
        self.setPlaceholderText(say(self._hint))


class Field(QWidget):
    """A label above an editor, and below it what is wrong with what stands in it."""

    def __init__(self, label: Words, editor: QWidget, *beside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = editor
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        name = PlainLabel(label, size="dense", level="2")
        name.setBuddy(editor)
        column.addWidget(name)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(editor, 1)
        for widget in beside:
            row.addWidget(widget)
        column.addLayout(row)
        self._error = QWidget()
        line = QHBoxLayout(self._error)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        self.error = PlainLabel("", size="dense", level="fail", wrap=True)
        line.addWidget(Icon("verdict-fail", "fail", 14))
        line.addWidget(self.error, 1)
        column.addWidget(self._error)
        self._error.hide()

    def complain(self, words: Words) -> None:
        """Say what is wrong; nothing takes the complaint away."""
        self.error.set_words(words)
        self._error.setVisible(bool(say(words)))
        set_role(self.editor, "state", "error" if say(words) else "")


class Chooser(Lively, QComboBox):
    """One of several records or words; `picked` carries the key that the user chose."""

    picked = Signal(str)

    def __init__(self, name: Words, choices: Sequence[tuple[str, Words]] = (), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._choices: tuple[tuple[str, Words], ...] = ()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.activated.connect(lambda place: self.picked.emit(self._choices[place][0]))
        self.set_choices(choices)

    def set_choices(self, choices: Sequence[tuple[str, Words]], current: str | None = None) -> None:
        """Offer other choices; the key that was chosen stays so if it is still there."""
        wanted = self.current if current is None else current
        if tuple(choices) != self._choices:
            self._choices = tuple(choices)
            self.clear()
            self.addItems([say(words) for _, words in self._choices])
        self.choose(wanted)
        self.retranslate()

    @property
    def current(self) -> str:
        """The key that is chosen, or an empty text."""
        place = self.currentIndex()
        return self._choices[place][0] if 0 <= place < len(self._choices) else ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that can be chosen."""
        return tuple(key for key, _ in self._choices)

    def choose(self, key: str) -> None:
        """Choose without telling anyone; an unknown key chooses the first."""
        keys = self.keys
        self.setCurrentIndex(keys.index(key) if key in keys else 0 if keys else -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words that have no room end in …"""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        room = self.width() - _AROUND_WORDS
        option.currentText = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def retranslate(self) -> None:
        """Say name and choices."""
        self.setAccessibleName(say(self._name))
        for place, (_, words) in enumerate(self._choices):
            self.setItemText(place, say(words))


def open_dialog(dialog: QDialog) -> None:
    """Open it as high as its wrapped words need at its width; it is thrown away when it closes."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    layout = dialog.layout()
    if layout is not None and layout.hasHeightForWidth():
        width = max(dialog.width(), dialog.minimumWidth())
        dialog.resize(width, max(dialog.minimumHeight(), layout.totalHeightForWidth(width)))
