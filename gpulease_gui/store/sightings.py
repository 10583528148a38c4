"""On which nodes was this card or this machine seen before?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import storable, utc_from, utc_text
from gpulease_gui.store.records import Sighting, SightingKind

if TYPE_CHECKING:
    from sqlite_utils import Database

_COLUMNS = "run_id, node_id, seen_at, kind, value, faulty"


def save_sightings(db: Database, sightings: Iterable[Sighting]) -> None:
    """Note what a run saw. Raises sqlite3.IntegrityError for an unknown run or node."""
    db.conn.executemany(
        f"INSERT INTO sightings ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        [(s.run_id, s.node_id, utc_text(s.seen_at), s.kind, storable(s.value), int(s.faulty)) for s in sightings],
    )


def list_elsewhere(
    connection: sqlite3.Connection, node_id: str, marks: Iterable[tuple[SightingKind, str]]
) -> tuple[Sighting, ...]:
    """The newest sighting of each mark on each other node, and the newest one at which it was faulty; oldest first."""
    found: dict[tuple[object, ...], Sighting] = {}
    for kind, value in marks:
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM sightings WHERE kind = ? AND value = ? AND node_id <> ? ORDER BY entry",
            (kind, storable(value), node_id),
        )
        for seen in (_sighting(*row) for row in rows):
            found[(seen.kind, seen.value, seen.node_id, seen.faulty)] = seen
    return tuple(sorted(found.values(), key=lambda seen: seen.seen_at))


def nodes_with_one_card(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The nodes whose newest look at their cards shows a UUID that another node's newest look shows too."""
    rows = connection.execute(
        "WITH newest AS (SELECT s.node_id, s.value FROM sightings s WHERE s.kind = 'uuid' AND s.run_id = (SELECT run_id FROM "
        "sightings n WHERE n.node_id = s.node_id AND n.kind = 'uuid' ORDER BY n.entry DESC LIMIT 1)) "
        "SELECT DISTINCT a.node_id FROM newest a JOIN newest b ON a.value = b.value AND a.node_id <> b.node_id ORDER BY 1"
    )
    return tuple(str(row[0]) for row in rows)


def newest_run_with_cards(connection: sqlite3.Connection, node_id: str) -> str | None:
    """The run that read the cards of a node last; None if none did."""
    row = connection.execute(
        "SELECT run_id FROM sightings WHERE node_id = ? AND kind = 'uuid' ORDER BY entry DESC LIMIT 1", (node_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def cards_of_run(connection: sqlite3.Connection, run_id: str) -> tuple[str, ...]:
    """The UUIDs of the cards that a run read, sorted."""
    rows = connection.execute("SELECT DISTINCT value FROM sightings WHERE run_id = ? AND kind = 'uuid' ORDER BY value", (run_id,))
    return tuple(str(row[0]) for row in rows)


def _sighting(run_id: str, node_id: str, seen_at: str, kind: str, value: str, faulty: int) -> Sighting:
    at: datetime = utc_from(seen_at)
    return Sighting(run_id, node_id, at, SightingKind(kind), value, bool(faulty))
