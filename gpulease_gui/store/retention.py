"""For how long are readings kept, and how do old ones go without anybody waiting for it?"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.ahead import not_ahead
from gpulease_gui.store.evidence import save_blobs
from gpulease_gui.store.packing import pack, unpack
from gpulease_gui.store.records import EvidenceBlob
from gpulease_gui.store.settings import get_setting, save_setting
from gpulease_gui.store.slots import pieces, remake, rows_between

if TYPE_CHECKING:
    from sqlite_utils import Database

_NS = 1_000_000_000
_DAY_NS = 86_400 * _NS
# Everything goes by whole half hours: a coarser summary never stands for a part of what is still there.
_HALF_HOUR_NS = 1800 * _NS
MOST_ROWS = 500
FREE_PAGES = 256


@dataclass(frozen=True, slots=True)
class Retention:
    """Days for which each level is kept; 0 = for ever. Summaries of half an hour are never removed."""

    readings: int = 30
    ten_seconds: int = 90
    minutes: int = 365
    five_minutes: int = 1095

    @property
    def days(self) -> Mapping[int, int]:
        """By level; each is kept at least as long as the finer one before it."""
        found: dict[int, int] = {}
        longest = 1
        for level, days in enumerate((self.readings, self.ten_seconds, self.minutes, self.five_minutes)):
            longest = 0 if days <= 0 or not longest else max(longest, days)
            found[level] = longest
        return found


@dataclass(frozen=True, slots=True)
class KeptStretch:
    """Readings around a run that were put among its evidence: `sha256` is of the bytes, `start_ns` to `end_ns` in UTC."""

    run_id: str
    node_id: str
    start_ns: int
    end_ns: int
    sha256: str


_KEYS = {
    "readings": "retention.readings_days", "ten_seconds": "retention.ten_seconds_days",
    "minutes": "retention.minutes_days", "five_minutes": "retention.five_minutes_days",
}  # fmt: skip


def get_retention(connection: sqlite3.Connection) -> Retention:
    """As the user set it, else as shipped."""
    shipped = Retention()
    return Retention(**{name: get_setting(connection, key, getattr(shipped, name)) for name, key in _KEYS.items()})


def save_retention(db: Database, retention: Retention) -> None:
    """Keep it; what is older goes with the next rounds of `remove_some`."""
    for name, key in _KEYS.items():
        save_setting(db, key, getattr(retention, name))


def remove_some(db: Database, now: datetime) -> bool:
    """Remove up to MOST_ROWS rows that are older than they are kept, and give a little room back; whether there is more.

    Readings of a stretch that was kept for a run stay, as does what is not summarised yet.
    """
    retention, left = get_retention(db.conn), MOST_ROWS
    for level, days in retention.days.items():
        if days and left > 0:
            before_ns = (int(now.timestamp() * _NS) - days * _DAY_NS) // _HALF_HOUR_NS * _HALF_HOUR_NS
            if level == 0:
                _sum_up(db.conn, before_ns, left)
            left -= _remove(db.conn, level, before_ns, left)
    _give_back(db.conn)
    return left <= 0


_OLD = (
    "SELECT {wanted} FROM sample_packs p JOIN sample_covered c ON c.node_id = p.node_id WHERE p.level = ? AND p.end_ns <= ? "
    "AND p.end_ns <= c.until_ns AND NOT EXISTS (SELECT 1 FROM kept_stretches k WHERE k.node_id = p.node_id "
    "AND k.start_ns < p.end_ns AND k.end_ns > p.start_ns) ORDER BY p.end_ns LIMIT ?"
)


def _sum_up(connection: sqlite3.Connection, before_ns: int, most: int) -> None:
    """No reading goes whose half hour was never summarised, as happened when our clock had been far ahead."""
    old = connection.execute(_OLD.format(wanted="p.node_id, p.start_ns, p.end_ns"), (0, before_ns, most)).fetchall()
    halves = {(node_id, at // _HALF_HOUR_NS) for node_id, start_ns, end_ns in old for at in (start_ns, end_ns - 1)}
    for node_id, half in sorted(halves):
        begin_ns, end_ns = half * _HALF_HOUR_NS, (half + 1) * _HALF_HOUR_NS
        known = connection.execute(
            "SELECT 1 FROM sample_packs WHERE node_id = ? AND level = 4 AND end_ns = ?", (node_id, end_ns)
        ).fetchone()
        if known is None:
            remake(connection, node_id, begin_ns, end_ns)


def _give_back(connection: sqlite3.Connection) -> None:
    """Shorten the file by up to FREE_PAGES free pages. The statement gives back one page a step, and Python makes one step."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    for _ in range(min(free, FREE_PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")


