"""With which editor is a promise typed, and what is wrong with what was typed?"""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.terms import is_version, validate_term
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import Term, TermKind, TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.gpu_picker import GpuPicker
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon
from gpulease_gui.reports.wording import value_text
from gpulease_gui.services.claims_view import short_unit

_EMPTY = Text("empty = not stated", "留空 = 未说明")
_NOT_STATED = Text("not stated", "未说明")
_NUMBER = re.compile(r"\s*([-+−]?[0-9][0-9,]*(?:\.[0-9]+)?|[-+−]?\.[0-9]+)\s*(\S.*?)?\s*")


class UnitField(QLineEdit):
    """A number with its unit inside at the right."""

    def __init__(self, unit: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unit = unit
        self.setPlaceholderText(say(_EMPTY) if not unit else "")
        if unit:
            self.setTextMargins(0, 0, self.fontMetrics().horizontalAdvance(unit) + 6, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The field, then the unit."""
        super().paintEvent(event)
        if self._unit:
            painter = QPainter(self)
            painter.setFont(sized(self.font(), TextSize.DENSE))
            painter.setPen(colours().t3)
            painter.drawText(self.rect().adjusted(0, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._unit)


class ChoiceField(QComboBox):
    """One of a few values, or not stated (always first)."""

    def __init__(self, values: tuple[TermValue, ...], *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: tuple[TermValue | None, ...] = (None, *values)
        self.addItem(say(_NOT_STATED))
        self.addItems([say(value_text(value)) for value in values])

    @property
    def value(self) -> TermValue | None:
        """What is chosen; None = not stated."""
        return self._values[self.currentIndex()]

    def choose(self, value: TermValue | None) -> None:
        """Show a value; one that is no choice any more shows as not stated."""
        self.setCurrentIndex(self._values.index(value) if value in self._values else 0)


def make_editor(term: Term, catalogue: Catalogue, parent: QWidget) -> QWidget:
    """The editor of a term's kind."""
    made: QWidget
    if term.kind is TermKind.GPU_MODEL:
        made = GpuPicker(catalogue.gpus, "Huawei" if term.key.startswith("npu.") else "", parent=parent)
    elif term.kind is TermKind.CHOICE:
        made = ChoiceField(term.choices, parent=parent)
    elif term.kind is TermKind.YES_NO:
        made = ChoiceField((True, False), parent=parent)
    else:
        made = UnitField(say(short_unit(term)), parent=parent)
    made.setAccessibleName(say(term.label))
    return made


def show_value(editor: QWidget, value: TermValue | None) -> None:
    """Put the promise into its editor, marked so that typing replaces it."""
    if isinstance(editor, ChoiceField):
        editor.choose(value)
    elif isinstance(editor, QLineEdit):
        editor.setText("" if value is None else _typed(value))
        editor.selectAll()


def _typed(value: TermValue) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_value(editor: QWidget, term: Term, catalogue: Catalogue) -> TermValue | None | Text:
    """The promise in the editor, None for not stated, or a sentence that says what is wrong with it."""
    if isinstance(editor, ChoiceField):
        return editor.value
    words = editor.text().strip() if isinstance(editor, QLineEdit) else ""
    if not words:
        return None
    if isinstance(editor, GpuPicker):
        complaint = editor.complaint()
        return complaint if isinstance(complaint, Text) else words
    if term.kind in (TermKind.COUNT, TermKind.NUMBER):
        return _number(words, term)
    if term.kind is TermKind.VERSION and not is_version(words):
        return Text(f"“{words}” is no version: write digits and dots, such as 12.4", f"“{words}”不是版本号：请用数字和点，例如 12.4")
    try:
        return validate_term(term.key, words, catalogue)
    except UsageError as error:
        return error.whole_text


def _number(words: str, term: Term) -> int | float | Text:
    found, unit = _NUMBER.fullmatch(words), short_unit(term)
    en, zh = unit.en or "a plain number", unit.zh or "纯数字"
    if found is None:
        return Text(f"“{words}” is no number; the unit is {en}", f"“{words}”不是数字；单位是 {zh}")
    if found[2] and found[2] not in (unit.en, unit.zh):
        return Text(f"The unit here is always {en}, not “{found[2]}”: convert first, then type the number alone",
                    f"此处单位固定为 {zh}，不是“{found[2]}”：请换算后只输入数字")  # fmt: skip
    value = float(found[1].replace(",", "").replace("−", "-"))
    if term.kind is TermKind.COUNT and not value.is_integer():
        return Text(f"{words} is no whole number", f"{words} 不是整数")
    low, high = term.minimum, term.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        span = f"{number_text(low or 0, 3)} – {number_text(high or 0, 3)}"
        return Text(f"{words} cannot be meant: possible is {span} {unit.en}".rstrip(), f"{words} 不合理：允许范围为 {span} {unit.zh}".rstrip())
    return int(value) if term.kind is TermKind.COUNT or value.is_integer() else value


class Complaint(QFrame):
    """The mark and the words under an editor."""

    def __init__(self, ground: QWidget) -> None:
        super().__init__(ground)
        self._ground = ground
        self.setProperty("band", "fail")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(6)
        self.words = PlainLabel("", size="dense", level="fail")
        row.addWidget(Icon("verdict-fail", "fail", 14))
        row.addWidget(self.words)
        self.hide()

    def tell(self, words: Words, editor: QWidget) -> None:
        """Say what is wrong, right under the editor."""
        set_role(editor, "state", "error")
        self.words.set_words(words)
        size: QSize = self.sizeHint()
        box: QRect = editor.geometry()
        room = self._ground.size()
        top = box.bottom() + 1 if box.bottom() + size.height() < room.height() else box.top() - size.height()
        self.setGeometry(max(0, min(box.left(), room.width() - size.width())), top, size.width(), size.height())
        self.show()
        self.raise_()
