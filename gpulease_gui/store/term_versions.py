"""How are commercial terms kept, version after version?"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpulease_gui.domain.commercial import FieldValue, HolderOf, Stated, Subject, Terms
from gpulease_gui.store.codec import json_text, utc_from, utc_text
from gpulease_gui.store.kept import Document, Key, Written, in_time

if TYPE_CHECKING:
    from sqlite_utils import Database

_NEWEST = "holder_kind = ? AND holder_id = ? ORDER BY version DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class TermsVersion:
    """The terms as somebody saved them; versions are never changed."""

    version: int
    at: datetime
    by: str
    why: str
    terms: Terms


def get_terms(connection: sqlite3.Connection, subject: Subject) -> Terms:
    """The terms as they stand; empty if nobody wrote any."""
    text = _newest(connection, subject.kind, subject.id)
    return Terms() if text is None else terms_from(text)


def list_terms_versions(connection: sqlite3.Connection, subject: Subject) -> tuple[TermsVersion, ...]:
    """All versions, oldest first."""
    rows = connection.execute(
        "SELECT version, saved_at, saved_by, why, document FROM term_versions WHERE holder_kind = ? AND holder_id = ? "
        f"ORDER BY {in_time('saved_at', 'version', 'term_versions')}",
        (subject.kind, subject.id),
    )
    return tuple(TermsVersion(n, utc_from(at), by, why, terms_from(text)) for n, at, by, why, text in rows)


def _newest(connection: sqlite3.Connection, kind: str, id_: str) -> str | None:
    row = connection.execute(f"SELECT document FROM term_versions WHERE {_NEWEST}", (kind, id_)).fetchone()
    return None if row is None else str(row[0])


def document_of(terms: Terms) -> Document | None:
    """How the journal keeps terms."""
    return {"terms": terms_text(terms)} if terms.stated else None


class _TermsKept:
    """Terms as records that can be changed back: every change appends a version."""

    def read(self, connection: sqlite3.Connection, key: Key) -> Document | None:
        """The newest version; None if nothing is stated."""
        text = _newest(connection, str(key[0]), str(key[1]))
        return None if text is None or text == "{}" else {"terms": text}

    def write(self, db: Database, key: Key, before: Document | None, after: Document | None, who: Written) -> None:
        """Append a version."""
        last = db.conn.execute(f"SELECT version FROM term_versions WHERE {_NEWEST}", key).fetchone()
        text = "{}" if after is None else str(after["terms"])
        db.conn.execute(
            "INSERT INTO term_versions (holder_kind, holder_id, version, saved_at, saved_by, why, document) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*key, (last[0] if last else 0) + 1, utc_text(who.at), who.by, who.why, text),
        )

    def same(self, one: Document | None, other: Document | None) -> bool:
        """Whether both say the same."""
        return one == other

    def deals(self, connection: sqlite3.Connection, key: Key) -> tuple[int, ...]:
        """The deal whose terms these are."""
        if key[0] not in (HolderOf.OFFER, HolderOf.CONTRACT):
            return ()
        return tuple(id_ for (id_,) in connection.execute(f"SELECT id FROM deals WHERE {key[0]}_id = ?", (key[1],)))


TERMS = _TermsKept()


def terms_text(terms: Terms) -> str:
    """Terms as one JSON object by field key, decimals and days kept exact."""
    return json_text({key: _stated_text(said) for key, said in sorted(terms.stated.items())})


def terms_from(text: str) -> Terms:
    """The terms that `terms_text` wrote."""
    return Terms({key: _stated_from(said) for key, said in json.loads(text).items()})


def _stated_text(said: Stated) -> dict[str, object]:
    whole = {"value": _plain(said.value), "evidence": said.evidence, "source": said.source, "note": said.note, "asked": said.asked}
    return {key: value for key, value in whole.items() if key == "value" or value not in (None, "", False)}


def _stated_from(said: dict[str, Any]) -> Stated:
    return Stated(
        _value(said["value"]), said.get("evidence"), said.get("source", ""), said.get("note", ""), said.get("asked", False)
    )


def _plain(value: FieldValue | None) -> object:
    if isinstance(value, tuple):
        return [{name: _plain(cell) for name, cell in row} for row in value]
    if isinstance(value, Decimal):
        return {"decimal": format(value, "f")}
    return {"day": value.isoformat()} if isinstance(value, date) else value


def _value(plain: Any) -> FieldValue | None:
    if isinstance(plain, list):
        return tuple(tuple((name, _scalar(cell)) for name, cell in row.items()) for row in plain)
    return None if plain is None else _scalar(plain)


def _scalar(plain: Any) -> Any:
    if isinstance(plain, dict):
        return Decimal(plain["decimal"]) if "decimal" in plain else date.fromisoformat(plain["day"])
    return plain
