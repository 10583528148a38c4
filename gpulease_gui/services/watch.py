"""How is a node watched for hours over one kept channel, with gaps that say why?"""

from __future__ import annotations

import logging
import random
import threading
from concurrent.futures import Future, wait

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.stream import TOO_LONG, Stream, StreamEnd, StreamEnding, agent_start
from gpulease_gui.remote.transport import Line, LineLost
from gpulease_gui.services.agent_file import agent_program
from gpulease_gui.services.events import Bus, GapClosed, GapOpened, NodeState, NodeStateChanged
from gpulease_gui.services.flood_gaps import LateGaps, flood_gaps
from gpulease_gui.services.gap_words import FAULT, why_ended, why_not_begun
from gpulease_gui.services.intake import MOST_SERIES, GapSpan, Intake, SeriesKey, WatchView
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.log_gauge import LogGauge, LogGauges
from gpulease_gui.services.recall import WRITTEN_S, begin_with, forget
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series_gaps import SeriesGaps
from gpulease_gui.services.source_gaps import UNSEEN, SourceGaps, source_of
from gpulease_gui.services.source_silence import STALE, Silence
from gpulease_gui.services.timeline import NEVER, Clock, Timeline, own_clock
from gpulease_gui.services.watch_cards import OddRounds, lately
from gpulease_gui.services.watch_rate import WatchRates
from gpulease_gui.services.watch_rules import NodeRules, RuleKeeper
from gpulease_gui.services.watch_saving import Saving
from gpulease_gui.store.ahead import CLOCK_WRONG
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import cut_gaps
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.row import Row
from gpulease_gui.telemetry.source import metrics, streamed
from gpulease_gui.telemetry.task_log import SOURCE as TASK_LOG

