"""How many cards had a node on a day, by what was read of them and by what was missed then?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from statistics import median_high

from gpulease_gui.store.doors import Reader
from gpulease_gui.store.samples import outline, series_by_id
from gpulease_gui.store.slots import LEVELS, Outline, pieces, slots_of

_NS, _DAY_S = 1_000_000_000, 86_400
_SLOT_NS = LEVELS[4]


def cards_on(connection: Reader, node_id: str, day: date, missed: Sequence[tuple[str, float, float]] = ()) -> int:
    """The usual number of cards within half an hour of a day (UTC) in which any were there; 0 = nothing is known of that day.

    Cards are there that are read, and those that were `missed`: (card, begin, end in UTC seconds) of what was lost or did not answer.
    Of cards that others took the place of, neither is true later on.
    """
    begin_s = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    names = {
        id_: one.subject for id_, one in series_by_id(connection, node_id).items() if one.metric.startswith(("gpu.", "npu."))
    }  # fmt: skip
    there: dict[int, set[str]] = {}
    for id_, at_ns in _read(outline(connection, node_id, begin_s * _NS, (begin_s + _DAY_S) * _NS, _SLOT_NS), names):
        there.setdefault(at_ns // _SLOT_NS, set()).add(names[id_])
    for card, since_s, until_s in missed:
        for slot in range(int(max(since_s, begin_s) * _NS) // _SLOT_NS, int(min(until_s, begin_s + _DAY_S) * _NS - 1) // _SLOT_NS + 1):
            there.setdefault(slot, set()).add(card)
    first, last = begin_s * _NS // _SLOT_NS, (begin_s + _DAY_S) * _NS // _SLOT_NS
    return median_high([len(cards) for slot, cards in there.items() if first <= slot < last] or [0])


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
