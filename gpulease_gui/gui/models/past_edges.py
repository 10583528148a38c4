"""From which reading on to which one was a stretch read, where only summaries of it are looked at?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gpulease_gui.gui.models.past_readings import Told
from gpulease_gui.store.edges import Readings, first_readings, last_readings

_NS = 1_000_000_000
# Series begin and end together, but for a few; of others the slot says it.
_MOST = 4
# A slot with nearly as many readings as any other has them from its begin to its end.
_FULL = 0.98

_Look = Callable[[sqlite3.Connection, str, int, int], Readings]


def with_edges(connection: sqlite3.Connection, node_id: str, told: Mapping[int, Told]) -> dict[int, Told]:
    """What was read of each series, by its id, with the time of its first reading and its last reading where they are kept."""
    ends = {id_: places for id_, one in told.items() if not one.plain and (places := _ends(one)) is not None}
    first = {id_: _slot(told[id_], begin) for id_, (begin, _) in ends.items() if _is_part(told[id_], begin)}
    last = {id_: _slot(told[id_], end) for id_, (_, end) in ends.items()}
    made = dict(told)
    for id_, (at_ns, _) in _looked(connection, node_id, first, first_readings).items():
        made[id_] = replace(made[id_], first_read_s=at_ns / _NS)
    for id_, (at_ns, value) in _looked(connection, node_id, last, last_readings).items():
        made[id_] = replace(made[id_], newest=(at_ns / _NS, value))
    return made


def _ends(told: Told) -> tuple[int, int] | None:
    """The places of the first and the last reading or summary."""
    mean = told.mean
    if mean[0] == mean[0] and mean[-1] == mean[-1]:
        return 0, -1
    there = np.flatnonzero(~np.isnan(mean))
    return (int(there[0]), int(there[-1])) if len(there) else None


def _slot(told: Told, place: int) -> tuple[float, float]:
    return float(told.times_s[place]), told.step_s


def _is_part(told: Told, place: int) -> bool:
    return bool(told.count[place] < _FULL * told.count.max())


def _looked(connection: sqlite3.Connection, node_id: str, slots: Mapping[int, tuple[float, float]], look: _Look) -> Readings:
    """The readings of the slots (begin in UTC seconds, length) of series."""
    found: Readings = {}
    for begin_s, step_s in list(dict.fromkeys(slots.values()))[:_MOST]:
        there = look(connection, node_id, int(begin_s * _NS), int((begin_s + step_s) * _NS))
        found |= {id_: there[id_] for id_, slot in slots.items() if slot == (begin_s, step_s) and id_ in there}
    return found
