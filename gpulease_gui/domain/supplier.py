"""Who rents out, what was offered, and what was signed?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.money import Money


@dataclass(frozen=True, slots=True)
class Supplier:
    """A seller of GPU time. All words are the user's own."""

    id: str
    name: str
    country: str = ""
    contact: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A quote of a supplier; its technical promises are claims kept beside it."""

    id: str
    supplier_id: str
    quote_no: str
    title: str = ""
    price: Money | None = None
    price_unit: str = "gpu_hour"
    valid_until: date | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Contract:
    """An accepted offer; its claims are a copy of the offer's at the time of signing, history kept."""

    id: str
    supplier_id: str
    number: str
    offer_id: str | None = None
    start: date | None = None
    end: date | None = None
    price: Money | None = None
    price_unit: str = "gpu_hour"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a supplier's machines stand."""

    id: str
    supplier_id: str
    name: str
    city: str = ""
    country: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Price:
    """One price of an offer or contract as it was agreed; a change is a new version with the same id.

    `mode` None, `tax_included` None, `tax_rate` None: not stated. `tax_rate` 0.06 is 6 %. `valid_from` and `valid_to`
    are both in (None = open). `evidence` is the id of an attachment; without one the price is a claim.
    """

    id: str
    money: Money
    unit: str = "gpu_hour"
    mode: str | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    tax_included: bool | None = None
    tax_rate: Decimal | None = None
    invoice_kind: str = ""
    evidence: str | None = None
    note: str = ""
    withdrawn: bool = False

    def holds(self, day: date) -> bool:
        """Whether it is the price on `day`."""
        begun = self.valid_from is None or self.valid_from <= day
        return not self.withdrawn and begun and (self.valid_to is None or day <= self.valid_to)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file kept with a record; its bytes lie under `sha256` in the evidence. `name` is only shown, never a path."""

    id: str
    holder_kind: str
    holder_id: str
    sha256: str
    name: str
    kind: str
    at: datetime
    by: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FxRate:
    """One unit of `from_currency` costs `rate` of `to_currency` on `day`; `source` says who said so.

    `surcharge` is what a card or a bank adds to it, as a share: 0.03 is 3 %.
    """

    from_currency: str
    to_currency: str
    rate: Decimal
    day: date
    source: str = ""
    surcharge: Decimal = Decimal(0)

    @property
    def paid(self) -> Fraction:
        """What one unit costs with the surcharge, exact."""
        return Fraction(self.rate) * (1 + Fraction(self.surcharge))
