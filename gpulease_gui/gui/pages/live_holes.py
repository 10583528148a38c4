"""Of which time in sight is nothing known, beside the gaps that a watch tells itself?

Before a watch began, between two watches, and while a source said nothing for a few samples: the same hatching in chart,
tile and navigator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.stored import between_recorded
from gpulease_gui.gui.pages.live_lanes import GAPS
from gpulease_gui.gui.widgets.chart_spec import Hole, LaneSpec

if TYPE_CHECKING:
    from gpulease_gui.gui.models.stored import Stored
    from gpulease_gui.services.watch import WatchView

NOT_RECORDED, NO_READING = GAPS["not_recorded"], Text("no reading", "无读数")
_LEAST_S, _STALE_S, _STALE_INTERVALS, _MOST_CURVES = 2.0, 3.0, 5.0, 3


def unknown_holes(
    span_s: tuple[float, float], made: Sequence[LaneSpec], live: WatchView | None, stored: Stored | None, told: Sequence[Hole],
    now_s: float, *, running: bool,
) -> tuple[Hole, ...]:  # fmt: skip
    """The holes of a stretch (UTC seconds) that none of `told` touches; `made` are the lanes of `live`, none of what is stored."""
    begun_s = _begun(live)
    known = [*(stored.recorded_s if stored is not None else ()), *([(begun_s, now_s)] if begun_s is not None else ())]
    if not known:
        return ()
    found = [Hole(first, last, NOT_RECORDED, quiet=True) for first, last in between_recorded(known, *span_s)]
    if live is not None:
        found += [hole for source, specs in _by_source(made).items() for hole in _silences(source, specs, live, span_s[0], now_s, running=running)]
    loud = [other for other in told if not (other.quiet or other.part_of)]  # of a quiet one, and of other curves, the readings went on
    return tuple(hole for hole in found if not any(_touch(hole, other) for other in loud))


def _begun(live: WatchView | None) -> float | None:
    rings = tuple(live.rings.values()) if live is not None else ()
    return min((ring.view().times_s[0] for ring in rings if ring.total), default=None)


def _touch(hole: Hole, other: Hole) -> bool:
    """Whether a hole of the same source, or of all, lies in part over this one."""
    alike = other.source in ("", hole.source) or not hole.source
    endless = float("inf")
    return alike and other.start_s < (hole.end_s or endless) and hole.start_s < (other.end_s or endless)


def _by_source(made: Iterable[LaneSpec]) -> dict[str, list[LaneSpec]]:
    found: dict[str, list[LaneSpec]] = {}
    for spec in made:
        if spec.curves and not spec.at_times and not spec.own_pace:
            found.setdefault(spec.source, []).append(spec)
    return found


def _silences(source: str, specs: Sequence[LaneSpec], live: WatchView, start_s: float, now_s: float, *, running: bool) -> list[Hole]:
    """Where the lines of a source are broken: some of its curves stand for all."""
    import numpy as np

    from gpulease_gui.gui.widgets import chart_data as data

    pace_s = live.interval_s
    curves = [curve for spec in specs for curve in spec.curves][:_MOST_CURVES]
    read = [data.between(data.read(curve.ring), start_s, now_s) for curve in curves]
    times = np.unique(np.concatenate([one.times_s[~np.isnan(one.values)] for one in read]))
    if not len(times):
        return []
    limit = max(data.HOLD_INTERVALS * pace_s, _LEAST_S)
    places = np.flatnonzero(np.diff(times) > limit)
    found = [Hole(float(times[at]) + pace_s, float(times[at + 1]), NO_READING, source, quiet=True) for at in places.tolist()]
    last_s = float(times[-1])
    if running and now_s - last_s > _STALE_INTERVALS * pace_s + _STALE_S:
        found.append(Hole(last_s + pace_s, None, NO_READING, source, quiet=True))
    return found