def _remove(connection: sqlite3.Connection, level: int, before_ns: int, most: int) -> int:
    return connection.execute(
        f"DELETE FROM sample_packs WHERE entry IN ({_OLD.format(wanted='p.entry')})", (level, before_ns, most)
    ).rowcount


def keep_stretch(db: Database, run_id: str, node_id: str, start_ns: int, end_ns: int) -> KeptStretch | None:
    """Put the readings of start <= time < end among the evidence of a run; None if there are none.

    The bytes are a line of JSON that names each series id, then packs as the store keeps them. Raises
    sqlite3.IntegrityError for an unknown run.
    """
    content = stretch_content(db.conn, node_id, start_ns, end_ns)
    if not content:
        return None
    blob = EvidenceBlob.of(content)
    made = KeptStretch(run_id, node_id, start_ns, end_ns, blob.sha256)
    if made not in list_kept(db.conn, run_id):
        save_blobs(db, [blob])
        db.table("kept_stretches").insert(
            {"run_id": run_id, "node_id": node_id, "start_ns": start_ns, "end_ns": end_ns, "sha256": blob.sha256}
        )
    return made


def stretch_content(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> bytes:
    """The bytes that stand for the readings of a stretch; the same as long as its readings are there."""
    packs = [unpack(content) for _, _, content in rows_between(connection, node_id, 0, start_ns, end_ns)]
    blocks = sorted((block for block in pieces(packs)), key=lambda block: (block[0], block[1]))
    if not blocks:
        return b""
    rows = connection.execute("SELECT id, metric, subject, unit FROM sample_series WHERE node_id = ? ORDER BY id", (node_id,))
    used = {block[0] for block in blocks}
    lines = ["\t".join((str(id_), metric, subject, unit)) for id_, metric, subject, unit in rows if id_ in used]
    return ("\n".join(lines) + "\n\n").encode() + pack(blocks)


def kept_lines(content: bytes) -> tuple[dict[int, str], bytes]:
    """(name of each series: metric, subject and unit with tabs between, by its id; the pack) of what `stretch_content` made."""
    head, _, packed = content.partition(b"\n\n")
    lines = (line.partition("\t") for line in head.decode("utf-8", "replace").split("\n"))
    return {int(id_): name for id_, _, name in lines if id_.isdigit()}, packed


def newest_pack(connection: sqlite3.Connection, node_id: str, now_ns: int) -> tuple[int, int] | None:
    """(end of the newest stored readings in UTC ns that lie in no time to come, their longest step in ns); None without any."""
    row = connection.execute(
        "SELECT end_ns, content FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns <= ? ORDER BY end_ns DESC LIMIT 1",
        (node_id, not_ahead(now_ns)),
    ).fetchone()
    return None if row is None else (row[0], max(unpack(row[1]).steps_ns, default=0))


def list_kept(connection: sqlite3.Connection, run_id: str) -> tuple[KeptStretch, ...]:
    """The stretches that were kept for a run."""
    rows = connection.execute(
        "SELECT run_id, node_id, start_ns, end_ns, sha256 FROM kept_stretches WHERE run_id = ? ORDER BY entry", (run_id,)
    )
    return tuple(KeptStretch(*row) for row in rows)
