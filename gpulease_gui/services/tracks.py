"""In which track do the samples of a line belong, so that curves that are told together are kept together?

Lines of a node tell some curves always, others now and then. Curves share a track as long as every line tells all of them or
none; a line that tells some of them parts it. So a line is kept by few steps, however many curves it tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from gpulease_gui.services.series import Ring, Track, same_times
from gpulease_gui.telemetry.row import Form, Row

if TYPE_CHECKING:
    from gpulease_gui.services.intake import WatchView

_MOST_PLANS = 1024
# Interfaces come and go with containers; cards, disks and ports do not.
NAMED_AT_WILL, NAMED_SHARE = "net.", 0.5
_Pick = Callable[[Sequence[float]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the values of a form go: a track, and which of the values (None: all of them). `form` and `places`: what is kept."""

    parts: tuple[tuple[Track, _Pick | None], ...]
    form: Form
    places: Sequence[int]


class Tracks:
    """The tracks of one node's view. Used by one thread at a time; others look at the rings."""

    def __init__(self, view: WatchView, most_series: int) -> None:
        self._view, self._most = view, most_series
        self._plans: dict[Form, _Plan] = {}

    def renew(self) -> None:
        """The rings of the view may be others now."""
        self._plans = {}

    def append(self, row: Row, at_s: float) -> Row:
        """Add a sample to each curve of a row, none of them twice; what was kept: the row, or less where there are too many curves."""
        plan = self._plans.get(row.form)
        if plan is None:
            plan = self._planned(row.form)
        values = row.values
        for track, pick in plan.parts:
            track.append(at_s, values if pick is None else pick(values))
        return row if plan.form is row.form else Row(plan.form, [values[place] for place in plan.places])

    def _planned(self, form: Form) -> _Plan:
        self._make(form)
        rings = self._view.rings
        places = [place for place, key in enumerate(form.keys) if key in rings]
        kept = form if len(places) == len(form.keys) else Form(tuple(form.keys[place] for place in places), form.indexes)
        groups = [self._own(group) for group in _alike([rings[key] for key in kept.keys])]
        number = {id(rings[form.keys[place]]): place for place in places}
        parts = [(group[0].track, _pick([number[id(ring)] for ring in group], len(form.keys))) for group in groups]
        if len(self._plans) >= _MOST_PLANS:
            self._plans = {}
        self._plans[form] = _Plan(tuple(parts), kept, places)
        return self._plans[form]

    def _make(self, form: Form) -> None:
        """Rings for curves that are new, as far as there is room: no machine has more.

        What a node names at will has a share of it only, and of that, what ended longest ago goes for what is new; it is stored.
        """
        rings = self._view.rings
        new = [key for key in dict.fromkeys(form.keys) if key not in rings]
        if not new:
            return
        named = [key for key in rings if _at_will(key)]
        room = self._most - len(rings) + len(named)
        fixed = [key for key in new if not _at_will(key)][: max(0, room)]
        room = max(0, min(room - len(fixed), int(self._most * NAMED_SHARE)))
        wanted = [key for key in new if _at_will(key)]
        gone = self._leaving(named, form, len(named) - room, len(named) + len(wanted) - room)
        if gone:
            self._plans = {}
        kept = {key: ring for key, ring in rings.items() if key not in gone}
        wanted = wanted[: max(0, room - len(named) + len(gone))]
        # A chart on another thread may be walking over the rings: it gets a new mapping, not a changed one.
        self._view.rings = {**kept, **{key: Ring() for key in (*fixed, *wanted)}}

    def _leaving(self, named: Sequence[tuple[str, str]], form: Form, must: int, may: int) -> frozenset[tuple[str, str]]:
        """Of the named curves that this line does not tell: `may` of those that ended, the longest ago first; `must` in any case, the newest last."""
        if may <= 0:
            return frozenset()
        told, rings = frozenset(form.keys), self._view.rings
        others = [key for key in named if key not in told]
        lasts = {key: last[0] for key in others if (last := rings[key].last) is not None and math.isnan(last[1])}
        ended = sorted(lasts, key=lambda key: lasts[key])
        going = [key for key in reversed(others) if key not in lasts]
        return frozenset([*ended[:may], *going[: max(0, must - len(ended))]])

    def _own(self, rings: list[Ring]) -> list[Ring]:
        """The rings in the order of the columns of a track that holds them and no other."""
        tracks = {ring.track for ring in rings}
        if len(tracks) == 1 and rings[0].track.width == len(rings):
            return sorted(rings, key=lambda ring: ring.column)
        for track in tracks:
            others = [ring for ring in self._view.rings.values() if ring.track is track and ring not in rings]
            if others:
                Track.of(sorted(others, key=lambda ring: ring.column))
        Track.of(rings)
        self._plans = {}
        return rings


def _at_will(key: tuple[str, str]) -> bool:
    return key[0].startswith(NAMED_AT_WILL)


def _alike(rings: Sequence[Ring]) -> list[list[Ring]]:
    """The rings in groups of the same times."""
    groups: list[list[Ring]] = []
    for ring in rings:
        group = next((one for one in groups if same_times(one[0], ring)), None)
        if group is None:
            groups.append([ring])
        else:
            group.append(ring)
    return groups


def _pick(places: list[int], count: int) -> _Pick | None:
    if places == list(range(count)):
        return None
    return itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))
