"""Which kinds of records can be changed and changed back, and how is each read and written?

A record is a flat JSON document: its row without its key. Documents never leave the store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from gpulease_gui.store.codec import json_text, utc_text

if TYPE_CHECKING:
    from sqlite_utils import Database

Key: TypeAlias = tuple[str | int, ...]
Document: TypeAlias = dict[str, str | int | float | None]


@dataclass(frozen=True, slots=True)
class Written:
    """Who changes a record, when (UTC) and why."""

    by: str
    at: datetime
    why: str = ""
    merged: bool = False  # taken over from another workspace: what it brings back from the trash has its time there


class Kept(Protocol):
    """One kind of record."""

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The record as it is; None = there is none."""

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Make it `after`; what it was is kept."""

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether nobody else changed the record in between."""

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """The deals whose list row depends on it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Records that are rows of a table. `stamps` are columns that say who and when: no change by themselves.

    `follows` are columns that follow from other records (the price of today): they move without anybody changing the row.
    `trashed`: a row that others refer to is never removed but marked in `trash`. `of_deal`: its first key is a deal. `held`:
    a row that others refer to stays when it is taken back.
    """

    kind: str
    table: str
    key: tuple[str, ...]
    stamps: tuple[str, ...] = ()
    trashed: bool = False
    of_deal: bool = False
    deal_column: str = ""
    follows: tuple[str, ...] = ()
    held: bool = False

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The row without its key; None if there is none, or it lies in the trash."""
        return None if self.trashed and _in_trash(connection, self.kind, key) else self.buried(connection, key)

    def buried(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The row without its key, in the trash or not."""
        found = connection.execute(f"SELECT * FROM {self.table} WHERE {self._where}", key)
        row = found.fetchone()
        if row is None:
            return None
        names = [column[0] for column in found.description]
        return {name: value for name, value in zip(names, row, strict=True) if name not in self.key}

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Insert, replace, or remove; the row that was there goes to `earlier_versions`."""
        if before is not None:
            keep_earlier(db, self.kind, key, before, who)
        if after is None:
            self._remove(db, key, who)
            return
        if self.trashed:
            self.dig_out(db, key, who)
        names = (*self.key, *after)
        changed = ", ".join(f"{name} = excluded.{name}" for name in after)
        db.conn.execute(
            f"INSERT INTO {self.table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {changed}",
            (*key, *after.values()),
        )

    def dig_out(self, db: Database, key: Key, who: Written) -> None:
        """Take it out of the trash, if it is there. That is a change with a time: a merge holds it against deletions elsewhere."""
        if not _in_trash(db.conn, self.kind, key):
            return
        lain = self.buried(db.conn, key)
        if lain is not None and not who.merged:
            keep_earlier(db, self.kind, key, lain, who)
        db.conn.execute("DELETE FROM trash WHERE kind = ? AND record_id = ?", (self.kind, key[0]))

    def _remove(self, db: Database, key: Key, who: Written) -> None:
        if not self.trashed:
            self._delete(db, key)
            return
        db.conn.execute(
            "INSERT OR REPLACE INTO trash (kind, record_id, deleted_at, deleted_by, why) VALUES (?, ?, ?, ?, ?)",
            (self.kind, key[0], utc_text(who.at), who.by, who.why),
        )

    def _delete(self, db: Database, key: Key) -> None:
        try:
            db.conn.execute(f"DELETE FROM {self.table} WHERE {self._where}", key)
        except sqlite3.IntegrityError:
            if not self.held:
                raise

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether both say the same, whoever wrote it."""
        return self._said(one) == self._said(other)

    def _said(self, document: Document | None) -> Document | None:
        return None if document is None else {k: v for k, v in document.items() if k not in (*self.stamps, *self.follows)}

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """The deal of the row, if it has one."""
        if self.of_deal:
            return (int(key[0]),)
        if not self.deal_column:
            return ()
        return tuple(id_ for (id_,) in connection.execute(f"SELECT id FROM deals WHERE {self.deal_column} = ?", key))

    @property
    def _where(self) -> str:
        return " AND ".join(f"{name} = ?" for name in self.key)


def _in_trash(connection: sqlite3.Connection, kind: str, key: Key) -> bool:
    found = connection.execute("SELECT 1 FROM trash WHERE kind = ? AND record_id = ?", (kind, key[0]))
    return found.fetchone() is not None


