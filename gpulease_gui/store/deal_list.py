"""What does the list of suppliers and deals show of each offer and contract, twenty thousand of them at once?"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from gpulease_gui.domain.commercial import HolderOf


class DealLine(NamedTuple):
    """One line of the list: a plain tuple, since twenty thousand of them are made at each opening.

    `name` is the title of an offer or its number; `price` as agreed, such as "CNY 16.20" ("" = none); `gpu_hour` sorts
    only; `until` is the last day as text ("" = not stated); `signed` the number of the contract made out of an offer.
    """

    kind: str
    id: str
    supplier_id: str
    name: str
    number: str
    until: str
    price: str
    gpu_hour: float | None
    model: str
    stated: int
    signed: str


_LINE = "d.price_currency, d.price_amount, d.price_gpu_hour_sort, coalesce(d.gpu_model, ''), coalesce(d.stated, 0)"
_OFFERS = (
    "SELECT o.id, o.supplier_id, CASE WHEN o.title = '' THEN o.quote_no ELSE o.title END, o.quote_no, "
    f"coalesce(o.valid_until, ''), {_LINE}, NULL FROM offers o LEFT JOIN deals d ON d.offer_id = o.id"
)
_CONTRACTS = (
    f"SELECT o.id, o.supplier_id, o.number, o.number, coalesce(o.end_date, ''), {_LINE}, o.offer_id "
    "FROM contracts o LEFT JOIN deals d ON d.contract_id = o.id"
)


def deal_lines(connection: sqlite3.Connection, kind: HolderOf) -> list[DealLine]:
    """All offers (or contracts) that are not in the trash, in the order in which they came.

    In the lines of contracts `signed` is the id of the offer that became one.
    """
    query = _OFFERS if kind is HolderOf.OFFER else _CONTRACTS
    kept = f"{query} WHERE o.id NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}') ORDER BY o.rowid"
    new, word = tuple.__new__, str(kind)
    # The words of the price are put together here: SQLite takes four times as long for it.
    return [
        new(DealLine, (word, id_, owner, name, number, until, "" if amount is None or currency is None else f"{currency}\u202f{amount}",
                       gpu_hour, model, stated, signed or ""))
        for id_, owner, name, number, until, currency, amount, gpu_hour, model, stated, signed in connection.execute(kept)
    ]  # fmt: skip


def nodes_per_contract(connection: sqlite3.Connection) -> dict[str, int]:
    """How many nodes each contract has that has any."""
    return dict(connection.execute("SELECT contract_id, count(*) FROM nodes WHERE contract_id IS NOT NULL GROUP BY contract_id"))
