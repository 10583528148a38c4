"""Which offers and contracts are there, and what is known of one of them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gpulease_gui.domain.answer import Answer
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import Attachment, Price, Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.store import answers, attachments, claims, deals, prices, suppliers, term_versions, trash
from gpulease_gui.store.claims import Holder, HolderKind
from gpulease_gui.store.deals import DealRow
from gpulease_gui.store.prices import PriceVersion
from gpulease_gui.store.term_versions import TermsVersion
from gpulease_gui.store.trash import Trashed

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class DealFacts:
    """Everything that is stored of one offer or contract. `price` is the one of `day`; None = none stated.

    `written` are the commercial terms that a contract itself states: all of a contract that came of no offer, and those
    that were entered on it after it was signed, be it with another value, or with a source or a file that the offer had
    not. What was only taken over from the offer is as well proven as it was there, and not among them.
    """

    row: DealRow
    supplier: Supplier
    terms: Terms
    supplier_terms: Terms
    prices: tuple[Price, ...]
    price: Price | None
    claims: Mapping[str, Claim]
    answers: Mapping[str, Answer]
    waivers: Mapping[str, Waiver]
    day: date
    written: frozenset[str] = frozenset()

    @property
    def promised(self) -> Mapping[str, TermValue]:
        """The technical promises that are stated, by term."""
        return {term: claim.value for term, claim in self.claims.items() if claim.value is not None}

    @property
    def in_contract(self) -> bool:
        """Whether it was signed; `written` says what of it stands in the contract."""
        return self.row.kind is HolderOf.CONTRACT

    def commercial(self, key: str) -> Terms:
        """Where a field stands: with the deal, or with the supplier."""
        return self.supplier_terms if key.startswith("supplier.") else self.terms


def offers_in(connection: sqlite3.Connection, supplier_id: str | None = None) -> tuple[DealRow, ...]:
    """All offers that are not in the trash."""
    with collector_paused():
        return deals.list_deals(connection, HolderOf.OFFER, supplier_id)


def contracts_in(connection: sqlite3.Connection, supplier_id: str | None = None) -> tuple[DealRow, ...]:
    """All contracts that are not in the trash."""
    return deals.list_deals(connection, HolderOf.CONTRACT, supplier_id)


def deal_in(connection: sqlite3.Connection, subject: Subject, day: date) -> DealFacts:
    """One offer or contract with everything that is stored of it. Raises UsageError for an unknown one."""
    row = deals.get_deal(connection, subject)
    known = prices.list_prices(connection, row.deal)
    supplier = suppliers.get_supplier(connection, row.supplier_id)
    terms = term_versions.get_terms(connection, subject)
    return DealFacts(
        row, supplier, terms,
        term_versions.get_terms(connection, Subject(HolderOf.SUPPLIER, supplier.id)), known, prices.price_on(known, day),
        {claim.term: claim for claim in claims.list_claims(connection, holder_of(subject))},
        answers.list_answers(connection, row.deal), answers.list_waivers(connection, row.deal), day,
        _written(connection, subject, terms),
    )  # fmt: skip


def _written(connection: sqlite3.Connection, subject: Subject, terms: Terms) -> frozenset[str]:
    if subject.kind is not HolderOf.CONTRACT:
        return frozenset()
    offer_id = suppliers.get_contract(connection, subject.id).offer_id
    before = () if offer_id is None else term_versions.list_terms_versions(connection, Subject(HolderOf.OFFER, offer_id))
    offered = {key: [v.terms.stated[key] for v in before if key in v.terms.stated] for key in terms.stated}
    return frozenset(key for key, said in terms.stated.items() if not any(_adds_nothing(said, old) for old in offered[key]))


def _adds_nothing(said: Stated, offered: Stated) -> bool:
    return said.value == offered.value and said.evidence in (None, offered.evidence) and said.source in ("", offered.source)


def holder_of(subject: Subject) -> Holder:
    """The same offer or contract as its claims name it. Raises UsageError for another kind of record."""
    if subject.kind not in (HolderOf.OFFER, HolderOf.CONTRACT):
        raise UsageError(Text(f"a {subject.kind} makes no promises", f"{subject.kind} 没有承诺，只有报价与合同才有"))
    return Holder(HolderKind(subject.kind), subject.id)


def find_deal(connection: sqlite3.Connection, word: str) -> Subject:
    """The offer or contract with this id, number or title. Raises UsageError, naming those that are there."""
    known = (*offers_in(connection), *contracts_in(connection))
    found = [row for row in known if word in (row.id, row.number)] or [row for row in known if word == row.title]
    if len(found) == 1:
        return found[0].subject
    if found:
        ids = ", ".join(f"{row.id} ({row.kind} of {row.supplier})" for row in found[:20])
        raise UsageError(
            Text(f"more than one offer or contract is called {word!r}", f"有多个报价或合同名为 {word!r}"),
            next_step=Text(f"write the id of one: {ids}", f"请写出其中一个的 id：{ids}"),
        )
    names = ", ".join(row.number or row.title or row.id for row in known[:20])
    raise UsageError(
        Text(f"there is no offer or contract {word!r}", f"没有报价或合同 {word!r}"),
        next_step=Text(f"the offers and contracts are: {names or 'none yet'}", f"现有报价与合同：{names or '尚无'}"),
    )


def terms_history_in(connection: sqlite3.Connection, subject: Subject) -> tuple[TermsVersion, ...]:
    """Every version of the commercial terms, oldest first."""
    return term_versions.list_terms_versions(connection, subject)


def prices_history_in(connection: sqlite3.Connection, subject: Subject) -> tuple[PriceVersion, ...]:
    """Every version of every price, oldest first."""
    return prices.list_price_versions(connection, deals.deal_number(connection, subject))


def attachments_in(connection: sqlite3.Connection, subject: Subject) -> tuple[Attachment, ...]:
    """The files of a record, oldest first; their bytes are `store.evidence.get_content(connection, sha256)`."""
    return attachments.list_attachments(connection, subject)


def trash_in(connection: sqlite3.Connection, now: datetime) -> tuple[Trashed, ...]:
    """What was deleted in the last thirty days."""
    return trash.list_trash(connection, now)


def is_proven(claim: Claim | None) -> bool:
    """Whether a run has shown that a promise holds."""
    return claim is not None and claim.state is ClaimState.VERIFIED
