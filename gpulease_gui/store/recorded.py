"""How much was recorded since a time, and until when?"""

from __future__ import annotations

import sqlite3


def recorded_bytes(connection: sqlite3.Connection, since_ns: int) -> tuple[int, int]:
    """(bytes of the packs of readings that end after `since_ns`, when the newest of them ends), ns UTC.

    The second figure is `since_ns` where nothing came: whoever asks again with it is told only what is new.
    """
    size, newest = connection.execute(
        "SELECT coalesce(sum(length(content)), 0), coalesce(max(end_ns), :since) FROM sample_packs "
        "WHERE node_id IN (SELECT DISTINCT node_id FROM sample_series) AND level = 0 AND end_ns > :since",
        {"since": since_ns},
    ).fetchone()
    return int(size), int(newest)


def newest_reading(connection: sqlite3.Connection, node_id: str) -> int:
    """When the newest kept reading of a node ends, ns UTC; 0 = there is none."""
    row = connection.execute("SELECT coalesce(max(end_ns), 0) FROM sample_packs WHERE node_id = ? AND level = 0", (node_id,)).fetchone()
    return int(row[0])
