"""How are suppliers, what they offer and what was signed saved and listed?"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.supplier import Contract, Offer, Site, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.store import deals
from gpulease_gui.store.codec import amount_text, currency_text, maybe_date_from, maybe_date_text, money_from
from gpulease_gui.store.kept import Document

if TYPE_CHECKING:
    from sqlite_utils import Database

_SUPPLIER = "SELECT id, name, country, contact, note FROM suppliers"
_OFFER = (
    "SELECT id, supplier_id, quote_no, title, price_amount, price_currency, price_unit, valid_until, note FROM offers"
)
_CONTRACT = (
    "SELECT id, supplier_id, number, offer_id, start_date, end_date, price_amount, price_currency, price_unit, note "
    "FROM contracts"
)


def save_supplier(db: Database, supplier: Supplier) -> None:
    """Insert or replace by id."""
    db.table("suppliers").upsert({"id": supplier.id, **supplier_document(supplier)}, pk="id")


def save_offer(db: Database, offer: Offer) -> None:
    """Insert or replace by id. Raises sqlite3.IntegrityError for an unknown supplier."""
    db.table("offers").upsert({"id": offer.id, **offer_document(offer)}, pk="id")
    deals.follow_price(db, Subject(HolderOf.OFFER, offer.id), offer.price, offer.price_unit)


def save_contract(db: Database, contract: Contract) -> None:
    """Insert or replace by id. Raises sqlite3.IntegrityError for an unknown supplier or offer."""
    db.table("contracts").upsert({"id": contract.id, **contract_document(contract)}, pk="id")
    deals.follow_price(db, Subject(HolderOf.CONTRACT, contract.id), contract.price, contract.price_unit)


def supplier_document(supplier: Supplier) -> Document:
    """The row of a supplier without its id."""
    return {"name": supplier.name, "country": supplier.country, "contact": supplier.contact, "note": supplier.note}


def offer_document(offer: Offer) -> Document:
    """The row of an offer without its id."""
    return {
        "supplier_id": offer.supplier_id, "quote_no": offer.quote_no, "title": offer.title,
        "price_amount": amount_text(offer.price), "price_currency": currency_text(offer.price),
        "price_unit": _unit(offer), "valid_until": maybe_date_text(offer.valid_until), "note": offer.note,
    }  # fmt: skip


def contract_document(contract: Contract) -> Document:
    """The row of a contract without its id."""
    return {
        "supplier_id": contract.supplier_id, "number": contract.number, "offer_id": contract.offer_id,
        "start_date": maybe_date_text(contract.start), "end_date": maybe_date_text(contract.end),
        "price_amount": amount_text(contract.price), "price_currency": currency_text(contract.price),
        "price_unit": _unit(contract), "note": contract.note,
    }  # fmt: skip


def _unit(record: Offer | Contract) -> str:
    """The unit of a price; where there is none, the usual one: nothing was said."""
    return record.price_unit if record.price is not None else PriceUnit.GPU_HOUR.value


def site_document(site: Site) -> Document:
    """The row of a site without its id."""
    return {"supplier_id": site.supplier_id, "name": site.name, "city": site.city, "country": site.country, "note": site.note}


def list_sites(connection: sqlite3.Connection, supplier_id: str | None = None) -> tuple[Site, ...]:
    """The places of a supplier, or of all, by name."""
    rows = connection.execute(
        f"SELECT id, supplier_id, name, city, country, note FROM sites WHERE (:id IS NULL OR supplier_id = :id) AND {_kept('site')} ORDER BY name, id",
        {"id": supplier_id},
    )
    return tuple(Site(*row) for row in rows)


def _kept(kind: str) -> str:
    return f"id NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}')"


def remove_supplier(db: Database, supplier_id: str) -> None:
    """Remove a supplier that nothing refers to. Raises UserFacing if an offer or contract does."""
    try:
        db.conn.execute("DELETE FROM suppliers WHERE id = ?", (supplier_id,))
    except sqlite3.IntegrityError as error:
        raise UserFacing(
            Text("this supplier can't be removed", "无法移除该供应商"), Text("offers or contracts belong to it", "有报价或合同属于它"),
            Text("what was promised stays on record", "承诺记录须保留"),
        ) from error


def list_suppliers(connection: sqlite3.Connection) -> tuple[Supplier, ...]:
    """All suppliers by name, without those in the trash."""
    return tuple(Supplier(*row) for row in connection.execute(f"{_SUPPLIER} WHERE {_kept('supplier')} ORDER BY name, id"))


def get_supplier(connection: sqlite3.Connection, supplier_id: str) -> Supplier:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_SUPPLIER} WHERE id = ?", (supplier_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no supplier {supplier_id!r}", f"没有供应商 {supplier_id!r}"))
    return Supplier(*row)


def list_offers(connection: sqlite3.Connection, supplier_id: str | None = None) -> tuple[Offer, ...]:
    """All offers, or those of one supplier, by quote number."""
    rows = connection.execute(
        f"{_OFFER} WHERE (:id IS NULL OR supplier_id = :id) AND {_kept('offer')} ORDER BY quote_no, id", {"id": supplier_id}
    )
    return tuple(_offer(*row) for row in rows)


def get_offer(connection: sqlite3.Connection, offer_id: str) -> Offer:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_OFFER} WHERE id = ?", (offer_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no offer {offer_id!r}", f"没有报价 {offer_id!r}"))
    return _offer(*row)


def list_contracts(connection: sqlite3.Connection, supplier_id: str | None = None) -> tuple[Contract, ...]:
    """All contracts, or those of one supplier, by number."""
    rows = connection.execute(
        f"{_CONTRACT} WHERE (:id IS NULL OR supplier_id = :id) AND {_kept('contract')} ORDER BY number, id", {"id": supplier_id}
    )
    return tuple(_contract(*row) for row in rows)


def get_contract(connection: sqlite3.Connection, contract_id: str) -> Contract:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_CONTRACT} WHERE id = ?", (contract_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no contract {contract_id!r}", f"没有合同 {contract_id!r}"))
    return _contract(*row)


def _offer(
    id_: str, supplier_id: str, quote_no: str, title: str, amount: str | None, currency: str | None, price_unit: str,
    valid_until: str | None, note: str,
) -> Offer:  # fmt: skip
    price = money_from(amount, currency)
    return Offer(id_, supplier_id, quote_no, title, price, price_unit, maybe_date_from(valid_until), note)


def _contract(
    id_: str, supplier_id: str, number: str, offer_id: str | None, start: str | None, end: str | None,
    amount: str | None, currency: str | None, price_unit: str, note: str,
) -> Contract:  # fmt: skip
    return Contract(
        id_, supplier_id, number, offer_id, maybe_date_from(start), maybe_date_from(end),
        money_from(amount, currency), price_unit, note,
    )  # fmt: skip
