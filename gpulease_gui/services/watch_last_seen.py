"""Which cards and chips does a node have that is watched from now on, by what was watched and verified of it before?"""

from __future__ import annotations

import math

from gpulease_gui.services.watch_places import Spans, not_replaced, successors
from gpulease_gui.store.ahead import newest_end
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.runs import get_run
from gpulease_gui.store.samples import read_blocks, series_by_id
from gpulease_gui.store.sightings import cards_of_run, newest_run_with_cards
from gpulease_gui.store.watch_events import gone_since

_NS = 1_000_000_000
# The last minute in which a card was read counts; an event that is cut off with its watch ends a little before it.
_LATELY_S, _CUT_S = 60.0, 120.0


def last_seen(connection: Reader, node_id: str, lately: Spans, now_s: float) -> frozenset[str]:
    """The cards (UUIDs) of a node: those of its last watch, which `lately` tells in part, those that were gone when that one
    ended, and those of its last run; whichever was later knows better. Cards of which others took the place are not its own.
    """
    watched_ns = newest_end(connection, node_id, int(now_s * _NS))
    spans, chips = _joined(lately, _read_last(connection, node_id, watched_ns, "gpu.")), _chips_of(connection, node_id)
    lost, behind_driver = _gone(connection, node_id, watched_ns)
    watched = _left(spans, lost - chips, behind_driver - chips)
    run = newest_run_with_cards(connection, node_id)
    if run is None:
        return watched
    verified, run_ns = frozenset(cards_of_run(connection, run)), int(get_run(connection, run).started_at.timestamp()) * _NS
    return successors(watched, verified) if run_ns > watched_ns else successors(verified, watched)


def last_chips(connection: Reader, node_id: str, now_s: float) -> frozenset[str]:
    """The Ascend chips of a node, by name: those of its last watch, and those that were gone when that one ended."""
    watched_ns = newest_end(connection, node_id, int(now_s * _NS))
    chips = _chips_of(connection, node_id)
    lost, behind_driver = _gone(connection, node_id, watched_ns)
    return _left(_read_last(connection, node_id, watched_ns, "npu."), lost & chips, behind_driver & chips)


def _left(read: Spans, lost: frozenset[str], behind_driver: frozenset[str]) -> frozenset[str]:
    """What was read and what was lost without what others replaced, perhaps too late for the watch to find that."""
    there = not_replaced(read)
    return successors(behind_driver, there | (lost - (read.keys() - there)))


def _gone(connection: Reader, node_id: str, end_ns: int) -> tuple[frozenset[str], frozenset[str]]:
    """Cards and chips that nobody could read when the watch ended: lost ones, and those of a driver that did not answer."""
    return gone_since(connection, node_id, end_ns - int(_CUT_S * _NS)) if end_ns else (frozenset(), frozenset())


def _chips_of(connection: Reader, node_id: str) -> frozenset[str]:
    """All chips that were ever read: an event does not say what its subject is."""
    return frozenset(one.subject for one in series_by_id(connection, node_id).values() if one.metric.startswith("npu."))


def _read_last(connection: Reader, node_id: str, end_ns: int, kind: str) -> Spans:
    """When what was read in the last minute was read first and last, as far back as an event may be cut off."""
    blocks = read_blocks(connection, node_id, end_ns - int(_CUT_S * _NS), end_ns + 1) if end_ns else {}
    spans: dict[str, tuple[float, float]] = {}
    for series, some in blocks.items():
        if series.metric.startswith(kind):
            times_s = [(one.start_ns + place * one.step_ns) / _NS for one in some for place, value in enumerate(one.values) if not math.isnan(value)]
            spans = _joined(spans, {series.subject: (min(times_s), max(times_s))} if times_s else {})
    return {subject: span for subject, span in spans.items() if span[1] >= end_ns / _NS - _LATELY_S}


def _joined(some: Spans, others: Spans) -> dict[str, tuple[float, float]]:
    """The spans of both."""
    made = dict(some)
    for subject, (first_s, last_s) in others.items():
        before = made.get(subject, (first_s, last_s))
        made[subject] = min(before[0], first_s), max(before[1], last_s)
    return made