def keep_earlier(db: Database, kind: str, key: Key, before: Document, who: Written) -> None:
    """Note what a record was, or was said to be, and who left it at that."""
    db.conn.execute(
        "INSERT INTO earlier_versions (kind, record_key, document, replaced_at, replaced_by, why) VALUES (?, ?, ?, ?, ?, ?)",
        (kind, key_text(key), json_text(before), utc_text(who.at), who.by, who.why),
    )


def in_time(at: str, entry: str, table: str) -> str:
    """The SQL order of a history: as it was written down; by time once states of another computer came in, which stand below 1."""
    return f"iif((SELECT min({entry}) FROM {table}) < 1, {at}, ''), {entry}"


def key_text(key: Key) -> str:
    """How a key stands in `earlier_versions`.

    >>> key_text((12, "BI-03"))
    '12 BI-03'
    """
    return " ".join(str(part) for part in key)


@dataclass(frozen=True, slots=True)
class Added:
    """Suppliers and offers that came in bulk: taken back they go to the trash, done again they come back.

    The key is (kind, id); nothing but whether the record is there is kept, so 5,000 of them are one small act.
    """

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """Whether it is there."""
        return None if row_kind(str(key[0])).read(connection, key[1:]) is None else {"there": 1}

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Into the trash, or out of it."""
        if after is not None:
            row_kind(str(key[0])).dig_out(db, key[1:], who)
            return
        db.conn.execute(
            "INSERT OR REPLACE INTO trash (kind, record_id, deleted_at, deleted_by, why) VALUES (?, ?, ?, ?, ?)",
            (*key, utc_text(who.at), who.by, who.why),
        )

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether it is there in both."""
        return one == other

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """None: lists leave out what is in the trash by themselves."""
        return ()


@dataclass(frozen=True, slots=True)
class Setup:
    """Which template and use the checklist of a deal follows; the key is (deal,)."""

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The choice as it is."""
        row = connection.execute("SELECT template_id, scenario FROM deals WHERE id = ?", key).fetchone()
        return None if row is None else {"template_id": row[0], "scenario": row[1]}

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Change it; what it was goes to `earlier_versions`."""
        if before is not None and after is not None:
            from gpulease_gui.store.deals import set_setup

            keep_earlier(db, "setup", key, before, who)
            set_setup(db, int(key[0]), str(after["template_id"]), str(after["scenario"]))

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether both say the same."""
        return one == other

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """None: nothing else of the line depends on it."""
        return ()


_PRICE = ("price_amount", "price_currency", "price_unit")
_ROWS: Mapping[str, Rows] = {
    row.kind: row
    for row in (
        Rows("supplier", "suppliers", ("id",), trashed=True),
        Rows("site", "sites", ("id",), trashed=True),
        Rows("offer", "offers", ("id",), trashed=True, deal_column="offer_id", follows=_PRICE),
        Rows("contract", "contracts", ("id",), trashed=True, deal_column="contract_id", follows=_PRICE),
        Rows("attachment", "attachments", ("id",), trashed=True),
        Rows("answer", "answers", ("deal_id", "item_id"), stamps=("answered_at", "answered_by"), of_deal=True),
        Rows("waiver", "waivers", ("deal_id", "item_id"), stamps=("given_at",)),
        Rows("template", "checklist_templates", ("id",)),
        Rows("weight", "scoring_weights", ("scenario", "dimension")),
        Rows("workload", "workloads", ("id",)),
        Rows("mapping", "import_mappings", ("supplier_id", "kind")),
        Rows("market", "market_prices", ("id",)),
        Rows("node", "nodes", ("id",), held=True),
    )
}


def row_kind(kind: str) -> Rows:
    """A kind that is a table of its own. Raises KeyError for another one."""
    return _ROWS[kind]


@cache
def kinds() -> Mapping[str, Kept]:
    """Every kind of record by its name."""
    from gpulease_gui.store.claims import CLAIMS
    from gpulease_gui.store.prices import PRICES
    from gpulease_gui.store.term_versions import TERMS

    return {**_ROWS, "claim": CLAIMS, "terms": TERMS, "price": PRICES, "added": Added(), "setup": Setup()}
