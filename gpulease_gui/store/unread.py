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
# In the place of the watch that noted a gap: another computer did, and it came in a file. What was read here is no part of it.
OF_OTHERS = "imported"
# So long is a pack of a watch at most; the index need not be read further.
_PACK_NS = 120 * _NS
# Whether any readings lie in a gap `g` of a whole node, or one that came in a file; the time to come, which a wrong clock wrote down, is one with readings.
TOUCHED = (
    f"(metric IS NULL OR watch = '{OF_OTHERS}') AND reason <> '{CLOCK_WRONG}' AND g.end_ns > g.start_ns AND EXISTS (SELECT 1 FROM sample_packs p WHERE "
    f"p.node_id = g.node_id AND p.level = 0 AND p.end_ns > g.start_ns AND p.end_ns <= g.end_ns + {_PACK_NS} AND p.start_ns < g.end_ns AND "
    f"(min(p.end_ns, g.end_ns) - max(p.start_ns, g.start_ns) > {_SEAM_NS} OR (p.start_ns <= g.start_ns AND p.end_ns >= g.end_ns) "
    f"OR g.end_ns - g.start_ns <= {2 * _SEAM_NS}))"
)


def unread(connection: sqlite3.Connection, gap: Gap, watch: str | None = None) -> Iterator[Gap]:
    """The parts of a gap of a whole node that no readings cover; what is shorter than a seam is none.

    `watch`: who noted it; None = a program that did not say so, whose own readings are told from those of others by their length.
    """
    where = "FROM sample_packs WHERE node_id = ? AND level = 0 AND (? IS NULL OR watch IS NOT ?) AND"
    own = gap.node_id, watch, watch
    rows = connection.execute(
        f"SELECT content {where} end_ns > ? AND end_ns <= ? AND start_ns < ?", (*own, gap.start_ns, gap.end_ns + _PACK_NS, gap.end_ns)
    ).fetchall()
    if rows and watch is not None:  # what others read just before and after it says whether they read on
        rows += connection.execute(
            f"SELECT content {where} end_ns > ? AND end_ns <= ? ORDER BY end_ns DESC LIMIT 1", (*own, gap.start_ns - _PACK_NS // 2, gap.start_ns)
        ).fetchall()
        rows += connection.execute(
            f"SELECT content {where} end_ns > ? AND end_ns <= ? AND start_ns >= ? ORDER BY end_ns LIMIT 1",
            (*own, gap.end_ns, gap.end_ns + _PACK_NS, gap.end_ns),
        ).fetchall()
    packs = [unpack(content) for (content,) in rows]
    if watch is not None:
        yield from _without(gap, _read_on(packs))
    elif gap.end_ns - gap.start_ns > _SEAM_NS or gap.reason == NOT_WATCHED:
        yield from _without(gap, _joined(_spans(packs)))
    elif not _is_bridged(packs, gap):
        yield gap


def _without(gap: Gap, covered: Iterable[tuple[int, int]]) -> Iterator[Gap]:
    """What spans that rise and lie apart leave of a gap."""
    free_ns = gap.start_ns
    for begin_ns, after_ns in covered:
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


def _read_on(packs: Iterable[Pack]) -> Iterator[tuple[int, int]]:
    """From which reading to which others read on, each one no later after the one before than half a step more than it should.

    A last reading stands for nothing after it: others may have lost the node at the same time.
    """
    held: tuple[int, int, int] | None = None
    for begin_ns, after_ns, step_ns in _spans(packs):
        last_ns = after_ns - step_ns
        if held is None or begin_ns - held[1] > max(step_ns, held[2]) * 3 // 2:
            if held is not None:
                yield held[0], held[1]
            held = begin_ns, last_ns, step_ns
        elif last_ns > held[1]:
            held = held[0], last_ns, step_ns
    if held is not None:
        yield held[0], held[1]


def _is_bridged(packs: Iterable[Pack], gap: Gap) -> bool:
    """Whether readings go on from before a gap to after it. The last reading before it reaches over a short one, and says nothing of it."""
    return any(
        not missing and start_ns + first * step_ns <= gap.start_ns and start_ns + (after - 1) * step_ns >= gap.end_ns
        for _, start_ns, step_ns, values in chain.from_iterable(map(blocks_of, packs))
        for missing, first, after in runs_of(values)
    )


def _spans(packs: Iterable[Pack]) -> list[tuple[int, int, int]]:
    """When anything was read, in the order of time: (begin, end, step), the last reading a step before the end."""
    whole, made = set[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for _, start_ns, step_ns, values in chain.from_iterable(map(blocks_of, packs)):
        times = start_ns, step_ns, len(values)
        if times in whole:
            continue  # most series of a node were read at the same times
        for missing, first, after in runs_of(values):
            if not missing:
                made.append((start_ns + first * step_ns, start_ns + after * step_ns, step_ns))
        if is_whole(values):
            whole.add(times)
    return sorted(made)


def _joined(spans: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that rise, those as one that are no more than a seam apart."""
    held: tuple[int, int] | None = None
    for begin_ns, after_ns, _ in spans:
        if held is not None and begin_ns - held[1] <= _SEAM_NS:
            held = held[0], max(held[1], after_ns)
        else:
            if held is not None:
                yield held
            held = begin_ns, after_ns
    if held is not None:
        yield held
