"""How do lanes share one time axis, one cursor and one row of events?

Live: the right edge is now. Paused or moved: the right edge stands still while the rings go on. Ten frames a second at
most, and only while the chart is in sight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.chart_keys import Act, act_of
from gpulease_gui.gui.widgets.chart_scale import TimeScale
from gpulease_gui.gui.widgets.chart_spec import LaneSpec, Mode, Picture, spans_of
from gpulease_gui.gui.widgets.lane import Lane, Moment
from gpulease_gui.gui.widgets.lane_paint import Columns
from gpulease_gui.gui.widgets.lane_rows import EventRow, TimeRow
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.navigator import Navigator

FRAME_MS, SETTLE_MS = 100, 30
FRAMES_A_REFRESH, NEWS_FRAMES = 10, 3
EVENTS_PX, AXIS_ROW_PX = 24, 22
LEAST_WINDOW_S, MOST_WINDOW_S = 15.0, 30 * 86_400.0
_ZOOM, _STEP, _CURSOR_STEPS = 1.25, 0.15, 120
_Turn = QAbstractSlider.SliderAction
CHART = Text("Live chart", "实时图表")


class LaneStack(Lively, QWidget):
    """The chart of one node. `moved`: the stretch in sight was changed by hand; `chose`: the range was.

    `spanned` carries the seconds in sight whenever they are others, whoever changed them.
    """

    moved = Signal()
    spanned = Signal(float)
    chose = Signal()

    def __init__(self, clock: Callable[[], float] = time.time, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._picture = Picture()
        self._mode = Mode.SPREAD
        self._window_s = 300.0
        self._end_s: float | None = None
        self._away = False
        self._cursor_s: float | None = None
        self._chosen: tuple[float, float] | None = None
        self._frames = 0
        self._late: list[Lane] = []
        self.lanes: list[Lane] = []
        self._acts = self._made_acts()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._events, self._axis = EventRow(self), TimeRow(self)
        self._body = QWidget()
        self._rows = QVBoxLayout(self._body)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._body)
        self.navigator = Navigator(lambda: self.row_width, self)
        self.navigator.picked.connect(self.look_at)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part, stretch in ((self._events, 0), (self._scroll, 1), (self._axis, 0), (self.navigator, 0)):
            column.addWidget(part, stretch)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self.tick)
        self._settling = QTimer(self)
        self._settling.setInterval(SETTLE_MS)
        self._settling.timeout.connect(self._settle)
        self.retranslate()

    # -- what the page calls ------------------------------------------------------------------------------------------

    def show_picture(self, picture: Picture) -> None:
        """Show other lanes, gaps or events. Lanes of the same id go on where they are."""
        self._picture = picture
        known = {lane.lane.id: lane for lane in self.lanes}
        if [spec.id for spec in picture.lanes] != [lane.lane.id for lane in self.lanes]:
            self._arrange(picture, known)
        now_s = self._clock()
        for lane, spec in zip(self.lanes, picture.lanes, strict=True):
            loads = spans_of(picture.happenings, spec.term, now_s)
            if lane.show_lane(spec, self._mode, picture.interval_s, loads) and lane not in self._late:
                self._late.append(lane)
        if self._late and not self._settling.isActive():
            self._settling.start()
        self._fit_lanes()
        self._events.update()

    def _arrange(self, picture: Picture, known: dict[str, Lane]) -> None:
        while self._rows.takeAt(0) is not None:
            pass
        self._late.clear()
        self.lanes = [known.pop(spec.id) if spec.id in known else self._make(spec, picture.interval_s) for spec in picture.lanes]
        for lane in known.values():
            lane.hide()
            lane.deleteLater()
        for lane in self.lanes:
            self._rows.addWidget(lane, 0 if lane.lane.trouble else 1)

    def _fit_lanes(self) -> None:
        """Where not all lanes fit, those that do share the room, so that none is cut in the middle."""
        room, least = self._scroll.viewport().height(), [lane.least for lane in self.lanes]
        fits = next((n for n in range(len(least), 0, -1) if sum(least[:n]) <= room), 0)
        stretched = [lane for lane in self.lanes[:fits] if not lane.lane.trouble]
        spare = room - sum(least[:fits]) if 0 < fits < len(least) else 0
        for lane in self.lanes:
            share = spare // len(stretched) if lane in stretched else 0
            last = spare - share * (len(stretched) - 1) if stretched and lane is stretched[-1] else share
            lane.give(last)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the room anew."""
        super().resizeEvent(event)
        self._fit_lanes()
        self.step()

    def _make(self, spec: LaneSpec, interval_s: float) -> Lane:
        lane = Lane(spec, interval_s)
        lane.hovered.connect(self.set_cursor)
        lane.dragged.connect(self.drag_by)
        lane.zoomed.connect(self.zoom_around)
        lane.chosen.connect(self.choose)
        return lane

    def set_mode(self, mode: Mode) -> None:
        """Spread or all lines."""
        self._mode = mode
        self.show_picture(self._picture)
        self.step()

    def set_window(self, window_s: float) -> None:
        """Show so many seconds; the right edge stays."""
        self._span(window_s)
        self.step()
        self.refresh()

    def _span(self, window_s: float) -> None:
        wanted = min(MOST_WINDOW_S, max(LEAST_WINDOW_S, window_s))
        if wanted != self._window_s:
            self._window_s = wanted
            self.spanned.emit(wanted)

    def pause(self, *, paused: bool) -> None:
        """Stand still, or follow now again."""
        self._end_s, self._away = self._clock() if paused else None, False
        self.step()
        self.refresh()

    @property
    def paused(self) -> bool:
        """Whether the right edge stands still."""
        return self._end_s is not None

    @property
    def away(self) -> bool:
        """Whether it was moved away from now, and not only paused."""
        return self._away

    @property
    def window_s(self) -> float:
        """How many seconds are in sight."""
        return self._window_s

    @property
    def span_s(self) -> tuple[float, float]:
        """(start, end) of what is in sight, UTC seconds."""
        end_s = self._clock() if self._end_s is None else self._end_s
        return end_s - self._window_s, end_s

    @property
    def chosen_s(self) -> tuple[float, float] | None:
        """(start, end) of the chosen range, UTC seconds."""
        return self._chosen

    @property
    def segments(self) -> int:
        """How many line segments were drawn so far, over all lanes."""
        return sum(lane.tail.segments for lane in self.lanes)

    @property
    def ticking(self) -> bool:
        """Whether frames are made now."""
        return self._timer.isActive()

    def set_cursor(self, at_s: float | None) -> None:
        """Put the one cursor at a time; None takes it away."""
        if at_s != self._cursor_s:
            self._cursor_s = at_s
            self.step()
            for lane in self.lanes:
                lane.update_readout()
            self._events.update()
            if self._picture.coarser:
                self._axis.update()

    # -- frames -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """One frame; within a second each lane's axis and readout are brought up to date, a part of them in each."""
        self._frames += 1
        self.step(self._frames)
        for lane in self.lanes[self._frames % FRAMES_A_REFRESH :: FRAMES_A_REFRESH]:
            lane.refresh()
        if self._frames % FRAMES_A_REFRESH == 0:
            self._events.update()

    def step(self, turn: int | None = None, *, hurry: bool = False) -> None:
        """Bring every lane in sight to the time that it should show; in a frame, each third lane takes up new samples."""
        scale = self.scale()
        moment = self._moment(scale)
        for place, lane in enumerate(self.lanes):
            late = hurry or lane in self._late
            lane.show_moment(moment, news=turn is None or (turn + place) % NEWS_FRAMES == 0, hurry=late)
        self._axis.show_scale(scale)
        if turn is None or turn % FRAMES_A_REFRESH == 0:
            self.navigator.show_range(*self.span_s)
        self._events.show_scale(scale)

    def _moment(self, scale: TimeScale) -> Moment:
        return Moment(scale, self._clock(), self._picture.holes, self._cursor_s, self._chosen, self._picture.happenings, self._picture.coarser,
                      self.span_s[1])  # fmt: skip

    def _settle(self) -> None:
        """After a drag, or with other curves: one lane a turn is drawn as it should be, its axis with it."""
        if self._late:
            lane = self._late.pop(0)
            lane.show_moment(self._moment(self.scale()))
            lane.refresh()
        if not self._late:
            self._settling.stop()
            self._events.update()

    def refresh(self) -> None:
        """Axes, odd curves and figures of all lanes at once."""
        for lane in self.lanes:
            lane.refresh()
        self._events.update()

    def scale(self) -> TimeScale:
        """The stretch in sight over the device pixels of a plot."""
        ratio = self.devicePixelRatioF()
        columns = round(Columns(self.font(), self.row_width).plot_width * ratio)
        return TimeScale.ending(self.span_s[1], self._window_s, columns)

    @property
    def row_width(self) -> int:
        """The width of a lane: the events and the axis stand exactly over and under it."""
        return max(1, self._scroll.viewport().width())

    @property
    def picture(self) -> Picture:
        """What is shown now."""
        return self._picture

    @property
    def read_at(self) -> tuple[bool, float]:
        """(whether there is a cursor, the time that the readouts speak of)."""
        if self._cursor_s is not None:
            return True, self._cursor_s
        times = [at_s for lane in self.lanes if (at_s := lane.read_at_s) is not None]
        return False, max(times, default=self.span_s[1])

    def showEvent(self, event: QShowEvent) -> None:
        """Frames begin."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """No frames out of sight."""
        self._timer.stop()
        self._settling.stop()
        self._late.clear()
        super().hideEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show where the keys go."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._events.update()
        return super().event(event)

    def retheme(self) -> None:
        """Rows grow with the font."""
        line = self.fontMetrics().height()
        self._events.setFixedHeight(max(EVENTS_PX, line + 6))
        self._axis.setFixedHeight(max(AXIS_ROW_PX, line + 4))

    def retranslate(self) -> None:
        """The chart's accessible name."""
        self.setAccessibleName(say(CHART))
        self.retheme()

    # -- keys and wheel -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of chart_keys, but pausing, which is the page's."""
        act = act_of(event)
        if act is Act.NONE_CHOSEN and self._chosen is None and self._cursor_s is None or act not in self._acts:
            super().keyPressEvent(event)
        else:
            self._acts[act]()

    def _made_acts(self) -> Mapping[Act | None, Callable[[], None]]:
        return {
            Act.NEARER: lambda: self._zoom(1 / _ZOOM), Act.FARTHER: lambda: self._zoom(_ZOOM),
            Act.EARLIER: lambda: self.move_by(-_STEP * self._window_s), Act.LATER: lambda: self.move_by(_STEP * self._window_s),
            Act.CURSOR_BACK: lambda: self._walk(-1), Act.CURSOR_ON: lambda: self._walk(1),
            Act.RANGE_FROM: lambda: self._choose_to_cursor(first=True), Act.RANGE_TO: lambda: self._choose_to_cursor(first=False),
            Act.LIVE: lambda: self.move_by(float("inf")), Act.NONE_CHOSEN: self._take_away,
            Act.ABOVE: lambda: self._scroll.verticalScrollBar().triggerAction(_Turn.SliderPageStepSub),
            Act.BELOW: lambda: self._scroll.verticalScrollBar().triggerAction(_Turn.SliderPageStepAdd),
        }  # fmt: skip

    def _walk(self, way: int) -> None:
        """The cursor goes on by a step, from the newest reading if there is none; never out of sight."""
        step_s = max(self._picture.interval_s, self._window_s / _CURSOR_STEPS)
        self.set_cursor(min(max(self.read_at[1] + way * step_s, self.span_s[0]), self.span_s[1]))

    def _choose_to_cursor(self, *, first: bool) -> None:
        """One end of the range goes to the cursor, the other stays, or is the edge of what is in sight."""
        at_s = self.read_at[1]
        begin_s, end_s = self._chosen or self.span_s
        self.choose(*((at_s, max(end_s, at_s)) if first else (min(begin_s, at_s), at_s)))

    def _take_away(self) -> None:
        if self._chosen is not None:
            self.choose(0.0, 0.0)
        else:
            self.set_cursor(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl and the wheel zoom; the wheel alone scrolls the lanes."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and event.angleDelta().y():
            self._zoom(1 / _ZOOM if event.angleDelta().y() > 0 else _ZOOM)
            event.accept()
        else:
            super().wheelEvent(event)

    def _zoom(self, factor: float) -> None:
        self.set_window(self._window_s * factor)
        self.moved.emit()

    def zoom_around(self, factor: float, at_s: float) -> None:
        """Zoom so that one time keeps its place; at the right edge of live it stays live."""
        if self._end_s is not None:
            window_s = min(MOST_WINDOW_S, max(LEAST_WINDOW_S, self._window_s * factor))
            self._end_s = min(self._clock(), at_s + (self._end_s - at_s) * window_s / self._window_s)
        self._zoom(factor)

    def choose(self, first_s: float, last_s: float) -> None:
        """Choose a range between two times in any order; an empty one takes the choice away."""
        self._chosen = (min(first_s, last_s), max(first_s, last_s)) if first_s != last_s else None
        self.step()
        self.chose.emit()

    def drag_by(self, seconds: float) -> None:
        """The mouse moves the time: at once as it is drawn, then anew, lane by lane."""
        self._look_until(self.span_s[1] + seconds)
        seen = [lane for lane in self.lanes if not lane.lane.trouble and not lane.visibleRegion().isEmpty()]
        # Who has waited longest is next, so that each lane has its turn while the drag goes on.
        self._late = [lane for lane in self._late if lane in seen] + [lane for lane in seen if lane not in self._late]
        if not self._settling.isActive():
            self._settling.start()
        self.step(hurry=True)
        self.moved.emit()

    def look_at(self, start_s: float, end_s: float) -> None:
        """Show this stretch (UTC seconds); one that reaches to now is live."""
        window_s = end_s - start_s
        if abs(window_s - self._window_s) < 0.01 * window_s:
            self.drag_by(end_s - self.span_s[1])
            return
        self._span(window_s)
        self.move_by(end_s - self.span_s[1])

    def move_by(self, seconds: float) -> None:
        """Look earlier or later; at now it is live again."""
        self._look_until(self.span_s[1] + seconds)
        self.step()
        self.refresh()
        self.moved.emit()

    def _look_until(self, end_s: float) -> None:
        self._end_s = None if end_s >= self._clock() else end_s
        self._away = self._end_s is not None
