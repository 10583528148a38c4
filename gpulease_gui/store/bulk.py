"""How do thousands of offers come in at once, with all that was said of each, in a second?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.answer import Answer
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.commercial import HolderOf, Terms
from gpulease_gui.domain.supplier import Offer, Price, Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.store import deals
from gpulease_gui.store.answers import answer_document
from gpulease_gui.store.codec import utc_text, value_text
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.prices import document_of
from gpulease_gui.store.records import new_ids
from gpulease_gui.store.suppliers import offer_document, supplier_document
from gpulease_gui.store.term_versions import terms_text

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class NewOffer:
    """An offer that is not stored yet, with its price, commercial terms, technical promises and answers."""

    offer: Offer
    price: Price | None = None
    terms: Terms = field(default_factory=Terms)
    claims: tuple[Claim, ...] = ()
    answers: tuple[Answer, ...] = ()


def add_offers(acting: Recorder, suppliers: Iterable[Supplier], offers: Sequence[NewOffer]) -> None:
    """Insert new suppliers and their offers within an act; `finish` makes it one step back.

    Raises sqlite3.IntegrityError for an id that is there, or an unknown supplier.
    """
    db, new = acting.db, tuple(suppliers)
    _insert(db, "suppliers", [{"id": s.id, **supplier_document(s)} for s in new])
    _insert(db, "offers", [{"id": n.offer.id, **offer_document(_priced(n))} for n in offers])
    first = db.conn.execute("SELECT coalesce(max(id), 0) + 1 FROM deals").fetchone()[0]
    numbered = list(enumerate(offers, first))
    _insert(db, "deals", [{"id": deal, **deals.line_of(_priced(n), n.price, n.terms, n.claims, n.answers)} for deal, n in numbered])
    stamps = {"saved_at": utc_text(acting.at), "saved_by": acting.by, "why": acting.why}
    _insert(db, "price_versions", [{"price_id": n.price.id, **document_of(d, n.price), "withdrawn": 0, **stamps} for d, n in numbered if n.price])
    _insert(db, "term_versions", [
        {"holder_kind": HolderOf.OFFER, "holder_id": n.offer.id, "version": 1, **stamps, "document": terms_text(n.terms)}
        for n in offers if n.terms.stated
    ])  # fmt: skip
    _add_claims(acting, offers)
    _insert(db, "answers", [{"deal_id": d, "item_id": a.item, **answer_document(a)} for d, n in numbered for a in n.answers])
    acting.added("supplier", [s.id for s in new])
    acting.added("offer", [n.offer.id for n in offers])


def _priced(new: NewOffer) -> Offer:
    """The offer with the price that its row shows."""
    price, offer = new.price, new.offer
    if price is None and offer.price is None:
        return replace(offer, price_unit=PriceUnit.GPU_HOUR)
    if price is None or (offer.price == price.money and offer.price_unit == price.unit):
        return offer
    return replace(offer, price=price.money, price_unit=price.unit)


def _add_claims(acting: Recorder, offers: Sequence[NewOffer]) -> None:
    claims = [(new.offer.id, claim) for new in offers for claim in new.claims]
    known: dict[tuple[type, TermValue], str] = {}
    values = [None if c.value is None else _value_text(c.value, known) for _, c in claims]
    ids, at = new_ids(len(claims)), utc_text(acting.at)
    acting.db.conn.executemany(
        "INSERT INTO claims (id, offer_id, term, value, state, source, note, node_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((id_, offer, c.term, value, c.state, c.source, c.note, c.node_id)
         for id_, (offer, c), value in zip(ids, claims, values, strict=True)),
    )  # fmt: skip
    acting.db.conn.executemany(
        "INSERT INTO claim_history (claim_id, at, changed_by, value, state, note) VALUES (?, ?, ?, ?, ?, ?)",
        ((id_, at, acting.by, value, c.state, acting.why or c.note) for id_, (_, c), value in zip(ids, claims, values, strict=True)),
    )


def _value_text(value: TermValue, known: dict[tuple[type, TermValue], str]) -> str:
    """`codec.value_text`; equal values of a sheet are written down once."""
    key = type(value), value
    if key not in known:
        known[key] = value_text(value)
    return known[key]


def _insert(db: Database, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """All rows have the same columns."""
    if rows:
        names = list(rows[0])
        db.conn.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", [tuple(row.values()) for row in rows]
        )
