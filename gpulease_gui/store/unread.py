"""Which part of a gap did nobody read?

A watch notes the time in which it read nothing itself. Another program may have watched the node then, and what it read comes to
the store later than the gap: so it is looked when a gap is asked for. Where readings went for their age, a gap stays as it was noted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from gpulease_gui.store.ahead import CLOCK_WRONG
from gpulease_gui.store.moments import blocks_of, is_whole, runs_of
from gpulease_gui.store.packing import Pack, unpack
from gpulease_gui.store.records import Gap

_NS = 1_000_000_000
# What two readings lie apart, and what a pack of the watch itself reaches into its gap.
_SEAM_NS = 2 * _NS
# Why nothing was read before a watch began: a short time beside the readings of another one is none, other than a cut.
NOT_WATCHED = "not_watched"
# So long is a pack of a watch at most; the index need not be read further.
_PACK_NS = 120 * _NS
# Whether any readings lie in a gap `g` of a whole node; the time to come, which a wrong clock wrote down, is one with readings.
TOUCHED = (
    f"metric IS NULL AND reason <> '{CLOCK_WRONG}' AND g.end_ns > g.start_ns AND EXISTS (SELECT 1 FROM sample_packs p WHERE "
    f"p.node_id = g.node_id AND p.level = 0 AND p.end_ns > g.start_ns AND p.end_ns <= g.end_ns + {_PACK_NS} AND p.start_ns < g.end_ns AND "
    f"(min(p.end_ns, g.end_ns) - max(p.start_ns, g.start_ns) > {_SEAM_NS} OR (p.start_ns <= g.start_ns AND p.end_ns >= g.end_ns)))"
)


def unread(connection: sqlite3.Connection, gap: Gap) -> Iterator[Gap]:
    """The parts of a gap of a whole node that no readings cover; what is shorter than a seam is none."""
    rows = connection.execute(
        "SELECT content FROM sample_packs WHERE node_id = ? AND level = 0 AND end_ns > ? AND end_ns <= ? AND start_ns < ?",
        (gap.node_id, gap.start_ns, gap.end_ns + _PACK_NS, gap.end_ns),
    )
    packs = [unpack(content) for (content,) in rows]
    if gap.end_ns - gap.start_ns <= _SEAM_NS and gap.reason != NOT_WATCHED:
        if not _is_bridged(packs, gap):
            yield gap
        return
    free_ns = gap.start_ns
    for begin_ns, after_ns in _joined(_spans(packs)):
        begin_ns, after_ns = max(begin_ns, gap.start_ns), min(after_ns, gap.end_ns)
        if (begin_ns, after_ns) == (gap.start_ns, gap.end_ns):
            return
        if after_ns - begin_ns <= _SEAM_NS:
            continue
        if begin_ns - free_ns > _SEAM_NS:
            yield replace(gap, start_ns=free_ns, end_ns=begin_ns)
        free_ns = after_ns
    if gap.end_ns - free_ns > _SEAM_NS or free_ns == gap.start_ns:
        yield replace(gap, start_ns=free_ns)


def _is_bridged(packs: Iterable[Pack], gap: Gap) -> bool:
    """Whether readings go on from before a gap to after it. The last reading before it reaches over a short one, and says nothing of it."""
    return any(
        not missing and start_ns + first * step_ns <= gap.start_ns and start_ns + (after - 1) * step_ns >= gap.end_ns
        for _, start_ns, step_ns, values in chain.from_iterable(map(blocks_of, packs))
        for missing, first, after in runs_of(values)
    )


def _spans(packs: Iterable[Pack]) -> list[tuple[int, int]]:
    """When anything was read, in the order of time."""
    whole, made = set[tuple[int, int, int]](), list[tuple[int, int]]()
    for _, start_ns, step_ns, values in chain.from_iterable(map(blocks_of, packs)):
        times = start_ns, step_ns, len(values)
        if times in whole:
            continue  # most series of a node were read at the same times
        for missing, first, after in runs_of(values):
            if not missing:
                made.append((start_ns + first * step_ns, start_ns + after * step_ns))
        if is_whole(values):
            whole.add(times)
    return sorted(made)


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that rise, those as one that are no more than a seam apart."""
    held: tuple[int, int] | None = None
    for begin_ns, after_ns in spans:
        if held is not None and begin_ns - held[1] <= _SEAM_NS:
            held = held[0], max(held[1], after_ns)
        else:
            if held is not None:
                yield held
            held = begin_ns, after_ns
    if held is not None:
        yield held
