"""How do all nodes fare at once, the worst first or in another order?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.pages.live_all_parts import Legend, NodesBar, Sums
from gpulease_gui.gui.pages.live_lanes import PromiseOf, promise_of, promised
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.live_tile import WINDOWS_S, Known, tile_of
from gpulease_gui.gui.pages.live_words import age_s
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.chart_spec import Promised
from gpulease_gui.gui.widgets.tile_spec import Broken, Order, Rank, Tile
from gpulease_gui.gui.widgets.tiles import TileView
from gpulease_gui.services.events import WatchAlarm

if TYPE_CHECKING:
    from gpulease_gui.gui.models.watched import Watched
    from gpulease_gui.services.watch import WatchView

TURN_MS, BUDGET_S, ROUND_S, READ_S = 100, 0.004, 1.0, 60.0
ALL = "all"
_CHIPS = (
    (ALL, Text("All", "全部")), ("broken", Text("Below promise", "低于承诺")), ("lost", Text("Lost", "中断")),
    ("warned", Text("Warning", "警告")), ("unwatched", Text("Not watched", "未监控")),
)  # fmt: skip
_RANKS = {"broken": Rank.BROKEN, "lost": Rank.LOST, "warned": Rank.WARNED, "unwatched": Rank.UNWATCHED}
_LANES = (
    ("util", Text("Utilization", "利用率")), ("power", Text("Power", "功耗")), ("temperature", Text("Hottest card", "最高温度")),
    ("network", Text("Network", "网络")),
)  # fmt: skip
_ORDERS = (
    (Order.WORST, Text("Worst first", "问题优先")), (Order.NAME, Text("By name", "按名称")), (Order.SUPPLIER, Text("By supplier", "按供应商")),
)  # fmt: skip
_PROMISED = ("gpu.power_w", "network.gbit_s")
_DEGRADED = frozenset(rule.id for rule in WATCH_RULES if rule.degraded)


class Watches(Protocol):
    """What is looked at of the watches."""

    def views(self) -> tuple[WatchView, ...]:
        """Of all nodes that are watched now."""

    def view(self, node_id: str) -> WatchView | None:
        """Of a node that is or was watched."""


class AllNodes(QWidget):
    """Filter, sums, tiles, legend. `opened` carries the id of a node; `chosen_changed`: other nodes are chosen;
    `counted`: a round over all of them is done.
    """

    opened = Signal(str)
    chosen_changed = Signal()
    counted = Signal()

    def __init__(self, frame: Frame, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        from gpulease_gui.gui.widgets.tile_lines import LaneChoice

        self._frame, self._clock, self._lane = frame, clock, LaneChoice.UTIL
        self.watching: Watches = frame.services.watching
        self._nodes: dict[str, LiveNode] = {}
        self._promised: dict[str, Mapping[str, Promised]] = {}
        self._broken: dict[str, tuple[Broken, ...]] = {}
        self._watched: Watched | None = None
        self._turn: list[str] = []
        self._round_s = self._read_s = 0.0
        self._words, self._window_s = "", WINDOWS_S[-1]
        self.bar, self.sums, self.grid, self.legend = NodesBar(_CHIPS), Sums(), TileView(), Legend()
        self.lane = Chooser(Text("What the lines show", "曲线内容"), _LANES)
        self.order = Chooser(Text("Order of the nodes", "节点排序"), _ORDERS)
        self._timer = QTimer(self)
        self._timer.setInterval(TURN_MS)
        self._build()
        self._connect()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.bar.add_tool(self.lane)
        self.bar.add_tool(self.order)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.sums)
        column.addWidget(self.bar)
        column.addLayout(row)
        column.addWidget(self.grid, 1)
        column.addWidget(self.legend)

    def _connect(self) -> None:
        self._timer.timeout.connect(self.turn)
        self.bar.filtered.connect(lambda _: self._filter())
        self.lane.picked.connect(self._choose_lane)
        self.order.picked.connect(lambda key: self.grid.nodes.sort_by(Order(key)))
        self.grid.opened.connect(self.opened)
        self.grid.selectionModel().selectionChanged.connect(lambda: self.chosen_changed.emit())

    # -- what the page calls ------------------------------------------------------------------------------------------

    def set_nodes(self, nodes: Sequence[LiveNode]) -> None:
        """Show these nodes."""
        catalogue = self._frame.services.catalogue
        for one in nodes:
            if self._nodes.get(one.node.id) != one:
                self._promised[one.node.id] = _figures(promise_of(catalogue, one.terms))
        self._nodes = {one.node.id: one for one in nodes}
        held = {tile.node_id: tile for tile in self.grid.nodes.tiles}
        self.grid.nodes.set_tiles([
            replace(held.get(id_, Tile(id_, one.node.name)), name=one.node.name, note=one.supplier) for id_, one in self._nodes.items()
        ])  # fmt: skip
        self._turn, self._round_s = [], 0.0
        self.turn()

    def search(self, words: str) -> None:
        """Only nodes whose name or supplier holds all of `words`."""
        self._words = words
        self._filter()

    def node(self, node_id: str) -> Node | None:
        """The record of a node."""
        found = self._nodes.get(node_id)
        return found.node if found is not None else None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The chosen nodes; without a choice all that are shown."""
        return self.grid.chosen or self.grid.nodes.shown

    def hear(self, event: WatchAlarm) -> None:
        """A rule is broken, or no longer."""
        key, end_s = (event.rule, event.subject), None if event.ended_ms is None else event.ended_ms / 1000
        others = [one for one in self._broken.get(event.node_id, ()) if (one.rule, one.subject) != key or one.end_s is not None]
        made = Broken(*key, event.began_ms / 1000, end_s, event.rule in _DEGRADED)
        self._broken[event.node_id] = (*others, made)
        self._read_s = min(self._read_s, self._clock() - READ_S + 5.0)

    # -- turns --------------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """A few tiles: each is made anew once a second, as many in a turn as its budget allows."""
        now_s = self._clock()
        if not self._turn and now_s - self._round_s >= ROUND_S:
            self._round_s = now_s
            self._begin_round(now_s)
        begun_s = time.perf_counter()
        running = {view.node_id: view for view in self.watching.views()} if self._turn else {}
        before = len(self._turn)
        while self._turn and time.perf_counter() - begun_s < BUDGET_S:
            self.grid.nodes.put(self._tile(self._turn.pop(), running, now_s))
        if len(self._turn) != before:
            self._count()

    def _count(self) -> None:
        """The filter counts what the tiles say now."""
        ranks = Counter(tile.rank for tile in self.grid.nodes.tiles)
        self.bar.set_count(ALL, ranks.total())
        for key, rank in _RANKS.items():
            self.bar.set_count(key, ranks[rank])

    def _begin_round(self, now_s: float) -> None:
        """Order and sums of what the last round found; then all anew, those in sight first."""
        model = self.grid.nodes
        model.arrange()
        tiles = model.tiles
        self._count()
        running = {view.node_id: view for view in self.watching.views()}
        oldest_s = max((age_s(view, now_s) for view in running.values()), default=WINDOWS_S[-1])
        self._window_s = next((window_s for window_s in WINDOWS_S if oldest_s <= window_s), WINDOWS_S[-1])
        self.bar.range.set_words(_span_words(now_s, self._window_s))
        self.legend.show_window(self._window_s)
        self.sums.show_all(tuple(self._nodes.values()), running, tiles, self._watched, now_s, self._window_s)
        shown = list(model.shown)
        hidden = [id_ for id_ in self._nodes if id_ not in set(shown)]
        self._turn = hidden + shown[::-1]
        self.counted.emit()
        if now_s - self._read_s >= READ_S:
            self._read(now_s)

    def _tile(self, id_: str, running: Mapping[str, WatchView], now_s: float) -> Tile:
        node = self._nodes[id_]
        view = running.get(id_) or self.watching.view(id_)
        return tile_of(Known(node, view, id_ in running, self._broken.get(id_, ()), self._promised.get(id_)), self._lane, now_s, self._window_s)

    def _read(self, now_s: float) -> None:
        from gpulease_gui.gui.models.watched import read_watched

        self._read_s = now_s
        midnight = datetime.fromtimestamp(now_s).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        since_s = midnight.timestamp()
        self._frame.bridge.when_done(self._frame.services.query(lambda db: read_watched(db, since_s, now_s)), self._take)

    def _take(self, watched: Watched) -> None:
        self._watched = watched
        self._broken = dict(watched.broken)

    # -- choices ------------------------------------------------------------------------------------------------------

    def _choose_lane(self, key: str) -> None:
        from gpulease_gui.gui.widgets.tile_lines import LaneChoice

        self._lane = LaneChoice(key)
        self._turn, self._round_s = [], 0.0
        self.turn()

    def _filter(self) -> None:
        rank, words = _RANKS.get(self.bar.current), self._words.casefold().split()

        def keep(tile: Tile) -> bool:
            text = f"{tile.name} {tile.note}".casefold()
            return (rank is None or tile.rank is rank) and all(word in text for word in words)

        self.grid.nodes.only(keep)

    def showEvent(self, event: QShowEvent) -> None:
        """Turns begin."""
        super().showEvent(event)
        self._round_s = 0.0
        self._timer.start()
        self.turn()

    def hideEvent(self, event: QHideEvent) -> None:
        """None out of sight."""
        self._timer.stop()
        super().hideEvent(event)


def _figures(stated: PromiseOf) -> Mapping[str, Promised]:
    """The figures that tiles draw."""
    return {term: found for term in _PROMISED if (found := promised(term, stated(term))) is not None}


def _span_words(now_s: float, window_s: float) -> Text:
    begin, end = (datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M") for at_s in (now_s - window_s, now_s))
    minutes = round(window_s / 60)
    return Text(f"last {minutes} min · {begin} – {end}", f"最近 {minutes} 分钟 · {begin} – {end}")
