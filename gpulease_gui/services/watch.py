"""How is a node watched for hours over one kept channel, with gaps that say why?"""

from __future__ import annotations

import random
import shlex
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import resources

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, Unreadable, UserFacing
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.remote.stream import Stream, StreamEnd, StreamEnding
from gpulease_gui.remote.transport import Line
from gpulease_gui.services.events import Bus, GapClosed, GapOpened, NodeState, NodeStateChanged
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.recall import recall
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series import Ring
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import append_blocks, append_gap
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.source import LineReader, metrics, sources

INTERVAL_S = 1.0
BACKOFF_S = (1.0, 60.0)
# A large node has some three hundred; a node that invents names must not fill the memory.
MOST_SERIES = 1024
# Trying again can't help, and repeated logins would lock the account.
HOPELESS = frozenset({"host_key", "auth"})
_NS = 1_000_000_000
GAP_WORDS: Mapping[StreamEnding, str] = {
    StreamEnding.LOST: "connection_lost", StreamEnding.SILENT: "no_answer", StreamEnding.SOURCES_ENDED: "nothing_to_read"
}  # fmt: skip

NOT_WATCHED = "not_watched"

SeriesKey = tuple[str, str]


@dataclass(slots=True)
class GapSpan:
    """A stretch without samples (UTC seconds); `end_s` None while it lasts, `resumed` when samples ended it."""

    start_s: float
    reason: str
    end_s: float | None = None
    resumed: bool = False


@dataclass(slots=True)
class WatchView:
    """What a chart looks at: rings by (metric, subject), gaps, why a source can't be read. Only looked at.

    `unsaved` says why the newest samples could not be written to the store; empty while all is well.
    """

    node_id: str
    interval_s: float
    rings: dict[SeriesKey, Ring] = field(default_factory=dict)
    gaps: list[GapSpan] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    state: NodeState = NodeState.CONNECTING
    reason: str = ""
    unsaved: str = ""


class Watching:
    """The watched nodes: one thread each."""

    def __init__(self, workspace: Workspace, bus: Bus, links: Links) -> None:
        self._workspace, self._bus, self._links = workspace, bus, links
        self._lock = threading.Lock()
        self._watches: dict[str, _Watch] = {}

    def start(self, node: Node, *, interval_s: float = INTERVAL_S) -> WatchView:
        """Watch a node from now on (0.1 to 60 s between samples); the view of a node that is watched already."""
        with self._lock:
            watch = self._watches.get(node.id)
            if watch is None or watch.over:
                watch = _Watch(node, min(60.0, max(0.1, interval_s)), self._workspace, self._bus, self._links)
                self._watches[node.id] = watch
                watch.start()
            return watch.view

    def view(self, node_id: str) -> WatchView | None:
        """What is there of a node that is or was watched since the program's start."""
        with self._lock:
            watch = self._watches.get(node_id)
        return watch.view if watch else None

    def views(self) -> tuple[WatchView, ...]:
        """All watched nodes."""
        with self._lock:
            return tuple(watch.view for watch in self._watches.values() if not watch.over)

    def stop(self, node_id: str) -> None:
        """End watching; what was sampled stays visible and saved. Returns at once."""
        with self._lock:
            watch = self._watches.get(node_id)
        if watch is not None:
            watch.stop()

    def close(self) -> None:
        """End all and wait for their threads; may be called twice."""
        with self._lock:
            watches = tuple(self._watches.values())
        for watch in watches:
            watch.stop()
        for watch in watches:
            watch.join()


