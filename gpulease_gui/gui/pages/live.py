"""What does a rented node do right now, beside what was promised?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_acts import Acts
from gpulease_gui.gui.pages.live_all import AllNodes
from gpulease_gui.gui.pages.live_bar import ALL_NODES, LiveBar, this_computer_is_there
from gpulease_gui.gui.pages.live_bulk import Bulk
from gpulease_gui.gui.pages.live_cards import fewer_cards
from gpulease_gui.gui.pages.live_lanes import Lanes, promise_of
from gpulease_gui.gui.pages.live_log import LogFollow
from gpulease_gui.gui.pages.live_nodes import LiveNode, load_nodes
from gpulease_gui.gui.pages.live_sight import Sight
from gpulease_gui.gui.pages.live_state import States
from gpulease_gui.gui.pages.live_table import FiguresTable
from gpulease_gui.gui.pages.live_target import target_of
from gpulease_gui.gui.pages.live_words import age_s, cost_words, empty_words, watch_words
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec, Target
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import EmptyState, ThinSplitter
from gpulease_gui.services.events import (
    Event,
    GapClosed,
    GapOpened,
    NodeState,
    NodeStateChanged,
    RecordsChanged,
    RunEnded,
    RunStarted,
    WatchAlarm,
)

if TYPE_CHECKING:
    from gpulease_gui.services.watch import WatchView

LOOK_MS = 250
_KINDS = frozenset(["node", "contract", "claim", "supplier", "offer"])


class LivePage(Page):
    """One node at a time: lanes with contract lines, gaps with reasons, figures of what is in sight."""

    narrow_navigation = True

    def __init__(self, frame: Frame, clock: Callable[[], float] = time.time) -> None:
        super().__init__(frame)
        # Imported here: numpy is heavy, and modules of pages are imported before the first paint.
        from gpulease_gui.gui.widgets.lane_stack import LaneStack

        self._clock = clock
        self._nodes: tuple[LiveNode, ...] = ()
        self._states = States(frame)
        self._current: LiveNode | None = None
        self._wanted: tuple[str, ...] = ()
        self._all_wanted = False
        self._view: WatchView | None = None
        self._lanes: Lanes | None = None
        self._told: object = None
        self._window_chosen = False
        self.watch_button = Button(kind="primary")
        self.all, self.whole = AllNodes(frame, clock), False  # whole: all nodes are in sight at once
        self.bulk = Bulk(frame, self.all)
        self.bar, self.chart = LiveBar(), LaneStack(clock)
        self.acts = Acts(self)
        self.local_button, self.note_button = self.acts.local_button, self.acts.note_button
        self.log = LogFollow(self)
        self.figures = FiguresTable()
        self.table = self.figures.figures
        self._sight = Sight(frame, self.chart, self.bar, self.figures, self.look, clock)
        self.history, self._checks = self._sight.history, self._sight.checks
        self._build()
        self._connect()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._show_header()

    def _build(self) -> None:
        self.add_node = Button(Text("Add a node", "添加节点"), icon="add", kind="primary")
        self.empty = EmptyState("nav-live", "", "", primary=self.add_node)
        self.parts = ThinSplitter(Qt.Orientation.Vertical)
        self.parts.addWidget(self.chart)
        self.parts.addWidget(self.figures)
        self.parts.setStretchFactor(0, 1)
        self.parts.setSizes([1000, 144])
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.parts)
        self.stack.addWidget(self.all)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.log.band)
        self.column.addWidget(self.acts.asked.band)
        self.column.addWidget(self.stack, 1)

    def _connect(self) -> None:
        self.watch_button.clicked.connect(self._watch_or_stop)
        self.add_node.clicked.connect(lambda: self.frame.go("nodes"))
        self.chart.chose.connect(self._chosen)
        self.bar.nodes.picked.connect(self.choose)
        self.bar.all_nodes.clicked.connect(lambda: self.show_all(whole=True))
        self.all.opened.connect(self.open)
        self.bulk.changed.connect(self.header_changed)
        self.bar.pause.clicked.connect(self._pause)
        self.bar.windowed.connect(self._set_window)
        self.bar.moded.connect(self.chart.set_mode)
        self.bar.toggled.connect(self._toggle_lane)
        self.chart.moved.connect(self._chart_moved)
        self.chart.spanned.connect(self.bar.show_window)

    # -- what the window asks -------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The node, or all."""
        if self.whole:
            return (ALL_NODES,)
        return (self._current.node.name,) if self._current else ()

    def buttons(self) -> tuple[Button, ...]:
        """This computer, as long as it is no node yet; a note, where there is a chart; watch or stop."""
        if self.whole:
            return self.bulk.buttons()
        local = () if this_computer_is_there(self._nodes) else (self.local_button,)
        note = (self.note_button,) if self.charted else ()
        return (*local, *note, self.watch_button) if self._current else local

    def target(self) -> Target | None:
        """The node and how it is sampled."""
        current, view = self._current, self._view
        if current is None or self.whole:
            return None
        rate = cost_words(view) if view is not None and self.running else None
        fewer = fewer_cards(current, view, self._clock())
        return target_of(current, self._state, self._checks.impact(current.node.id), rate, self.history.verified, fewer)

    def doable(self) -> frozenset[str]:
        """Watching is also in the Node menu."""
        able = self._current is not None and not self.running and not self.whole
        return frozenset(["watch"]) if able else frozenset()

    def act(self, action: str) -> None:
        """Start to watch."""
        if action == "watch":
            self.watch()

    def visit(self, path: tuple[str, ...]) -> None:
        """Show the node of `path`; a second part "watch" starts to watch it. Without a path several nodes are shown at once."""
        self._wanted = path
        self._all_wanted = not path
        self._load()

    def search(self, words: str) -> None:
        """Among all nodes."""
        self.all.search(words)

    def handle(self, event: Event) -> None:
        """Connections, gaps, checks and records that changed."""
        self._checks.hear(event)
        self.log.handle(event)
        if isinstance(event, NodeStateChanged):
            self._states.hear(event)
            self._show_nodes()
            self._tell()
        elif isinstance(event, GapOpened | GapClosed):
            if self._current is not None and event.node_id == self._current.node.id and self.isVisible():
                self.look()
        elif isinstance(event, RunStarted | RunEnded | WatchAlarm):
            self.history.refresh()
            if isinstance(event, WatchAlarm):
                self.all.hear(event)
        elif isinstance(event, RecordsChanged) and event.kinds & _KINDS:
            self._load()

    def retranslate(self) -> None:
        """Words that stand in no label of ours."""
        self._told = None
        if hasattr(self, "acts"):
            self.acts.retranslate()
            self._show_header()

    # -- nodes ------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        self.frame.bridge.when_done(self.frame.services.query(load_nodes), self._loaded)

    def _loaded(self, nodes: tuple[LiveNode, ...]) -> None:
        self._nodes = nodes
        self.all.set_nodes(nodes)
        known = {one.node.id: one for one in nodes}
        wanted, self._wanted = self._wanted, ()
        id_ = wanted[0] if wanted and wanted[0] in known else self._current.node.id if self._current else ""
        watched = [view.node_id for view in self.frame.services.watching.views() if view.node_id in known]
        id_ = id_ if id_ in known else next(iter([*watched, *known]), "")
        if id_:
            self.choose(id_)
        else:
            self._current = self._view = None
        if id_ and len(wanted) > 1 and wanted[1] == "watch":
            self.watch()
        self._show_nodes()
        wanted_all, self._all_wanted = self._all_wanted, False
        self.show_all(whole=len(nodes) > 1 and (wanted_all or self.whole) and not wanted)

    def show_all(self, *, whole: bool) -> None:
        """All nodes at once, or the chosen one."""
        self.whole = whole
        self.bar.setVisible(not whole and bool(self._nodes))
        self.log.show_node()
        if whole:
            self.stack.setCurrentWidget(self.all)
            self.all.grid.setFocus()
        self.look()

    def open(self, node_id: str) -> None:
        """From all nodes to one."""
        self.choose(node_id)
        self.show_all(whole=False)
        if self.charted:
            self.chart.setFocus()

    def choose(self, node_id: str) -> None:
        """Show a node, watched or not."""
        chosen = next((one for one in self._nodes if one.node.id == node_id), None)
        if chosen is None or chosen == self._current:
            return
        before, self._current = self._current, chosen
        if before is None or before.node.id != node_id or before.terms != chosen.terms:
            old = self._lanes
            self._lanes = Lanes(promise_of(self.frame.services.catalogue, chosen.terms))
            if old is not None:
                self._lanes.hidden = old.hidden
        self.history.choose(node_id, frozenset(chosen.terms))
        self._take_view()
        self.log.show_node()
        self.look()

    @property
    def node(self) -> LiveNode | None:
        """The node in sight, watched or not."""
        return self._current

    @property
    def view(self) -> WatchView | None:
        """What the watch of that node holds."""
        return self._view

    def _show_nodes(self) -> None:
        self.bar.nodes.show_nodes(self._nodes, self._states.of(self._nodes), self._current.node.id if self._current else "")

    @property
    def running(self) -> bool:
        """Whether the node in sight is watched now."""
        return self._states.running(self._view)

    @property
    def _state(self) -> NodeState:
        return self._states.of([self._current])[self._current.node.id] if self._current else NodeState.NEVER_SEEN

    def _take_view(self) -> None:
        """A watch may begin anywhere, not only here."""
        view = self.frame.services.watching.view(self._current.node.id) if self._current else None
        if view is not self._view:
            self._view = view
            self._sight.figures.clear()
            self.chart.pause(paused=False)

    def watch(self) -> None:
        """Watch the node in sight; returns at once."""
        if self._current is None:
            return
        self.frame.services.watching.start(self._current.node)
        self.chart.pause(paused=False)
        self.look()
        self.chart.setFocus()

    def stop(self) -> None:
        """Watch no more; what was sampled stays in sight."""
        if self._current is not None:
            self._states.stop(self._current.node.id)
            self.frame.services.watching.stop(self._current.node.id)
            self.chart.pause(paused=True)
            self.look()

    def _watch_or_stop(self) -> None:
        if self.running:
            self.stop()
        else:
            self.watch()

    def _pause(self) -> None:
        self.chart.pause(paused=not self.chart.paused)
        self.look()

    def _set_window(self, window_s: float) -> None:
        self._window_chosen = True
        self.chart.set_window(window_s)
        self.look()

    def _toggle_lane(self, lane_id: str, shown: bool) -> None:
        if self._lanes is not None:
            (self._lanes.hidden.discard if shown else self._lanes.hidden.add)(lane_id)
            self.look()

    def _widen(self, view: WatchView) -> None:
        """Until the user chooses, a young watch fills the plot with one minute, an older one with five."""
        wanted = 60.0 if age_s(view, self._clock()) <= 60.0 else 300.0
        if not self._window_chosen and not self.chart.paused and self.chart.window_s != wanted:
            self.chart.set_window(wanted)

    def _chosen(self) -> None:
        """The figures follow the range."""
        self._sight.figures.clear()
        self.look()

    def _chart_moved(self) -> None:
        """The next look brings the rest: a drag moves the chart with every turn."""
        self._window_chosen = True
        self._show_bar()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space pauses and resumes."""
        if event.key() == Qt.Key.Key_Space and self.running:
            self._pause()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Look again and again while in sight."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Out of sight nothing is looked at; the watches go on."""
        self._timer.stop()
        super().hideEvent(event)

    @property
    def charted(self) -> bool:
        """Whether there is a chart in sight, of now or of stored time."""
        return self.stack.currentWidget() is self.parts

    def look(self) -> None:
        """Bring everything to what the watch holds now, or to what is stored of the stretch in sight."""
        if self.whole:
            self._tell()
            return
        self._take_view()
        view, node = self._view, self._current
        if view is not None and view.rings:
            self._widen(view)
        if node is not None and self._lanes is not None and self._sight.show(node.node.id, self._lanes, view):
            self.stack.setCurrentWidget(self.parts)
        else:
            self._show_empty()
        self._tell()

    def _show_empty(self) -> None:
        name = self._current.node.name if self._current else ""
        line, sentence = empty_words(name, self._view, running=self.running)
        self.empty.line.set_words(line)
        self.empty.sentence.set_words(sentence)
        self.add_node.setVisible(not name)
        self.stack.setCurrentWidget(self.empty)

    def _tell(self) -> None:
        """Tell the window, if anything in its header changed."""
        cost = cost_words(self._view) if self._view is not None else None
        told = (self.whole, self._current, self.running, self._state, self.charted, this_computer_is_there(self._nodes), cost, self.history.verified,
                fewer_cards(self._current, self._view, self._clock()), self._checks.impact(self._current.node.id) if self._current else None)  # fmt: skip
        if told != self._told:
            self._told = told
            self._show_header()
            self._show_nodes()
            self.header_changed.emit()
        self.acts.tell(self._view)
        self._show_bar()

    def _show_header(self) -> None:
        words, icon = watch_words(self._current.node.name if self._current else "", running=self.running)
        self.watch_button.set_words(words, icon=icon)

    def _show_bar(self) -> None:
        from gpulease_gui.gui.widgets.chart_scale import range_text

        self.bar.show_range(range_text(*self.chart.span_s) if self.charted else "")
        self.bar.show_chart(shown=self.charted)
        self.bar.show_paused(paused=self.chart.paused, able=self.running and self.charted, away=self.chart.away)


PAGE = PageSpec("live", Text("Live monitor", "实时监控"), "nav-live", NavGroup.USE, 60, LivePage)