_log = logging.getLogger(__name__)
BACKOFF_S = (1.0, 60.0)
# Trying again can't help, and repeated logins would lock the account.
HOPELESS = frozenset({"host_key", "auth"})
_NS = 1_000_000_000
# What data of a node can raise where nobody foresaw it: the watch tells it and goes on.
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class Watching:
    """The watched nodes: one thread each."""

    def __init__(self, workspace: Workspace, bus: Bus, links: Links, clock: Clock | None = None, rules: RuleKeeper | None = None) -> None:
        self._workspace, self._bus, self._links, self._rules = workspace, bus, links, rules
        self._clock = clock or own_clock()
        self.rates = WatchRates(workspace)
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._watches: dict[str, _Watch] = {}
        self._gauges = LogGauges(bus, self._clock.wall)

    def start(self, node: Node, *, interval_s: float | None = None) -> WatchView:
        """Watch a node from now on, as often as was chosen or every `interval_s` (0.1 to 60); the view of one that is watched already."""
        gauge, step_s = self._gauges.of(node.id), interval_s or 1 / self.rates.hz(node.id)
        with self._lock:
            watch = before = self._watches.get(node.id)
            if watch is None or watch.ending:
                watch = _Watch(node, min(60.0, max(0.1, step_s)), self._workspace, self._bus, self._links, self._clock, gauge)
                watch.before = before
                watch.rules, watch.turn = self._rules.of(node, watch.view.interval_s) if self._rules else None, self._turn
                self._watches[node.id] = watch
                watch.start()
            return watch.view

    def set_rate(self, node_id: str, rate_hz: float) -> Future[None]:
        """Read a node so often (samples a second), from now on if it is watched; done when that is saved. Returns at once."""
        kept = self.rates.keep(node_id, rate_hz)
        with self._lock:
            watch = self._watches.get(node_id)
        if watch and not watch.ending and watch.view.interval_s != 1 / rate_hz:
            watch.stop()
            self.start(watch.node)
        return kept

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

    def __init__(self, node: Node, interval_s: float, workspace: Workspace, bus: Bus, links: Links, clock: Clock,
                 gauge: LogGauge | None = None) -> None:  # fmt: skip
        self.node, self._workspace, self._bus, self._links = node, workspace, bus, links
        self.view = WatchView(node.id, interval_s)
        self._cancel = CancelToken()
        self._recorder = Recorder(node.id, interval_s, metrics())
        self._intake, self._sources = Intake(self.view, self._recorder, MOST_SERIES), SourceGaps(self.view)
        self._series, self._late = SeriesGaps(self.view), LateGaps(self.view, bus)
        self._odd, self._silence = OddRounds(), Silence(interval_s)
        self._clock, self._timeline, self._last_s = clock, Timeline(clock, interval_s), 0.0
        self.rules: NodeRules | None = None
        self.turn = threading.Lock()  # of all watches of a program; see Stream
        self._gauge, self._gauged_s, self._received_s = gauge or LogGauge(), 0.0, 0.0
        self._no_agent, self._saving = False, Saving(workspace, self.view)
        self.before: _Watch | None = None  # that of the same node which is ending
        self._thread = threading.Thread(target=self._live, name=f"watch-{node.name}", daemon=True)

    @property
    def over(self) -> bool:
        return not self._thread.is_alive() and self._thread.ident is not None

    @property
    def ending(self) -> bool:
        return self.over or self._cancel.cancelled

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._cancel.cancel()

    def join(self) -> None:
        self._thread.join()

    def _live(self) -> None:
        if self.before is not None:
            self.before.join()
            self.before = None
            wait([self._workspace.submit(lambda db: None)], WRITTEN_S)  # what it wrote last is recalled
        self._recall()
        backoff_s = BACKOFF_S[0]
        while not self._cancel.cancelled:
            try:
                flowed = self._once()
            except Cancelled:
                break
            except NotConnected as error:
                flowed = False
                self._gap(self._clock.wall(), why_not_begun(error, error.phase))
                hopeless = error.phase in HOPELESS
                self._state(NodeState.LOST if self._last_s and not hopeless else NodeState.REFUSED, str(error), error)
                if hopeless:
                    break
            except UserFacing as error:
                flowed = False
                self._gap(self._clock.wall(), why_not_begun(error))
            except _FAULTS as fault:
                flowed = False
                self._broke(fault)
            self._saving.lost(self._clock.wall())
            backoff_s = BACKOFF_S[0] if flowed else min(BACKOFF_S[1], backoff_s * 2)
            self._cancel.wait(backoff_s * random.uniform(0.75, 1.25))
        self._flush()
        self._unseen(self._clock.wall())
        self._close_gap(self._clock.wall(), resumed=False)

    def _broke(self, fault: Exception) -> None:
        """A fault of our own: what was read is kept, the time until it goes on is a gap."""
        _log.error("the watch of %s broke", self.node.name, exc_info=fault)
        self._flush()
        words = Text(f"internal error: {type(fault).__name__}", f"程序内部错误：{type(fault).__name__}")
        self._state(NodeState.LOST, words.en, UserFacing(words))
        self._gap(self._last_s or self._clock.wall(), FAULT)

    def _unseen(self, at_s: float, steady: tuple[float, float] = NEVER) -> None:
        self._saving.gaps((*self._sources.end_all(at_s), *self._series.end_all(at_s)))
        if self.rules is not None:
            self.rules.unseen(at_s, steady)

    def _recall(self, *, goes_on: bool = False) -> None:
        """Put what was stored of the last hour before what will come; what lies between is a gap, if the next line is not here yet."""
        found = begin_with(self.view, self._workspace, self._clock.wall())
        self._saving.ahead_s = found.ahead_s
        self._intake.recall(found.names)
        begin_s = max(found.last_s + self.view.interval_s, 0.0 if goes_on else found.noted_s)
        if found.last_s and not (goes_on and begin_s + self.view.interval_s > self._clock.wall()):
            self._gap(begin_s, found.why)
        elif found.why == CLOCK_WRONG:
            self._saving.gaps((Gap(self.node.id, int(begin_s * _NS), int(begin_s * _NS), CLOCK_WRONG),))

    def _once(self) -> bool:
        """One connection; whether samples came."""
        self._state(NodeState.CONNECTING, "")
        with self._links.open(self.node, self._cancel) as opened:
            if self._timeline.begin(self._last_s):
                self._set_back()
            self._expect(self._clock.wall())
            before = sum(ring.total for ring in self.view.rings.values())
            end = self._by_agent(opened.line) or self._flow(self._stream(opened.line, agent=False))
            self._flush()
            if end.ending is not StreamEnding.CLOSED:
                self._lost(end)
            return sum(ring.total for ring in self.view.rings.values()) > before

    def _by_agent(self, line: Line) -> StreamEnd | None:
        """Sample through the agent; None if this node can't run it, which is not tried again."""
        if self._no_agent:
            return None
        try:
            end = self._flow(self._stream(line, agent=True))
        except LineLost:
            raise
        except UserFacing:  # no such program, or none but the scripts may be started
            end = StreamEnd(StreamEnding.PROGRAM_ENDED, 0.0, heard=False)
        self._no_agent = not end.heard and line.alive and not self._cancel.cancelled
        return None if self._no_agent else end

    def _flow(self, stream: Stream) -> StreamEnd:
        self._intake.renew()
        forget = self._cancel.on_cancel(stream.close)
        try:
            return stream.run()
        finally:
            forget()

    def _stream(self, line: Line, *, agent: bool) -> Stream:
        self.view.by_agent = agent
        scripts = [(id_, source.script) for id_, source in streamed().items() if agent or source.script]
        start = agent_start(agent_program(), self.view.interval_s) if agent else None
        return Stream(line, scripts, self.view.interval_s, self._on_line, on_beat=self._on_beat, start=start, turn=self.turn)

    def _on_line(self, source_id: str, line: bytes, received_s: float) -> None:
        at_s = self.view.handed.later(self._after_sleep(self._timeline.at(received_s), received_s))
        told, warns = self._intake.read(source_id, words := line.decode("utf-8", "replace")), False
        if told is None:
            self._on_trouble(source_id, at_s, said=line.startswith(b"!") and line != TOO_LONG)
        elif not told and source_id == "gpu":  # nvidia-smi warns of something beside its rows, or in their place
            warns, missed_s = True, self._silence.missed_s(source_id, at_s)
            if missed_s is not None:
                self._intake.read(source_id, f"!{words}")
                self._on_trouble(source_id, at_s, said=False, missed_s=missed_s)
        self._hear_silence(at_s, "" if warns else source_id)
        if told is None or warns:
            return
        self._silence.heard(source_id, at_s)
        if source_id == "gpu" and not isinstance(told, Row):
            told = self._odd.sift(told, at_s, self.view.interval_s)
        self._last_s = at_s
        if self.view.state is not NodeState.CONNECTED:
            self._state(NodeState.CONNECTED, "")
            self._close_gap(at_s, resumed=True)
        self._saving.gaps((*self._sources.end(source_id, at_s), *self._series.hear(told, at_s)))
        self._intake.take(source_id, told, at_s)
        if self.rules is not None and self.rules.take(told, at_s, source_id):
            self._settle(self.rules)
        if at_s - self._gauged_s >= 0.9 * self.view.interval_s:
            self._gauged_s = at_s
            self._intake.take(TASK_LOG.id, self._gauge.take(at_s), at_s)
            self.view.unjudged = self.rules.unjudged if self.rules is not None else ()
        if self._recorder.due(at_s):
            self._flush()

    def _on_trouble(self, source_id: str, at_s: float, *, said: bool, missed_s: float | None = None) -> None:
        """A line that is no reading: the source says why (`said`), it can't be read, or readings are missed beside it since then."""
        if missed_s is None:
            self._silence.trouble(source_id, at_s, said=said)
        self._intake.end_curves(source_id, at_s)
        why = self.view.troubles.get(source_id, "")
        self._sources.begin(source_id, why, at_s if missed_s is None else missed_s)
        if source_id == "gpu":
            self._odd.tell(at_s)
        if self.rules is not None:
            self.rules.trouble(source_id, why, at_s, said=said)

    def _on_beat(self, received_s: float) -> None:
        """The node is there, whether or not a source of it says anything."""
        self._intake.release(at_s := self._after_sleep(self._timeline.at(received_s), received_s))
        self._hear_silence(at_s)
        if self.rules is not None and self.view.state is NodeState.CONNECTED:
            self.rules.quiet(at_s)

    def _hear_silence(self, at_s: float, speaks: str = "") -> None:
        """A source that fell silent is stale: its curves end, and it is a gap with a reason until it speaks."""
        for source_id, heard_s in self._silence.stale(at_s):
            if source_id != speaks:
                self._intake.read(source_id, f"!{STALE}")
                self._intake.end_curves(source_id, at_s)
                self._sources.begin(source_id, STALE, heard_s + self.view.interval_s)

    def _expect(self, at_s: float) -> None:
        """The node is looked at anew: the cards that it had, and the sources that told something and that every stream has."""
        told = {source_of(metric) for metric, _ in self.view.rings} & {id_ for id_, source in streamed().items() if source.script}
        self._silence.begin(told, at_s)
        if self.rules is not None:
            self.rules.renew(lately(self.view.rings))

    def _settle(self, rules: NodeRules) -> None:
        """Lost are cards that the node calls so and those that it no longer names; not those of which others took the place."""
        seen, absent, self.view.away = rules.seen, rules.absent, rules.away
        self._saving.gaps(self._series.miss(absent, self._last_s))
        lost = {**absent, **{card: why for card, why in self.view.lost.items() if card in seen or card in absent}}
        if lost != self.view.lost:
            self.view.lost = lost

    def _after_sleep(self, at_s: float, received_s: float) -> float:
        """A line that outlived a sleep of this computer, or a pause of this program, goes on after it; what nobody saw is a gap."""
        if received_s != self._received_s and self._timeline.set_back():
            self._set_back(goes_on=True)
            at_s = self._timeline.at(received_s)
        together, self._received_s = received_s == self._received_s, received_s  # lines that came together slept together
        if together or not self._timeline.missed(received_s):
            return at_s
        self._flush()
        at_s = self._timeline.at(received_s)
        if self.view.state is NodeState.CONNECTED:
            self._intake.stood_still(self._last_s, at_s)
            for begin_s, end_s in self._saving.unread(self._last_s, at_s):
                self._gap(begin_s, self._timeline.why, tell=False)
                self._close_gap(end_s, resumed=True, tell=False)
            self._series.go_on(at_s)
            self._expect(at_s)
        return at_s

    def _set_back(self, *, goes_on: bool = False) -> None:
        """Our clock had been ahead: what was written down by it stays in the store, the view begins anew with what is before now."""
        now_s = self._clock.wall()
        self._flush()
        # What broke a rule lasted so long, whatever the clock says now.
        self._unseen(min(self._last_s, now_s), (self._timeline.left_s, self._last_s))
        self._close_gap(self._last_s, resumed=False)
        # Told in turn: when the gaps are cut, what was taken before stands in the store, too, and can be recalled.
        wait([self._workspace.submit(lambda db: cut_gaps(db, self.node.id, int(now_s * _NS)))], WRITTEN_S)
        forget(self.view)
        self._last_s, self._gauged_s, self._odd = now_s, 0.0, OddRounds()
        self._intake.renew()
        self._state(NodeState.CONNECTING, "")  # the next line ends the gap that is recalled
        self._recall(goes_on=goes_on)
        self._expect(now_s)

    def _flush(self) -> None:
        self._intake.release()
        self._saving.readings(self._recorder.take(), self._last_s, self._intake.names)
        self._saving.gaps((*flood_gaps(self.view, self._recorder.floods()), *self._late.take()))

    def _lost(self, end: StreamEnd) -> None:
        at_s = self._timeline.at(end.last_s)
        self._state(NodeState.LOST, end.said[:200])
        self._gap(at_s, self._why_lost(end))

    def _why_lost(self, end: StreamEnd) -> str:
        """A line that did not outlive a sleep of this computer, or is lost while it has no network, is no fault of the node."""
        slept = self._timeline.did_not_look(end.last_s if end.heard else None)
        return self._timeline.why if slept else why_ended(self.node, end.ending)

    def _gap(self, start_s: float, reason: str, *, tell: bool = True) -> None:
        if self.view.gaps and self.view.gaps[-1].end_s is None:
            if self.view.gaps[-1].reason not in UNSEEN or reason in UNSEEN:
                return
            self._close_gap(start_s, resumed=False)
        self._unseen(start_s)
        self.view.gaps.append(GapSpan(start_s, reason))
        self._intake.end_all(start_s)
        if tell:
            self._bus.publish(GapOpened(self.node.id, int(start_s * 1000), reason))

    def _close_gap(self, at_s: float, *, resumed: bool, tell: bool = True) -> None:
        if not self.view.gaps or self.view.gaps[-1].end_s is not None:
            return
        gap = self.view.gaps[-1]
        gap.resumed, gap.end_s = resumed, max(gap.start_s, at_s)
        if at_s <= gap.start_s and gap.reason != CLOCK_WRONG:
            self.view.gaps.pop()  # what was put back reaches to what came
        else:
            self._saving.gaps(self._late.hold(gap, told=tell))
        if resumed and tell:
            self._bus.publish(GapClosed(self.node.id, int(at_s * 1000)))

    def _state(self, state: NodeState, reason: str, trouble: UserFacing | None = None) -> None:
        if self.view.state is state:
            return
        self.view.state, self.view.reason = state, reason
        self.view.why, step = (trouble.why_text if trouble.why else trouble.what_text, trouble.next_text) if trouble else (NO_TEXT, NO_TEXT)
        self._bus.publish(NodeStateChanged(self.node.id, state, reason, step.en, self.view.why, step))


__all__ = ["MOST_SERIES", "GapSpan", "SeriesKey", "WatchView", "Watching"]
