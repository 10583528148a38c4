"""What was deleted, and may it still come back?"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.settings import get_setting, save_setting

if TYPE_CHECKING:
    from sqlite_utils import Database

_EMPTIED = "trash.emptied"
SHOWN = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Trashed:
    """A record in the trash: its kind (supplier, site, offer, contract, attachment), when (UTC) and by whom."""

    kind: str
    id: str
    name: str
    at: datetime
    by: str
    why: str = ""


_NAMES = {
    "supplier": "SELECT name FROM suppliers WHERE id = ?", "site": "SELECT name FROM sites WHERE id = ?",
    "offer": "SELECT quote_no || ' ' || title FROM offers WHERE id = ?", "contract": "SELECT number FROM contracts WHERE id = ?",
    "attachment": "SELECT name FROM attachments WHERE id = ?",
}  # fmt: skip


def list_trash(connection: sqlite3.Connection, now: datetime) -> tuple[Trashed, ...]:
    """What was deleted in the last thirty days, and since it was emptied, newest first. Other records stay in the file, out of sight."""
    first = max(utc_text(now - SHOWN), get_setting(connection, _EMPTIED, ""))
    rows = connection.execute(
        "SELECT kind, record_id, deleted_at, deleted_by, why FROM trash WHERE deleted_at > ? ORDER BY deleted_at DESC, kind, record_id",
        (first,),
    ).fetchall()
    return tuple(Trashed(kind, id_, name_of(connection, kind, id_), utc_from(at), by, why) for kind, id_, at, by, why in rows)


def empty_trash(db: Database, newest: datetime) -> None:
    """What was deleted until then (UTC) is no longer listed, as if its thirty days were over."""
    save_setting(db, _EMPTIED, utc_text(newest))


def in_trash(connection: sqlite3.Connection, kind: str, record_id: str) -> bool:
    """Whether a record lies in the trash."""
    row = connection.execute("SELECT 1 FROM trash WHERE kind = ? AND record_id = ?", (kind, record_id)).fetchone()
    return row is not None


def name_of(connection: sqlite3.Connection, kind: str, record_id: str) -> str:
    """What a record is called, in the trash or not; its id where nothing says."""
    row = connection.execute(_NAMES[kind], (record_id,)).fetchone() if kind in _NAMES else None
    return str(row[0]).strip() if row else record_id
