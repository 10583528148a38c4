"""Who rents out, what was offered, and what was signed?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

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
