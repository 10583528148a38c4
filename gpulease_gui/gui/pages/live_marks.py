"""Which stretches in the event row come from the samples themselves?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.gui.widgets.chart_spec import Happening, LaneSpec
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    from gpulease_gui.catalog.catalogue import Catalogue
    from gpulease_gui.services.watch import WatchView

POWER = "power:"
_SHORT = 12


def slow_spans(specs: Sequence[LaneSpec], catalogue: Catalogue, interval_s: float, start_s: float) -> tuple[Happening, ...]:
    """When cards said that something holds their clocks back, from `start_s` on (UTC seconds)."""
    from gpulease_gui.gui.widgets.slowdowns import slowdowns

    names = {reason.bit: reason.name for reason in catalogue.xids.clock_reasons}
    made: list[Happening] = []
    for spec in specs:
        if spec.id.startswith(POWER):
            floor = spec.promised.value * spec.promised.passes if spec.promised else None
            made += slowdowns(spec.curves, names, start_s, interval_s, floor, spec.term)
    return tuple(made)


def error_spans(view: WatchView, specs: Sequence[LaneSpec], catalogue: Catalogue, start_s: float) -> tuple[Happening, ...]:
    """When cards and network cards reported errors, from `start_s` on (UTC seconds)."""
    from gpulease_gui.gui.widgets.error_marks import Counted, error_marks
    from gpulease_gui.services.live_events import ERRORS

    cards = {curve.subject: spec.name(curve.number) for spec in specs if spec.alike for curve in spec.curves}
    known = metrics()
    counted = [
        Counted(metric, known[metric].title, cards.get(subject, subject[:_SHORT]), ring)
        for (metric, subject), ring in view.rings.items() if metric in ERRORS
    ]  # fmt: skip
    return error_marks(counted, {code: xid.name for code, xid in catalogue.xids.xids.items()}, start_s, view.interval_s)


def promised_figure(lanes: Lanes | None, term: str | None) -> float | None:
    """The figure of a term, for the navigator's line."""
    promised = lanes.promised(term) if lanes is not None and term else None
    return promised.value if promised else None
