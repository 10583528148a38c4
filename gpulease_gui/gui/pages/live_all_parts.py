"""What stands over and under the tiles of all nodes: sums of today, and what the colours mean?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.unwatched import unwatched_spans
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.live_tile import WINDOWS_S
from gpulease_gui.gui.pages.live_unwatched import missed_words, unwatched_s
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_pens import gap_brush, paint_strip
from gpulease_gui.gui.widgets.chart_spec import share_text
from gpulease_gui.gui.widgets.fitted import Fitted
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.search import FilterBar
from gpulease_gui.gui.widgets.tile_spec import Tile
from gpulease_gui.services.cost_steps import money as money_words

if TYPE_CHECKING:
    from gpulease_gui.gui.models.watched import Watched
    from gpulease_gui.services.watch import WatchView

_LOW_SHARE = 0.95
# Of time in which nobody looked nothing follows.
_NONE = Text("none seen", "未见")


class NodesBar(Fitted, FilterBar):
    """The filter with the stretch of time that the tiles show, which gives way where there is no room for all: no word is cut."""

    def __init__(self, chips: Sequence[tuple[str, Words]]) -> None:
        super().__init__(chips)
        self.range = PlainLabel(level="2", size="dense")
        self.add_tool(self.range)

    def fit(self) -> None:
        """Show the stretch where it has room beside what is always there."""
        items = [item for place in range(self.row.count()) if (item := self.row.itemAt(place)) is not None and item.widget() is not None]
        # A part that is hidden has no size in its layout.
        sizes = [(self.range.sizeHint() if item.widget() is self.range else item.sizeHint()).width() for item in items]
        self.range.setVisible(sum(sizes) + (len(sizes) - 1) * self.row.spacing() + 32 <= self.width())


class _Sum(QWidget):
    """A caption over one figure, which ends in … where it may be `cut` because the window is narrow."""

    def __init__(self, caption: Text, *, cut: bool = False) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        self._said: tuple[str, str] = ("", "")
        self.figure = ElidedLabel("–", weight=600) if cut else PlainLabel("–", weight=600)
        self.figure.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        column.addWidget(PlainLabel(caption, size="caption", level="3"))
        column.addWidget(self.figure)

    def tell(self, words: Words, level: str = "1") -> None:
        """Show another figure, if it is another."""
        if (say(words), level) != self._said:
            self._said = say(words), level
            self.figure.set_level(level)
            self.figure.set_words(words)


class Sums(QFrame):
    """One row of figures over all nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("targetBand")
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(16, 7, 16, 7)
        row.setSpacing(28)
        self.watched, self.busy = _Sum(Text("Nodes watched", "监控中的节点")), _Sum(Text("GPUs busy", "忙碌的卡"))
        self.degraded, self.worth = _Sum(Text("Under promise today", "今日低于承诺")), _Sum(Text("Worth", "折合金额"))
        self.idle, self.samples = _Sum(Text("Idle while billed", "计费中闲置")), _Sum(Text("Samples", "样本"), cut=True)
        for part in (self.watched, self.busy, self.degraded, self.worth, self.idle, self.samples):
            row.addWidget(part)
        row.addStretch(1)

    def show_all(
        self, nodes: Sequence[LiveNode], running: Mapping[str, WatchView], tiles: Sequence[Tile], told: Watched | None, now_s: float,
        window_s: float,
    ) -> None:  # fmt: skip
        """Bring all to what the watches hold, what the tiles show of the last `window_s`, and what was read of the store."""
        from gpulease_gui.gui.widgets.tile_lines import SLOTS, busy_of

        count = sum(1 for one in nodes if one.node.id in running)
        self.watched.tell(Text(f"{count} of {len(nodes)}", f"{count} / {len(nodes)}"))
        pairs = [busy_of(view.rings, now_s - 5 * view.interval_s - 3.0) for view in running.values()]
        busy, cards = sum(one for one, _ in pairs), sum(one for _, one in pairs)
        self.busy.tell(Text(f"{busy} of {cards}", f"{busy} / {cards}") if cards else "–")
        lines = [(running[tile.node_id], _since_first(tile)) for tile in tiles if tile.node_id in running]
        slots = [share for view, line in lines for share in _due_slots(view, line, now_s, window_s / SLOTS)]
        read = sum(1 for share in slots if share is not None)
        share, shown = read / len(slots) if slots else 1.0, share_text(read, len(slots))
        # What is hatched before the first reading was not watched either.
        missed = missed_words([
            window_s - len(line) * window_s / SLOTS + unwatched_s(view.gaps, now_s - len(line) * window_s / SLOTS, now_s) for view, line in lines if line
        ])  # fmt: skip
        self.samples.tell(
            Text(f"{shown} of expected{missed.en}", f"应有的 {shown}{missed.zh}") if slots else "–", "1" if share >= _LOW_SHARE else "warn"
        )
        if told is not None:
            self._show_told(told)
        self._row.activate()  # longer figures have their room at once, not a turn later

    def _show_told(self, told: Watched) -> None:
        from gpulease_gui.gui.models.watched import card_hours_text

        degraded = told.card_hours
        none: Words = _NONE if told.seen else "–"
        self.degraded.tell(card_hours_text(float(degraded)) if degraded else none, "fail" if degraded else "1")
        money = [money_words(one.currency, one.amount) for one in told.money]
        self.worth.tell(" + ".join(money) if money else Text("no price", "无价格") if told.unpriced else "–")
        idle = told.idle_card_hours
        self.idle.tell(card_hours_text(idle) if idle else none, "warn" if idle else "1")