class _Watch:
    """One node's thread: connect, stream, reconnect."""

    def __init__(self, node: Node, interval_s: float, workspace: Workspace, bus: Bus, links: Links) -> None:
        self._node, self._workspace, self._bus, self._links = node, workspace, bus, links
        self.view = WatchView(node.id, interval_s)
        self._cancel = CancelToken()
        self._readers: dict[str, LineReader] = {}
        self._recorder = Recorder(node.id, interval_s, metrics())
        self._zero_s = self._last_s = 0.0
        self._saving: list[Future[None]] = []
        self._thread = threading.Thread(target=self._live, name=f"watch-{node.name}", daemon=True)

    @property
    def over(self) -> bool:
        return not self._thread.is_alive() and self._thread.ident is not None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._cancel.cancel()

    def join(self) -> None:
        self._thread.join()

    def _live(self) -> None:
        backoff_s = BACKOFF_S[0]
        self._recall()
        while not self._cancel.cancelled:
            try:
                flowed = self._once()
            except Cancelled:
                break
            except NotConnected as error:
                flowed = False
                self._gap(time.time(), error.why or error.what)
                hopeless = error.phase in HOPELESS
                self._state(NodeState.LOST if self._last_s and not hopeless else NodeState.REFUSED, str(error))
                if hopeless:
                    break
            except UserFacing as error:
                flowed = False
                self._gap(time.time(), str(error))
            backoff_s = BACKOFF_S[0] if flowed else min(BACKOFF_S[1], backoff_s * 2)
            self._cancel.wait(backoff_s * random.uniform(0.75, 1.25))
        self._flush()
        self._close_gap(time.time(), resumed=False)

    def _recall(self) -> None:
        """Put what was stored of the last hour before what will come."""
        try:
            with self._workspace.read() as connection:
                rings, gaps = recall(connection, self._node.id, time.time(), self.view.interval_s)
        except UserFacing:
            return  # the store will say so itself when the first block is written
        last_s = max((end[0] for ring in rings.values() if (end := ring.last) is not None), default=0.0)
        if last_s:
            self.view.gaps.extend(GapSpan(g.start_ns / _NS, g.reason, g.end_ns / _NS, True) for g in gaps)
            self.view.rings = rings
            self._gap(last_s + self.view.interval_s, NOT_WATCHED)

    def _once(self) -> bool:
        """One connection; whether samples came."""
        self._state(NodeState.CONNECTING, "")
        with self._links.open(self._node, self._cancel) as opened:
            # From here on times follow the monotonic clock; one that was set back moves no sample before the last.
            self._zero_s = max(time.time(), self._last_s) - time.monotonic()
            self._readers = {id_: source.reader() for id_, source in sources().items()}
            self.view.troubles.clear()
            before = sum(ring.total for ring in self.view.rings.values())
            stream = self._stream(opened.line)
            forget = self._cancel.on_cancel(stream.close)
            try:
                end = stream.run()
            finally:
                forget()
            self._flush()
            if end.ending is not StreamEnding.CLOSED:
                self._lost(end)
            return sum(ring.total for ring in self.view.rings.values()) > before

    def _stream(self, line: Line) -> Stream:
        scripts = [(id_, self._script(id_, source.script)) for id_, source in sources().items()]
        return Stream(line, scripts, self.view.interval_s, self._on_line)

    def _script(self, id_: str, script: str) -> str:
        """This computer's GPUs are read through the agent as a child: a wedged driver can't hang the program."""
        if id_ != "gpu" or self._node.reach is not Reach.LOCAL:
            return script
        agent = resources.files("gpulease_gui") / "agent" / "node_agent.py"
        return f"exec {shlex.quote(sys.executable)} {shlex.quote(str(agent))}\n"

    def _on_line(self, source_id: str, line: bytes, received_s: float) -> None:
        at_s, text = self._zero_s + received_s, line.decode("utf-8", "replace")
        if text.startswith("!"):
            self.view.troubles[source_id] = text[1:].strip()[:200]
            return
        try:
            points = self._readers[source_id].read(text)
        except Unreadable as trouble:
            self.view.troubles[source_id] = trouble.reason[:200]
            return
        self._last_s = at_s
        if self.view.state is not NodeState.CONNECTED:
            self._state(NodeState.CONNECTED, "")
            self._close_gap(at_s, resumed=True)
        self.view.troubles.pop(source_id, None)
        for point in points:
            ring = self._ring(point.metric, point.subject)
            if ring is None:
                self.view.troubles[source_id] = f"more than {MOST_SERIES} series: the rest is left out"
                continue
            ring.append(at_s, point.value)
            self._recorder.add(point.metric, point.subject, at_s, point.value)
        if self._recorder.due(at_s):
            self._flush()

    def _ring(self, metric: str, subject: str) -> Ring | None:
        """The ring of a series; None when a node names more of them than any machine has."""
        key = (metric, subject)
        ring = self.view.rings.get(key)
        if ring is None and len(self.view.rings) < MOST_SERIES:
            # A chart on another thread may be walking over the rings: it gets a new mapping, not a changed one.
            ring = Ring()
            self.view.rings = {**self.view.rings, key: ring}
        return ring

    def _flush(self) -> None:
        blocks = self._recorder.take()
        if blocks:
            self._saving = [future for future in self._saving if not self._saved(future)]
            self._saving.append(self._workspace.submit(lambda db: append_blocks(db, blocks)))

    def _saved(self, future: Future[None]) -> bool:
        """Whether a write is over; one that failed is told."""
        if not future.done():
            return False
        fault = None if future.cancelled() else future.exception()
        self.view.unsaved = str(fault)[:200] if fault is not None else ""
        return True

    def _lost(self, end: StreamEnd) -> None:
        at_s = self._zero_s + end.last_s
        self._state(NodeState.LOST, end.said[:200])
        self._gap(at_s, GAP_WORDS.get(end.ending, str(end.ending)))

    def _gap(self, start_s: float, reason: str) -> None:
        if self.view.gaps and self.view.gaps[-1].end_s is None:
            if self.view.gaps[-1].reason != NOT_WATCHED or reason == NOT_WATCHED:
                return
            self._close_gap(start_s, resumed=False)
        self.view.gaps.append(GapSpan(start_s, reason))
        for ring in self.view.rings.values():
            ring.append(start_s, None)
        self._bus.publish(GapOpened(self._node.id, int(start_s * 1000), reason))

    def _close_gap(self, at_s: float, *, resumed: bool) -> None:
        if not self.view.gaps or self.view.gaps[-1].end_s is not None:
            return
        gap = self.view.gaps[-1]
        gap.resumed, gap.end_s = resumed, at_s
        record = Gap(self._node.id, int(gap.start_s * _NS), int(at_s * _NS), gap.reason)
        self._workspace.submit(lambda db: append_gap(db, record))
        if resumed:
            self._bus.publish(GapClosed(self._node.id, int(at_s * 1000)))

    def _state(self, state: NodeState, reason: str) -> None:
        if self.view.state is state:
            return
        self.view.state, self.view.reason = state, reason
        self._bus.publish(NodeStateChanged(self._node.id, state, reason))
