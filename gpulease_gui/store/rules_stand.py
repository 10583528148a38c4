"""Has anything changed, by whichever program, of what the rules of watched nodes are judged by?"""

from __future__ import annotations

import sqlite3

from gpulease_gui.store.away import AWAY_MARK, BACK_MARK

Stand = tuple[tuple[object, ...], ...]
# What is changed by new entries alone, and what is small.
_GROWS = ("threshold_history", "term_versions", "price_versions", "claim_history", "earlier_versions")
_SMALL = (
    "SELECT id, contract_id FROM nodes", "SELECT * FROM contracts", "SELECT * FROM deals WHERE contract_id IS NOT NULL",
    "SELECT kind, record_id FROM trash",
)  # fmt: skip


def rules_stand(connection: sqlite3.Connection) -> Stand:
    """What differs after any change of contracts, promises, prices, moved figures, and cards that are taken away."""
    newest = tuple(connection.execute(f"SELECT max(entry) FROM {table}").fetchone()[0] for table in _GROWS)
    away = connection.execute("SELECT count(*), max(rowid) FROM marks WHERE kind IN (?, ?)", (AWAY_MARK, BACK_MARK)).fetchone()
    return (newest, tuple(away), *(tuple(row) for query in _SMALL for row in connection.execute(query)))
