"""What do chart, navigator and figures show of the node in sight?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.gui.models.unwatched import unwatched_spans
from gpulease_gui.gui.pages.live_bar import LiveBar
from gpulease_gui.gui.pages.live_checks import Checks
from gpulease_gui.gui.pages.live_figures import Figures
from gpulease_gui.gui.pages.live_holes import unknown_holes
from gpulease_gui.gui.pages.live_lanes import Lanes, holes_of
from gpulease_gui.gui.pages.live_marks import error_spans, promised_figure, slow_spans
from gpulease_gui.gui.pages.live_past import History
from gpulease_gui.gui.pages.live_table import FiguresTable
from gpulease_gui.gui.pages.live_unwatched import samples_words, unwatched_s
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.chart_spec import Happening, Hole, LaneSpec, Picture, Rule, spans_of

if TYPE_CHECKING:
    from gpulease_gui.gui.models.past import Past, Wish
    from gpulease_gui.gui.models.past_times import Judged
    from gpulease_gui.gui.models.stored import Stored
    from gpulease_gui.gui.widgets.lane_stack import LaneStack
    from gpulease_gui.services.watch import WatchView

STORED_WINDOW_S = 1800.0
_LOW_SHARE = 0.95


class Sight:
    """The one place that decides between the rings of a watch and the store."""

    def __init__(
        self, frame: Frame, chart: LaneStack, bar: LiveBar, table: FiguresTable, changed: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._frame, self._chart, self._bar = frame, chart, bar
        self._slow_key: tuple[int, int, int] | None = None
        self._slow: tuple[Happening, ...] = ()
        self._named_key: tuple[object, ...] = ()
        self._unknown_key: tuple[object, ...] = ()
        self._holes: tuple[Hole, ...] = ()
        self._clock = clock
        self._named_ones: tuple[Happening, ...] = ()
        self._waiting = False
        self.history, self.checks, self.figures = History(frame, changed, clock), Checks(clock), Figures(table)

    def show(self, node_id: str, lanes: Lanes, live: WatchView | None) -> bool:
        """Show what the watch holds, or what is stored of the stretch in sight; False when there is nothing of either."""
        self.history.look()
        self._begin_at_stored(live)
        past = self._past(node_id, live, lanes)
        view = past.view if past is not None else live
        if past is not None and live is not None:
            self._tell_cards(past.view, live)
        made = lanes.of(view) if view is not None else ()
        if view is None or not made:
            return False
        self._chart.show_picture(self._picture(view, made, live, past, lanes))
        self._bar.show_lanes(lanes.known(view), lanes.hidden)
        self._show_figures(past, view)
        self._show_stored(lanes)
        return True

    def _begin_at_stored(self, live: WatchView | None) -> None:
        """A node that is not watched shows the end of what was stored of it."""
        stored = self.history.stored
        if live is None and stored is not None and stored.last_s and not self._chart.paused:
            self._chart.look_at(stored.last_s - STORED_WINDOW_S, stored.last_s)

    def _tell_cards(self, stored: WatchView, live: WatchView) -> None:
        """The numbers of cards are those of the watch; which of them are lost is told only where the stretch reaches to the last reading."""
        stored.indexes, stored.numbers = live.indexes, {**stored.numbers, **live.numbers}
        last_s = max((end[0] for ring in live.rings.values() if (end := ring.last) is not None), default=0.0) if live.lost else 0.0
        stored.lost = live.lost if self._chart.span_s[1] >= last_s - 2 * live.interval_s else {}

    def _past(self, node_id: str, live: WatchView | None, lanes: Lanes) -> Past | None:
        """What is stored of the stretch in sight, where the rings do not hold it."""
        start_s, end_s = self._chart.span_s
        self._waiting = False
        if not self.history.needed(start_s, end_s, live):
            return None
        from gpulease_gui.gui.models.past import Wish

        interval_s = live.interval_s if live is not None else 1.0
        chosen = self._chart.chosen_s or (start_s, end_s)
        recorded = self.history.stored.recorded_s if self.history.stored is not None else ()
        wish = Wish(node_id, start_s, end_s, self._chart.scale().columns, chosen, interval_s, self._judged(lanes, chosen), recorded)
        past = self.history.look_at(wish, live, following=not self._chart.paused)
        self._waiting = past is None or not _told_of(past.wish, wish, following=not self._chart.paused)
        return past

    def _judged(self, lanes: Lanes, span_s: tuple[float, float]) -> tuple[Judged, ...]:
        """The promises of the lanes, with the checks that tried them; one that still runs does so to the end of the stretch."""
        from gpulease_gui.gui.models.past_times import Judged

        made = []
        for term in lanes.judged_terms:
            promised = lanes.promised(term)
            if promised is not None and promised.rule is not Rule.SIZE:
                spans = spans_of(self._chart.picture.happenings, term, span_s[1]) if promised.rule is Rule.CHECKED else []
                made.append(Judged(term, promised, tuple(span for span in spans if span[0] < span_s[1] and span[1] > span_s[0])))
        return tuple(made)

    def _named(self, stored: Stored, lanes: Lanes) -> tuple[Happening, ...]:
        """What befell cards, with the names that the lanes give them."""
        key = id(stored), tuple(lanes.numbers.items())
        if key != self._named_key:
            self._named_key, numbers = key, lanes.numbers
            self._named_ones = tuple(
                one if one.of_cards is None else replace(one, words=one.of_cards.words(numbers, len(numbers))) for one in stored.happenings
            )  # fmt: skip
        return self._named_ones

    def _picture(
        self, view: WatchView, made: tuple[LaneSpec, ...], live: WatchView | None, past: Past | None, lanes: Lanes
    ) -> Picture:  # fmt: skip
        happenings = [*self.checks.of(view.node_id), *self._slowdowns(view, made)]
        if self.history.stored is not None:
            happenings += self._named(self.history.stored, lanes)
        holes = holes_of(view, lanes.numbers)
        if live is not None and view is not live:
            holes += tuple(hole for hole in holes_of(live, lanes.numbers) if hole.end_s is None)
        holes += self._unknown(made if view is live else (), live, holes)
        unwatched = unwatched_spans(view.gaps, *(self._chart.chosen_s or self._chart.span_s))
        return Picture(made, holes, tuple(happenings), view.interval_s, view.paces, past.coarser if past is not None else (), unwatched)

    def _unknown(self, made: tuple[LaneSpec, ...], live: WatchView | None, told: tuple[Hole, ...]) -> tuple[Hole, ...]:
        """Looked for anew once a second, or when the stretch moved."""
        span_s = self._chart.span_s
        key = id(live), id(self.history.stored), round(span_s[0]), round(span_s[1]), len(made), len(told)
        if key != self._unknown_key:
            self._unknown_key = key
            running = live is not None and any(one is live for one in self._frame.services.watching.views())
            self._holes = unknown_holes(span_s, made, live, self.history.stored, told, self._clock(), running=running)
        return self._holes

    def _slowdowns(self, view: WatchView, made: tuple[LaneSpec, ...]) -> tuple[Happening, ...]:
        """Looked for anew once a second, or when the stretch moved."""
        start_s = self._chart.span_s[0]
        key = id(view), round(start_s), len(made)
        if key != self._slow_key:
            self._slow_key = key
            catalogue = self._frame.services.catalogue
            self._slow = (*slow_spans(made, catalogue, view.interval_s, start_s), *error_spans(view, made, catalogue, start_s))
        return self._slow

    def _show_stored(self, lanes: Lanes) -> None:
        stored, navigator = self.history.stored, self._chart.navigator
        if stored is not navigator.stored:
            navigator.show_stored(stored, promised_figure(lanes, stored.term) if stored is not None else None)

    def _show_figures(self, past: Past | None, view: WatchView) -> None:
        from gpulease_gui.gui.widgets.chart_scale import range_text

        specs = [lane.lane for lane in self._chart.lanes if lane.lane.curves]
        chosen = self._chart.chosen_s
        self.figures.name(range_text(*chosen) if chosen else "")
        if specs and self._waiting:
            self.figures.wait(specs)
            self._bar.show_samples("", low=False)
        elif specs:
            span_s = chosen or self._chart.span_s
            self.figures.look(specs, self._chart.picture, span_s, past)
            count, expected = self.figures.samples
            words, *shorter = samples_words(count, expected, unwatched_s(view.gaps, *span_s, self._chart.picture.holes))
            self._bar.show_samples(words, low=count < _LOW_SHARE * expected, shorter=shorter)


def _told_of(had: Wish, wish: Wish, *, following: bool) -> bool:
    """Whether figures that were read are those of the stretch that the heading names; while it moves on they may be a little old."""
    if had.figures_s == wish.figures_s:
        return True
    whole = had.figures_s == (had.start_s, had.end_s) and wish.figures_s == (wish.start_s, wish.end_s)
    return following and whole and abs(had.step_s - wish.step_s) < 1e-3 * wish.step_s
