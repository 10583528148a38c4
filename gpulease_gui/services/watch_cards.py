"""Which cards has a watched node, and which of those that it had before a cut does it no longer name?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gpulease_gui.services.series import Ring

# A node that has just come back may name its cards one by one.
_ROUNDS = 3
_LATELY_S = 60.0


class Cards:
    """The cards (UUIDs) of one node over its connections. Used by the watch's thread only."""

    def __init__(self) -> None:
        self._had: frozenset[str] = frozenset()
        self._measured: frozenset[str] = frozenset()
        self._seen: set[str] = set()
        self._round: set[str] = set()
        self._rounds = 0

    @property
    def known(self) -> frozenset[str]:
        """What the node has as far as anybody knows: read in this connection, else before it, else by the last run."""
        if self._rounds >= _ROUNDS:
            return frozenset({*self._seen, *self.missing})
        return max(frozenset(self._seen), self._had, key=len) or self._measured

    @property
    def missing(self) -> tuple[str, ...]:
        """What was there before the cut and is not now. As many cards as before are no loss: the node got others."""
        if self._rounds < _ROUNDS:
            return ()
        return tuple(sorted(self._had - self._seen)[: max(0, len(self._had) - len(self._seen))])

    def expect(self, lately: Iterable[str], measured: Iterable[str]) -> None:
        """A connection begins: what was read before this program did, and what the last run read, if nothing is known."""
        self._had = (self.known if self._seen else self._had) or frozenset(lately)
        self._measured = frozenset(measured)
        self._seen, self._round, self._rounds = set(), set(), 0

    def told(self, *names: Collection[str]) -> bool:
        """A line names these cards, read or lost; whether a new round over all cards begins with it."""
        named = {name for some in names for name in some}
        begins = bool(named) and (not self._round or not self._round.isdisjoint(named))
        if begins:
            self._rounds += bool(self._round)
            self._round = set()
        self._round |= named
        self._seen |= named
        return begins


def lately(rings: Mapping[tuple[str, str], Ring]) -> frozenset[str]:
    """The cards that were read in the last minute in which any was."""
    last_s: dict[str, float] = {}
    for (metric, subject), ring in rings.items():
        if metric.startswith("gpu."):
            last_s[subject] = max(last_s.get(subject, 0.0), _last_s(ring))
    newest_s = max(last_s.values(), default=0.0)
    return frozenset(subject for subject, at_s in last_s.items() if at_s and at_s >= newest_s - _LATELY_S)


def _last_s(ring: Ring) -> float:
    seen = ring.view()
    return next((float(at_s) for at_s, value in zip(reversed(seen.times_s), reversed(seen.values), strict=True) if value == value), 0.0)
