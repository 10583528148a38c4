"""How do readings of a watched node become events, marks, notifications and findings with evidence?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.watch_rule import LOST
from gpulease_gui.checks.watch_rules import LINES, Episode, Judged, WatchPromise, WatchRules
from gpulease_gui.checks.watch_time import as_named, paid_card, used_together
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.services.contract_day import Days, days_of
from gpulease_gui.services.events import Bus, Event, RecordsChanged, WatchAlarm
from gpulease_gui.services.intake import Told
from gpulease_gui.services.paid_cards import Seen, by_chip
from gpulease_gui.services.timeline import NEVER
from gpulease_gui.services.watch_cards import Cards
from gpulease_gui.services.watch_driver import Driver
from gpulease_gui.services.watch_last_seen import last_chips, last_seen
from gpulease_gui.services.watch_loads import Loads
from gpulease_gui.services.watch_owed import Owed
from gpulease_gui.services.watch_places import Spans
from gpulease_gui.services.watch_promise import promise_of
from gpulease_gui.services.watch_stand import Standing
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.store.away import are_back, away_now
from gpulease_gui.store.nodes import get_node
from gpulease_gui.store.records import EvidenceBlob, Mark, new_id
from gpulease_gui.store.watch_ends import SIGN_S, close_forsaken, event_id, tell_alive, tell_over
from gpulease_gui.store.watch_events import WatchEvent
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.gpu import GONE as UNNAMED
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import metrics

WATCH_MARK = "watch"
CUT = "cut"  # the reason code of an episode whose end nobody saw
_NS, _MOST_FORMS = 1_000_000_000, 256
# What lasts and gets worse is written no more often.
GROWN_S = 10.0
# What no promise, price or threshold hangs on.
_NO_MATTER = frozenset({"mark", "answer", "draft"})
# What of the cards is judged.
WATCHED = frozenset({
    "gpu.power_w", "gpu.event_reasons", "gpu.clock_sm_mhz", "gpu.temperature_c", "gpu.temperature_memory_c", "gpu.util_percent",
    "npu.temperature_c", "npu.aicore_percent",
})  # fmt: skip


class RuleKeeper:
    """What the rules of every watched node have in common."""

    def __init__(self, workspace: Workspace, bus: Bus, catalogue: Catalogue, clock: Callable[[], float] = time.time) -> None:
        self.workspace, self.bus, self.catalogue, self.clock = workspace, bus, catalogue, clock
        self.loads, self.owed, self.changes = Loads(), Owed(workspace.submit), 0
        self._standing = Standing(workspace, clock)
        bus.subscribe(self.loads.hear)
        bus.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, RecordsChanged) and not event.kinds <= _NO_MATTER:
            self.changes += 1

    def look(self) -> None:
        """Whether another program changed what nodes are judged by; every watch asks."""
        self.changes += self._standing.changed()

    def of(self, node: Node, interval_s: float = 1.0) -> NodeRules:
        """The rules of a node that is watched from now on, every `interval_s` seconds."""
        return NodeRules(self, node, interval_s)


class NodeRules:
    """The rules of one node over its stream. Used by the watch's thread only."""

    def __init__(self, keeper: RuleKeeper, node: Node, interval_s: float) -> None:
        self._keeper, self._node = keeper, node
        self._drivers = {kind: Driver(interval_s) for kind in ("gpu", "npu")}
        self._rules, self._interval_s = WatchRules(WatchPromise(), interval_s), interval_s
        self._events: dict[tuple[str, str, str], str] = {}
        self._judged_by: dict[str, WatchPromise] = {}  # what stood when an event that lasts began
        self._cards, self._chips, self._npus = Cards(interval_s), Cards(interval_s), False
        self.away: Mapping[str, float] = {}  # cards that were taken away by agreement, since when (UTC seconds)
        self._looked_s, self._grown_s = 0.0, 0.0
        self._others_s = 0.0
        self._id, self._signed_s = new_id(), 0.0  # whose what it holds open is, and when that was told last
        self._stand: int | None = None
        self._day_s = (0.0, 0.0)  # begin and end (UTC seconds) of the day for which the contract was looked up
        self._places: dict[Form, dict[str, list[tuple[str, int]]]] = {}

    def renew(self, seen: Spans | None = None) -> None:
        """A connection begins; `seen` are cards (UUIDs) that were read shortly before the program began, and when."""
        workspace, node_id, now_s = self._keeper.workspace, self._node.id, self._keeper.clock()
        if not self._events:
            self._keeper.owed.now()
            self._end_of_others()
        self._stand = None
        self._keeper.look()
        for driver in self._drivers.values():
            driver.begin()
        self._keep_up(now_s)
        if self._cards.known or self._chips.known:
            self._cards.expect()
            self._chips.expect()
            return
        try:
            with workspace.read() as connection:
                self._cards.expect(last_seen(connection, node_id, seen or {}, now_s))
                self._chips.expect(last_chips(connection, node_id, now_s))
        except UserFacing:
            return  # the store says so itself when the first readings are written

    def _keep_up(self, at_s: float) -> None:
        """What the contract says, and the figures as they stand now: looked up anew on each day of the contract."""
        if self._stand == self._keeper.changes and self._day_s[0] <= at_s < self._day_s[1]:
            return
        self._stand, days = self._keeper.changes, Days()
        self._day_s = days.bounds_s(days.of(at_s))
        try:
            with self._keeper.workspace.read() as connection:
                node = get_node(connection, self._node.id)
                days = days_of(connection, node.contract_id)
                self._day_s = days.bounds_s(days.of(at_s))
                promise = promise_of(connection, node, self._keeper.catalogue, days.of(at_s))
                self.away = {card: one.at.timestamp() for card, one in away_now(connection, node.id).items()}
        except UserFacing:
            return  # the store says so itself when the next readings are written
        self._tell(self._rules.promise_anew(promise, at_s))

    def take(self, told: Told, at_s: float, source_id: str = "gpu") -> bool:
        """The readings of one line of a source at one time (UTC seconds); whether it is told anew by it which cards are there."""
        self._keep_up(at_s)
        if isinstance(told, Row):
            return self._judge(self._of_row(told), {}, {}, at_s, source_id)
        cards: dict[str, dict[str, float | None]] = {}
        lines: dict[str, float] = {}
        lost: dict[str, str] = {}
        for point in told:
            if point.lost:
                lost[point.subject] = point.lost
            elif point.metric in WATCHED:
                cards.setdefault(point.subject, {})[point.metric] = point.value
            elif point.metric in LINES and point.value is not None:
                lines[point.metric] = max(point.value, lines.get(point.metric, point.value))
        return self._judge(cards, lines, lost, at_s, source_id)

    def _of_row(self, row: Row) -> dict[str, dict[str, float | None]]:
        """What is judged of the cards that a row tells."""
        places = self._places.get(row.form)
        if places is None:
            if len(self._places) >= _MOST_FORMS:
                self._places = {}
            places = self._places[row.form] = row.form.places(WATCHED)
        values = row.values
        return {card: {metric: values[place] for metric, place in some} for card, some in places.items()}

    def _judge(
        self, cards: Mapping[str, Mapping[str, float | None]], lines: Mapping[str, float], lost: Mapping[str, str], at_s: float,
        source_id: str,
    ) -> bool:  # fmt: skip
        which = self._chips if source_id == "npu" else self._cards
        if source_id == "npu":
            self._rules.card_of = as_named if self._by_chip else paid_card
            cards = cards if self._by_chip else used_together(cards)
        # What rows of others leave out is not named by them.
        begins = which.told(at_s, cards, [card for card, why in lost.items() if why != UNNAMED])
        self._tell(self._of_drivers(source_id, at_s, answers=begins, named=bool(cards or lost)))
        if self.away:
            self._look_for_away(cards, at_s)
        self._tell(self._of_cards(cards, lost, which, at_s, begins=begins))
        if lines:
            self._tell(self._of_lines(lines, at_s))
        self._look_around(at_s)
        return begins and which.settled

    @property
    def _by_chip(self) -> bool:
        """Whether each chip is a card that is paid for, and idle by itself."""
        chips = self._chips.known
        return by_chip(self._rules.promise.paid, [Seen(len(set(map(paid_card, chips))), len(chips))]) is True

    def quiet(self, at_s: float) -> None:
        """The node is there, and no source of it says anything."""
        self._tell(self._of_drivers("", at_s))
        self._look_around(at_s)

    def _look_around(self, at_s: float) -> None:
        """What is not told by a reading: that there was none for too long, that it got worse, that the disk has room again."""
        if 0 <= at_s - self._looked_s < self._interval_s:
            return
        self._looked_s = at_s
        self._keeper.look()
        self._tell(self._rules.overdue(at_s))
        self._keeper.owed.again(at_s)
        if not 0 <= at_s - self._grown_s < GROWN_S:
            self._grown_s = at_s
            for episode in self._rules.grown():
                self._keeper.owed.write(*self._event(self._events[_key(episode)], episode))
        if self._events and not 0 <= self._keeper.clock() - self._signed_s < SIGN_S:
            self._sign()
        if not 0 <= self._keeper.clock() - self._others_s < SIGN_S:
            self._end_of_others()

    def _end_of_others(self) -> None:
        """Whoever watches a node ends what a killed program held open of it."""
        self._others_s = now_s = self._keeper.clock()
        node_id = self._node.id
        self._keeper.workspace.submit(lambda db: close_forsaken(db.conn, int(now_s * _NS), node_id))

    def _sign(self) -> None:
        """Tell others who have the workspace open that what lasts is watched."""
        self._signed_s, held = self._keeper.clock(), tuple(self._events.values())
        now_ns = int(self._signed_s * _NS)
        self._keeper.workspace.submit(lambda db: tell_alive(db, self._id, held, now_ns))

    def _of_drivers(self, source_id: str, at_s: float, *, answers: bool = False, named: bool = False) -> list[Episode]:
        """A driver answers once a round of all cards, whichever of them speaks first; others may say nothing for too long."""
        self._npus = self._npus or source_id == "npu"
        if source_id in self._drivers:
            driver, made = self._drivers[source_id], list[Episode]()
            if named:
                if why := driver.overdue(at_s):
                    made += self._rules.lose("", why, at_s, driver.missed_s)
                driver.read(at_s)
            return [*made, *(self._rules.answer(at_s) if answers else ())]
        self._rules.gone_still(at_s)
        # A node without NPUs says nothing of them, nor does one that has GPUs in their place now.
        driver = self._drivers["npu" if self._npus or (self._chips.known and not self._cards.seen) else "gpu"]
        why = driver.silent(at_s)
        return list(self._rules.lose("", why, at_s, driver.missed_s) if why else ())

    def _look_for_away(self, cards: Iterable[str], at_s: float) -> None:
        """A card that is read again is back."""
        node_id, back, at = self._node.id, sorted(self.away.keys() & set(cards)), datetime.fromtimestamp(at_s, UTC)
        if back:
            self.away = {card: since_s for card, since_s in self.away.items() if card not in back}
            self._keeper.workspace.submit(lambda db: are_back(db, node_id, back, at))

    def _of_cards(
        self, cards: Mapping[str, Mapping[str, float | None]], lost: Mapping[str, str], which: Cards, at_s: float, *, begins: bool
    ) -> list[Episode]:
        """Of `which` cards the line is, and whether it begins a round of them. A loss begins with the first reading that is missed."""
        made = list(self._of_replaced(which)) if begins else []
        made += [
            one for subject, why in lost.items() if self._is_missed(subject) and not which.is_replaced(subject)
            for one in self._rules.lose(subject, why, at_s, which.since_s(subject) if why == UNNAMED else None)
        ]  # fmt: skip
        if begins:
            absent = {subject: why for subject, why in which.absent.items() if self._is_missed(subject) and subject not in lost}
            made += [one for subject, why in absent.items() for one in self._rules.lose(subject, why, at_s, which.since_s(subject))]
        return made + [one for subject, values in cards.items() for one in self._rules.feed(subject, values, at_s)]

    def _of_replaced(self, which: Cards) -> Iterable[Episode]:
        for subject, since_s in which.replaced(self.away.keys()).items():
            yield from self._rules.replaced(subject, since_s)

    def _is_missed(self, subject: str) -> bool:
        """A card that was taken away by agreement is lost no more; while that may be taken back, what had begun goes on."""
        return subject not in self.away or (LOST.id, subject, "") in self._events

    @property
    def seen(self) -> frozenset[str]:
        """The cards that the node names."""
        return (self._cards.seen | self._chips.seen) - self.away.keys()

    @property
    def absent(self) -> Mapping[str, str]:
        """Why, by card, of those that it no longer names."""
        absent = {**self._cards.absent, **self._chips.absent}
        return {card: why for card, why in absent.items() if card not in self.away}

    @property
    def unjudged(self) -> tuple[Judged, ...]:
        """What the lines carry of others, beside what is promised; see `WatchRules.unjudged`."""
        return self._rules.unjudged()

    def _of_lines(self, lines: Mapping[str, float], at_s: float) -> Iterable[Episode]:
        """The busiest interface and disk stand for the node: the others are not those that a check loads."""
        loads = self._keeper.loads.of(self._node.id)
        if loads != self._rules.promise.loads:
            self._rules.promise = replace(self._rules.promise, loads=loads)
        return self._rules.feed_lines(lines, at_s)

    def trouble(self, source_id: str, words: str, at_s: float, *, said: bool = True) -> None:
        """A source of the node can't be read: it says so itself (`said`), or a line of it is odd."""
        driver = self._drivers.get(source_id)
        known = bool(self._cards.known) or self._rules.promise.cards if source_id == "gpu" else self._npus or bool(self._chips.known)
        if driver is not None and driver.trouble(words, at_s, said=said, known=known):
            self._tell(self._rules.lose("", words, at_s, driver.missed_s))

    def unseen(self, at_s: float, steady: tuple[float, float] = NEVER) -> None:
        """The stream stopped: nobody sees whether anything goes on. A card of a UUID is the same one when it is read again."""
        for driver in self._drivers.values():
            driver.begin()
        self._tell(self._rules.unseen(at_s, self._cards.known if steady is NEVER else (), steady))
        if self._signed_s and not self._events:
            self._signed_s = 0.0
            self._keeper.workspace.submit(lambda db: tell_over(db, self._id))

    def _tell(self, episodes: Iterable[Episode]) -> None:
        for episode in episodes:
            key = _key(episode)
            if episode.ended_s is None and not self._signed_s:
                self._sign()
            id_ = self._events.setdefault(key, event_id(self._id)) if episode.ended_s is None else self._events.pop(key, "") or new_id()
            self._judged_by.setdefault(id_, self._rules.promise)
            self._save(*self._event(id_, episode), episode)
            if episode.ended_s is not None:
                del self._judged_by[id_]

    def _event(self, id_: str, episode: Episode) -> tuple[WatchEvent, EvidenceBlob]:
        blob = EvidenceBlob.of(evidence_of(self._node, episode))
        return WatchEvent(
            id_, self._node.id, episode.rule.id, episode.subject, int(episode.began_s * _NS),
            None if episode.ended_s is None else int(episode.ended_s * _NS), episode.rule.degraded,
            finding_of(episode, self._judged_by[id_], blob.sha256, (self._cards.known | self._chips.known) - self.away.keys()),
        ), blob  # fmt: skip

    def _save(self, event: WatchEvent, blob: EvidenceBlob, episode: Episode) -> None:
        at_s = episode.began_s if episode.ended_s is None else episode.ended_s
        mark = Mark(f"{event.id}-begin" if event.ended_ns is None else end_mark(event.id), event.node_id, datetime.fromtimestamp(at_s, UTC), WATCH_MARK, mark_words(episode))
        words, bus, anew = alarm_words(event.finding), self._keeper.bus, not episode.goes_on
        self._keeper.owed.write(event, blob, mark, lambda disturb: bus.publish(WatchAlarm(
            event.node_id, event.rule, event.subject, event.began_ns // 1_000_000,
            None if event.ended_ns is None else event.ended_ns // 1_000_000, words, disturb=disturb and anew, cut=episode.cut,
        )))  # fmt: skip


