"""What does the list of suppliers and deals show of each offer and contract, twenty thousand of them at once?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from gpulease_gui.domain.commercial import HolderOf


class SupplierLine(NamedTuple):
    """A supplier in the list."""

    id: str
    name: str
    country: str


class DealLine(NamedTuple):
    """One line of the list, made when it is drawn.

    `name` is the title of an offer or its number; `until` the last day as text ("" = not stated); `currency` and `amount`
    the price as agreed (None = none written), `gpu_hour` what it is per GPU-hour (None = it can't be worked out);
    `signed` the number of the contract made out of an offer.
    """

    kind: str
    id: str
    supplier_id: str
    name: str
    number: str
    until: str
    currency: str | None
    amount: str | None
    gpu_hour: str | None
    model: str | None
    signed: str


class DealColumns(NamedTuple):
    """The same line by line, side by side: twenty thousand lines are eleven tuples, not twenty thousand objects."""

    kind: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    supplier_id: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    currency: tuple[str | None, ...] = ()
    amount: tuple[str | None, ...] = ()
    gpu_hour: tuple[str | None, ...] = ()
    model: tuple[str | None, ...] = ()
    signed: tuple[str, ...] = ()

    def line(self, place: int) -> DealLine:
        """The line at a place."""
        return DealLine(*(column[place] for column in self))  # type: ignore[arg-type]

    def then(self, others: DealColumns) -> DealColumns:
        """These, and after them the others."""
        if not others.id:
            return self
        return DealColumns._make([(*mine, *theirs) for mine, theirs in zip(self, others, strict=True)])


_HEADS = {
    HolderOf.OFFER: ("offers", ("id", "supplier_id", "title", "quote_no", "valid_until")),
    HolderOf.CONTRACT: ("contracts", ("id", "supplier_id", "number", "number", "end_date", "offer_id")),
}
_PRICED = ("price_currency", "price_amount", "price_gpu_hour", "gpu_model")


def deal_columns(connection: sqlite3.Connection, kind: HolderOf) -> DealColumns:
    """All offers (or contracts) that are not in the trash, in the order in which they came.

    In the lines of contracts `signed` is the id of the offer that became one.
    """
    table, heads = _HEADS[kind]
    kept, key = f"NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}')", f"{kind}_id"
    ids, owners, titles, numbers, untils, *signed = _columns(connection, heads, f"{table} NOT INDEXED WHERE id {kept}")
    holders, *priced = _columns(connection, (key, *_PRICED), f"deals NOT INDEXED WHERE {key} IS NOT NULL AND {key} {kept}")
    if holders != ids:
        priced = _beside(ids, holders, priced)
    names = tuple([title or number for title, number in zip(titles, numbers, strict=True)])
    texts = [tuple([text or "" for text in column]) for column in (untils, *signed)]
    last = texts[1] if signed else ("",) * len(ids)
    return DealColumns._make([(str(kind),) * len(ids), tuple(ids), tuple(owners), names, tuple(numbers), texts[0], *map(tuple, priced), last])


def supplier_lines(connection: sqlite3.Connection, needed: Collection[str] = ()) -> tuple[SupplierLine, ...]:
    """All suppliers that are not in the trash, by name, and among them those of `needed` that are: whose deals are still listed."""
    columns = _columns(connection, SupplierLine._fields, "(SELECT id, name, country FROM suppliers ORDER BY name, id)")
    away = {id_ for (id_,) in connection.execute("SELECT record_id FROM trash WHERE kind = 'supplier'")}.difference(needed)
    return tuple([line for line in map(SupplierLine._make, zip(*columns, strict=True)) if line.id not in away])


def _columns(connection: sqlite3.Connection, names: Sequence[str], of: str) -> list[list[Any]]:
    """Whole columns. As one JSON array each: a sixth of the time that handing over every value takes."""
    arrays = ", ".join(f"json_group_array({name})" for name in names)
    return [json.loads(array) for array in connection.execute(f"SELECT {arrays} FROM {of}").fetchone()]


def _beside(ids: Sequence[str], holders: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Columns that stand in the order of `holders`, in the order of `ids`; None where there is no holder."""
    at = {holder: place for place, holder in enumerate(holders)}
    places = [at.get(id_, -1) for id_ in ids]
    return [[column[place] if place >= 0 else None for place in places] for column in columns]


def nodes_per_contract(connection: sqlite3.Connection) -> dict[str, int]:
    """How many nodes each contract has that has any."""
    return dict(connection.execute("SELECT contract_id, count(*) FROM nodes WHERE contract_id IS NOT NULL GROUP BY contract_id"))
