"""Who offers what, what was signed, and how are these records changed?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.services.acceptance import acceptance_in
from gpulease_gui.services.acting import NOBODY, USER_NAME, recorder, user_name_in
from gpulease_gui.services.claims_view import is_written
from gpulease_gui.services.commerce_edit import accept_offer, put_claim, save_contract, save_offer, save_supplier
from gpulease_gui.store import claims, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.records import new_id

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

__all__ = ["NOBODY", "USER_NAME", "save_contract", "save_offer", "save_supplier", "user_name_in"]


@dataclass(frozen=True, slots=True)
class Deal:
    """An offer or a contract with how many terms it states; `verdict` None = no node of it was verified.

    `contracts` are the numbers of the contracts made out of an offer.
    """

    record: Offer | Contract
    stated: int
    nodes: int = 0
    verdict: Verdict | None = None
    contracts: tuple[str, ...] = ()

    @property
    def holder(self) -> Holder:
        """Where its claims stand."""
        return Holder.contract(self.record.id) if isinstance(self.record, Contract) else Holder.offer(self.record.id)

    @property
    def number(self) -> str:
        """The quote number of an offer, the number of a contract."""
        return self.record.number if isinstance(self.record, Contract) else self.record.quote_no


@dataclass(frozen=True, slots=True)
class SupplierDeals:
    """A supplier with its offers, then its contracts."""

    supplier: Supplier
    deals: tuple[Deal, ...]

    @property
    def contracts(self) -> tuple[Deal, ...]:
        """The deals that were signed."""
        return tuple(deal for deal in self.deals if isinstance(deal.record, Contract))


def suppliers_in(connection: sqlite3.Connection) -> tuple[SupplierDeals, ...]:
    """All suppliers by name with what they offered and what was signed."""
    return tuple(SupplierDeals(s, _deals_in(connection, s.id)) for s in suppliers.list_suppliers(connection))


def record_in(connection: sqlite3.Connection, kind: str, record_id: str) -> tuple[SupplierDeals, Deal | None]:
    """A supplier with all its deals; or one offer or contract with its supplier. Raises UsageError for an unknown one."""
    if kind == "supplier":
        return SupplierDeals(suppliers.get_supplier(connection, record_id), _deals_in(connection, record_id)), None
    if kind == "contract":
        deal = _contract_deal(connection, suppliers.get_contract(connection, record_id))
    else:
        offer = suppliers.get_offer(connection, record_id)
        signed = suppliers.list_contracts(connection, offer.supplier_id)
        numbers = tuple(contract.number for contract in signed if contract.offer_id == offer.id)
        deal = Deal(offer, _stated(connection, Holder.offer(offer.id)), contracts=numbers)
    return SupplierDeals(suppliers.get_supplier(connection, deal.record.supplier_id), (deal,)), deal


def _deals_in(connection: sqlite3.Connection, supplier_id: str) -> tuple[Deal, ...]:
    signed = suppliers.list_contracts(connection, supplier_id)
    offered = [
        Deal(o, _stated(connection, Holder.offer(o.id)), contracts=tuple(c.number for c in signed if c.offer_id == o.id))
        for o in suppliers.list_offers(connection, supplier_id)
    ]
    return (*offered, *(_contract_deal(connection, c) for c in signed))


def _contract_deal(connection: sqlite3.Connection, contract: Contract) -> Deal:
    acceptance = acceptance_in(connection, contract.id)
    verified = any(node.overall is not None for node in acceptance.nodes)
    stated = _stated(connection, Holder.contract(contract.id))
    return Deal(contract, stated, len(acceptance.nodes), acceptance.verdict if verified else None)


def _stated(connection: sqlite3.Connection, holder: Holder) -> int:
    return claims.count_stated(connection, holder)


# -- changes: each is handed to Services.change --------------------------------------------------------------------------


def state_term(
    db: Database, holder: Holder, term: str, value: object | None, catalogue: Catalogue, *, source: str | None = None,
    written: bool | None = None,
) -> Claim:  # fmt: skip
    """Write down what was promised (None = not stated), with a line of history; the claim as it is now.

    `source` None keeps the source as it is; `written` says whether it is a document (default: a source that was
    given now is one, a kept source stays what it was). A new value starts at answered or evidenced; the same value
    keeps what runs have shown.
    Raises UsageError for a value that the term cannot have.
    """
    before = claims.get_claim(db.conn, holder, term) or Claim(term, None)
    stated = None if value is None else validate_term(term, value, catalogue)
    if written is None:
        was_written = bool(is_written(claims.list_claim_history(db.conn, holder, term)))
        written = bool(before.source) and was_written if source is None else bool(source.strip())
    after = _stated_claim(before, stated, before.source if source is None else source.strip(), written=written)
    _put(db, holder, after, catalogue)
    return after


def _put(db: Database, holder: Holder, claim: Claim, catalogue: Catalogue) -> None:
    acting = recorder(db)
    put_claim(acting, holder, claim)
    label = catalogue.terms[claim.term].label
    acting.finish(Text(f"change {label.en}", f"修改{label.zh}"))


def _stated_claim(before: Claim, value: TermValue | None, source: str, *, written: bool) -> Claim:
    if value is None:
        asked = before.state is ClaimState.ASKED and before.value is None
        return Claim(before.term, None, ClaimState.ASKED if asked else ClaimState.NOT_ASKED, source, before.note)
    same = before.value == value and type(before.value) is type(value)
    if same and before.state in (ClaimState.VERIFIED, ClaimState.REFUTED):
        return replace(before, source=source)
    return Claim(before.term, value, ClaimState.EVIDENCED if written else ClaimState.ANSWERED, source, before.note)


def ask_term(db: Database, holder: Holder, term: str) -> Claim:
    """Note that the supplier was asked about a term that is not stated."""
    before = claims.get_claim(db.conn, holder, term) or Claim(term, None)
    after = replace(before, state=ClaimState.ASKED) if before.value is None else before
    claims.save_claim(db, holder, after, by=user_name_in(db.conn), at=utc_now())
    return after


def restore_claim(db: Database, holder: Holder, claim: Claim) -> None:
    """Take a change back: the claim as it was, as one more line of history."""
    claims.save_claim(db, holder, claim, by=user_name_in(db.conn), at=utc_now(), why="taken back")


def sign_offer(db: Database, offer_id: str, contract: Contract) -> Contract:
    """Make a contract out of an offer; everything that was said of it goes along, history kept. Raises UsageError."""
    return accept_offer(db, offer_id, contract)


def fresh_id() -> str:
    """The id of a new record."""
    return new_id()
