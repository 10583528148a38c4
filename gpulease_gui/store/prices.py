"""How are the prices of an offer kept, with the days on which they hold, and never overwritten?"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Price
from gpulease_gui.store.codec import amount_text, maybe_date_from, maybe_date_text, utc_from, utc_text
from gpulease_gui.store.kept import Document, Key, Written, in_time

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = (
    "deal_id, amount, currency, unit, mode, valid_from, valid_to, tax_included, tax_rate, invoice_kind, evidence_id, note"
)
_PRICE = f"SELECT price_id, {_COLUMNS.partition(', ')[2]}, withdrawn FROM price_versions"


@dataclass(frozen=True, slots=True)
class PriceVersion:
    """A price as somebody saved it."""

    price: Price
    at: datetime
    by: str
    why: str


def list_prices(connection: sqlite3.Connection, deal: int) -> tuple[Price, ...]:
    """The newest version of each price that was not withdrawn, by first day, then in the order in which they came."""
    rows = connection.execute(
        f"{_PRICE} p WHERE deal_id = :deal AND entry IN (SELECT max(entry) FROM price_versions WHERE deal_id = :deal "
        "GROUP BY price_id) AND NOT withdrawn ORDER BY valid_from, (SELECT min(entry) FROM price_versions WHERE price_id = p.price_id)",
        {"deal": deal},
    )
    return tuple(_price(row) for row in rows)


def list_price_versions(connection: sqlite3.Connection, deal: int) -> tuple[PriceVersion, ...]:
    """Every version of every price, oldest first."""
    rows = connection.execute(f"{_PRICE.replace(' FROM', ', saved_at, saved_by, why FROM')} WHERE deal_id = ? ORDER BY {in_time('saved_at', 'entry', 'price_versions')}", (deal,))
    return tuple(PriceVersion(_price(row[:13]), utc_from(row[13]), row[14], row[15]) for row in rows)


def price_on(prices: tuple[Price, ...], day: date) -> Price | None:
    """The price that counts on `day`: the latest begun one that holds, else the newest there is."""
    holding = [price for price in prices if price.holds(day)]
    if holding:
        return max(enumerate(holding), key=lambda n: (n[1].valid_from or date.min, n[0]))[1]
    return prices[-1] if prices else None


def document_of(deal: int, price: Price) -> Document:
    """How the journal keeps a price."""
    return {
        "deal_id": deal, "amount": amount_text(price.money), "currency": price.money.currency, "unit": price.unit,
        "mode": price.mode, "valid_from": maybe_date_text(price.valid_from), "valid_to": maybe_date_text(price.valid_to),
        "tax_included": None if price.tax_included is None else int(price.tax_included),
        "tax_rate": None if price.tax_rate is None else format(price.tax_rate, "f"), "invoice_kind": price.invoice_kind,
        "evidence_id": price.evidence, "note": price.note,
    }  # fmt: skip


class _PricesKept:
    """Prices as records that can be changed back: every change appends a version."""

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The newest version; None if there is none, or it was withdrawn."""
        found = connection.execute(
            f"SELECT {_COLUMNS}, withdrawn FROM price_versions WHERE price_id = ? ORDER BY entry DESC LIMIT 1", key
        ).fetchone()
        return None if found is None or found[-1] else dict(zip(_COLUMNS.split(", "), found[:-1], strict=True))

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Append a version; without `after`, one that withdraws the price."""
        row = after if after is not None else before
        if row is None:
            return
        stamps = (utc_text(who.at), who.by, who.why)
        db.conn.execute(
            f"INSERT INTO price_versions (price_id, {_COLUMNS}, withdrawn, saved_at, saved_by, why) "
            f"VALUES ({', '.join('?' * 17)})",
            (*key, *(row[name] for name in _COLUMNS.split(", ")), int(after is None), *stamps),
        )

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether both say the same."""
        return one == other

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """The deal that the price is of."""
        rows = connection.execute("SELECT DISTINCT deal_id FROM price_versions WHERE price_id = ?", key)
        return tuple(id_ for (id_,) in rows)


PRICES = _PricesKept()


def _price(row: tuple[Any, ...]) -> Price:
    id_, amount, currency, unit, mode, since, until, included, rate, invoice, evidence, note, withdrawn = row
    return Price(
        id_, Money(Decimal(amount), currency), unit, mode, maybe_date_from(since), maybe_date_from(until),
        None if included is None else bool(included), None if rate is None else Decimal(rate), invoice, evidence, note,
        bool(withdrawn),
    )  # fmt: skip
