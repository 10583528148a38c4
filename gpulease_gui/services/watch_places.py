"""Did another card take the place of one that is not read any more?

Numbers and slots of cards change when one is gone, so cards are counted: as many as before are no loss, whichever they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

# So many rounds, and their time, tell that a card is there, or that it is not.
ROUNDS = 3
# Of an interval: lines that come together are of one round.
SAME_ROUND = 0.5
LATER = 0.9
_NEVER = float("-inf")
# Rows of one moment may come so long after each other.
_MOMENT_S = 0.05
# Of a card: when it was read first and last (UTC seconds), as far back as somebody looked.
Spans = Mapping[str, tuple[float, float]]


def successors(had: frozenset[str], seen: frozenset[str]) -> frozenset[str]:
    """The cards of a node that had some and shows others later: those, and what they leave a place for.

    As many cards as before are no loss: the node got others.
    """
    return seen | frozenset(sorted(had - seen)[: max(0, len(had) - len(seen))])


def not_replaced(spans: Spans) -> frozenset[str]:
    """The cards without those whose place another took, which was read first after they were read last; each takes one place.

    Of several the one that was lost last, or stands first, stays, as in `Places.taken`.
    """
    left = sorted(spans, key=lambda name: (-spans[name][1], name))
    for newcomer in sorted(spans, key=lambda name: spans[name][0]):
        if left and spans[newcomer][0] - spans[left[-1]][1] > _MOMENT_S:
            left.pop()
    return frozenset(left)


class Places:
    """Which cards of one node are read in a connection. Used by the watch's thread only; times are UTC seconds."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self.begin(frozenset())

    def begin(self, had: frozenset[str]) -> None:
        """A connection begins to a node that had these cards."""
        self._had = had
        self._gone: set[str] = set()  # those whose place was taken
        self._rounds, self._round_s = 0, _NEVER
        self._round: set[str] = set()
        self._first: dict[str, float] = {}
        self._last: dict[str, tuple[int, float]] = {}  # in which round a card was read last, and when
        self._new: dict[str, float] = {}  # that took nobody's place yet, and when they were read first

    def is_replaced(self, name: str) -> bool:
        """Whether another card has its place, and it was not read since."""
        return name in self._gone

    def read(self, at_s: float, names: Collection[str]) -> None:
        """A line tells how these cards are. One that changes places with another between two rounds is in none with it."""
        if not names:
            return
        if not self._round.isdisjoint(names) or not 0 <= at_s - self._round_s <= SAME_ROUND * self._interval_s:
            self._rounds, self._round, self._round_s = self._rounds + 1, set(), at_s
        self._round |= {*names}
        for name in names:
            self._last[name] = self._rounds, at_s
            if name not in self._first:
                self._first[name] = at_s
                self._gone.discard(name)
                if name not in self._had:
                    self._new[name] = at_s

    def taken(self, away: Collection[str] = ()) -> dict[str, float]:
        """Which cards lost their place to one that was read first after they were read last, and since when; each to another one.

        Those that are `away` by agreement have no place.
        """
        if not self._new or self._rounds <= ROUNDS:
            return {}
        known = (self._had | self._first.keys()) - self._gone
        gone = [name for name in known - {*away} if self._is_gone(name)]
        found: dict[str, float] = {}
        # Of several the one that was lost last, or stands first, stays missed, as over a cut.
        for name in sorted(gone, key=lambda one: (-self._last_s(one), one), reverse=True):
            newcomer = next((one for one, at_s in self._new.items() if self._is_after(name, at_s) and self._is_there(one)), None)
            if newcomer is not None:
                found[name] = self._new.pop(newcomer)
        self._gone |= found.keys()
        for name in found:
            self._first.pop(name, None)
        return found

    def _last_s(self, name: str) -> float:
        return self._last[name][1] if name in self._first else _NEVER

    def _is_after(self, name: str, at_s: float) -> bool:
        """Rows of one round may come one after the other."""
        return at_s - self._last_s(name) >= LATER * self._interval_s

    def _is_gone(self, name: str) -> bool:
        """Rounds must pass, and their time: a card whose rows come many times makes more of them."""
        if name not in self._first:
            return True
        round_, last_s = self._last[name]
        return self._rounds - round_ > ROUNDS and self._round_s - last_s > ROUNDS * self._interval_s

    def _is_there(self, name: str) -> bool:
        """One line may name a card that is none. Known before the one that it replaces is missed, however late a row of it came, so that
        nobody is told of that.
        """
        return not self._is_gone(name) and self._last_s(name) - self._first[name] >= (ROUNDS - 1 - SAME_ROUND) * self._interval_s
