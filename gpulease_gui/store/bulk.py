"""How do thousands of offers come in at once, with all that was said of each, in a second?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.domain.answer import Answer
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.commercial import HolderOf, Terms
from gpulease_gui.domain.supplier import Offer, Price, Supplier
from gpulease_gui.store import deals
from gpulease_gui.store.answers import answer_document
from gpulease_gui.store.codec import maybe_value_text, utc_text
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.prices import document_of
from gpulease_gui.store.records import new_ids
from gpulease_gui.store.suppliers import offer_document, supplier_document
from gpulease_gui.store.term_versions import terms_text

if TYPE_CHECKING:
    from sqlite_utils import Database

S = TypeVar("S")
T = TypeVar("T")


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
        {"holder_kind": HolderOf.OFFER.value, "holder_id": n.offer.id, "version": 1, **stamps, "document": text}
        for n, text in _terms_texts(offers)
    ])  # fmt: skip
    _add_claims(acting, offers)
    _insert(db, "answers", [{"deal_id": d, "item_id": a.item, **answer_document(a)} for d, n in numbered for a in n.answers])
    acting.added("supplier", [s.id for s in new])
    acting.added("offer", [n.offer.id for n in offers])


def _priced(new: NewOffer) -> Offer:
    """The offer with the price that its row shows."""
    price, offer = new.price, new.offer
    if price is None or (offer.price == price.money and offer.price_unit == price.unit):
        return offer
    return replace(offer, price=price.money, price_unit=price.unit)


def _terms_texts(offers: Iterable[NewOffer]) -> Iterator[tuple[NewOffer, str]]:
    """The offers that have commercial terms, with their text; rows that share all of them share it."""
    known: dict[tuple[tuple[str, int], ...], str] = {}
    for new in offers:
        if new.terms.stated:
            same = tuple((key, id(stated)) for key, stated in new.terms.stated.items())
            if same not in known:
                known[same] = terms_text(new.terms)
            yield new, known[same]


def _add_claims(acting: Recorder, offers: Sequence[NewOffer]) -> None:
    columns = _shared((claim for new in offers for claim in new.claims), _claim_columns)
    claims = [(new.offer.id, columns[id(claim)]) for new in offers for claim in new.claims]
    ids, at, by, why = new_ids(len(claims)), utc_text(acting.at), acting.by, acting.why
    acting.db.conn.executemany(
        "INSERT INTO claims (id, offer_id, term, value, state, source, note, node_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(id_, offer, *columns) for id_, (offer, columns) in zip(ids, claims, strict=True)],
    )
    acting.db.conn.executemany(
        "INSERT INTO claim_history (claim_id, at, changed_by, value, state, note) VALUES (?, ?, ?, ?, ?, ?)",
        [(id_, at, by, value, state, why or note) for id_, (_, (_, value, state, _, note, _)) in zip(ids, claims, strict=True)],
    )


def _claim_columns(claim: Claim) -> tuple[str, str | None, str, str, str, str | None]:
    return claim.term, maybe_value_text(claim.value), claim.state.value, claim.source, claim.note, claim.node_id


def _shared(things: Iterable[S], make: Callable[[S], T]) -> dict[int, T]:
    """What is made of each of them, by its id(): rows of an import share what they say alike."""
    made: dict[int, T] = {}
    for thing in things:
        if id(thing) not in made:
            made[id(thing)] = make(thing)
    return made


def _insert(db: Database, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """All rows have the same columns."""
    if rows:
        names = list(rows[0])
        db.conn.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", [tuple(row.values()) for row in rows]
        )
