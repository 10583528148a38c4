"""Which cards has a watched node, and which of those that it had is not read any more, though nothing says so?"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping

from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_places import LATER, ROUNDS, SAME_ROUND, Places, Spans, successors
from gpulease_gui.telemetry.gpu import GONE
from gpulease_gui.telemetry.source import Point

# A node that has just come back may name its cards one by one; a line of a card may be odd once.
_ROUNDS, _KEPT_ROUNDS = ROUNDS, 8
_LATELY_S = 60.0
# A row of a card may be late, as a line of a chart may have one reading less.
_GONE_INTERVALS, _GONE_S, _MOST_CARDS = 2.5, 1.0, 256
# Of an interval: lines that come together are of one round.
_LEAST_ROUND = 0.4
NOT_BACK = "the node is back without this card"
UNREAD = "nothing readable is said of it any more"


class Cards:
    """The cards (UUIDs) of one node, asked every `interval_s`, over its connections. Used by the watch's thread only."""

    def __init__(self, interval_s: float = 1.0) -> None:
        self._interval_s = interval_s
        self._had: frozenset[str] = frozenset()
        self._seen: set[str] = set()
        self._round: set[str] = set()
        self._rounds, self._round_s = 0, 0.0
        self._begun: deque[float] = deque(maxlen=_KEPT_ROUNDS)
        self._told: dict[str, tuple[int, float]] = {}  # in which round a card was named last, and when
        self._places = Places(interval_s)

    @property
    def settled(self) -> bool:
        """Whether enough was heard in this connection to say what is missing."""
        return self._rounds >= _ROUNDS

    @property
    def seen(self) -> frozenset[str]:
        """What was named in this connection, read or lost."""
        return frozenset(self._seen)

    @property
    def absent(self) -> dict[str, str]:
        """Why, by card, of those that are not read though the node says nothing of them."""
        unread = {name: UNREAD for name in sorted(self._seen) if self._is_silent(name)}
        return {**dict.fromkeys(self.missing, NOT_BACK), **unread}

    def _is_silent(self, name: str) -> bool:
        """Rounds must pass, and their time: a card whose rows come many times makes more of them."""
        round_, told_s = self._told[name]
        return self._rounds - round_ > _ROUNDS and self._begun[-1] - told_s > _ROUNDS * self._interval_s

    def since_s(self, name: str) -> float:
        """When the first round began (UTC seconds) in which a card was absent, as far back as that is known."""
        if name not in self._told:
            return self._begun[max(0, len(self._begun) - 1 - self._rounds)]
        told_s = self._told[name][1]
        later = (begun_s for begun_s in self._begun if begun_s - told_s > SAME_ROUND * self._interval_s)
        return next(later, told_s + self._interval_s)

    @property
    def known(self) -> frozenset[str]:
        """What the node has as far as anybody knows: read in this connection, else before it."""
        if self._rounds >= _ROUNDS:
            return frozenset({*self._seen, *self.missing})
        return max(frozenset(self._seen), self._had, key=len)

    @property
    def missing(self) -> tuple[str, ...]:
        """What was there before the cut and is not now."""
        if self._rounds < _ROUNDS:
            return ()
        return tuple(sorted(successors(self._had, frozenset(self._seen)) - self._seen))

    def expect(self, before: Iterable[str] = ()) -> None:
        """A connection begins; `before`: what the node had before it was watched, if that is looked up."""
        self._had = (self.known if self._seen else self._had) or frozenset(before)
        self._seen, self._round, self._rounds, self._told = set(), set(), 0, {}
        self._begun.clear()
        self._places.begin(self._had)

    def replaced(self, away: Collection[str] = ()) -> dict[str, float]:
        """Whose place another card took, and since when (UTC seconds): nobody misses them any more, but they may be read again.

        Asked as a round begins; `away` are not expected anyway.
        """
        found = self._places.taken(away)
        self._had = self._had.difference(found)
        self._seen.difference_update(found)
        for name in found:
            self._told.pop(name, None)
        return found

    def is_replaced(self, name: str) -> bool:
        """Whether another card has its place, so that it is not missed though the node calls it lost."""
        return self._places.is_replaced(name)

    def told(self, at_s: float, read: Collection[str], lost: Collection[str] = ()) -> bool:
        """A line names these cards, read or lost; whether a new round over all cards begins with it.

        A card that is named twice in one round begins none.
        """
        named = {*read, *(name for name in lost if not self._places.is_replaced(name))}
        begins = bool(named) and (not self._round or not self._round.isdisjoint(named))
        if begins and self._round and 0 <= at_s - self._round_s < _LEAST_ROUND * self._interval_s:
            begins = False
        if begins:
            self._rounds += bool(self._round)
            self._round, self._round_s = set(), at_s
            self._begun.append(at_s)
        self._places.read(at_s, read)
        self._round |= named
        self._seen |= named
        self._told.update(dict.fromkeys(named, (self._rounds, at_s)))
        return begins


