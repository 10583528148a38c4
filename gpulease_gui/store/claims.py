"""How are promises kept with their history, and what does a finding do to them?"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gpulease_gui.domain.claim import Claim, ClaimChange, ClaimState, after_finding
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.term import TermValue
from gpulease_gui.store import deals
from gpulease_gui.store.codec import json_text, maybe_value_from, maybe_value_text, utc_from, utc_text
from gpulease_gui.store.kept import Document, Key, Written, in_time
from gpulease_gui.store.records import new_id
from gpulease_gui.store.suppliers import get_offer, save_contract

if TYPE_CHECKING:
    from sqlite_utils import Database

_CLAIM = "SELECT term, value, state, source, note, node_id FROM claims"


class HolderKind(StrEnum):
    """What a claim stands in."""

    OFFER = "offer"
    CONTRACT = "contract"


@dataclass(frozen=True, slots=True)
class Holder:
    """The offer or contract that a claim belongs to."""

    kind: HolderKind
    id: str

    @classmethod
    def offer(cls, offer_id: str) -> Holder:
        """The claims of an offer."""
        return cls(HolderKind.OFFER, offer_id)

    @classmethod
    def contract(cls, contract_id: str) -> Holder:
        """The claims of a contract."""
        return cls(HolderKind.CONTRACT, contract_id)

    @property
    def column(self) -> str:
        """The column of the table that holds this kind of id."""
        return f"{self.kind}_id"

    @property
    def subject(self) -> Subject:
        """The same record as its commercial terms name it."""
        return Subject(HolderOf(self.kind), self.id)


def save_claim(
    db: Database, holder: Holder, claim: Claim, *, by: str, at: datetime, why: str = "", refresh: bool = True
) -> None:
    """Insert or replace the claim of a term; each true change adds one line of history, `by` whom and `why`.

    `refresh` False leaves the line of the lists to the caller. Raises sqlite3.IntegrityError for an unknown offer, contract or node.
    """
    with db.atomic():
        id_ = _claim_id(db.conn, holder, claim.term)
        if id_ is not None and get_claim(db.conn, holder, claim.term) == claim:
            return
        id_ = id_ or new_id()
        row = {
            "id": id_, holder.column: holder.id, "term": claim.term, "value": maybe_value_text(claim.value),
            "state": claim.state, "source": claim.source, "note": claim.note, "node_id": claim.node_id,
        }  # fmt: skip
        db.table("claims").upsert(row, pk="id")
        _add_history(db, id_, ClaimChange(at, by, claim.value, claim.state, why or claim.note))
        if refresh:
            deals.refresh_of(db, holder.subject, at.date())


def accept_offer(db: Database, offer_id: str, contract: Contract, *, by: str, at: datetime) -> None:
    """Make `contract` out of an offer: its claims are copied with their history, and one line says so.

    Raises UsageError for an unknown offer, sqlite3.IntegrityError if the contract has claims already.
    """
    with db.atomic():
        offer = get_offer(db.conn, offer_id)
        save_contract(db, contract)
        source = Holder.offer(offer_id)
        note = f"taken over from offer {offer.quote_no}" if offer.quote_no else "taken over from the offer"
        for claim in list_claims(db.conn, source):
            id_ = new_id()
            row = {
                "id": id_, "contract_id": contract.id, "term": claim.term, "value": maybe_value_text(claim.value),
                "state": claim.state, "source": claim.source, "note": claim.note, "node_id": claim.node_id,
            }  # fmt: skip
            db.table("claims").insert(row)
            for change in list_claim_history(db.conn, source, claim.term):
                _add_history(db, id_, change)
            _add_history(db, id_, ClaimChange(at, by, claim.value, claim.state, note))
        deals.refresh_of(db, Holder.contract(contract.id).subject, at.date())


def apply_finding(db: Database, contract_id: str, node_id: str, finding: Finding, *, at: datetime) -> Claim | None:
    """What the finding does to the claim that it speaks of; the claim after it, None if the contract has none.

    A pass verifies, a fail refutes, the rest changes nothing; a claim without a value is no promise and stays.
    """
    holder = Holder.contract(contract_id)
    claim = get_claim(db.conn, holder, finding.term) if finding.term is not None else None
    if claim is None or claim.value is None:
        return None
    after = after_finding(claim, finding.verdict, node_id)
    save_claim(db, holder, after, by=finding.check, at=at, why=_why(db.conn, finding, node_id))
    return after


def _why(connection: sqlite3.Connection, finding: Finding, node_id: str) -> str:
    row = connection.execute("SELECT name FROM nodes WHERE id = ?", (node_id,)).fetchone()
    return f"{finding.verdict} ({finding.basis}) on {row[0] if row else node_id}"


def list_claims(connection: sqlite3.Connection, holder: Holder) -> tuple[Claim, ...]:
    """All claims of an offer or contract by term."""
    rows = connection.execute(f"{_CLAIM} WHERE {holder.column} = ? ORDER BY term", (holder.id,))
    return tuple(_claim(*row) for row in rows)


def count_stated(connection: sqlite3.Connection, holder: Holder) -> int:
    """How many terms an offer or contract states."""
    query = f"SELECT count(*) FROM claims WHERE {holder.column} = ? AND value IS NOT NULL"
    return int(connection.execute(query, (holder.id,)).fetchone()[0])


def get_claim(connection: sqlite3.Connection, holder: Holder, term: str) -> Claim | None:
    """The claim of one term; None if nobody wrote one down."""
    row = connection.execute(f"{_CLAIM} WHERE {holder.column} = ? AND term = ?", (holder.id, term)).fetchone()
    return None if row is None else _claim(*row)


def list_claim_history(connection: sqlite3.Connection, holder: Holder, term: str) -> tuple[ClaimChange, ...]:
    """The lines of one claim, oldest first."""
    rows = connection.execute(
        f"SELECT at, changed_by, value, state, note FROM claim_history WHERE claim_id = ? ORDER BY {in_time('at', 'entry', 'claim_history')}",
        (_claim_id(connection, holder, term),),
    )
    return tuple(_change(*row) for row in rows)


def _add_history(db: Database, claim_id: str, change: ClaimChange) -> None:
    row = {
        "claim_id": claim_id, "at": utc_text(change.at), "changed_by": change.by,
        "value": maybe_value_text(change.value), "state": change.state, "note": change.note,
    }  # fmt: skip
    db.table("claim_history").insert(row)


def _claim_id(connection: sqlite3.Connection, holder: Holder, term: str) -> str | None:
    row = connection.execute(
        f"SELECT id FROM claims WHERE {holder.column} = ? AND term = ?", (holder.id, term)
    ).fetchone()
    return None if row is None else str(row[0])


def _claim(
    term: str, value: str | None, state: str, source: str, note: str, node_id: str | None
) -> Claim:
    return Claim(term, maybe_value_from(value), ClaimState(state), source, note, node_id)


def _change(at: str, by: str, value: str | None, state: str, note: str) -> ClaimChange:
    stated: TermValue | None = maybe_value_from(value)
    return ClaimChange(utc_from(at), by, stated, ClaimState(state), note)


class _ClaimsKept:
    """Claims as records that can be changed back: every change is a line of their own history."""

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The claim as it is; None if nobody said or asked anything."""
        claim = get_claim(connection, *_holder(key))
        return None if claim is None or claim == Claim(claim.term, None) else claim_document(claim)

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Save it with a line of history; without `after` it is not stated."""
        holder, term = _holder(key)
        claim = Claim(term, None) if after is None else _from_document(term, after)
        save_claim(db, holder, claim, by=who.by, at=who.at, why=who.why, refresh=False)

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether both say the same."""
        return one == other

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """The deal that the claim is of."""
        return (deals.deal_number(connection, _holder(key)[0].subject),)


CLAIMS = _ClaimsKept()


def claim_document(claim: Claim) -> Document:
    """How the journal keeps a claim; its key is (offer or contract, id, term)."""
    return {
        "value": json_text(maybe_value_text(claim.value)), "state": claim.state, "source": claim.source, "note": claim.note,
        "node_id": claim.node_id,
    }  # fmt: skip


def _from_document(term: str, said: dict[str, Any]) -> Claim:
    value = maybe_value_from(json.loads(said["value"]))
    return Claim(term, value, ClaimState(said["state"]), said["source"], said["note"], said["node_id"])


def _holder(key: Key) -> tuple[Holder, str]:
    kind, id_, term = (str(part) for part in key)
    return Holder(HolderKind(kind), id_), term
