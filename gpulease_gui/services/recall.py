"""What was stored of a node lately, so that a restarted watch goes on where the last one ended?"""

from __future__ import annotations

import math
from concurrent.futures import wait
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.services.series import RING_POINTS, Paces, Ring
from gpulease_gui.services.source_gaps import source_spans
from gpulease_gui.store.ahead import CLOCK_WRONG, tell_ahead
from gpulease_gui.store.card_names import CardNames, get_names, get_numbers
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import list_gaps, read_blocks, recorded_spans
from gpulease_gui.store.unread import NOT_WATCHED
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    import sqlite3

    from gpulease_gui.store.records import SampleBlock
    from gpulease_gui.store.workspace import Workspace

WRITTEN_S = 5.0
_NS = 1_000_000_000
_SILENT_STEPS = 3
_APART_S = 15.0


@dataclass(frozen=True, slots=True)
class Recalled:
    """When what was put back ends (UTC seconds; 0 = nothing was), why nothing follows it, and up to when a wrong clock wrote ahead.

    `names`: what chips are called, by source and place. `noted_s`: up to when (UTC seconds) the store says why nothing was read after it.
    """

    last_s: float = 0.0
    why: str = NOT_WATCHED
    ahead_s: float = 0.0
    names: CardNames = field(default_factory=dict)
    noted_s: float = 0.0


def begin_with(view: WatchView, workspace: Workspace, now_s: float) -> Recalled:
    """Put what was stored of the last hour before what will come, with what its cards are called; tell what a clock that was ahead wrote down."""
    telling = workspace.submit(lambda db: tell_ahead(db, view.node_id, int(now_s * _NS)))
    try:
        with workspace.read() as connection:
            last_s, names = put_back(view, connection, now_s), get_names(connection, view.node_id)
            # A card is its UUID: it is called as before, and another one in its place is not.
            view.numbers = {**get_numbers(connection, view.node_id), **view.numbers}
    except UserFacing:
        return Recalled()  # the store will say so itself when the first block is written
    wait([telling], WRITTEN_S)
    if not telling.done() or telling.cancelled() or telling.exception() is not None:
        return Recalled(last_s, names=names, noted_s=_noted_until(view, last_s))
    ahead = telling.result()
    if ahead.told:
        return Recalled(last_s, CLOCK_WRONG, ahead.until_ns / _NS, names)
    return Recalled(last_s, ahead_s=ahead.until_ns / _NS, names=names, noted_s=_noted_until(view, last_s))


def _noted_until(view: WatchView, last_s: float) -> float:
    """The end (UTC seconds) of the gaps that follow the last reading without a hole."""
    reach_s = last_s
    for gap in view.gaps:
        if gap.end_s is not None and gap.start_s <= reach_s + _APART_S:
            reach_s = max(reach_s, gap.end_s)
    return reach_s


def put_back(view: WatchView, connection: sqlite3.Connection, now_s: float) -> float:
    """Put what was stored of the last hour before what will come; the time of its last sample (UTC), 0 = there is none."""
    rings, gaps, paces = recall(connection, view.node_id, now_s, view.interval_s)
    last_s = max((end[0] for ring in rings.values() if (end := ring.last) is not None), default=0.0)
    view.handed.recall(last_s)
    if last_s:
        told = (GapSpan(g.start_ns / _NS, g.reason, min(g.end_ns / _NS, now_s), True) for g in gaps if g.metric is None)
        view.gaps.extend(told)
        view.source_gaps, view.missed = source_spans(gaps), tuple(source_spans(gaps, lost=True))
        view.rings, view.paces = rings, (*paces, (last_s, view.interval_s))
    return last_s


def forget(view: WatchView) -> None:
    """Let go of all that was sampled and of its gaps."""
    view.gaps, view.source_gaps, view.missed, view.rings, view.paces = [], [], (), {}, ()
    view.handed.recall(0.0)


def recall(
    connection: sqlite3.Connection, node_id: str, now_s: float, interval_s: float
) -> tuple[dict[tuple[str, str], Ring], tuple[Gap, ...], Paces]:
    """Rings by (metric, subject) with what was stored in the time that a ring holds, its gaps, and how often it was asked.

    A silence ends a line with a NaN, as a gap does while watching.
    """
    end_ns = int(now_s * _NS)
    start_ns = end_ns - int(RING_POINTS * interval_s * _NS)
    rings: dict[tuple[str, str], Ring] = {}
    steps: dict[int, tuple[int, int]] = {}
    own = {id_ for id_, metric in metrics().items() if metric.own_pace}
    for series, blocks in read_blocks(connection, node_id, start_ns, end_ns).items():
        ring = rings.setdefault((series.metric, series.subject), Ring())
        steps.update((block.start_ns, (block.step_ns, block.start_ns + (len(block.values) - 1) * block.step_ns)) for block in blocks)
        if series.metric in own:
            _append_slow(ring, blocks)
            continue
        for block in blocks:
            _append(ring, block.start_ns / _NS, block.step_ns / _NS, block.values.tolist())
    # What another computer could not read is no matter of this watch.
    return rings, tuple(gap for gap in list_gaps(connection, node_id, None, start_ns, end_ns) if not gap.imported), _paces(steps)


def unread(connection: sqlite3.Connection, node_id: str, start_s: float, end_s: float) -> tuple[tuple[float, float], ...]:
    """The parts of start <= time < end (UTC seconds) of which no reading is stored, such as was taken before a clock was set back."""
    start_ns, end_ns = int(start_s * _NS), int(end_s * _NS)
    free, made = start_ns, []
    for begin_ns, after_ns in recorded_spans(connection, node_id, start_ns, end_ns, int(_APART_S * _NS)):
        if begin_ns > free:
            made.append((free / _NS, min(begin_ns, end_ns) / _NS))
        free = max(free, after_ns)
    return (*made, (free / _NS, end_s)) if free < end_ns else tuple(made)


def _paces(steps: dict[int, tuple[int, int]]) -> Paces:
    """By when blocks begin: their step and when their last reading was taken (ns). A pace holds from the last reading of the one before
    on, as its first reading is due one step later; no more than this one step, as longer is a gap.
    """
    made: list[tuple[float, float]] = []
    ended_ns = 0
    for start_ns in sorted(steps):
        step_ns, last_ns = steps[start_ns]
        if not made:
            made.append((start_ns / _NS, step_ns / _NS))
        elif made[-1][1] != step_ns / _NS:
            made.append((min(start_ns, max(ended_ns, start_ns - step_ns)) / _NS, step_ns / _NS))
        ended_ns = max(ended_ns, last_ns)
    return tuple(made)


def _append_slow(ring: Ring, blocks: list[SampleBlock]) -> None:
    """What is told less often than asked has slots without a reading between its readings: they end no line."""
    known = [
        ((block.start_ns + place * block.step_ns) / _NS, value)
        for block in blocks for place, value in enumerate(block.values) if not math.isnan(value)
    ]  # fmt: skip
    steps = sorted(after - before for (before, _), (after, _) in pairwise(known))
    usual_s = steps[len(steps) // 2] if steps else 0.0
    for at_s, value in known:
        last = ring.last
        if last is not None and at_s - last[0] > _SILENT_STEPS * usual_s:
            ring.append(last[0] + usual_s, None)
        ring.append(at_s, value)


def _append(ring: Ring, start_s: float, step_s: float, values: list[float]) -> None:
    last = ring.last
    if last is not None and start_s - last[0] > _SILENT_STEPS * step_s:
        ring.append(last[0] + step_s, None)
    for place, value in enumerate(values):
        ring.append(start_s + place * step_s, None if math.isnan(value) else value)
