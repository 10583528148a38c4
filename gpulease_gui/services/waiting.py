"""When were the readings taken that waited for us while this program stood still, and of which of that time is nothing known?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from gpulease_gui.telemetry.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpulease_gui.services.intake import SeriesKey, Told, WatchView
    from gpulease_gui.services.series import Ring

# Of an interval: what waited comes closer together than that, and within so many seconds.
_TOGETHER, _WAITED_S = 0.4, 2.0
# As much as is missing between two readings without a gap.
_LEAST_INTERVALS, _LEAST_S = 2.5, 2.5
# From how many readings the pace of a source is known.
_PACE_OF = 6
# (seconds UTC, source, what its line says); nothing of no source: all curves end there.
Line = tuple[float, str, "Told"]
END = ""


@dataclass(slots=True)
class Waiting:
    """The lines that came at once after this program had taken nothing from `begin_s` to `end_s` (UTC seconds).

    A node whose lines nobody takes goes on until the line is full, and then waits. They are kept back until one comes that did not wait.
    """

    begin_s: float
    end_s: float
    interval_s: float
    _came_s: float = 0.0
    _lines: dict[SeriesKey, list[Line]] = field(default_factory=dict)

    def holds(self, source_id: str, told: Told, at_s: float) -> bool:
        """Whether this line is kept back; no line is after the first one that is not."""
        apart_s = at_s - (self._came_s or self.end_s)
        if not 0 <= apart_s < _TOGETHER * self.interval_s or at_s - self.end_s > _WAITED_S:
            return False
        self._came_s = at_s
        if told:
            self._lines.setdefault((source_id, _key(told)[1]), []).append((at_s, source_id, told))
        return True

    def is_over(self, at_s: float) -> bool:
        """Whether nothing comes any more that waited."""
        return at_s - self.end_s > _WAITED_S

    def taken(self, view: WatchView) -> list[Line]:
        """The lines in the order and with the times of their being taken; the gaps of the time in which they were are cut."""
        made: list[Line] = []
        waited_s = self.begin_s
        for lines in self._lines.values():
            late = self._times(lines, view.rings)
            waited_s = max([waited_s, *(at_s + self.interval_s for at_s in late[-1:])])
            made += [(at_s, *line[1:]) for at_s, line in zip(late, lines, strict=False)] + lines[len(late) :]
        return sorted([*((at_s, END, ()) for at_s in self._cut(view, waited_s)), *made], key=lambda line: line[0])

    def _times(self, lines: list[Line], rings: Mapping[SeriesKey, Ring]) -> list[float]:
        """When those of a source were taken that waited: at its own pace, from when we stood still on. The last one may be of now."""
        before_s, late = self.end_s, 0
        for at_s, *_ in lines:
            if not at_s - before_s < _TOGETHER * self.interval_s:
                break
            before_s, late = at_s, late + 1
        ring = rings.get(_key(lines[0][2]))
        lately = _last_times(ring) if ring is not None else []
        pace_s = max(self.interval_s, median([after - before for before, after in pairwise(lately)] or [0.0]))
        first_s = math.nextafter(self.begin_s, math.inf)
        if lately and ring is not None and ring.last is not None:
            first_s = max(first_s, lately[-1] + pace_s, ring.last[0])
        return [min(line[0], first_s + n * pace_s) for n, line in enumerate(lines[: max(0, late - 1)])]

    def _cut(self, view: WatchView, waited_s: float) -> list[float]:
        """Where the gaps of this time begin that are left: where nothing came of the node."""
        least_s, begins_s = max(_LEAST_S, _LEAST_INTERVALS * self.interval_s), []
        for gap in [gap for gap in view.gaps if gap.end_s is not None and self.begin_s <= gap.start_s and gap.end_s <= self.end_s]:
            if gap.start_s < waited_s:
                gap.start_s = waited_s
                if gap.end_s is not None and gap.end_s - waited_s < least_s:
                    view.gaps = [one for one in view.gaps if one is not gap]
                    continue
            begins_s.append(gap.start_s)
        return begins_s


def _key(told: Told) -> SeriesKey:
    """The curve by which a line is known: the first one of its last subject, as cards that are missed are told first."""
    if isinstance(told, Row):
        return told.form.keys[0]
    subject = told[-1].subject
    return next((point.metric, subject) for point in told if point.subject == subject)


def _last_times(ring: Ring) -> list[float]:
    """When the last few readings of a curve were taken."""
    seen = ring.view()
    found: Iterable[tuple[float, float]] = zip(seen.times_s[-2 * _PACE_OF :], seen.values[-2 * _PACE_OF :], strict=True)
    return [at_s for at_s, value in found if value == value][-_PACE_OF:]
