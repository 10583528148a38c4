"""How does a bundle say what of the stretches of its events nobody read, and why?

Readings stay at home; an event travels with its own evidence alone. Without the gaps in and beside it nobody can tell a card that
was quiet from a line that was down. What another program read of a gap is no part of it.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.ahead import CLOCK_WRONG
from gpulease_gui.store.exchange.bundle_watch import EVENT_OVER
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import list_gaps
from gpulease_gui.store.unread import OF_OTHERS

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database
    from gpulease_gui.store.exchange.bundle_schema import Bundle, Record

# A gap so near to an event (a minute) tells of its begin or its end.
NEAR_NS = 60 * 1_000_000_000
# The longest ones of a node.
MOST_GAPS = 5000
_Span = tuple[int, int]
_Of = tuple[str, str | None, str]  # node, metric, reason


def gap_rows(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, str]]:
    """(node, begin, end in ns as text, reason, metrics) of the gaps that touch events that are over, by node and time.

    The metrics of one source stand in one row with blanks between; "" = the whole node.
    """
    spans: dict[str, list[_Span]] = {}
    rows = connection.execute(f"SELECT node_id, began_ns, ended_ns FROM watch_events WHERE {EVENT_OVER} ORDER BY node_id, began_ns")
    for node_id, began_ns, ended_ns in rows:
        spans.setdefault(node_id, []).append((began_ns - NEAR_NS, ended_ns + NEAR_NS))
    for node_id, near in spans.items():
        touching = _Touching(near)
        gaps = list_gaps(connection, node_id, None, near[0][0], max(end_ns for _, end_ns in near))
        told: dict[tuple[int, int, str], dict[str, None]] = {}
        for gap in gaps:
            if gap.reason != CLOCK_WRONG and touching.has(gap.start_ns, gap.end_ns):
                told.setdefault((gap.start_ns, gap.end_ns, gap.reason), {})[gap.metric or ""] = None
        longest = sorted(told, key=lambda one: (one[0] - one[1], one))[:MOST_GAPS]
        for begin_ns, end_ns, reason in sorted(longest):
            metrics = told[begin_ns, end_ns, reason]
            yield node_id, str(begin_ns), str(end_ns), reason, "" if "" in metrics else " ".join(sorted(metrics))


class _Touching:
    """Whether a stretch of time touches one of many, or is covered by one; these are given by their begin."""

    def __init__(self, spans: Sequence[_Span]) -> None:
        self._begins = [begin_ns for begin_ns, _ in spans]
        self._ends = list(accumulate((end_ns for _, end_ns in spans), max))

    def has(self, begin_ns: int, end_ns: int) -> bool:
        place = bisect_left(self._begins, end_ns + 1)
        return place > 0 and self._ends[place - 1] >= begin_ns

    def covers(self, begin_ns: int, end_ns: int) -> bool:
        place = bisect_left(self._begins, begin_ns + 1)
        return place > 0 and self._ends[place - 1] >= end_ns


def refuse_damaged_gaps(bundle: Bundle) -> None:
    """Raise UserFacing for a gap that ends before it begins, or that is of no event of the bundle."""
    spans: dict[str, list[_Span]] = {}
    for record in bundle.of("watch_events"):
        begin_ns, end_ns = (int(str(record.value(name))) for name in ("began_ns", "ended_ns"))
        spans.setdefault(str(record.value("node_id")), []).append((begin_ns - NEAR_NS, end_ns + NEAR_NS))
    touching = {node_id: _Touching(sorted(some)) for node_id, some in spans.items()}
    for record in bundle.of("watch_gaps"):
        node_id, begin_ns, end_ns = record.key[0], int(record.key[1]), int(record.key[2])
        if end_ns < begin_ns:
            raise _damaged(record, Text(f"it ends at {end_ns} ns, before it begins", f"它结束于 {end_ns} ns，早于开始"))
        if node_id not in touching or not touching[node_id].has(begin_ns, end_ns):
            raise _damaged(record, Text("no event of the bundle is near it", "数据包中没有与之相邻的事件"))


def _damaged(record: Record, why: Text) -> UserFacing:
    where = f"watch_gaps {record.key[0][:40]} {record.key[1]}"
    return UserFacing(Text("a gap of the bundle is damaged", "数据包中有一段缺口记录已损坏"), Text(f"{where}: {why.en}", f"{where}：{why.zh}"), Text("export it again", "请重新导出"))


class KnownGaps:
    """The gaps of the nodes of some records that this workspace knows, from its own watch or from a file. What is known of a longer gap is known."""

    def __init__(self, connection: sqlite3.Connection, records: Iterable[Record]) -> None:
        spans: dict[_Of, list[_Span]] = {}
        for node_id in dict.fromkeys(record.key[0] for record in records):
            rows = connection.execute("SELECT metric, reason, start_ns, end_ns FROM sample_gaps WHERE node_id = ? ORDER BY start_ns", (node_id,))
            for metric, reason, start_ns, end_ns in rows:
                spans.setdefault((node_id, metric, reason), []).append((start_ns, end_ns))
        self._known = {of: _Touching(some) for of, some in spans.items()}

    def missing(self, record: Record) -> list[Gap]:
        """What is not known of a gap of a bundle."""
        return [gap for gap in _gaps(record) if not self._has(gap)]

    def _has(self, gap: Gap) -> bool:
        known = self._known.get((gap.node_id, gap.metric, gap.reason))
        return known is not None and known.covers(gap.start_ns, gap.end_ns)


def save_gaps(db: Database, records: Sequence[Record]) -> None:
    """Add what is not known of gaps of a bundle; they say for ever that they came in a file."""
    known = KnownGaps(db.conn, records)
    gaps = dict.fromkeys(gap for record in records for gap in known.missing(record))
    db.conn.executemany(
        f"INSERT INTO sample_gaps (node_id, metric, start_ns, end_ns, reason, watch) VALUES (?, ?, ?, ?, ?, '{OF_OTHERS}')",
        [(gap.node_id, gap.metric, gap.start_ns, gap.end_ns, gap.reason) for gap in gaps],
    )


def _gaps(record: Record) -> Iterable[Gap]:
    node_id, began_ns, ended_ns, reason, metrics = record.key
    return (Gap(node_id, int(began_ns), int(ended_ns), reason, metric or None) for metric in metrics.split(" "))
