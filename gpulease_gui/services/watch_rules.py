"""How do readings of a watched node become events, marks, notifications and findings with evidence?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.watch_rules import Episode, WatchPromise, WatchRules
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.events import Bus, WatchAlarm
from gpulease_gui.services.notices import get_notices
from gpulease_gui.services.thresholds import effective
from gpulease_gui.services.watch_loads import Loads
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.records import EvidenceBlob, Mark, new_id
from gpulease_gui.store.samples import save_mark
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.store.watch_events import WatchEvent, close_left_open, save_event
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.source import Metric, Point, metrics

if TYPE_CHECKING:
    from datetime import date

WATCH_MARK = "watch"
_NS = 1_000_000_000
_LINES = ("net.", "disk.")
_WATCHED = frozenset({
    "gpu.power_w", "gpu.event_reasons", "gpu.clock_sm_mhz", "gpu.temperature_c", "gpu.temperature_memory_c", "gpu.util_percent",
})  # fmt: skip


class RuleKeeper:
    """What the rules of every watched node have in common."""

    def __init__(self, workspace: Workspace, bus: Bus, catalogue: Catalogue, clock: Callable[[], float] = time.time) -> None:
        self.workspace, self.bus, self.catalogue, self.clock = workspace, bus, catalogue, clock
        self.loads = Loads()
        bus.subscribe(self.loads.hear)

    def of(self, node: Node) -> NodeRules:
        """The rules of a node that is watched from now on."""
        return NodeRules(self, node)


class NodeRules:
    """The rules of one node over its stream. Used by the watch's thread only."""

    def __init__(self, keeper: RuleKeeper, node: Node) -> None:
        self._keeper, self._node = keeper, node
        self._rules = WatchRules(WatchPromise())
        self._events: dict[tuple[str, str], tuple[str, EvidenceBlob]] = {}
        self._cards: set[str] = set()
        self._floors: Mapping[str, tuple[str, float]] = {}

    def renew(self) -> None:
        """A connection begins: what the contract says, and the figures as they stand now."""
        workspace, node_id = self._keeper.workspace, self._node.id
        if not self._events:
            workspace.submit(lambda db: close_left_open(db, node_id))
        now = datetime.fromtimestamp(self._keeper.clock(), UTC).date()
        try:
            with workspace.read() as connection:
                self._rules.promise = promise_of(connection, self._node, self._keeper.catalogue, now)
        except UserFacing:
            return  # the store says so itself when the first readings are written
        self._floors = self._rules.promise.floors

    def take(self, points: Iterable[Point], at_s: float) -> None:
        """The readings of one line at one time (UTC seconds)."""
        cards: dict[str, dict[str, float | None]] = {}
        lines: dict[str, float] = {}
        lost: dict[str, str] = {}
        for point in points:
            if point.lost:
                lost[point.subject] = point.lost
            elif point.metric in _WATCHED:
                cards.setdefault(point.subject, {})[point.metric] = point.value
            elif point.metric in self._floors and point.value is not None:
                lines[point.metric] = max(point.value, lines.get(point.metric, point.value))
        made = [one for subject, why in lost.items() for one in self._rules.lose(subject, why, at_s)]
        if cards:
            self._cards |= cards.keys()
            made += self._rules.answer(at_s)
            made += [one for subject, values in cards.items() for one in self._rules.feed(subject, values, at_s)]
        if lines:
            made += self._feed_lines(lines, at_s)
        self._tell(made)

    def _feed_lines(self, lines: Mapping[str, float], at_s: float) -> list[Episode]:
        """The busiest interface and disk stand for the node: the others are not those that a check loads."""
        under_load = self._keeper.loads.metrics_of(self._node.id, self._floors)
        promise = self._rules.promise
        self._rules.promise = WatchPromise(promise.floors, under_load, promise.billed, promise.thresholds)
        return [one for metric, value in lines.items() for one in self._rules.feed(_line_of(metric), {metric: value}, at_s)]

    def trouble(self, source_id: str, words: str, at_s: float) -> None:
        """A source of the node can't be read; of cards that were there the driver does not answer."""
        if source_id == "gpu" and self._cards:
            self._tell(self._rules.lose("", words, at_s))

    def unseen(self, at_s: float) -> None:
        """The stream stopped: nobody sees whether anything goes on."""
        self._tell(self._rules.unseen(at_s))

    def _tell(self, episodes: Iterable[Episode]) -> None:
        for episode in episodes:
            key = episode.rule.id, episode.subject
            if key not in self._events:
                self._events[key] = new_id(), EvidenceBlob.of(evidence_of(self._node, episode))
            id_, blob = self._events[key] if episode.ended_s is None else self._events.pop(key)
            self._save(WatchEvent(
                id_, self._node.id, episode.rule.id, episode.subject, int(episode.began_s * _NS),
                None if episode.ended_s is None else int(episode.ended_s * _NS), episode.rule.degraded,
                finding_of(episode, self._rules.promise, blob.sha256),
            ), blob, episode)  # fmt: skip

    def _save(self, event: WatchEvent, blob: EvidenceBlob, episode: Episode) -> None:
        at_s = episode.began_s if episode.ended_s is None else episode.ended_s
        mark = Mark(f"{event.id}-{'begin' if event.ended_ns is None else 'end'}", event.node_id, datetime.fromtimestamp(at_s, UTC), WATCH_MARK, mark_words(episode))

        def work(db: Database) -> bool:
            save_event(db, event, blob)
            save_mark(db, mark)
            return get_notices(db.conn).disturbs(event.node_id, datetime.fromtimestamp(at_s, UTC).astimezone())

        words, bus = event.finding.reason, self._keeper.bus
        future = self._keeper.workspace.submit(work)
        future.add_done_callback(
            lambda done: bus.publish(WatchAlarm(
                event.node_id, event.rule, event.subject, event.began_ns // 1_000_000,
                None if event.ended_ns is None else event.ended_ns // 1_000_000, words,
                disturb=not done.cancelled() and done.exception() is None and done.result(),
            ))
        )  # fmt: skip


