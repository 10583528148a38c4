"""What did programs before format 10 keep, one row for ten seconds of one series, and how does it become packs?"""

from __future__ import annotations

import sqlite3

from gpulease_gui.store.packing import Block, Pack, pack, pack_of, unpacked
from gpulease_gui.store.slots import LONGEST_NS, ROWS, remake

_HALF_NS = LONGEST_NS // 2


def read_packs(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> tuple[Pack, ...]:
    """What of it touches start <= time < end; nothing once it is moved."""
    if connection.execute("SELECT 1 FROM sample_blocks LIMIT 1").fetchone() is None:
        return ()
    blocks = _blocks(connection, node_id, start_ns - _HALF_NS, end_ns)
    reaching = [block for block in blocks if block[1] + block[2] * len(block[3]) > start_ns]
    return (pack_of(reaching),) if reaching else ()


def move_some(connection: sqlite3.Connection) -> bool:
    """Pack half an hour of one node and summarise it; whether there is more to do. Made in steps, off the window."""
    found = connection.execute(
        "SELECT s.node_id, (SELECT min(start_ns) FROM sample_blocks WHERE series_id = s.id AND level = 0) AS first_ns "
        "FROM sample_series s WHERE first_ns IS NOT NULL ORDER BY first_ns LIMIT 1"
    ).fetchone()
    if found is None:
        return False
    node_id, first_ns = found
    start_ns = first_ns // _HALF_NS * _HALF_NS
    end_ns = start_ns + _HALF_NS
    by_minute: dict[int, list[Block]] = {}
    for block in _blocks(connection, node_id, start_ns, end_ns):
        by_minute.setdefault(block[1] // ROWS[1], []).append(block)
    connection.executemany(
        "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content) VALUES (?, 0, ?, ?, ?)",
        [(node_id, blocks[0][1], _end_ns(blocks), pack(blocks)) for blocks in by_minute.values()],
    )
    connection.execute(
        "DELETE FROM sample_blocks WHERE series_id IN (SELECT id FROM sample_series WHERE node_id = ?) "
        "AND level = 0 AND start_ns >= ? AND start_ns < ?",
        (node_id, start_ns, end_ns),
    )
    remake(connection, node_id, start_ns, end_ns)
    return True


def _blocks(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> list[Block]:
    rows = connection.execute(
        "SELECT b.series_id, b.start_ns, b.step_ns, b.float32_bytes FROM sample_series s "
        "JOIN sample_blocks b ON b.series_id = s.id AND b.level = 0 AND b.start_ns >= ? AND b.start_ns < ? "
        "WHERE s.node_id = ? ORDER BY b.start_ns",
        (start_ns, end_ns, node_id),
    )
    return [(series_id, at_ns, step_ns, unpacked(content)) for series_id, at_ns, step_ns, content in rows]


def _end_ns(blocks: list[Block]) -> int:
    return min(blocks[0][1] + LONGEST_NS, max(at_ns + step_ns * len(values) for _, at_ns, step_ns, values in blocks))
