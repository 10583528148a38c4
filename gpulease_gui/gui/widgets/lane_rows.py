"""What stands over and under the lanes: events in words, and the one time axis?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import summary_words
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.local_times import zone
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_scale import TimeScale, local, moment_text, tick_text, time_ticks
from gpulease_gui.gui.widgets.chart_spec import Coarser, Happening
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.gui.widgets.lane_events import list_words, paint_placed, text_font
from gpulease_gui.gui.widgets.lane_marks import ICON_PX, QUIET, Placed, Seen, arrange
from gpulease_gui.gui.widgets.lane_paint import Columns

if TYPE_CHECKING:
    from gpulease_gui.gui.widgets.lane_stack import LaneStack

_V = Qt.AlignmentFlag.AlignVCenter
NEAR_PX = 3
EVENTS = Text("Events", "事件")
AT_CURSOR = Text("At cursor {time}", "游标 {time}")
LATEST = Text("Latest {time}", "最新 {time}")
PAUSED, BACK = Text("Paused at {time}", "暂停于 {time}"), Text("Looking back, {time}", "回看 {time}")
RECEIVED = Text("time received here", "按本机接收时刻")


class EventRow(QWidget):
    """Gaps and checks as words over the lanes."""

    def __init__(self, stack: LaneStack) -> None:
        super().__init__(stack)
        self._stack = stack
        self._scale: TimeScale | None = None
        self._seen: list[Seen] = []  # what is in sight
        self._placed: list[Placed] = []  # what is drawn of it
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_scale(self, scale: TimeScale) -> None:
        """Move on, if there is something to move."""
        if scale != self._scale:
            self._scale = scale
            picture = self._stack.picture
            if picture.holes or picture.happenings or picture.coarser:
                self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Name, boxes, the time of the readouts."""
        painter, palette = QPainter(self), colours()
        columns = Columns(self.font(), self._stack.row_width)
        painter.fillRect(self.rect(), QColor(palette.surface))
        right = QRect(columns.readout, 0, self.width() - columns.readout, self.height())
        painter.fillRect(right, QColor(palette.bg1))
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        painter.setPen(QColor(palette.t3))
        painter.drawText(QRect(16, 0, columns.name - 16, self.height()), _V, say(EVENTS))
        self._paint_time(painter, right.adjusted(16, 0, 0, 0))
        if self._scale is not None:
            plot = columns.plot(self.height())
            painter.setClipRect(plot)
            self._paint_events(painter, plot, self._scale)
            painter.setClipping(False)
        painter.fillRect(QRect(0, self.height() - 1, self.width(), 1), QColor(palette.border2))
        if self._stack.hasFocus():
            painter.fillRect(QRect(0, 0, self.width(), 2), QColor(palette.accent))

    def _paint_time(self, painter: QPainter, room: QRect) -> None:
        """Of which time the readouts speak; that a chart stands still is told louder than that it goes on."""
        stack = self._stack
        at_cursor, at_s = stack.read_at
        words = AT_CURSOR if at_cursor else BACK if stack.away else PAUSED if stack.paused else LATEST
        still = stack.paused and not at_cursor
        painter.setFont(sized(self.font(), TextSize.CAPTION, 600 if still else 400))
        painter.setPen(QColor(colours().t1 if still else colours().t2))
        painter.drawText(room, _V, say(words).format(time=moment_text(at_s)))

    def _paint_events(self, painter: QPainter, plot: QRect, scale: TimeScale) -> None:
        """Where an event stands is found anew for each picture: what is in sight are some dozens."""
        ratio, edge_s = self.devicePixelRatioF(), self._stack.span_s[1]
        self._seen = []
        for happening in [*self._all(), *self._coarser()]:
            end_s = edge_s if happening.end_s is None else happening.end_s
            left, right = (plot.left() + round(scale.x(at_s) / ratio) for at_s in (happening.start_s, end_s))
            # A column of a month is most of an hour: what is of the one that is not full yet stands at the edge.
            if right >= plot.left() and happening.start_s <= edge_s:
                self._seen.append(Seen(happening, (max(plot.left(), min(left, plot.right())), max(plot.left(), min(right, plot.right())))))
        painter.setFont(text_font(self.font()))
        self._placed = arrange(self._seen, painter.fontMetrics(), (plot.left(), plot.right()))
        for placed in self._placed:
            paint_placed(painter, self.font(), placed, self.height())

    def _all(self) -> list[Happening]:
        picture = self._stack.picture
        gaps = [Happening(h.start_s, h.end_s, h.reason, "info" if h.quiet else "link", QUIET if h.quiet else "") for h in picture.holes if h.reason]
        return gaps + list(picture.happenings)

    def told_at(self, x: float) -> str:
        """All that happened under a place (px from the left) in words, with its time: what a group holds, and what had no room in the row too."""
        over = [one.happening for one in self._seen if one.span[0] - NEAR_PX <= x <= one.span[1] + NEAR_PX]
        for placed in self._placed:
            if any(first - NEAR_PX <= x <= last + NEAR_PX for first, last in self._taken(placed)):
                over += [one for one in placed.told if one not in over]
        return list_words(over)

    def _taken(self, placed: Placed) -> list[tuple[int, int]]:
        """The px of the parts of what is drawn."""
        metrics = QFontMetrics(text_font(self.font()))
        words = [(at, at + metrics.horizontalAdvance(said)) for at, said in ((placed.text, placed.words), (placed.more_at, placed.more)) if said]
        icon = [(placed.icon, placed.icon + ICON_PX)] if placed.icon is not None else []
        return [*words, *icon, *([placed.box] if placed.box is not None else [])]

    def event(self, event: QEvent) -> bool:
        """The tip tells what there is no room for."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.told_at(event.pos().x())), self)
            return True
        return super().event(event)

    def _coarser(self) -> list[Happening]:
        """Told where nothing else is: they last for days."""
        return [Happening(one.start_s, one.end_s, summary_words(one.step_s), "info", QUIET) for one in self._stack.picture.coarser]


def received_words(coarser: Sequence[Coarser], at_s: float) -> Text:
    """How the readings of a time (UTC seconds) came about, or what is left of them."""
    left = next((summary_words(one.step_s) for one in coarser if one.start_s <= at_s < one.end_s), None)
    return RECEIVED if left is None else Text(f"{left.en} here", f"此处仅有 {left.zh}")


class TimeRow(QWidget):
    """The one time axis; the zone is written once. Dragging along it chooses a range of time."""

    def __init__(self, stack: LaneStack) -> None:
        super().__init__(stack)
        self._stack = stack
        self._scale: TimeScale | None = None
        self._begun_s: float | None = None
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A range begins here; a click alone takes the old one away."""
        self._begun_s = self._time_at(event)
        self._stack.choose(0.0, 0.0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The range reaches to the pointer."""
        at_s = self._time_at(event)
        if self._begun_s is not None and at_s is not None:
            self._stack.choose(self._begun_s, at_s)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The range is chosen."""
        self._begun_s = None

    def _time_at(self, event: QMouseEvent) -> float | None:
        """The time under the pointer, at most that of the plot's edges."""
        if self._scale is None:
            return None
        plot = Columns(self.font(), self._stack.row_width).plot(self.height())
        x = min(max(event.position().x() - plot.left(), 0.0), float(plot.width()))
        return self._scale.time(x * self.devicePixelRatioF())

    def show_scale(self, scale: TimeScale) -> None:
        """Move on."""
        if scale != self._scale:
            self._scale = scale
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Times under the grid lines."""
        painter, palette = QPainter(self), colours()
        columns = Columns(self.font(), self._stack.row_width)
        painter.fillRect(self.rect(), QColor(palette.surface))
        right = QRect(columns.readout, 0, self.width() - columns.readout, self.height())
        painter.fillRect(right, QColor(palette.bg1))
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        painter.setPen(QColor(palette.t3))
        painter.drawText(right.adjusted(16, 0, 0, 0), _V, say(received_words(self._stack.picture.coarser, self._stack.read_at[1])))
        if self._scale is None:
            return
        painter.drawText(QRect(columns.axis + 8, 0, columns.axis_width, self.height()), _V, zone(local(self._scale.end_s)))
        window_s = self._scale.end_s - self._scale.start_s
        width = painter.fontMetrics().horizontalAdvance("00-00 00:00") + 8
        for tick in time_ticks(self._scale):
            middle = columns.name + round(self._scale.x(tick) / self.devicePixelRatioF())
            left = middle - width // 2
            if columns.name <= left and left + width <= columns.axis:
                painter.drawText(QRect(left, 0, width, self.height()), Qt.AlignmentFlag.AlignCenter, tick_text(tick, window_s))
