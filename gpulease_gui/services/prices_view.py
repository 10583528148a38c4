"""Which prices has an offer or contract had, which one counts today, and what is behind each?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.supplier import Attachment, Price
from gpulease_gui.domain.text import Text
from gpulease_gui.store import attachments, deals, prices
from gpulease_gui.store.prices import PriceVersion

if TYPE_CHECKING:
    import sqlite3


class PriceState(StrEnum):
    """Where a price stands on a day."""

    TODAY = "today"
    LATER = "later"
    OVER = "over"
    BESIDE = "beside"


PRICE_STATE_WORDS = {
    PriceState.TODAY: Text("today", "现行"), PriceState.LATER: Text("later", "未生效"), PriceState.OVER: Text("over", "已失效"),
    PriceState.BESIDE: Text("replaced by a later one", "已被后来的价格取代"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A price with its state on the day, and the name of the file behind it ("" = a claim)."""

    price: Price
    state: PriceState
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class PricesSheet:
    """The prices of a deal by first day, every version ever saved, and the files that can prove one.

    `gpu_hour` is the price of today per GPU-hour in its own currency; None = none, or its unit can't be told.
    """

    subject: Subject
    lines: tuple[PriceLine, ...]
    versions: tuple[PriceVersion, ...]
    files: tuple[Attachment, ...]
    gpu_hour: Decimal | None

    @property
    def today(self) -> Price | None:
        """The price that counts."""
        return next((line.price for line in self.lines if line.state is PriceState.TODAY), None)


def price_sheet_in(connection: sqlite3.Connection, subject: Subject, day: date) -> PricesSheet:
    """The prices of an offer or contract as seen on `day`. Raises UsageError for an unknown one."""
    row = deals.get_deal(connection, subject)
    known = prices.list_prices(connection, row.deal)
    proofs = attachments.get_attachments(connection, {price.evidence for price in known if price.evidence})
    names = {id_: file.name for id_, file in proofs.items()}
    lines = tuple(PriceLine(price, state_of(price, known, day), names.get(price.evidence or "", "")) for price in known)
    gpu_hour = None if row.price_gpu_hour is None else Decimal(row.price_gpu_hour)
    versions = prices.list_price_versions(connection, row.deal)
    return PricesSheet(subject, lines, versions, attachments.list_attachments(connection, subject), gpu_hour)


def state_of(price: Price, known: Sequence[Price], day: date) -> PriceState:
    """Where a price stands among the others on a day."""
    counts = prices.price_on(tuple(known), day)
    if counts is not None and counts.id == price.id:
        return PriceState.TODAY
    if price.valid_from is not None and price.valid_from > day:
        return PriceState.LATER
    return PriceState.OVER if price.valid_to is not None and price.valid_to < day else PriceState.BESIDE