def _key(episode: Episode) -> tuple[str, str, str]:
    return episode.rule.id, episode.subject, episode.worst.metric


def end_mark(event_id: str) -> str:
    """The id of the mark that who told the end of an episode leaves."""
    return f"{event_id}-end"


def mark_words(episode: Episode) -> str:
    """What a mark keeps: rule, subject and whether it is the end. Words are put together where they are shown."""
    state = CUT if episode.cut else "end" if episode.ended_s is not None else "begin"
    return f"{episode.rule.id}\t{episode.subject}\t{state}"


def evidence_of(node: Node, episode: Episode) -> bytes:
    """The readings by which a rule was found broken and the worst after them, one a line: UTC seconds, value ("-" = none told)."""
    head = [f"rule\t{episode.rule.id}", f"node\t{node.id}", f"subject\t{episode.subject}", f"unit\t{episode.worst.unit}"]
    if episode.words:
        head.append(f"node says\t{episode.words}")
    readings = [*episode.readings, *([(episode.worst_s, episode.worst.value)] if episode.worst_s else [])]
    rows = [f"{at_s:.3f}\t{'-' if value is None else format(value, '.10g')}" for at_s, value in readings]
    return "\n".join([*head, "", *rows, ""]).encode()


def alarm_words(finding: Finding) -> Text:
    """What is wrong and what to do about it."""
    reason, step = finding.reason, finding.next_step
    return Text(f"{reason.en}. {step.en}.", f"{reason.zh}。{step.zh}。") if step.en else reason


