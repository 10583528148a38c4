"""How is a number typed, and what keeps one that nobody touches as it was?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.services.commercial_words import plain

_NO_NUMBER = Text("Write a number", "请填写数字")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number may be; `whole` takes no fraction."""

    least: Decimal
    most: Decimal
    whole: bool = False


class NumberField(Field):
    """A number within bounds under a label that names its unit; one that nobody touches stays what it was, to the last digit."""

    def __init__(self, label: Text, bounds: Bounds) -> None:
        self.line = LineField(label)
        self.bounds = bounds
        self._kept, self._shown = Decimal(0), ""
        super().__init__(label, self.line)

    def show_number(self, value: Decimal | int, places: int | None = None) -> None:
        """Put a number in; `places`: how many decimals of it are shown."""
        self._kept = Decimal(value)
        self._shown = plain(self._kept if places is None else round(self._kept, places))
        self.line.setText(self._shown)
        self.complain("")

    @property
    def changed(self) -> bool:
        """Whether something else stands there than what was put in."""
        return self.line.text().strip() != self._shown

    def number(self) -> Decimal:
        """The number. Raises Invalid."""
        if not self.changed:
            return self._kept
        try:
            value = Decimal(self.line.text().strip().replace(",", ""))
        except InvalidOperation:
            raise Invalid(self, _NO_NUMBER) from None
        least, most = self.bounds.least, self.bounds.most
        if not value.is_finite() or not least <= value <= most or (self.bounds.whole and value != value.to_integral_value()):
            kind_en, kind_zh = ("a whole number", "整数") if self.bounds.whole else ("a number", "数字")
            raise Invalid(self, Text(f"Write {kind_en} from {plain(least)} to {plain(most)}", f"请填写 {plain(least)} 到 {plain(most)} 的{kind_zh}"))
        return value

    def whole(self) -> int:
        """The number as a whole one. Raises Invalid."""
        return int(self.number())


def whole_number(label: Text, least: int, most: int) -> NumberField:
    """A field for a whole number."""
    return NumberField(label, Bounds(Decimal(least), Decimal(most), whole=True))


def number(label: Text, most: int) -> NumberField:
    """A field for a number from 0."""
    return NumberField(label, Bounds(Decimal(0), Decimal(most)))
