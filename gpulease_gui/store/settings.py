"""How are settings, unsaved forms and written reports remembered?"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.store.codec import json_text, pairs_from, pairs_text, utc_from, utc_text
from gpulease_gui.store.records import Draft, Report

if TYPE_CHECKING:
    from sqlite_utils import Database

SettingValue = str | int | float | bool
S = TypeVar("S", str, int, float, bool)


def save_setting(db: Database, key: str, value: SettingValue) -> None:
    """Insert or replace one setting."""
    db.table("settings").upsert({"key": key, "value": json_text(value)}, pk="key")


def get_setting(connection: sqlite3.Connection, key: str, default: S) -> S:
    """The setting, or `default` if there is none or one of another type (an older version's, or edited by hand)."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    value = None if row is None else json.loads(row[0])
    return value if type(value) is type(default) else default


def save_draft(db: Database, draft: Draft) -> None:
    """Insert or replace what stands in an unsaved form."""
    row = {
        "kind": draft.kind, "record_id": draft.record_id, "fields": pairs_text(draft.fields),
        "saved_at": utc_text(draft.saved_at),
    }  # fmt: skip
    db.table("drafts").upsert(row, pk=("kind", "record_id"))


def remove_draft(db: Database, kind: str, record_id: str) -> None:
    """Forget a draft, because its form was saved or thrown away; none is no error."""
    db.conn.execute("DELETE FROM drafts WHERE kind = ? AND record_id = ?", (kind, record_id))


def list_drafts(connection: sqlite3.Connection) -> tuple[Draft, ...]:
    """All drafts, newest first."""
    rows = connection.execute("SELECT kind, record_id, fields, saved_at FROM drafts ORDER BY saved_at DESC, kind, record_id")
    return tuple(Draft(kind, id_, pairs_from(fields), utc_from(at)) for kind, id_, fields, at in rows)


def save_report(db: Database, report: Report) -> None:
    """Remember a report that was written. Raises sqlite3.IntegrityError for an unknown contract."""
    row = {
        "id": report.id, "sha256": report.sha256, "path": report.path, "language": report.language,
        "made_at": utc_text(report.made_at), "contract_id": report.contract_id,
    }  # fmt: skip
    db.table("reports").insert(row)


def list_reports(connection: sqlite3.Connection) -> tuple[Report, ...]:
    """All written reports, newest first."""
    rows = connection.execute(
        "SELECT id, sha256, path, language, made_at, contract_id FROM reports ORDER BY made_at DESC, id"
    )
    return tuple(Report(i, sha, path, language, utc_from(at), contract) for i, sha, path, language, at, contract in rows)
