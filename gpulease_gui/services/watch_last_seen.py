"""Which cards and chips does a node have that is watched from now on, by what was watched and verified of it before?"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gpulease_gui.services.watch_places import successors
from gpulease_gui.store.ahead import newest_end
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.runs import get_run
from gpulease_gui.store.samples import read_blocks, series_by_id
from gpulease_gui.store.sightings import cards_of_run, newest_run_with_cards
from gpulease_gui.store.watch_events import gone_since

_NS = 1_000_000_000
# The last minute in which a card was read counts; an event that is cut off with its watch ends a little before it.
_LATELY_S, _CUT_S = 60.0, 120.0


def last_seen(connection: Reader, node_id: str, lately: Iterable[str], now_s: float) -> frozenset[str]:
    """The cards (UUIDs) of a node: those of its last watch, which `lately` tells in part, those that were gone when that one
    ended, and those of its last run; whichever was later knows better.
    """
    watched_ns = newest_end(connection, node_id, int(now_s * _NS))
    watched = frozenset(lately) | _read_last(connection, node_id, watched_ns, "gpu.")
    watched |= _gone(connection, node_id, watched_ns) - _chips_of(connection, node_id)
    run = newest_run_with_cards(connection, node_id)
    if run is None:
        return watched
    verified, run_ns = frozenset(cards_of_run(connection, run)), int(get_run(connection, run).started_at.timestamp()) * _NS
    return successors(watched, verified) if run_ns > watched_ns else successors(verified, watched)


def last_chips(connection: Reader, node_id: str, now_s: float) -> frozenset[str]:
    """The Ascend chips of a node, by name: those of its last watch, and those that were gone when that one ended."""
    watched_ns = newest_end(connection, node_id, int(now_s * _NS))
    gone = _gone(connection, node_id, watched_ns) & _chips_of(connection, node_id)
    return _read_last(connection, node_id, watched_ns, "npu.") | gone


def _gone(connection: Reader, node_id: str, end_ns: int) -> frozenset[str]:
    """Cards and chips that nobody could read when the watch ended."""
    return gone_since(connection, node_id, end_ns - int(_CUT_S * _NS)) if end_ns else frozenset()


def _chips_of(connection: Reader, node_id: str) -> frozenset[str]:
    """All chips that were ever read: an event does not say what its subject is."""
    return frozenset(one.subject for one in series_by_id(connection, node_id).values() if one.metric.startswith("npu."))


def _read_last(connection: Reader, node_id: str, end_ns: int, kind: str) -> frozenset[str]:
    blocks = read_blocks(connection, node_id, end_ns - int(_LATELY_S * _NS), end_ns + 1) if end_ns else {}
    return frozenset(
        series.subject for series, some in blocks.items()
        if series.metric.startswith(kind) and not all(math.isnan(value) for block in some for value in block.values)
    )  # fmt: skip
