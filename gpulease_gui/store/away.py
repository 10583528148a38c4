"""Which cards of a node were taken away by agreement, so that they count as lost no more?

Each of it is a mark of the node: taken away, or back. A card that is read again is back by itself.
"""

from __future__ import annotations

import math
import sqlite3
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import json_text, mark_document, utc_from
from gpulease_gui.store.records import Mark
from gpulease_gui.store.samples import save_mark

if TYPE_CHECKING:
    from sqlite_utils import Database

AWAY_MARK, BACK_MARK = "card_away", "card_back"


@dataclass(frozen=True, slots=True)
class Away:
    """A card (UUID) that nobody expects from `at` on (UTC): `by` whom it was written down, `note` what was agreed."""

    card: str
    at: datetime
    by: str
    note: str

    @property
    def at_ns(self) -> int:
        """In ns since 1970 UTC."""
        return round(self.at.timestamp() * 1_000_000) * 1000


def take_away(db: Database, node_id: str, away: Away) -> None:
    """From then on the card is not missed. Raises sqlite3.IntegrityError for an unknown node."""
    save_mark(db, Mark(f"away-{uuid.uuid4()}", node_id, away.at, AWAY_MARK, json_text({"card": away.card, "by": away.by, "note": away.note})))


def are_back(db: Database, node_id: str, cards: Iterable[str], at: datetime) -> None:
    """Cards are read again, so that they count from then on (UTC)."""
    for card in cards:
        save_mark(db, Mark(f"away-{uuid.uuid4()}", node_id, at, BACK_MARK, json_text({"card": card})))


def undo_away(db: Database, node_id: str, away: Away) -> int:
    """It was not taken away after all; how many entries that was."""
    rows = db.conn.execute("SELECT id, at, words FROM marks WHERE node_id = ? AND kind = ?", (node_id, AWAY_MARK)).fetchall()
    ids = [id_ for id_, at, words in rows if mark_document(words).get("card") == away.card and utc_from(at) == away.at]
    db.conn.executemany("DELETE FROM marks WHERE id = ?", [(id_,) for id_ in ids])
    return len(ids)


def list_away(connection: sqlite3.Connection, node_id: str) -> tuple[Away, ...]:
    """All that was ever taken away of a node, oldest first."""
    return tuple(one for _, one in _told(connection, node_id) if isinstance(one, Away))


def away_now(connection: sqlite3.Connection, node_id: str) -> dict[str, Away]:
    """By card, what is away and was not read since."""
    found: dict[str, Away] = {}
    for _, one in _told(connection, node_id):
        if isinstance(one, Away):
            found.setdefault(one.card, one)
        else:
            found.pop(one, None)
    return found


def away_times(connection: sqlite3.Connection, node_id: str) -> tuple[tuple[str, float, float], ...]:
    """(card, since, until) in UTC seconds, infinite while it is not back."""
    since: dict[str, float] = {}
    made: list[tuple[str, float, float]] = []
    for at, one in _told(connection, node_id):
        if isinstance(one, Away):
            since.setdefault(one.card, at.timestamp())
        elif one in since:
            made.append((one, since.pop(one), at.timestamp()))
    return (*made, *((card, since_s, math.inf) for card, since_s in since.items()))


def _told(connection: sqlite3.Connection, node_id: str) -> list[tuple[datetime, Away | str]]:
    """When (UTC) and what was taken away, and (the card alone) what came back, in the order of its time.

    What a merged workspace brought and names no card is left out.
    """
    rows = connection.execute(
        "SELECT at, kind, words FROM marks WHERE node_id = ? AND kind IN (?, ?) ORDER BY at, rowid", (node_id, AWAY_MARK, BACK_MARK)
    ).fetchall()
    told = [(utc_from(at), kind, mark_document(words)) for at, kind, words in rows]
    return [
        (at, Away(card, at, str(said.get("by", "")), str(said.get("note", ""))) if kind == AWAY_MARK else card)
        for at, kind, said in told if isinstance(card := said.get("card"), str)
    ]  # fmt: skip
