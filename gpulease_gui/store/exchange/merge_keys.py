"""Under which key does the store keep a record of a bundle, and what stands there?"""

from __future__ import annotations

import sqlite3

from gpulease_gui.store import deals
from gpulease_gui.store.exchange.bundle_schema import Record
from gpulease_gui.store.exchange.bundle_tasks import without_paths
from gpulease_gui.store.kept import Document, Key, Rows, kinds

HOLDERS = {"supplier": "suppliers", "site": "sites", "offer": "offers", "contract": "contracts"}
_OF_DEAL = ("answer", "waiver", "setup")


def before_of(connection: sqlite3.Connection, record: Record) -> Document | None:
    """What stands here of the record, with the fields of its section; None if there is none, or it lies in the trash."""
    section = record.section
    if section.kind == "rate":
        known = connection.execute(
            "SELECT 1 FROM fx_rates WHERE from_currency = ? AND to_currency = ? AND day = ? AND rate = ? AND source = ? AND surcharge = ?", record.key
        ).fetchone()
        return None if known is None else {}
    if section.kind == "setting":
        row = connection.execute("SELECT value FROM settings WHERE key = ?", record.key).fetchone()
        return None if row is None else {"value": row[0]}
    if section.kind == "task_spec":
        row = connection.execute("SELECT saved_at, document FROM task_specs WHERE name = ?", record.key).fetchone()
        return None if row is None else {"saved_at": row[0], "document": without_paths(row[1])}
    if section.kind == "trash":
        row = connection.execute("SELECT deleted_at, deleted_by, why FROM trash WHERE kind = ? AND record_id = ?", record.key).fetchone()
        # Who threw it away, and when, is no difference of the record: it is away.
        return None if row is None else dict(record.fields)
    key = key_of(connection, record)
    before = None if key is None else kinds()[section.kind].read(connection, key)
    if before is None or (section.kind == "setup" and not any(before.values())):
        return None
    if section.kind == "node" and before["reach"] == "local":
        return {**before, "reach": "ssh"}
    return _with_holder(connection, before) if section.kind == "price" else before


def buried_of(connection: sqlite3.Connection, record: Record) -> Document | None:
    """What lies in the trash here of the record."""
    kind = kinds().get(record.section.kind)
    return kind.buried(connection, record.key) if isinstance(kind, Rows) and kind.trashed else None


def key_of(connection: sqlite3.Connection, record: Record) -> Key | None:
    """The key as the store has it: deals are numbered by each file for itself. None: the deal is not here."""
    if record.section.kind not in _OF_DEAL:
        return record.key
    number = number_of(connection, record.key[0], record.key[1])
    return None if number is None else (number, *record.key[2:])


def number_of(connection: sqlite3.Connection, kind: str, id_: str) -> int | None:
    """The number of an offer or contract in this file."""
    row = connection.execute(f"SELECT id FROM deals WHERE {kind}_id = ?", (id_,)).fetchone()
    return None if row is None else int(row[0])


def _with_holder(connection: sqlite3.Connection, price: Document) -> Document:
    subject = deals.subject_of(connection, int(str(price["deal_id"])))
    return {**price, "holder_kind": str(subject.kind), "holder_id": subject.id}
