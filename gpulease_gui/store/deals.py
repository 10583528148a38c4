"""Which offers and contracts are there, as lists show them: sorted, filtered and counted without opening each?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gpulease_gui.domain.answer import Answer, AnswerState
from gpulease_gui.domain.commercial import HolderOf, Subject, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Offer, Price
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.price import convert_to_gpu_hour
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.store.codec import amount_text, maybe_date_from
from gpulease_gui.store.kept import Written
from gpulease_gui.store.prices import PRICES, document_of, list_prices, price_on
from gpulease_gui.store.term_versions import get_terms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from gpulease_gui.domain.claim import Claim
    from gpulease_gui.domain.money import Money


@dataclass(frozen=True, slots=True)
class DealRow:
    """One line of the list of offers or contracts.

    `deal` is its number in this file. Prices as decimal text as they were agreed; `price_gpu_hour` in the same currency
    per GPU-hour to six places (None: no price, or its unit can't be told in GPU-hours). `stated` promises, `answered`
    and `refuted` checklist items. None = not stated.
    """

    deal: int
    kind: HolderOf
    id: str
    supplier_id: str
    supplier: str
    country: str
    number: str
    title: str
    gpu_model: str | None
    gpu_count: int | None
    node_count: int | None
    price_amount: str | None
    price_currency: str | None
    price_unit: str | None
    price_mode: str | None
    price_gpu_hour: str | None
    tax_included: bool | None
    availability: str | None
    valid_until: date | None
    stated: int
    answered: int
    refuted: int
    scenario: str
    template_id: str

    @property
    def subject(self) -> Subject:
        """The record behind the line."""
        return Subject(self.kind, self.id)


_COLUMNS = (
    "gpu_model, gpu_count, node_count, price_amount, price_currency, price_unit, price_mode, price_gpu_hour, tax_included, "
    "availability, stated, answered, refuted, scenario, template_id"
)
_RECORDS = {
    HolderOf.OFFER: "SELECT id, supplier_id, quote_no, title, valid_until FROM offers",
    HolderOf.CONTRACT: "SELECT id, supplier_id, number, '', end_date FROM contracts",
}


def list_deals(connection: sqlite3.Connection, kind: HolderOf, supplier_id: str | None = None) -> tuple[DealRow, ...]:
    """All offers (or contracts) that are not in the trash, in the order in which they came."""
    records = f"{_RECORDS[kind]} WHERE id NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}')"
    if supplier_id is None:
        return _joined(connection, kind, connection.execute(records), "", ())
    mine = f"AND d.{kind}_id IN (SELECT id FROM {kind}s WHERE supplier_id = ?)"
    return _joined(connection, kind, connection.execute(f"{records} AND supplier_id = ?", (supplier_id,)), mine, (supplier_id,))


def deal_rows(connection: sqlite3.Connection, kind: HolderOf, deals: Sequence[int]) -> tuple[DealRow, ...]:
    """Some lines of the list in the order of `deals` (a window of what is on the screen); unknown numbers are left out."""
    marks = ", ".join("?" * len(deals))
    records = f"{_RECORDS[kind]} WHERE id IN (SELECT {kind}_id FROM deals WHERE id IN ({marks}))"
    found = {row.deal: row for row in _joined(connection, kind, connection.execute(records, deals), f"AND d.id IN ({marks})", deals)}
    return tuple(found[deal] for deal in deals if deal in found)


def get_deal(connection: sqlite3.Connection, subject: Subject) -> DealRow:
    """One of them, also from the trash. Raises UsageError for an unknown id."""
    found = deal_rows(connection, subject.kind, (deal_number(connection, subject),))
    return found[0]


def _joined(
    connection: sqlite3.Connection, kind: HolderOf, records: sqlite3.Cursor, which: str, values: Sequence[object]
) -> tuple[DealRow, ...]:
    """Lines with their records and suppliers, joined here: three scans cost half of what 20,000 look-ups by text do."""
    known = {id_: rest for id_, *rest in records}
    owners = {supplier for supplier, *_ in known.values()}
    chosen = f" WHERE id IN ({', '.join('?' * len(owners))})" if len(owners) < 100 else ""
    names = {
        id_: (name, country)
        for id_, name, country in connection.execute(f"SELECT id, name, country FROM suppliers{chosen}", tuple(owners) if chosen else ())
    }
    lines = connection.execute(
        f"SELECT d.id, d.{kind}_id, {_COLUMNS} FROM deals d WHERE d.{kind}_id IS NOT NULL {which} ORDER BY d.id", values
    )
    return tuple(_row(kind, line, known[line[1]], names) for line in lines if line[1] in known)


def _row(kind: HolderOf, line: tuple[Any, ...], record: Sequence[Any], names: Mapping[str, tuple[str, str]]) -> DealRow:
    supplier, number, title, until = record
    name, country = names[supplier]
    included = None if line[10] is None else bool(line[10])
    head = (line[0], kind, line[1], supplier, name, country, number, title)
    cells: tuple[Any, ...] = (*head, *line[2:10], included, line[11], maybe_date_from(until), *line[12:])
    return DealRow(*cells)


def deal_ids(connection: sqlite3.Connection, kind: HolderOf, order: str = "id") -> list[int]:
    """The numbers of all deals of a kind in the order of a column: id, price, model; the empty ones last."""
    column = _ORDERS[order]
    trash = f"{kind}_id NOT IN (SELECT record_id FROM trash WHERE kind = ?)"
    return [
        id_ for (id_,) in connection.execute(f"SELECT id FROM deals WHERE {kind}_id IS NOT NULL AND {trash} ORDER BY {column}", (kind,))
    ]


_ORDERS = {
    "id": "id", "price": "price_gpu_hour_sort IS NULL, price_gpu_hour_sort, id", "model": "gpu_model IS NULL, gpu_model, id",
}  # fmt: skip


def deals_by_answer(connection: sqlite3.Connection, kind: HolderOf, item: str) -> list[int]:
    """The numbers of all deals of a kind by their answer to one item: refuted, then unknown, then better and better proven."""
    groups: dict[str, list[int]] = {}
    for deal, state in connection.execute("SELECT deal_id, state FROM answers WHERE item_id = ?", (item,)):
        groups.setdefault(state, []).append(deal)
    answered = {deal: place for place, state in enumerate(_WORST_FIRST) for deal in groups.get(state, ())}
    unknown = _WORST_FIRST.index("not_asked")
    return sorted(deal_ids(connection, kind), key=lambda deal: answered.get(deal, unknown))


_UNITS = frozenset(PriceUnit)
_WORST_FIRST = ("refuted", "not_asked", "asked", "answered", "evidenced", "in_contract", "verified", "not_applicable")


def deals_with(connection: sqlite3.Connection, kind: HolderOf, wanted: Mapping[str, Sequence[str]]) -> list[int]:
    """The numbers of the deals whose answers are in these states: item -> states, all of them to be met."""
    tests = [f"id IN (SELECT deal_id FROM answers WHERE item_id = ? AND state IN ({', '.join('?' * len(s))}))" for s in wanted.values()]
    values = [part for item, states in wanted.items() for part in (item, *states)]
    where = " AND ".join([f"{kind}_id IS NOT NULL", f"{kind}_id NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}')", *tests])
    return [id_ for (id_,) in connection.execute(f"SELECT id FROM deals WHERE {where} ORDER BY id", values)]


def deal_number(connection: sqlite3.Connection, subject: Subject) -> int:
    """The number of a deal in this file. Raises UsageError for an unknown id."""
    row = connection.execute(f"SELECT id FROM deals WHERE {_column(subject)} = ?", (subject.id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no {subject.kind} {subject.id!r}", f"没有这个报价或合同：{subject.id!r}"))
    return int(row[0])


def subject_of(connection: sqlite3.Connection, deal: int) -> Subject:
    """The record behind a number. Raises UsageError for an unknown one."""
    row = connection.execute("SELECT offer_id, contract_id FROM deals WHERE id = ?", (deal,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no deal {deal}", f"没有报价或合同 {deal}"))
    return Subject(HolderOf.OFFER, row[0]) if row[0] is not None else Subject(HolderOf.CONTRACT, row[1])


def _column(subject: Subject) -> str:
    if subject.kind not in (HolderOf.OFFER, HolderOf.CONTRACT):
        raise UsageError(Text(f"a {subject.kind} is no deal", f"{subject.kind} 既不是报价也不是合同"))
    return f"{subject.kind}_id"


def enter(db: Database, subject: Subject) -> int:
    """Give an offer or contract its number, if it has none yet. Raises sqlite3.IntegrityError for an unknown one."""
    column = _column(subject)
    db.conn.execute(f"INSERT INTO deals ({column}) VALUES (?) ON CONFLICT ({column}) DO NOTHING", (subject.id,))
    return deal_number(db.conn, subject)


def refresh(db: Database, deal: int, day: date) -> None:
    """Bring the line of a deal up to date with its claims, prices, terms and answers, as of `day`."""
    subject = subject_of(db.conn, deal)
    claims = _claims(db.conn, subject)
    price = _price_of_today(db, subject, deal, day)
    amount, currency, unit = db.conn.execute(
        f"SELECT price_amount, price_currency, price_unit FROM {subject.kind}s WHERE id = ?", (subject.id,)
    ).fetchone()
    terms = get_terms(db.conn, subject)
    per_hour = _per_gpu_hour(amount, unit, _first(claims, "gpu.count", "npu.count"), terms.amount("billing.month_hours"))
    included = price.tax_included if price else None
    db.conn.execute(
        "UPDATE deals SET gpu_model = ?, gpu_count = ?, node_count = ?, price_amount = ?, price_currency = ?, price_unit = ?, "
        "price_mode = ?, price_gpu_hour = ?, price_gpu_hour_sort = ?, tax_included = ?, availability = ?, stated = ?, "
        "answered = (SELECT count(*) FROM answers WHERE deal_id = deals.id AND state NOT IN ('not_asked', 'asked')), "
        "refuted = (SELECT count(*) FROM answers WHERE deal_id = deals.id AND state = 'refuted') WHERE id = ?",
        (
            _text(_first(claims, "gpu.model", "npu.model")), _count(_first(claims, "gpu.count", "npu.count")), _count(claims.get("node.count")), amount, currency,
            unit if amount is not None else None, price.mode if price else None,
            None if per_hour is None else format(per_hour, "f"), None if per_hour is None else float(per_hour),
            None if included is None else int(included), terms.words("offer.availability"),
            len(claims) + sum(1 for said in terms.stated.values() if said.value is not None), deal,
        ),
    )  # fmt: skip


def follow_price(db: Database, subject: Subject, money: Money | None, unit: str) -> None:
    """Make the price of a record that was saved by itself a version of its price, if it is another one."""
    deal, now = enter(db, subject), utc_now()
    price = price_on(list_prices(db.conn, deal), now.date())
    key = (price.id if price else subject.id,)
    after = None if money is None else document_of(deal, replace(price or Price(subject.id, money), money=money, unit=unit))
    if after != PRICES.read(db.conn, key):
        PRICES.write(db, key, PRICES.read(db.conn, key), after, Written("", now, "saved with the record"))
    refresh(db, deal, now.date())


def refresh_of(db: Database, subject: Subject, day: date) -> None:
    """`refresh` for a record, which gets its number if it has none."""
    refresh(db, enter(db, subject), day)


def _claims(connection: sqlite3.Connection, subject: Subject) -> dict[str, Any]:
    # Imported late: claims tell this module when they change.
    from gpulease_gui.store.codec import value_from

    rows = connection.execute(
        f"SELECT term, value FROM claims WHERE {_column(subject)} = ? AND value IS NOT NULL", (subject.id,)
    )
    return {term: value_from(text) for term, text in rows}


def _price_of_today(db: Database, subject: Subject, deal: int, day: date) -> Price | None:
    """The price that counts, also written into the record; without one the unit is the usual one, whatever stood there."""
    price = price_on(list_prices(db.conn, deal), day)
    said = (amount_text(price.money), price.money.currency, price.unit) if price else (None, None, PriceUnit.GPU_HOUR)
    db.conn.execute(f"UPDATE {subject.kind}s SET price_amount = ?, price_currency = ?, price_unit = ? WHERE id = ?", (*said, subject.id))
    return price


def _per_gpu_hour(amount: str | None, unit: str, gpus: object, month_hours: Decimal | None) -> Decimal | None:
    """None where the unit needs a figure that nobody stated."""
    if amount is None or unit not in _UNITS:
        return None
    known = PriceUnit(unit)
    if known is PriceUnit.GPU_HOUR:
        return Decimal(amount)
    count = _count(gpus)
    if known.of_node and not count:
        return None
    try:
        exact = convert_to_gpu_hour(Decimal(amount), known, count or 1, month_hours)
    except UsageError:
        return None
    return Decimal(amount) if exact == Fraction(Decimal(amount)) else half_up(exact, 6)


def _first(said: Mapping[str, Any], *terms: str) -> object:
    """The first of these terms that is stated: lists call a card a card, whoever made it."""
    return next((said[term] for term in terms if term in said), None)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def line_of(
    offer: Offer, price: Price | None, terms: Terms, claims: Iterable[Claim], answers: Sequence[Answer]
) -> dict[str, object]:
    """The line of a new offer that comes in bulk, without its number; the same as `refresh` makes."""
    said = {claim.term: claim.value for claim in claims if claim.value is not None}
    amount, count = amount_text(offer.price), _count(_first(said, "gpu.count", "npu.count"))
    per_hour = _per_gpu_hour(amount, offer.price_unit, count, terms.amount("billing.month_hours"))
    included = price.tax_included if price else None
    return {
        "offer_id": offer.id, "gpu_model": _text(_first(said, "gpu.model", "npu.model")), "gpu_count": count,
        "node_count": _count(said.get("node.count")), "price_amount": amount,
        "price_currency": offer.price.currency if offer.price else None,
        "price_unit": offer.price_unit if amount is not None else None, "price_mode": price.mode if price else None,
        "price_gpu_hour": None if per_hour is None else format(per_hour, "f"),
        "price_gpu_hour_sort": None if per_hour is None else float(per_hour),
        "tax_included": None if included is None else int(included), "availability": terms.words("offer.availability"),
        "stated": len(said) + len([1 for stated in terms.stated.values() if stated.value is not None]),
        "answered": sum([answer.state not in (AnswerState.NOT_ASKED, AnswerState.ASKED) for answer in answers]),
        "refuted": sum([answer.state is AnswerState.REFUTED for answer in answers]),
    }  # fmt: skip


def copy_setup(db: Database, source: int, target: int) -> None:
    """Scenario and template of one deal for another one."""
    db.conn.execute(
        "UPDATE deals SET (scenario, template_id) = (SELECT scenario, template_id FROM deals WHERE id = ?) WHERE id = ?",
        (source, target),
    )


def set_setup(db: Database, deal: int, template_id: str, scenario: str) -> None:
    """Which template and which use the checklist of a deal follows."""
    db.conn.execute("UPDATE deals SET template_id = ?, scenario = ? WHERE id = ?", (template_id, scenario, deal))
