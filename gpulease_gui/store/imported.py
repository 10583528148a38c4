"""Which runs and events of Live were not measured by this copy of the program, but came in a file?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text, visible
from gpulease_gui.store.codec import json_text, mark_document, utc_from, utc_text
from gpulease_gui.store.records import new_id

if TYPE_CHECKING:
    from sqlite_utils import Database

IMPORTED = "imported"  # the kind of mark that says so
FROM_FILE = Text("imported", "导入")
_FOR_EVER_NS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ImportedFrom:
    """The file that a run or an event came in, as it was named, and when (UTC) it was merged."""

    source: str
    at: datetime

    @property
    def words(self) -> Text:
        """Such as: imported from theirs.json on 2026-12-01; not measured here."""
        name, day = visible(self.source)[:120], f"{self.at.astimezone():%Y-%m-%d}"
        return Text(f"Imported from {name} on {day}; not measured by this computer", f"{day} 从 {name} 导入，并非本机实测")


def note_imported(db: Database, runs: Iterable[tuple[str, str]], source: str, at: datetime) -> None:
    """Note that these runs (id, node) came in the file `source`."""
    db.conn.executemany(
        "INSERT INTO marks (id, node_id, run_id, at, kind, words) VALUES (?, ?, ?, ?, ?, ?)",
        [(new_id(), node, run, utc_text(at), IMPORTED, source) for run, node in runs],
    )


def imported_from(connection: sqlite3.Connection, run_id: str) -> ImportedFrom | None:
    """Where a run came from; None for one that this workspace measured itself. Raises nothing for an unknown id."""
    row = connection.execute(
        "SELECT m.words, m.at FROM runs r JOIN marks m ON m.node_id = r.node_id AND m.run_id = r.id AND m.kind = ? WHERE r.id = ? "
        "ORDER BY m.at LIMIT 1",
        (IMPORTED, run_id),
    ).fetchone()
    return None if row is None else ImportedFrom(row[0], utc_from(row[1]))


def note_imported_events(db: Database, events: Iterable[tuple[str, str]], source: str, at: datetime) -> None:
    """Note that these events of Live (id, node) came in the file `source`."""
    db.conn.executemany(
        "INSERT INTO marks (id, node_id, run_id, at, kind, words) VALUES (?, ?, NULL, ?, ?, ?)",
        [(new_id(), node, utc_text(at), IMPORTED, json_text({"event": event, "source": source})) for event, node in events],
    )


# Marks have no index by what they are of: the database looks through those of the node, and reads the few that are wanted.
_OF_EVENTS = (
    "SELECT words, at FROM marks WHERE node_id = ? AND kind = ? AND run_id IS NULL AND CASE WHEN json_valid(words) THEN "
    "json_extract(words, '$.event') END IN (SELECT id FROM watch_events WHERE node_id = ? AND began_ns < ? AND coalesce(ended_ns, ?) >= ?) ORDER BY at"
)


def imported_events(connection: sqlite3.Connection, node_id: str, start_ns: int = 0, end_ns: int = _FOR_EVER_NS) -> dict[str, ImportedFrom]:
    """By its id where each event of a node that touches start <= time < end came from that this workspace did not measure itself."""
    rows = connection.execute(_OF_EVENTS, (node_id, IMPORTED, node_id, end_ns, end_ns, start_ns))
    told = [(mark_document(words), at) for words, at in rows]
    return {str(said.get("event")): ImportedFrom(str(said.get("source")), utc_from(at)) for said, at in told}
