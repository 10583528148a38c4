"""How much was recorded since a time, and until when?"""

from __future__ import annotations

import sqlite3

from gpulease_gui.store.ahead import not_ahead


def recorded_bytes(connection: sqlite3.Connection, since_ns: int, now_ns: int) -> tuple[int, int]:
    """(bytes of the packs of readings that end after `since_ns` and in no time to come, when the newest of them ends), ns UTC.

    The second figure is `since_ns` where nothing came: whoever asks again with it is told only what is new.
    """
    size, newest = connection.execute(
        "SELECT coalesce(sum(length(content)), 0), coalesce(max(end_ns), :since) FROM sample_packs "
        "WHERE node_id IN (SELECT DISTINCT node_id FROM sample_series) AND level = 0 AND end_ns > :since AND end_ns <= :newest",
        {"since": since_ns, "newest": not_ahead(now_ns)},
    ).fetchone()
    return int(size), int(newest)
