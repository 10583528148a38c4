"""How many cards had a node on a day, by what was read of them and by what was missed then?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from statistics import median_high

from gpulease_gui.checks.watch_time import paid_card
from gpulease_gui.services.paid_cards import Seen
from gpulease_gui.store.ahead import newest_end
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.samples import outline, series_by_id
from gpulease_gui.store.slots import LEVELS, Outline, pieces, slots_of

_NS = 1_000_000_000
_SLOT_NS = LEVELS[4]
_DAY_S = 86_400.0
# `newest_end` allows for a clock that is corrected.
_LATELY_S = 65.0


def cards_ever(connection: Reader, node_id: str) -> Seen:
    """How many cards were ever read of a node."""
    return _seen(set(_names(connection, node_id).values()))


def cards_on(connection: Reader, node_id: str, day_s: tuple[float, float], missed: Sequence[tuple[str, float, float]] = ()) -> Seen:
    """The usual number of cards within half an hour of a day in which any were there; 0 = nothing is known of that day.

    `day_s`: its begin and end in UTC seconds. Cards are there that are read, and those that were `missed`: (card, begin, end in
    UTC seconds) of what was lost or did not answer. Of cards that others took the place of, neither is true later on.
    """
    begin_ns, end_ns = (int(at_s) * _NS for at_s in day_s)
    names = _names(connection, node_id)
    there: dict[int, set[str]] = {}
    for id_, at_ns in _read(outline(connection, node_id, begin_ns, end_ns, _SLOT_NS), names):
        there.setdefault(at_ns // _SLOT_NS, set()).add(names[id_])
    for card, since_s, until_s in missed:
        first_ns, last_ns = max(int(since_s * _NS), begin_ns), min(int(until_s * _NS), end_ns) - 1
        for slot in range(first_ns // _SLOT_NS, last_ns // _SLOT_NS + 1):
            there.setdefault(slot, set()).add(card)
    first, last = begin_ns // _SLOT_NS, -(-end_ns // _SLOT_NS)
    told = [_seen(cards) for slot, cards in there.items() if first <= slot < last] or [_seen(())]
    return Seen(median_high([one.modules for one in told]), median_high([one.chips for one in told]))


def cards_before(connection: Reader, node_id: str, at_s: float) -> Seen:
    """As of the last day with readings before a time (UTC seconds), as far as these are kept; 0 = there is none."""
    end_s = newest_end(connection, node_id, int((at_s - _LATELY_S) * _NS)) / _NS
    return cards_on(connection, node_id, (end_s - _DAY_S, end_s)) if end_s else _seen(())


def _seen(cards: Collection[str]) -> Seen:
    return Seen(len(set(map(paid_card, cards))), len(cards))


def _names(connection: Reader, node_id: str) -> dict[int, str]:
    """The card or chip of each series that tells of one."""
    told = series_by_id(connection, node_id).items()
    return {id_: one.subject for id_, one in told if one.metric.startswith(("gpu.", "npu."))}


def _read(told: Outline, wanted: Iterable[int]) -> Iterable[tuple[int, int]]:
    """(series, time in ns) of readings of the wanted series, each stretch once at least."""
    wanted = frozenset(wanted)
    for slab in told.slabs:
        for place, id_ in enumerate(slab.ids):
            if id_ in wanted:
                yield from ((id_, at_ns) for at_ns, _ in slots_of(slab, place))
    for id_, start_ns, step_ns, values in pieces(told.packs):
        if id_ in wanted:
            yield from ((id_, start_ns + n * step_ns) for n, value in enumerate(values) if not math.isnan(value))
