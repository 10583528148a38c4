"""When does what flows from a watched node break a rule, from which reading on, and until which?

Pure: readings go in with their time, episodes come out. A rule begins when nearly all of the last readings are bad and ends
when nearly all are good, so that one odd reading is no event and ends none; its times are those of the first bad and the first
good one of them. What was not read is neither: nobody saw it, so it is not counted as degraded either. What lasts is cut off at
its last bad reading once it was not read for too long, and ends as over by nothing but good readings of what was bad. Readings
of one card are counted on over a cut of the line that is no longer than that; over a longer one the count begins anew. A hole in
what a card's readings say parts an episode in two: the hole is in neither. A card is neither idle nor hot from its loss on until that is over.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.checks.watch_line import LineWatch, Load
from gpulease_gui.checks.watch_rule import (
    BROKEN_SAMPLES,
    DRIVER,
    FLOOR,
    GONE,
    GOOD_SAMPLES,
    HOT,
    HOT_RULE,
    IDLE,
    KEPT,
    LINES,
    LOST,
    MOST_OF,
    NO_WORD,
    NODE,
    RAMP,
    SLOW,
    THROTTLED,
    TOLD,
    TOLD_TO,
    UNITS,
    WATCH_RULES,
    WATCH_THRESHOLDS,
    Judged,
    Values,
    WatchPromise,
    WatchRule,
)
from gpulease_gui.checks.watch_streak import Episode, Streak, ended_at, worst_of
from gpulease_gui.checks.watch_time import degraded_s, paid_card

__all__ = [
    "BROKEN_SAMPLES", "HOT", "LINES", "NODE", "WATCH_RULES", "WATCH_THRESHOLDS", "Episode", "Judged", "Load", "Values", "WatchPromise",
    "WatchRule", "WatchRules", "degraded_s",
]  # fmt: skip


_KEPT_READINGS = 60
# Two tests so far apart are not one stretch of readings.
_APART_S = 60.0
# What was not read for so long ends a streak, and cuts off what lasts.
UNREAD_S, UNREAD_INTERVALS = 10.0, 5.0
# A single reading that does not come is no hole, as it is none in a chart.
HOLE_S, HOLE_INTERVALS = 2.5, 2.5
# What only single readings say: a lost card is lost until it is read again, a driver answers or does not.
_BY_READINGS = frozenset({FLOOR.id, THROTTLED.id, HOT_RULE.id, IDLE.id})
# What is said of a card that is read, beside what it is paid for: no part of it is degraded time of a loss.
_OF_READ, _LOSSES = frozenset({HOT_RULE.id, IDLE.id}), frozenset({LOST.id, DRIVER.id})


class WatchRules:
    """The rules of one node over its stream, asked every `interval_s` seconds. One thread feeds it."""

    def __init__(self, promise: WatchPromise, interval_s: float = 1.0) -> None:
        self.promise = promise
        self.card_of: Callable[[str], str] = paid_card  # of which card that is paid for a subject is the whole or a part
        self._unread_s, self._hole_s = max(UNREAD_S, UNREAD_INTERVALS * interval_s), max(HOLE_S, HOLE_INTERVALS * interval_s)
        self._streaks: dict[tuple[str, str, str], Streak] = {}
        self._losses: frozenset[str] = frozenset()  # of which subjects a loss lasted when it was looked last
        self._lines = {metric: LineWatch(interval_s) for metric in LINES}

    @property
    def open(self) -> tuple[Episode, ...]:
        """What lasts now."""
        return tuple(streak.episode for streak in self._streaks.values() if streak.episode is not None)

    def feed(self, subject: str, values: Values, at_s: float) -> tuple[Episode, ...]:
        """The readings of one subject at one time (UTC seconds); episodes that have just begun or ended."""
        made: list[Episode] = []
        for rule in WATCH_RULES:
            judged = rule.judge(values, self.promise)
            if judged.broken or self._streaks:
                made += self._look(rule, subject, self._unless_unread(rule, subject, judged, values), at_s)
        return tuple(made)

    def _unless_unread(self, rule: WatchRule, subject: str, judged: Judged, values: Values) -> Judged:
        """A reading without what was bad before is not a good one."""
        streak = None if judged.broken else self._streaks.get((rule.id, subject, judged.metric))
        if streak is None or not streak.by or all(values.get(metric) is not None for metric in streak.by):
            return judged
        return NO_WORD

    def feed_lines(self, values: Mapping[str, float], at_s: float) -> tuple[Episode, ...]:
        """What the node's busiest lines carried each way at one time (UTC seconds), by metric."""
        return tuple(
            episode for metric in sorted(LINES & values.keys() & self.promise.floors.keys())
            for seen_s, judged in self._rates(metric, values[metric], at_s) for episode in self._look(FLOOR, NODE, judged, seen_s)
        )  # fmt: skip

    def _rates(self, metric: str, value: float, at_s: float) -> list[tuple[float, Judged]]:
        term, promised = self.promise.floors[metric]
        figure = self.promise.thresholds.value
        counted = self._lines[metric].take(value, at_s, self.promise.loads.get(metric), promised, figure(RAMP))
        if counted is None:
            return [(at_s, Judged(False, value, UNITS[metric], term, promised, metric, asked=False))]
        least = promised * figure(SLOW[metric])
        return [(seen_s, Judged(one < least, one, UNITS[metric], term, promised, metric)) for seen_s, one in counted]

    def unjudged(self) -> tuple[Judged, ...]:
        """What the lines carry of others, where it is a part of a promise and less than it: little may be wanted, or given."""
        figure, found = self.promise.thresholds.value, []
        for metric, (term, promised) in sorted(self.promise.floors.items()):
            usual = self._lines[metric].usual if metric in LINES else None
            if usual is not None and promised * figure(TOLD) <= usual < promised * figure(TOLD_TO):
                found.append(Judged(None, usual, UNITS[metric], term, promised, metric))
        return tuple(found)

    def promise_anew(self, promise: WatchPromise, at_s: float) -> tuple[Episode, ...]:
        """What is promised changed; what lasts and is promised no more is cut off."""
        self.promise = promise
        gone = {
            key: one.episode for key, one in self._streaks.items()
            if one.episode and key[0] == FLOOR.id and (key[2] or "gpu.power_w") not in promise.floors
        }  # fmt: skip
        self._streaks = {key: one for key, one in self._streaks.items() if key not in gone}
        return tuple(ended_at(one, at_s, cut=True) for one in gone.values())

    def lose(self, subject: str, why: str, at_s: float, since_s: float | None = None) -> tuple[Episode, ...]:
        """A card can't be read any more ("": none of the node's); `why` are words of the node.

        `since_s`: when it was missing first, where that shows only later.
        """
        rule = LOST if subject else DRIVER
        made = self._look(rule, subject, GONE, at_s, why)
        streak = self._streaks[rule.id, subject, ""]
        if not made and streak.episode is not None and why.startswith(f"{streak.episode.words} ("):  # it says more of the same
            streak.episode, streak.grown = replace(streak.episode, words=why), True
        if made and since_s is not None and since_s < made[0].began_s:
            streak.episode = replace(made[0], began_s=since_s)
            made = (streak.episode,)
        return made if streak.episode is None else (*self._cut_off(streak.episode), *made)

    def _cut_off(self, loss: Episode) -> list[Episode]:
        """A card that is lost is neither idle nor hot, nor is that of which a part is lost idle."""
        self._losses |= {loss.subject}
        return [cut for one in self._beside(loss.subject) if (cut := one.lose(loss.began_s)) is not None]

    def _beside(self, lost: str) -> list[Streak]:
        return [one for (id_, subject, _), one in self._streaks.items() if id_ in _OF_READ and self._is_part(id_, subject, lost)]

    def _is_part(self, rule_id: str, subject: str, lost: str) -> bool:
        return lost in (NODE, subject) or (rule_id == IDLE.id and self.card_of(subject) == self.card_of(lost))

    def _is_lost(self, rule: WatchRule, subject: str) -> bool:
        """Whether a loss of what is read now lasts: it may be over, which more readings show."""
        if rule.id in _OF_READ:
            self._losses = frozenset(key[1] for key, one in self._streaks.items() if key[0] in _LOSSES and one.episode is not None)
            return any(self._is_part(rule.id, subject, lost) for lost in self._losses)
        return False

    def replaced(self, subject: str, at_s: float) -> tuple[Episode, ...]:
        """Another card has the place of a lost one since then: nobody misses it any more."""
        streak = self._streaks.pop((LOST.id, subject, ""), None)
        return () if streak is None or streak.episode is None else (ended_at(streak.episode, at_s),)

    def answer(self, at_s: float) -> tuple[Episode, ...]:
        """The driver answers: readings of cards arrive."""
        return self._look(DRIVER, NODE, KEPT, at_s)

    def unseen(self, at_s: float, same: Collection[str] = (), steady: tuple[float, float] = (math.inf, math.inf)) -> tuple[Episode, ...]:
        """Nobody looks any more: what lasts is cut off at its last reading and no later than `at_s`, streaks begin anew.

        `steady`: (begin, end) of a line of time that a clock which was set back has left; what began in it lasted up to its end.
        `same`: subjects that have their name wherever they are seen next (UUIDs). What is counted of them, and did not become an
        episode yet, counts on if they are read again soon.
        """
        cut = [
            ended_at(one.episode, min(steady[1] if one.episode.began_s >= steady[0] else at_s, one.bad_s), cut=True)
            for one in self._streaks.values() if one.episode
        ]  # fmt: skip
        self._streaks = {key: one for key, one in self._streaks.items() if one.episode is None and not one.parted and key[1] in same}
        return tuple(cut)

    def overdue(self, at_s: float) -> tuple[Episode, ...]:
        """What was not read for too long is cut off at its last bad reading; what may become an episode begins anew.

        A lost card is lost until it is read again.
        """
        late = {key: one for key, one in self._streaks.items() if key[0] != LOST.id and at_s - one.read_s > self._unread_s}
        self._streaks = {key: one for key, one in self._streaks.items() if key not in late} if late else self._streaks
        return tuple(ended_at(one.episode, one.bad_s, cut=True) for one in late.values() if one.episode)

    def grown(self) -> tuple[Episode, ...]:
        """What lasts and has become worse since this was asked last."""
        worse = [one for one in self._streaks.values() if one.grown]
        for one in worse:
            one.grown = False
        return tuple(one.episode for one in worse if one.episode is not None)

    def gone_still(self, at_s: float) -> None:
        """The node is read, its driver has not answered since it was called gone: it still is."""
        streak = self._streaks.get((DRIVER.id, NODE, ""))
        if streak is not None and streak.episode is not None and not streak.recent:
            streak.note(at_s, GONE)

    def _look(self, rule: WatchRule, subject: str, judged: Judged, at_s: float, words: str = "") -> tuple[Episode, ...]:
        if judged.broken is None:
            return ()
        key = rule.id, subject, judged.metric
        streak = self._streaks.get(key)
        if streak is None:
            if not judged.broken:
                return ()
            streak = self._streaks[key] = Streak()
        if streak.episode is None and not judged.metric and abs(at_s - streak.read_s) > self._unread_s:
            streak.begin_anew()
        episode = streak.episode
        if episode is not None and self._is_hole(rule, judged, streak.read_s, at_s):
            return self._part(streak, episode, judged, at_s)
        if episode is not None and rule is FLOOR and judged.broken and judged.promised != episode.worst.promised:  # another promise, broken, too
            before, *after = self._part(streak, episode, judged, at_s)
            return (ended_at(replace(before, cut=False), at_s), *after)
        streak.note(at_s, judged)
        if episode is not None:
            return self._last(streak, episode, judged, at_s)
        return self._wait(rule, subject, streak, judged, at_s, words)

    def _is_hole(self, rule: WatchRule, judged: Judged, before_s: float, at_s: float) -> bool:
        return rule.id in _BY_READINGS and not judged.metric and at_s - before_s > self._hole_s

    def _part(self, streak: Streak, episode: Episode, judged: Judged, at_s: float) -> tuple[Episode, ...]:
        """The first reading after a hole: what lasted ends before it, and goes on with it if it is a bad one."""
        before = replace(ended_at(episode, streak.bad_s, cut=True), goes_on=bool(judged.broken))
        streak.begin_anew()
        streak.latest.clear()
        streak.episode, streak.by, streak.grown = None, frozenset(), False
        streak.note(at_s, judged)
        if not judged.broken:
            return (before,)
        streak.episode = Episode(episode.rule, episode.subject, at_s, None, judged, ((at_s, judged.value),), episode.words, goes_on=True)
        return before, streak.episode

    def _wait(
        self, rule: WatchRule, subject: str, streak: Streak, judged: Judged, at_s: float, words: str
    ) -> tuple[Episode, ...]:
        if not judged.asked:
            if streak.recent and at_s - streak.recent[-1][0] > _APART_S:
                streak.begin_anew()
            return ()
        if rule is IDLE and not judged.broken:  # a card that works now and then is not idle
            streak.begin_anew()
        lost = bool(self._losses) and self._is_lost(rule, subject)
        most = sys.maxsize if lost or streak.parted else self._samples(rule.begin)
        begins = streak.add(at_s, judged, most, self.promise.thresholds.value(MOST_OF))
        if lost or not (begins or streak.parted):
            return ()
        parted, streak.parted = streak.parted, False
        if not begins and not judged.broken:
            return ()
        *earlier, last = self._parts(rule, streak)
        streak.begin_anew()
        streak.episode = replace(_of(rule, subject, last, words), goes_on=parted)
        streak.grown = False
        ended = [replace(ended_at(_of(rule, subject, part, words), part[-1][0], cut=True), goes_on=True) for part in earlier if len(part) > 1]
        return (*ended, streak.episode)

    def _parts(self, rule: WatchRule, streak: Streak) -> list[list[tuple[float, Judged]]]:
        """The bad ones of the last readings, parted by holes and losses."""
        parts: list[list[tuple[float, Judged]]] = [[]]
        before_s = math.inf
        for seen_s, one in streak.recent:
            lost = any(before_s < loss_s <= seen_s for loss_s in streak.losses)
            if parts[-1] and (lost or self._is_hole(rule, one, before_s, seen_s)):
                parts.append([])
            if one.broken:
                parts[-1].append((seen_s, one))
            before_s = seen_s
        return [part for part in parts if part]

    def _last(self, streak: Streak, episode: Episode, judged: Judged, at_s: float) -> tuple[Episode, ...]:
        if judged.broken:
            streak.grow(episode.rule, judged, at_s)
        if not streak.add(at_s, judged, self._samples(GOOD_SAMPLES), self.promise.thresholds.value(MOST_OF)):
            return ()
        ended = ended_at(episode, streak.recent[0][0])
        for beside in self._beside(episode.subject) if episode.rule.id in _LOSSES else ():
            beside.leave_out(episode.began_s, streak.recent[0][0])
        streak.begin_anew()
        streak.episode, streak.by = None, frozenset()
        return (ended,)

    def _samples(self, figure: Threshold) -> int:
        return math.ceil(self.promise.thresholds.value(figure))


def _of(rule: WatchRule, subject: str, bad: list[tuple[float, Judged]], words: str) -> Episode:
    """What lasts since the first of bad readings."""
    kept = tuple((seen_s, one.value) for seen_s, one in bad[-_KEPT_READINGS:])
    return Episode(rule, subject, bad[0][0], None, worst_of(rule, [one for _, one in bad]), kept, words)
