"""When did an episode end whose watch could not tell it, because its program was killed?

It ends at the last reading that follows it without a hole. A watch with open episodes leaves a sign of life now and then:
nobody else ends what it holds open, and of one that is silent nothing lasts longer than its last sign allows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from gpulease_gui.store.ahead import not_ahead
from gpulease_gui.store.open_gaps import end_left_open
from gpulease_gui.store.records import new_id
from gpulease_gui.store.settings import save_setting

if TYPE_CHECKING:
    from sqlite_utils import Database

SIGN_S = 30.0
_NS = 1_000_000_000
_SIGN_NS = int(SIGN_S) * _NS
# A writer that has much to do may be late with a sign or two.
DEAD_NS, FORSAKEN_NS = 150 * _NS, 600 * _NS
HOLE_NS = 120 * _NS
_SIGN = "watching:"

# id, node, begin of an episode that lasts.
_Open = tuple[str, str, int]


def event_id(watch: str) -> str:
    """The id of a new episode that a watch holds open; it tells whose it is."""
    return f"{watch}.{new_id()}"


def tell_alive(db: Database, watch: str, held: Collection[str], now_ns: int) -> None:
    """A watch is there (ns, UTC) and holds these episodes open: they last, whatever somebody else thought meanwhile."""
    save_setting(db, f"{_SIGN}{watch}", now_ns)
    db.conn.executemany("UPDATE watch_events SET ended_ns = NULL WHERE id = ? AND ended_ns IS NOT NULL", [(id_,) for id_ in held])


def tell_over(db: Database, watch: str) -> None:
    """A watch holds nothing open any more."""
    db.conn.execute("DELETE FROM settings WHERE key = ?", (f"{_SIGN}{watch}",))


def close_all_left_open(connection: sqlite3.Connection, now_ns: int) -> None:
    """End what killed programs left open, when nobody else has the workspace open."""
    _close(connection, _open(connection), now_ns)
    end_left_open(connection)
    connection.execute("DELETE FROM settings WHERE key GLOB ?", (f"{_SIGN}*",))


def close_forsaken(connection: sqlite3.Connection, now_ns: int, node_id: str | None = None) -> None:
    """The same where others may have it open, of all nodes or of one: what a watch left open that gives no sign of life.

    Of one that tells none (an older program) nobody kept a reading of the node for FORSAKEN_NS: who watches a node keeps
    readings all the time, or ends its episodes.
    """
    left = [one for one in _open(connection) if node_id in (None, one[1]) and _is_forsaken(connection, *one, now_ns)]
    _close(connection, left, now_ns)
    end_left_open(connection, (now_ns - FORSAKEN_NS, not_ahead(now_ns)), node_id)
    rows = connection.execute("SELECT key, value FROM settings WHERE key GLOB ?", (f"{_SIGN}*",)).fetchall()
    old = [(key,) for key, value in rows if not now_ns - FORSAKEN_NS <= int(value) <= not_ahead(now_ns)]
    connection.executemany("DELETE FROM settings WHERE key = ?", old)


def lasts_until(connection: sqlite3.Connection, id_: str, node_id: str, began_ns: int, end_ns: int) -> int:
    """Up to when (ns, UTC) an episode that nobody ended lasts, at most `end_ns`: its watch may have been killed while others go on."""
    sign_ns = _sign(connection, id_)
    if sign_ns is None or sign_ns >= end_ns - DEAD_NS:
        return end_ns
    return max(began_ns, _followed_until(connection, node_id, began_ns, min(end_ns, sign_ns + _SIGN_NS)))


def _open(connection: sqlite3.Connection) -> list[_Open]:
    return connection.execute("SELECT id, node_id, began_ns FROM watch_events WHERE ended_ns IS NULL").fetchall()


def _is_forsaken(connection: sqlite3.Connection, id_: str, node_id: str, began_ns: int, now_ns: int) -> bool:
    if "." in id_:
        sign_ns = _sign(connection, id_)
        return not now_ns - DEAD_NS <= (began_ns if sign_ns is None else sign_ns) <= not_ahead(now_ns)
    if began_ns >= now_ns - FORSAKEN_NS:
        return False
    row = connection.execute(
        "SELECT 1 FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns BETWEEN ? AND ? LIMIT 1",
        (node_id, now_ns - FORSAKEN_NS, not_ahead(now_ns)),
    ).fetchone()
    return row is None


def _sign(connection: sqlite3.Connection, id_: str) -> int | None:
    """When the watch of an episode gave its last sign of life (ns, UTC)."""
    watch, _, rest = id_.partition(".")
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (f"{_SIGN}{watch}",)).fetchone() if rest else None
    return None if row is None else int(row[0])


def _close(connection: sqlite3.Connection, left: Iterable[_Open], now_ns: int) -> None:
    for id_, node_id, began_ns in left:
        sign_ns = _sign(connection, id_)
        last_ns = not_ahead(now_ns) if sign_ns is None else min(not_ahead(now_ns), sign_ns + _SIGN_NS)
        end_ns = max(began_ns, _followed_until(connection, node_id, began_ns, last_ns))
        connection.execute("UPDATE watch_events SET ended_ns = ? WHERE id = ?", (end_ns, id_))


def _followed_until(connection: sqlite3.Connection, node_id: str, began_ns: int, last_ns: int) -> int:
    """The end (ns, UTC) of the readings of a node around a time that follow one another without a hole, at most `last_ns`.

    What a clock of ours that was ahead wrote down stands before readings that were written later: it follows none of them.
    """
    reach_ns, newest = began_ns, 0
    rows = connection.execute(
        "SELECT start_ns, end_ns, entry FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns >= ? ORDER BY end_ns",
        (node_id, began_ns - HOLE_NS),
    )
    for start_ns, end_ns, entry in rows:
        if start_ns > reach_ns + HOLE_NS or reach_ns >= last_ns:
            break
        if entry > newest:
            reach_ns, newest = max(reach_ns, end_ns), entry
    return min(reach_ns, last_ns)
