"""Of which episodes that are over did nobody see the end, because the watch was killed, or its line was cut, before it?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from gpulease_gui.domain.text import Text
from gpulease_gui.services.watch_rules import CUT, WATCH_MARK, end_mark
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.imported import FROM_FILE
from gpulease_gui.store.samples import list_marks
from gpulease_gui.store.watch_events import WatchEvent

__all__ = ["FROM_FILE", "NOT_SEEN", "TAKEN_AWAY", "unseen_ends"]

NOT_SEEN = Text("not seen to its end", "未看到结束")
TAKEN_AWAY = Text("taken away by agreement", "经协商移除")
_NS = 1_000_000_000


def unseen_ends(connection: Reader, node_id: str, events: Sequence[WatchEvent]) -> frozenset[str]:
    """The ids of those `events` of a node that lasted at least until they ended: who sees an end leaves a mark of it."""
    over = [event for event in events if event.ended_ns is not None and event.away is None]
    if not over:
        return frozenset()
    first, last = min(event.began_ns for event in over), max(event.ended_ns or 0 for event in over)
    marks = list_marks(connection, node_id, datetime.fromtimestamp(first // _NS, UTC), datetime.fromtimestamp(last // _NS + 1, UTC))
    seen = {mark.id for mark in marks if mark.kind == WATCH_MARK}
    return frozenset(event.id for event in over if event.finding.reason_code == CUT or end_mark(event.id) not in seen)
