"""How does one lane show its curves beside their promise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets import lane_paint as parts
from gpulease_gui.gui.widgets.chart_scale import TimeScale, ValueScale, time_ticks, value_scale
from gpulease_gui.gui.widgets.chart_spec import Coarser, Curve, Happening, Hole, LaneSpec, Mode, fixed, with_unit
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.gui.widgets.lane_paint import Columns, Line
from gpulease_gui.gui.widgets.lane_plot import LanePlot
from gpulease_gui.gui.widgets.live_tail import STRIP_PX, LiveTail
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.strip import Kept, strip

LEAST_PX = 92
PART_PX = 8  # of the height, where only some curves are without samples
TROUBLE_PX = 40
MOST_LISTED, MOST_TOLD = 8, 24  # cards in the readout; in its tip, which must fit on a screen
NO_DATA = Text("no data", "无数据")
MORE = Text("and {count} more", "另有 {count} 张")
LOWEST, SPREAD = Text("lowest {name}", "最低 {name}"), Text("spread {value}", "极差 {value}")
LOST, AS_INDEX = Text("lost", "丢失"), Text("index {index} on the node", "节点编号 {index}")
BELOW = Text("below promise", "低于承诺")


@dataclass(frozen=True, slots=True)
class Moment:
    """What all lanes share: the stretch of time in device px, the gaps, where the cursor is."""

    scale: TimeScale
    now_s: float
    holes: tuple[Hole, ...] = ()
    cursor_s: float | None = None
    chosen: tuple[float, float] | None = None
    happenings: tuple[Happening, ...] = ()
    coarser: tuple[Coarser, ...] = ()
    until_s: float | None = None  # where what is in sight ends: a pixel of a month is an hour, and the last one is not whole

    @property
    def marks(self) -> tuple[object, ...]:
        """All that is drawn beside the lines."""
        return self.holes, self.cursor_s, self.chosen, self.happenings, self.coarser


class Lane(Lively, QWidget):
    """One row of the chart: painted columns around a plot.

    `hovered` carries the time under the pointer, or None when it leaves the plot; `dragged` seconds; `zoomed` a factor and
    the time to zoom around; `chosen` the two ends of a range. Times are UTC seconds.
    """

    hovered = Signal(object)
    dragged = Signal(float)
    zoomed = Signal(float, float)
    chosen = Signal(float, float)

    def __init__(self, lane: LaneSpec, interval_s: float, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lane = lane
        self.tail = LiveTail(lane, interval_s)
        self._interval_s = interval_s
        self._behind = False  # whether a refresh was left out while nobody looked
        self._values = value_scale(0.0, lane.promised.value if lane.promised else None, lane.full)
        self._moment: Moment | None = None
        self.least, self._extra = LEAST_PX, 0
        self.plot = LanePlot((self._paint_ground, self._paint_lines, self._paint_over), self)
        self.plot.hovered.connect(lambda x: self.hovered.emit(None if x is None else self._time_at(x)))
        self.plot.dragged.connect(self.dragged)
        self.plot.zoomed.connect(lambda factor, x: self.zoomed.emit(factor, self._time_at(x) or 0.0))
        self.plot.chosen.connect(lambda first, last: self.chosen.emit(self._time_at(first) or 0.0, self._time_at(last) or 0.0))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._fit()
        self.retranslate()

    # -- what the stack calls ---------------------------------------------------------------------------------------

    def show_lane(self, lane: LaneSpec, mode: Mode, interval_s: float, loads: Sequence[tuple[float, float]]) -> bool:
        """Show other curves or another mode; whether the curves are others."""
        changed = lane != self.lane
        self.lane, self._interval_s = lane, interval_s
        self.tail.show(lane, lane.mode(mode), interval_s, loads)
        if changed:
            self._fit()
            self.retranslate()
            self.update()
        return changed

    def show_moment(self, moment: Moment, *, news: bool = True, hurry: bool = False) -> None:
        """Move on; only what changed is painted anew. For `news` and `hurry` see LiveTail.frame."""
        before, self._moment = self._moment, moment
        if self.lane.trouble or self.visibleRegion().isEmpty():
            self._behind = True  # its axis too: it is brought up to date when it comes into sight
            return
        if before is None or self._behind:
            self.refresh()
        self.plot.show_range(moment.scale.end_s - moment.scale.start_s, self._values)
        height = round(self.height() * self._ratio)
        moved = self.tail.frame(moment.scale, self._values, height, self._ratio, news=news, hurry=hurry)
        if moved or before is None or before.marks != moment.marks:
            self.plot.again()

    def refresh(self) -> None:
        """Once a second: the height of the axis, the odd curves, the figures of the readout."""
        self._behind = self.visibleRegion().isEmpty()
        if self.lane.trouble or self._behind:
            return
        curves = [data.read(curve.ring) for curve in self.lane.curves]
        start_s = self._moment.scale.start_s if self._moment else 0.0
        largest = data.largest([data.between(c, start_s, float("inf")) for c in curves])
        self.set_largest(largest)
        self.tail.look_for_odd()
        self.update_readout()

    def set_largest(self, largest: float) -> None:
        """Fit the axis to the largest value in sight."""
        promised = self.lane.promised.value if self.lane.promised else None
        values = value_scale(largest, promised, self.lane.full)
        if values != self._values:
            self._values = values
            if self._moment is not None:
                self.tail.frame(self._moment.scale, values, round(self.height() * self._ratio), self._ratio)
            self.plot.again()
            self.update()

    def update_readout(self) -> None:
        """Paint the figures at the cursor anew."""
        columns = self.columns
        self.update(QRect(columns.readout, 0, columns.readout_width, self.height()))

    # -- size, language, theme ----------------------------------------------------------------------------------------

    @property
    def columns(self) -> Columns:
        """Where the columns lie now."""
        return Columns(self.font(), self.width())

    @property
    def values(self) -> ValueScale:
        """The value axis as it is now."""
        return self._values

    @property
    def _ratio(self) -> float:
        return self.devicePixelRatioF()

    @property
    def _foot(self) -> int:
        return STRIP_PX + 1 if self.tail.has_strip else 1

    def _fit(self) -> None:
        line = parts.line_height(self.font())
        self._place()
        if self.lane.trouble:
            self.least = max(TROUBLE_PX, 2 * line + 4)
            self.setFixedHeight(self.least)
            return
        count = len(self.lane.curves)
        pairs = self.lane.alike and count > 1
        rows = (min(count, MOST_LISTED) + 1) // 2 + 1 if pairs else count + (2 if self.lane.promised else 0)
        self.least = max(LEAST_PX, rows * line + 14)
        self.setMinimumHeight(self.least + self._extra)
        self.setMaximumHeight(16777215)

    def give(self, extra: int) -> None:
        """Be at least so many px higher than needed."""
        if extra != self._extra and not self.lane.trouble:
            self._extra = extra
            self._fit()

    def _place(self) -> None:
        """Put the plot between its columns."""
        self.plot.setVisible(not self.lane.trouble)
        self.plot.setGeometry(self.columns.plot(self.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns moved."""
        super().resizeEvent(event)
        self._place()

    def sizeHint(self) -> QSize:
        """Room for the readout."""
        return QSize(800, max(self.minimumHeight(), LEAST_PX))

    def retranslate(self) -> None:
        """The accessible name tells the promise too."""
        promised = self.lane.promised
        said = [say(self.lane.title), self.lane.unit, parts.promise_words(self.lane, promised) if promised else ""]
        self.setAccessibleName(", ".join(part for part in said if part))
        lost = [f"{self.lane.name(curve.number)} {say(LOST)}: {say(curve.lost)}" for curve in self.lane.curves if curve.lost]
        self.setAccessibleDescription(self.trouble_words or "; ".join(lost))
        self.update()

    def retheme(self) -> None:
        """Draw all lines anew in the colours of the theme."""
        self.tail.forget()
        self._fit()
        self.update()

    @property
    def trouble_words(self) -> str:
        """Why there is nothing to see; empty when there is."""
        return say(self.lane.trouble)

    # -- painting -----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the columns that are touched."""
        painter, columns, height = QPainter(self), self.columns, self.height()
        rect = event.rect()
        if rect.left() < columns.name:
            parts.paint_name(painter, QRect(0, 0, columns.name, height), self.font(), self.lane)
        if self.lane.trouble:
            whole = QRect(columns.name, 0, self.width() - columns.name, height)
            parts.paint_trouble(painter, whole, self.font(), self.trouble_words)
        else:
            self._paint_data(painter, columns, rect)
        line = QColor(colours().border2)
        painter.fillRect(QRect(0, height - 1, columns.name, 1), line)
        painter.fillRect(QRect(columns.name - 1, 0, 1, height), line)
        painter.fillRect(QRect(columns.axis, height - 1, self.width() - columns.axis, 1), line)

    def _paint_data(self, painter: QPainter, columns: Columns, rect: QRect) -> None:
        if rect.right() >= columns.axis and rect.left() < columns.readout:
            axis = QRect(columns.axis, 0, columns.axis_width, self.height())
            parts.paint_axis(painter, axis, self.font(), self.lane, self._values, self._foot)
            painter.fillRect(QRect(columns.axis, 0, 1, self.height()), QColor(colours().border2))
        if rect.right() >= columns.readout:
            self._paint_readout(painter, QRect(columns.readout, 0, columns.readout_width, self.height()))

    def _paint_ground(self, painter: QPainter, plot: QRect) -> None:
        moment, lane, ratio = self._moment, self.lane, self._ratio
        ticks = [moment.scale.x(tick) / ratio for tick in time_ticks(moment.scale)] if moment else []
        parts.paint_ground(painter, plot, self._values, self._foot, ticks)
        if lane.promised is not None:
            parts.paint_tolerance(painter, plot, lane.promised, self._values, self._foot)
        if moment is not None:
            parts.paint_coarser(painter, plot, moment.coarser, moment.scale, ratio)
            holes = [hole for hole in moment.holes if hole.source in ("", lane.source, lane.id)]
            parts.paint_holes(painter, plot, holes, moment.scale, ratio, moment.now_s)
            some = [hole for hole in moment.holes if hole.part_of == lane.id]
            parts.paint_holes(painter, QRect(plot.left(), plot.top(), plot.width(), PART_PX), some, moment.scale, ratio, moment.now_s)

    def _paint_lines(self, painter: QPainter, plot: QRect) -> None:
        if self._moment is not None:
            painter.drawPixmap(QPointF(self.tail.offset / self._ratio, 0.0), self.tail.image)

    def _paint_over(self, painter: QPainter, plot: QRect) -> None:
        moment, lane, ratio = self._moment, self.lane, self._ratio
        if lane.promised is not None:
            height, figure = plot.height() - self._foot, lane.promised.value
            y, over = (round(self._values.y(value, height)) for value in (figure, figure * (1 + lane.promised.tolerance)))
            parts.paint_promise(painter, plot, self.font(), parts.promise_words(lane, lane.promised), y, over)
        if moment is not None:
            self._paint_held(painter, plot, moment)
        if moment is not None and moment.chosen is not None:
            parts.paint_chosen(painter, plot, *(moment.scale.x(at_s) / ratio for at_s in moment.chosen))
        if moment is not None and moment.cursor_s is not None:
            parts.paint_cursor(painter, plot, moment.scale.x(moment.cursor_s) / ratio)

    def _paint_held(self, painter: QPainter, plot: QRect, moment: Moment) -> None:
        for one in moment.happenings:
            end_s = moment.now_s if one.end_s is None else one.end_s
            if self.lane.term and one.concerns == self.lane.term and end_s > moment.scale.start_s and one.start_s < moment.scale.end_s:
                first, last = (moment.scale.x(at_s) / self._ratio for at_s in (one.start_s, end_s))
                parts.paint_held(painter, plot, first, last, one.token)

    def _paint_readout(self, painter: QPainter, rect: QRect) -> None:
        painter.fillRect(rect, QColor(colours().bg1))
        painter.fillRect(QRect(rect.left(), 0, 1, rect.height()), QColor(colours().border))
        lines, lowest, spread = self._lines()
        if self.lane.alike and len(self.lane.curves) > 1:
            parts.paint_pairs(painter, rect, self.font(), lines, (lowest, spread))
        else:
            parts.paint_list(painter, rect, self.font(), lines)

    # -- the readout --------------------------------------------------------------------------------------------------

    @property
    def read_at_s(self) -> float | None:
        """The time that the readout speaks of: the cursor, else the newest sample."""
        moment = self._moment
        if moment is not None and moment.cursor_s is not None:
            return moment.cursor_s
        last = [end[0] for curve in self.lane.curves if (end := curve.ring.last) is not None]
        newest = max(last, default=None)
        return newest if newest is None or moment is None else min(newest, moment.scale.end_s if moment.until_s is None else moment.until_s)

    def readings(self) -> list[float | None]:
        """The value of each curve at that time; None in a gap."""
        at_s = self.read_at_s
        if at_s is None:
            return [None] * len(self.lane.curves)
        return [data.value_at(curve.ring, at_s, self._interval_s) for curve in self.lane.curves]

    def _lines(self) -> tuple[list[Line], str, str]:
        readings, lane = self.readings(), self.lane
        known = [(value, curve.number) for value, curve in zip(readings, lane.curves, strict=True) if value is not None]
        lowest = min(known)[1] if known else -1
        lines = []
        for value, curve in zip(readings, lane.curves, strict=True):
            gone = value is None and bool(curve.lost) and not self._is_read_later(curve)
            shown = say(LOST) if gone else "–" if value is None else fixed(value, lane.decimals)
            strong = not lane.alike or curve.number == lowest
            lines.append(Line(lane.short(curve), shown, number=curve.number, strong=strong, token="fail" if gone else "t1" if value is not None else "t3"))
        if lane.alike and len(lane.curves) > 1:
            return self._fewer(lines, known), *self._lowest_and_spread(known)
        return lines + self._promise_lines(known), "", ""

    def _is_read_later(self, curve: Curve) -> bool:
        """What is lost now was only not read at a time after which it was read again."""
        return self.read_at_s is not None and data.is_read_after(data.read(curve.ring), self.read_at_s)

    def _fewer(self, lines: list[Line], known: list[tuple[float, int]]) -> list[Line]:
        """More than eight curves: the odd ones first, then in their order as many as fit, the lowest and the highest among them."""
        if len(lines) <= MOST_LISTED:
            return lines
        odd = [lines[place] for place in self.tail.odd][:MOST_LISTED]
        ends = {min(known)[1], max(known)[1]} if known else set[int]()
        others = sorted((line for line in lines if line not in odd), key=lambda line: line.number not in ends)[: MOST_LISTED - len(odd)]
        return odd + [line for line in lines if line in others]

    def _lowest_and_spread(self, known: list[tuple[float, int]]) -> tuple[str, str]:
        if not known:
            return say(NO_DATA), ""
        low, high = min(known), max(known)
        difference = with_unit(high[0] - low[0], self.lane.unit, self.lane.decimals)
        return say(LOWEST).format(name=self.lane.name(low[1])), say(SPREAD).format(value=difference)

    def _promise_lines(self, known: list[tuple[float, int]]) -> list[Line]:
        promised = self.lane.promised
        if promised is None:
            return []
        whose = parts.IMPLIED if promised.implied else parts.CONTRACT
        lines = [Line(say(whose), number_text(promised.value), icon="promise")]
        if known and self._broken_now():
            delta = (max(known)[0] / promised.value - 1) * 100
            lines.append(Line(say(BELOW), with_unit(delta, "%", 1), icon="verdict-fail", token="fail", strong=True))
        return lines

    def _broken_now(self) -> bool:
        at_s, promised = self.read_at_s, self.lane.promised
        if at_s is None or promised is None or not self.tail.has_strip:
            return False
        grid = data.Grid(int(at_s // self._interval_s) - 1, 1, self._interval_s)
        curves = [data.read(c.ring) for c in self.lane.curves]
        reasons = [None if c.reasons is None else data.read(c.reasons) for c in self.lane.curves]
        tops = [data.tops(c.ring, samples) for c, samples in zip(self.lane.curves, curves, strict=True)]
        return bool(strip(promised, curves, reasons, grid, self._interval_s, self.tail.loads, tops)[0] == Kept.BROKEN)

    def identity_words(self) -> str:
        """Which card each number is, how the node numbers it, and why one is not read any more."""
        lines = []
        for curve in self.lane.curves if self.lane.alike else ():
            name = self.lane.name(curve.number)
            said = [name if name.endswith(curve.subject) else f"{name}: {curve.subject}"]
            if curve.index is not None:
                said.append(say(AS_INDEX).format(index=curve.index))
            if curve.lost:
                said.append(f"{say(LOST)}: {say(curve.lost)}")
            lines.append(", ".join(said))
        if len(lines) > MOST_TOLD:
            lines = [*lines[:MOST_TOLD], say(MORE).format(count=len(lines) - MOST_TOLD)]
        return "\n".join(lines)

    def event(self, event: QEvent) -> bool:
        """Over the readout the tip tells the cards."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            over = event.pos().x() >= self.columns.readout and bool(self.lane.curves) and self.lane.alike
            QToolTip.showText(event.globalPos(), plain_tip(self.identity_words()) if over else "", self)
            return True
        return super().event(event)

    # -- the pointer --------------------------------------------------------------------------------------------------

    def _time_at(self, x: float) -> float | None:
        return None if self._moment is None else self._moment.scale.time(x * self._ratio)