def finding_of(episode: Episode, promise: WatchPromise, sha256: str, cards: Iterable[str] = ()) -> Finding:
    """The episode as a finding of its rule; one of the whole node is of each of its `cards`."""
    rule, worst = episode.rule, episode.worst
    since = datetime.fromtimestamp(episode.began_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    en, zh = f"{rule.why.en}, since {since}", f"{rule.why.zh}，自 {since} 起"
    if worst.metric:
        way = metrics()[worst.metric].title
        en, zh = f"{way.en}: {en}", f"{way.zh}：{zh}"
    if episode.ended_s is not None:
        seconds = round(episode.ended_s - episode.began_s)
        en, zh = f"{en}, for {seconds} s", f"{zh}，持续 {seconds} 秒"
    if episode.cut:
        en, zh = f"{en}; then nobody could look any more", f"{zh}；其后无法继续观察"
    if episode.words:
        said = trouble_words(episode.words)
        en, zh = f"{en}: {said.en}", f"{zh}：{said.zh}"
    value = worst.value if episode.subject else None
    subjects = tuple(SubjectFinding(one, rule.verdict, value) for one in ([episode.subject] if episode.subject else sorted(cards)))
    return Finding(
        rule.id, rule.verdict, Text(en, zh), worst.term, worst.promised, worst.value, worst.unit, subjects,
        reason_code=CUT if episode.cut else "", next_step=rule.next_step, basis=Basis.REPORTED, required=rule.degraded, evidence=(sha256,),
        judged_by=promise.thresholds.judged_by(rule.thresholds, worst.term),
    )  # fmt: skip
