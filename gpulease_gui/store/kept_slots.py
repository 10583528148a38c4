"""Are the summaries under a stretch of readings still those that its readings make?

A chart of more than a few hours is drawn from summaries alone. They are made anew from the readings, half an hour at a time.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gpulease_gui.store.packing import FIELDS, ids_of, slots_head, unpacked
from gpulease_gui.store.slot_reading import whole_from
from gpulease_gui.store.slots import LEVELS, LONGEST_NS, ROWS, covered, derived, rows_between

_WINDOW_NS = LONGEST_NS // 2
# Sums of the same readings may be rounded otherwise by another version of Python.
_ROUNDED = 1e-6
_Row = tuple[int, int, bytes]
_Numbers = tuple[float, ...]
_Span = tuple[int, int]
# (metric, subject) of a series
_Name = tuple[str, str]
# (series id, start of the slot)
_Slot = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SlotsState:
    """How many summaries of `step_ns` of one series each are not what the readings make them, and where the first begins (UTC).

    `changed` tell something else, `missing` are not there, `added` tell of what was never read. `series`: of which they are
    (metric, subject); ("", "") of one that the node does not have.
    """

    step_ns: int
    changed: int
    missing: int
    added: int
    first_ns: int
    series: tuple[_Name, ...] = ()


def slot_states(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> tuple[SlotsState, ...]:
    """The levels of which a summary that touches start <= time < end is another one; none where all are as they should be.

    Readings around the stretch may be gone for their age, and some of it may have been when it was kept: nothing is said of
    slots there, and one that reaches there may know of more than there is.
    """
    until_ns = covered(connection, node_id)
    if until_ns is None:
        return ()
    whole = _whole(connection, node_id, start_ns, end_ns)
    found: dict[int, Counter[str]] = {level: Counter() for level in LEVELS}
    first: dict[int, int] = {}
    named = {id_: (metric, subject) for id_, metric, subject in connection.execute("SELECT id, metric, subject FROM sample_series WHERE node_id = ?", (node_id,))}
    of: dict[int, set[_Name]] = {level: set() for level in LEVELS}
    for begin_ns in range(start_ns // _WINDOW_NS * _WINDOW_NS, min(end_ns, until_ns), _WINDOW_NS):
        for level, what, at_ns, ids in _window(connection, node_id, begin_ns, (start_ns, end_ns), whole, until_ns):
            found[level][what] += 1
            of[level].update(named.get(id_, ("", "")) for id_ in ids)
            first[level] = min(at_ns, first.get(level, at_ns))
    return tuple(
        SlotsState(LEVELS[level], count["changed"], count["missing"], count["added"], first[level], tuple(sorted(of[level])))
        for level, count in found.items() if count
    )  # fmt: skip


def _whole(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> tuple[_Span, ...]:
    """Where all that was ever read is there: of each stretch that was kept from its first reading on that no earlier one held.

    What is old goes oldest first, so that nothing is gone after a reading that nothing held.
    """
    kept = connection.execute(
        "SELECT entry, start_ns, end_ns FROM kept_stretches WHERE node_id = ? AND start_ns < ? AND end_ns > ?", (node_id, end_ns, start_ns)
    ).fetchall()
    found = []
    for entry, first_ns, last_ns in kept:
        row = connection.execute(
            "SELECT p.start_ns FROM sample_packs p WHERE p.node_id = ? AND p.level = 0 AND p.end_ns > ? AND p.end_ns <= ? AND p.start_ns < ? "
            "AND NOT EXISTS (SELECT 1 FROM kept_stretches k WHERE k.node_id = p.node_id AND k.entry < ? AND k.start_ns < p.end_ns "
            "AND k.end_ns > p.start_ns) ORDER BY p.end_ns LIMIT 1",
            (node_id, first_ns, last_ns + LONGEST_NS, last_ns, entry),
        ).fetchone()
        if row is not None:
            found.append((max(first_ns, row[0]), last_ns))
    return tuple(found)


def _window(
    connection: sqlite3.Connection, node_id: str, begin_ns: int, stretch: _Span, whole: tuple[_Span, ...], until_ns: int
) -> Iterator[tuple[int, str, int, tuple[int, ...]]]:
    """(level, what was done, start of the slot, ids of its series) of half an hour."""
    end_ns, made = begin_ns + _WINDOW_NS, derived(connection, node_id, begin_ns, begin_ns + _WINDOW_NS)
    spans = [row[:2] for row in rows_between(connection, node_id, 0, begin_ns, end_ns)]
    whole_ns = whole_from(connection, node_id, 0, spans, begin_ns, end_ns)
    for level, row_ns in ROWS.items():
        # What ends later is drawn from the readings.
        wanted = [row for row in made[level] if row[1] <= until_ns]
        there = [row for row in rows_between(connection, node_id, level, begin_ns, end_ns) if row[1] <= until_ns]
        if wanted == there:
            continue
        for row in [row for row in there if row[0] % row_ns or row[1] - row[0] != row_ns]:
            yield level, "added", row[0], tuple(ids_of(slots_head(row[2])[1]))
        step_ns, should, told = LEVELS[level], _slots(wanted, LEVELS[level]), _slots(there, LEVELS[level])
        for series_id, at_ns in sorted(should.keys() | told.keys()):
            if at_ns + step_ns <= stretch[0] or at_ns >= stretch[1]:
                continue
            inside = at_ns >= whole_ns or any(first <= at_ns and at_ns + step_ns <= last for first, last in whole)
            if not inside and not any(at_ns < last and at_ns + step_ns > first for first, last in whole):
                continue
            what = _done(should.get((series_id, at_ns), ()), told.get((series_id, at_ns), ()), inside=inside)
            if what:
                yield level, what, at_ns, (series_id,)


def _slots(rows: Iterable[_Row], step_ns: int) -> Mapping[_Slot, _Numbers]:
    """The numbers of all slots in which anything was read; of a slot that is told twice those of all."""
    found: dict[_Slot, _Numbers] = {}
    for start_ns, _, content in rows:
        slots, ids, place = slots_head(content)
        values = unpacked(content[place:]).tolist()
        for number, series_id in enumerate(ids_of(ids)):
            for slot in range(slots):
                at = (number * slots + slot) * FIELDS
                if values[at + 4]:
                    key = series_id, start_ns + slot * step_ns
                    found[key] = (*found.get(key, ()), *values[at : at + FIELDS])
    return found


def _done(should: _Numbers, told: _Numbers, *, inside: bool) -> str:
    """What was done to a slot, "" where nothing was. `inside`: all of its readings are there."""
    if not told:
        return "missing"
    if should and _alike(should, told):
        return ""
    if not inside and (not should or _is_more(should, told)):
        return ""
    return "changed" if should else "added"


def _alike(should: _Numbers, told: _Numbers) -> bool:
    if should == told:
        return True
    near = abs(should[1] - told[1]) <= _ROUNDED * max(abs(should[0]), abs(should[3]))
    return near and (should[0], should[2:]) == (told[0], told[2:])


def _is_more(should: _Numbers, told: _Numbers) -> bool:
    """Whether a slot may be of these readings and of others."""
    return len(told) == FIELDS and told[0] <= should[0] and told[3] >= should[3] and told[4] > should[4]