def _line_of(metric: str) -> str:
    """What a node has several of and is judged by the busiest one."""
    return metric.split(".", maxsplit=1)[0]


def promise_of(connection: Reader, node: Node, catalogue: Catalogue, day: date) -> WatchPromise:
    """What the contract of a node says of what is watched. A contract without dates counts as not known to be running."""
    figures = effective(connection)
    if node.contract_id is None:
        return WatchPromise(thresholds=figures)
    facts = deal_in(connection, Subject(HolderOf.CONTRACT, node.contract_id), day)
    promise = Promise(catalogue, facts.promised)
    floors = {id_: found for id_, metric in metrics().items() if (found := _floor(metric, promise)) is not None}
    contract = get_contract(connection, node.contract_id)
    billed = contract.start is not None and contract.start <= day and (contract.end is None or day <= contract.end)
    return WatchPromise(floors, billed=billed, thresholds=figures)


def _floor(metric: Metric, promise: Promise) -> tuple[str, float] | None:
    if metric.term is None or not metric.id.startswith((*_LINES, "gpu.power_w")):
        return None
    stated = promise.get(metric.term)
    if stated is None or isinstance(stated.value, bool | str):
        return None
    return metric.term, float(stated.value)


def mark_words(episode: Episode) -> str:
    """What a mark keeps: rule, subject and whether it is the end. Words are put together where they are shown."""
    state = "cut" if episode.cut else "end" if episode.ended_s is not None else "begin"
    return f"{episode.rule.id}\t{episode.subject}\t{state}"


def evidence_of(node: Node, episode: Episode) -> bytes:
    """The readings by which a rule was found broken, one a line: UTC seconds, value ("-" = none told)."""
    head = [f"rule\t{episode.rule.id}", f"node\t{node.id}", f"subject\t{episode.subject}", f"unit\t{episode.worst.unit}"]
    if episode.words:
        head.append(f"node says\t{episode.words}")
    rows = [f"{at_s:.3f}\t{'-' if value is None else format(value, '.10g')}" for at_s, value in episode.readings]
    return "\n".join([*head, "", *rows, ""]).encode()


def finding_of(episode: Episode, promise: WatchPromise, sha256: str) -> Finding:
    """The episode as a finding of its rule."""
    rule, worst = episode.rule, episode.worst
    since = datetime.fromtimestamp(episode.began_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    en, zh = f"{rule.why.en}, since {since}", f"{rule.why.zh}，自 {since} 起"
    if episode.ended_s is not None:
        seconds = round(episode.ended_s - episode.began_s)
        en, zh = f"{en}, for {seconds} s", f"{zh}，持续 {seconds} 秒"
    if episode.cut:
        en, zh = f"{en}; then nobody could look any more", f"{zh}；其后无法继续观察"
    if episode.words:
        said = foreign(episode.words)
        en, zh = f"{en}: {said.en}", f"{zh}：{said.zh}"
    subject = SubjectFinding(episode.subject, rule.verdict, worst.value) if episode.subject else None
    return Finding(
        rule.id, rule.verdict, Text(en, zh), worst.term, worst.promised, worst.value, worst.unit, (subject,) if subject else (),
        reason_code="cut" if episode.cut else "", basis=Basis.REPORTED, required=rule.degraded, evidence=(sha256,),
        judged_by=promise.thresholds.judged_by(rule.thresholds, worst.term),
    )  # fmt: skip
