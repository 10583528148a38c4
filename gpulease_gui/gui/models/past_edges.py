"""From which reading on to which one was a stretch read, and how often, where only summaries of it are looked at?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from gpulease_gui.gui.models.past_readings import Told
from gpulease_gui.services.series import Paces
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.edges import Readings, first_readings, last_readings, steps_of

_NS = 1_000_000_000
# Series begin and end together, but for a few; of others the slot says it.
_MOST = 4
# A slot with nearly as many readings as any other has them from its begin to its end.
_FULL = 0.98
# Where a slot has other than nearly as many readings as the one before, they may have been asked for more often or less.
_OTHER, _MOST_OTHERS, _LOOKS = 0.1, 32, 4

_Look = Callable[[Reader, str, int, int], Readings]


def with_edges(connection: Reader, node_id: str, told: Mapping[int, Told]) -> dict[int, Told]:
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


def summed_paces(connection: Reader, node_id: str, told: Collection[Told], start_s: float, end_s: float) -> Paces:
    """How often the readings of a stretch were asked for (since when in UTC seconds, seconds between two), as far as they are kept."""
    looks = _changes_s(max(told, key=lambda one: len(one.times_s))) if told else ()
    found = steps_of(connection, node_id, int(start_s * _NS), int(end_s * _NS), [int(at_s * _NS) for at_s in looks])
    return tuple((since_ns / _NS, step_ns / _NS) for since_ns, step_ns in found)


def _changes_s(told: Told) -> list[float]:
    """Some times (UTC seconds) in the slots that have other than as many readings as their neighbours."""
    other = np.flatnonzero(np.abs(np.diff(told.count)) > _OTHER * told.count[:-1])
    begins = told.times_s[np.unique(np.concatenate([other, other + 1]))[-_MOST_OTHERS:]] if len(other) else np.empty(0)
    return [float(at_s) for at_s in (begins[:, None] + np.arange(_LOOKS) / _LOOKS * told.step_s).ravel()]


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


def _looked(connection: Reader, node_id: str, slots: Mapping[int, tuple[float, float]], look: _Look) -> Readings:
    """The readings of the slots (begin in UTC seconds, length) of series."""
    found: Readings = {}
    for begin_s, step_s in list(dict.fromkeys(slots.values()))[:_MOST]:
        there = look(connection, node_id, int(begin_s * _NS), int((begin_s + step_s) * _NS))
        found |= {id_: there[id_] for id_, slot in slots.items() if slot == (begin_s, step_s) and id_ in there}
    return found