class OddRounds:
    """Is a card gone that a round of nvidia-smi's rows left out? Not where a row of it could not be read, or was cut off by a
    break; nor where it was read just now, because the rows of another card come many times and each begins a round; nor where another
    card may have its place.
    """

    def __init__(self) -> None:
        self._odd_s: float | None = None
        self._first_s: dict[str, float] = {}  # when each card was read first and last
        self._read_s: dict[str, float] = {}

    def tell(self, at_s: float) -> None:
        """A line could not be read."""
        self._odd_s = at_s

    def sift(self, points: tuple[Point, ...], at_s: float, interval_s: float) -> tuple[Point, ...]:
        """The points without those that such a round calls gone; what stays away is missed by `Cards`, or by a later round."""
        if not points:
            return points
        if len(self._read_s) >= _MOST_CARDS:
            self._first_s, self._read_s = {}, {}
        self._read_s[points[-1].subject] = at_s
        self._first_s.setdefault(points[-1].subject, at_s)
        if points[0].lost != GONE:
            return points
        odd_s, self._odd_s = self._odd_s, None
        odd = odd_s is not None and at_s - odd_s <= 2 * interval_s
        least_s, followed = max(_GONE_INTERVALS * interval_s, _GONE_S), self._followed({point.subject for point in points if point.lost == GONE}, interval_s)
        return tuple([
            point for point in points
            if point.lost != GONE or not (odd or point.subject in followed or at_s - self._read_s.get(point.subject, -math.inf) < least_s)
        ])  # fmt: skip

    def _followed(self, gone: Collection[str], interval_s: float) -> set[str]:
        """Those after which another card was read first that is there now, each by another one."""
        left = sorted(gone, key=lambda name: (-self._read_s.get(name, -math.inf), name), reverse=True)  # as `Places.taken` does
        found: set[str] = set()
        for first_s in sorted(first_s for name, first_s in self._first_s.items() if name not in gone):
            if left and first_s - self._read_s.get(left[0], -math.inf) >= LATER * interval_s:
                found.add(left.pop(0))
        return found


def lately(rings: Mapping[tuple[str, str], Ring]) -> Spans:
    """When the cards were read first and last, of those that were read in the last minute in which any was."""
    spans: dict[str, tuple[float, float]] = {}
    for (metric, subject), ring in rings.items():
        if metric.startswith("gpu.") and (span := _span_s(ring)) is not None:
            first_s, last_s = spans.get(subject, span)
            spans[subject] = min(first_s, span[0]), max(last_s, span[1])
    newest_s = max((last_s for _, last_s in spans.values()), default=0.0)
    return {subject: span for subject, span in spans.items() if span[1] >= newest_s - _LATELY_S}


def _span_s(ring: Ring) -> tuple[float, float] | None:
    """When it has its first and its last value."""
    seen = ring.view()
    times_s, values = seen.times_s, seen.values
    first = next((place for place, value in enumerate(values) if value == value), None)
    last = next((place for place in range(len(values) - 1, -1, -1) if values[place] == values[place]), None)
    return None if first is None or last is None else (float(times_s[first]), float(times_s[last]))