def _due_slots(view: WatchView, line: Sequence[float | None], now_s: float, slot_s: float) -> list[float | None]:
    """The slots of a tile, which ends now, without the empty ones of which most is time in which nobody watched."""
    begin_s = now_s - len(line) * slot_s
    middles = [begin_s + (place + 0.5) * slot_s for place in range(len(line))]
    spans = unwatched_spans(view.gaps, begin_s, now_s)
    return [share for share, at_s in zip(line, middles, strict=True) if share is not None or not any(a <= at_s < z for a, z in spans)]


def _since_first(tile: Tile) -> Sequence[float | None]:
    """The slots from the first one with data on."""
    first = next((place for place, share in enumerate(tile.line) if share is not None), len(tile.line))
    return tile.line[first:]


_KEYS = (
    ("kept", Text("no rule broken", "未违反规则")), ("fail", Text("below promise", "低于承诺")), ("warn", Text("warning", "警告")),
    ("", Text("no data", "无数据")),
)  # fmt: skip
_HINT = Text(
    "The strip under each line shows the watch rules over the same {minutes} minutes. Enter opens the node.",
    "每条曲线下方的色条表示同一 {minutes} 分钟内的监控规则。按 Enter 打开节点。",
)


class Legend(Lively, QWidget):
    """What the strip's colours mean; never colour alone: the words of a tile say it too."""

    def __init__(self) -> None:
        super().__init__()
        self._window_s = WINDOWS_S[-1]
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def show_window(self, window_s: float) -> None:
        """Speak of so many seconds."""
        if window_s != self._window_s:
            self._window_s = window_s
            self.retranslate()

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(400, QFontMetrics(sized(self.font(), TextSize.CAPTION)).height() + 10)

    def minimumSizeHint(self) -> QSize:
        """It is cut before it makes the window wider."""
        return QSize(120, self.sizeHint().height())

    def retranslate(self) -> None:
        """Its words for assistive tools."""
        self.setAccessibleName(self._hint)
        self.update()

    @property
    def _hint(self) -> str:
        return say(_HINT).format(minutes=round(self._window_s / 60))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Keys at the left, the sentence at the right where there is room."""
        painter, palette = QPainter(self), colours()
        painter.fillRect(QRect(0, 0, self.width(), 1), QColor(palette.border))
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        metrics, left, middle = painter.fontMetrics(), 16, self.height() // 2
        painter.setPen(QColor(palette.t2))
        for token, words in _KEYS:
            if token:
                paint_strip(painter, QRect(left, middle - 2, 22, 4), token)
            else:
                painter.fillRect(QRect(left, middle - 5, 22, 10), gap_brush(palette.hatch, palette.surface2, self.devicePixelRatioF()))
            width = metrics.horizontalAdvance(say(words))
            painter.drawText(QRect(left + 28, 0, width + 4, self.height()), Qt.AlignmentFlag.AlignVCenter, say(words))
            left += 28 + width + 20
        room = QRect(left, 0, self.width() - 16 - left, self.height())
        if metrics.horizontalAdvance(self._hint) <= room.width():
            painter.setPen(QColor(palette.t3))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._hint)
