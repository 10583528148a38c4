"""What do the last readings of one rule on one subject say, and what lasts by them?"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace

from gpulease_gui.checks.watch_rule import HOT_RULE, NO_WORD, Judged, WatchRule


@dataclass(frozen=True, slots=True)
class Episode:
    """A rule that is broken on one subject ("" = the whole node), times in UTC seconds; `ended_s` None while it lasts.

    `readings` are the first bad ones: (time, value). `cut`: it was not seen to end, but nobody could look any more.
    `worst_s`: when the worst was read; it grows while the episode lasts. `goes_on`: a part of what has begun before or begins
    with this, beside a hole; nobody need be told of it.
    """

    rule: WatchRule
    subject: str
    began_s: float
    ended_s: float | None = None
    worst: Judged = NO_WORD
    readings: tuple[tuple[float, float | None], ...] = ()
    words: str = ""
    cut: bool = False
    worst_s: float = 0.0
    goes_on: bool = False


class Streak:
    """One rule on one subject: the last readings, from the first on that may begin or end an episode, and what lasts.

    `read_s` and `bad_s`: when there was a reading and a bad one last. `by`: the metrics that were bad. `losses`: when its card was lost
    among the last readings. `parted`: a loss cut off what lasted, which goes on if the first reading after it is a bad one.
    """

    __slots__ = ("alike", "bad_s", "by", "episode", "grown", "latest", "losses", "parted", "read_s", "recent")

    def __init__(self) -> None:
        self.recent: deque[tuple[float, Judged]] = deque()
        self.latest: deque[Judged] = deque(maxlen=10)
        self.alike, self.read_s, self.bad_s = 0, 0.0, 0.0
        self.losses, self.parted = list[float](), False
        self.by: frozenset[str] = frozenset()
        self.episode: Episode | None = None
        self.grown = False

    def note(self, at_s: float, judged: Judged) -> None:
        """There is a reading."""
        self.read_s = at_s
        if judged.broken:
            self.bad_s = at_s
            self.by = self.by.union(judged.by) if judged.by else self.by
            self.latest.append(judged)

    def add(self, at_s: float, judged: Judged, most: int, share: float) -> bool:
        """Whether nearly all of the last `most` readings are against the state that lasts, this one too."""
        against = self.episode is None
        self.recent.append((at_s, judged))
        self.alike += judged.broken is against
        while self.recent and (len(self.recent) > most or self.recent[0][1].broken is not against):
            self.alike -= self.recent.popleft()[1].broken is against
        return judged.broken is against and len(self.recent) == most and self.alike >= share * most

    def begin_anew(self) -> None:
        """None of the last readings counts any more."""
        self.recent, self.alike = deque(), 0
        self.losses, self.parted = [], False

    def lose(self, since_s: float) -> Episode | None:
        """Its card is lost since then: nothing after that counts; what lasted, cut off."""
        if self.episode is not None:
            cut = ended_at(self.episode, min(since_s, self.bad_s), cut=True)
            self.begin_anew()
            self.latest.clear()
            self.episode, self.by, self.grown, self.parted = None, frozenset(), False, True
            return cut
        self.leave_out(since_s, math.inf)
        self.losses = [*(one for one in self.losses if self.recent[0][0] < one < since_s), since_s] if self.recent else []
        return None

    def leave_out(self, begin_s: float, end_s: float) -> None:
        """Its card was lost then: no reading of that time is one of the last."""
        if self.episode is None and self.recent and self.recent[-1][0] >= begin_s:
            self.recent = deque(one for one in self.recent if not begin_s <= one[0] < end_s)
            self.alike = sum(one.broken is True for _, one in self.recent)

    def grow(self, rule: WatchRule, judged: Judged, at_s: float) -> None:
        """A bad reading may be worse than all before it; of a line ten must be, because its first and last seconds are no rate."""
        if self.episode is None or (judged.metric and len(self.latest) != self.latest.maxlen):
            return
        found = worst_of(rule, list(self.latest)) if judged.metric else judged
        if _rank(rule, found) < _rank(rule, self.episode.worst):
            self.episode, self.grown = replace(self.episode, worst=found, worst_s=at_s), True


def worst_of(rule: WatchRule, bad: list[Judged]) -> Judged:
    """The worst of bad readings. Of a line the middle one: its first and last seconds are no rate."""
    found = sorted(bad, key=lambda one: _rank(rule, one))
    return found[len(found) // 2] if found[0].metric else found[0]


def _rank(rule: WatchRule, judged: Judged) -> float:
    """The worst first: the highest temperature, else the lowest figure."""
    value = 0.0 if judged.value is None else judged.value
    return -value if rule is HOT_RULE else value


def ended_at(episode: Episode, at_s: float, *, cut: bool = False) -> Episode:
    """The episode, over at that time (UTC seconds), never before it began."""
    return replace(episode, ended_s=max(episode.began_s, at_s), cut=cut)
