"""How is a record of several fields edited so that nothing typed is lost?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import PriceReading, read_price
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField
from gpulease_gui.gui.widgets.bands import UnsavedBand
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.services.commercial_words import PRICE_UNITS as UNIT_WORDS

CURRENCIES = ("CNY", "USD", "EUR", "HKD", "JPY", "SGD")
PRICE_UNITS: tuple[tuple[str, Words], ...] = tuple(
    (unit, Text(f"per {words.en}", f"每{words.zh}")) for unit, words in UNIT_WORDS.items()
)
_BAD_DATE = Text("Write the date as 2026-12-31", "日期写作 2026-12-31")
_BAD_PRICE = Text("Write digits and a dot, such as 16.20, or 3.6万", "请用数字和小数点，例如 16.20，或 3.6万")


class Invalid(Exception):
    """A field holds what it cannot hold."""

    def __init__(self, field: Field, words: Text) -> None:
        super().__init__(words.en)
        self.field, self.words = field, words


class DateField(LineField):
    """A day as 2026-12-31, or nothing."""

    def __init__(self, name: Words, *, parent: QWidget | None = None) -> None:
        super().__init__(name, "2026-12-31", parent=parent)

    def show_day(self, day: date | None) -> None:
        """Put a day in."""
        self.setText(day.isoformat() if day else "")

    def day(self, field: Field) -> date | None:
        """The day; None when nothing is written. Raises Invalid."""
        words = self.text().strip()
        if not words:
            return None
        try:
            return date.fromisoformat(words) if re.fullmatch(r"\d{4}-\d\d-\d\d", words) else _not_a_day(field)
        except ValueError:
            return _not_a_day(field)


def _not_a_day(field: Field) -> date:
    raise Invalid(field, _BAD_DATE)


class PriceField(Field):
    """Amount, currency and what it is per; an empty amount is no price."""

    def __init__(self) -> None:
        self.amount = LineField(Text("Price", "单价"), "16.20")
        self.currency = Chooser(Text("Currency", "币种"), [(code, code) for code in CURRENCIES])
        self.unit = Chooser(Text("Price per", "计价单位"), PRICE_UNITS)
        self.unit.setMinimumContentsLength(13)
        super().__init__(Text("Price", "单价"), self.amount, self.currency, self.unit)

    def show_price(self, price: Money | None, unit: str) -> None:
        """Put a price in; a currency or unit of an older version is offered too."""
        code = price.currency if price else self.currency.current or CURRENCIES[0]
        codes = CURRENCIES if code in CURRENCIES else (*CURRENCIES, code)
        self.currency.set_choices([(known, known) for known in codes], code)
        units = PRICE_UNITS if unit in dict(PRICE_UNITS) else (*PRICE_UNITS, (unit, unit))
        self.unit.set_choices(units, unit)
        self.amount.setText(str(price.amount) if price else "")

    def price(self) -> Money | None:
        """The price; None when no amount is written. Raises Invalid."""
        words = self.amount.text().strip()
        if not words:
            return None
        try:
            price = Money.parse(words, self.currency.current)
        except UsageError:
            price = self._as_people_write(words)
        if price.amount < 0:
            raise Invalid(self, _BAD_PRICE)
        return price

    def _as_people_write(self, words: str) -> Money:
        """ "3.6万", "¥12.5/卡/小时": currency and unit that the words say are chosen. Raises Invalid."""
        found = read_price(words)
        if not isinstance(found, PriceReading) or found.upper is not None:
            raise Invalid(self, _BAD_PRICE)
        currency, unit = found.currency or self.currency.current, str(found.unit) if found.unit else self.unit.current
        whole = found.amount == found.amount.to_integral_value()
        price = Money(found.amount.quantize(Decimal(1)) if whole else found.amount, currency)
        self.show_price(price, unit)
        return price


class RecordForm(Pane):
    """Fields one below the other, and at the foot what is unsaved. `saved` carries the record, `left` comes on Discard.

    `edited` comes with every change of the user, `closed` when nothing is unsaved any more (kept or thrown away).

    A subclass makes its fields, then calls `arrange`; `build` makes the record and raises Invalid.
    """

    saved = Signal(object)
    left = Signal()
    edited = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__(2)
        self.title = PlainLabel("", size="section", weight=600)
        self.lead = PlainLabel("", level="2", wrap=True)
        self.band = UnsavedBand()
        self.band.save.clicked.connect(self.save)
        self.band.discard.clicked.connect(self.discard)
        self._fields: tuple[Field, ...] = ()
        self._dirty = False

    def arrange(self, fields: Sequence[Field | Sequence[Field]]) -> None:
        """Lay the fields out; those of an inner sequence stand side by side."""
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.title)
        column.addWidget(self.lead)
        flat: list[Field] = []
        for entry in fields:
            beside = [entry] if isinstance(entry, Field) else list(entry)
            flat += beside
            row = QHBoxLayout()
            row.setSpacing(12)
            for field in beside:
                row.addWidget(field, 1, Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
        column.addStretch()
        inside.setMaximumWidth(560)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(inside)
        area.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(area, 1)
        self.column.addWidget(self.band)
        self._fields = tuple(flat)
        for field in flat:
            self._watch(field)

    def _watch(self, field: Field) -> None:
        for editor in field.findChildren(QLineEdit):
            editor.textEdited.connect(self._changed)
            editor.returnPressed.connect(self.save)
        for text in field.findChildren(QPlainTextEdit):
            text.textChanged.connect(self._changed)
        for chooser in field.findChildren(QComboBox):
            chooser.activated.connect(self._changed)

    def begin(self, title: Words, lead: Words = "", *, unsaved: Words = "") -> None:
        """Start with what the fields hold now; `unsaved` names a record that is not kept yet."""
        self.title.set_words(title)
        self.lead.set_words(lead)
        self.lead.setVisible(bool(lead))
        for field in self._fields:
            field.complain("")
        self._dirty = False
        self.band.setVisible(bool(unsaved))
        if unsaved:
            self.band.tell(unsaved)

    def focus_first(self) -> None:
        """Put the keyboard where typing begins."""
        self._fields[0].editor.setFocus()

    @property
    def dirty(self) -> bool:
        """Whether something was typed since `begin`."""
        return self._dirty

    def _changed(self) -> None:
        if not self._dirty:
            self._dirty = True
            self.band.tell(Text("Unsaved changes", "有未保存的修改"), self._title_words())
        self.edited.emit()

    def _title_words(self) -> Words:
        return self.title.words

    def words_now(self) -> tuple[str, ...]:
        """What stands in all editors, in the order of the fields."""
        return tuple(_words_in(editor) for editor in self._editors())

    def bring_back(self, words: Sequence[str], told: Words) -> None:
        """Put words back that were typed before, and say so; a form of another shape is left as it is."""
        editors = self._editors()
        if len(words) != len(editors) or tuple(words) == self.words_now():
            return
        for editor, said in zip(editors, words, strict=True):
            _write_into(editor, said)
        self._dirty = True
        self.band.tell(told, self._title_words())

    def _editors(self) -> list[QWidget]:
        kinds = (QLineEdit, QPlainTextEdit, Chooser)
        found: list[QWidget] = []
        for field in self._fields:
            found += [widget for widget in field.findChildren(QWidget) if isinstance(widget, kinds)]
        return found

    def build(self) -> object:
        """The record that the fields make. Raises Invalid."""
        raise NotImplementedError

    def save(self) -> None:
        """Send the record, or say under its field what is wrong."""
        for field in self._fields:
            field.complain("")
        try:
            record = self.build()
        except Invalid as wrong:
            wrong.field.complain(wrong.words)
            wrong.field.editor.setFocus()
            return
        self.saved.emit(record)

    def refuse(self, trouble: UserFacing) -> None:
        """The store did not take the record."""
        self._fields[0].complain(trouble.whole_text)
        self._fields[0].editor.setFocus()

    def discard(self) -> None:
        """Throw away what was typed."""
        self._dirty = False
        self.band.hide()
        self.closed.emit()
        self.left.emit()

    def done(self) -> None:
        """The record is kept."""
        self._dirty = False
        self.band.hide()
        self.closed.emit()


def _words_in(editor: QWidget) -> str:
    if isinstance(editor, Chooser):
        return editor.current
    return editor.toPlainText() if isinstance(editor, QPlainTextEdit) else editor.text() if isinstance(editor, QLineEdit) else ""


def _write_into(editor: QWidget, words: str) -> None:
    if isinstance(editor, Chooser):
        editor.choose(words)
    elif isinstance(editor, QPlainTextEdit):
        editor.setPlainText(words)
    elif isinstance(editor, QLineEdit):
        editor.setText(words)


class NoteField(QPlainTextEdit):
    """A few lines of plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(84)
        self.setTabChangesFocus(True)


def needed(field: Field, editor: QLineEdit, words: Text) -> str:
    """What stands in a field that must not be empty. Raises Invalid."""
    written = editor.text().strip()
    if not written:
        raise Invalid(field, words)
    return written
