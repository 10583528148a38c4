"""What did a supplier say of price, terms, service and contract, value by value, and on what evidence?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.domain.text import Text

Scalar = str | int | bool | Decimal | date
Row = tuple[tuple[str, Scalar], ...]
FieldValue = Scalar | tuple[Row, ...]


class FieldKind(StrEnum):
    """The kind decides the editor and what values are accepted.

    Money is an amount in the currency of the deal; a rate is a part (0.06 is 6 %); times are whole seconds.
    """

    TEXT = "text"
    MONEY = "money"
    NUMBER = "number"
    RATE = "rate"
    WHOLE = "whole"
    SECONDS = "seconds"
    YES_NO = "yes_no"
    CHOICE = "choice"
    DAY = "day"
    ROWS = "rows"


class HolderOf(StrEnum):
    """What commercial terms belong to."""

    SUPPLIER = "supplier"
    SITE = "site"
    OFFER = "offer"
    CONTRACT = "contract"


@dataclass(frozen=True, slots=True)
class Subject:
    """The one record that commercial terms belong to."""

    kind: HolderOf
    id: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that a field may take, with its words."""

    key: str
    label: Text


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a field that is a list of rows."""

    key: str
    kind: FieldKind
    label: Text
    unit: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One commercial term. `better` more, less, yes or no marks the best of several offers; "" = no order.

    `holders` are the kinds of records that have it; `items` the checklist items that it answers when it is stated.
    """

    key: str
    kind: FieldKind
    group: str
    label: Text
    holders: tuple[HolderOf, ...] = (HolderOf.OFFER, HolderOf.CONTRACT)
    unit: str = ""
    better: str = ""
    choices: tuple[Choice, ...] = ()
    columns: tuple[Column, ...] = ()
    items: tuple[str, ...] = ()

    def choice(self, key: str) -> Choice | None:
        """The choice with this key."""
        return next((choice for choice in self.choices if choice.key == key), None)


@dataclass(frozen=True, slots=True)
class Stated:
    """What was said of one field. `value` None = unknown, never a no; `asked`: the question was sent.

    `evidence` is the id of an attachment; without one the value is a claim. `source` names page and clause.
    """

    value: FieldValue | None
    evidence: str | None = None
    source: str = ""
    note: str = ""
    asked: bool = False

    @property
    def is_claim(self) -> bool:
        """Whether nothing but the supplier's word stands behind it."""
        return self.evidence is None


@dataclass(frozen=True, slots=True)
class Terms:
    """The commercial terms of one record as they stand at one moment, by field key; an absent key is unknown."""

    stated: Mapping[str, Stated] = field(default_factory=dict)

    def value(self, key: str) -> FieldValue | None:
        """The value; None = not stated."""
        said = self.stated.get(key)
        return None if said is None else said.value

    def amount(self, key: str) -> Decimal | None:
        """A money, number or rate field."""
        value = self.value(key)
        return value if isinstance(value, Decimal) else None

    def whole(self, key: str) -> int | None:
        """A whole number or seconds."""
        value = self.value(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def yes_no(self, key: str) -> bool | None:
        """True, False, or None for unknown."""
        value = self.value(key)
        return value if isinstance(value, bool) else None

    def words(self, key: str) -> str | None:
        """A text or the key of a choice."""
        value = self.value(key)
        return value if isinstance(value, str) else None

    def day(self, key: str) -> date | None:
        """A day."""
        value = self.value(key)
        return value if isinstance(value, date) else None

    def rows(self, key: str) -> tuple[Mapping[str, Scalar], ...]:
        """The rows of a list; () when not stated."""
        value = self.value(key)
        return tuple(dict(row) for row in value) if isinstance(value, tuple) else ()

    def having(self, key: str, said: Stated | None) -> Terms:
        """These terms with one of them changed; None takes it out."""
        kept = {known: value for known, value in self.stated.items() if known != key}
        return Terms(kept if said is None else {**kept, key: said})
