"""Which source of a watched node that told readings has fallen silent, while the node itself is heard?"""

from __future__ import annotations

from collections.abc import Iterable

# nvidia-smi takes its time over eight cards; some sources are slow always, and their longest pause says how slow.
STALE_S, STALE_INTERVALS, STALE_PAUSES, MOST_S = 10.0, 5.0, 3.0, 60.0
# It is late where it speaks, but tells nothing.
LATE_S, LATE_INTERVALS = 2.5, 2.5
# What nobody heard of the whole node for (we slept, or had no time) is no silence of one source.
_STEP_S, _STEP_INTERVALS = 5.0, 2.0
# Nor is that one source late in which nothing came for so long.
_PAUSE_S, _PAUSE_INTERVALS = 2.0, 2.0
STALE = "nothing is heard of it any more"


class Silence:
    """The silences of the sources of one watch, asked every `interval_s`. Used by its thread only; times are UTC seconds."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._most_step_s = max(_STEP_S, _STEP_INTERVALS * interval_s)
        self._heard: dict[str, float] = {}
        self._pauses: dict[str, float] = {}
        self._looked_s = 0.0

    def begin(self, sources: Iterable[str], at_s: float) -> None:
        """A connection begins; these were there before it."""
        self._heard, self._looked_s = dict.fromkeys(sources, at_s), at_s

    def heard(self, source_id: str, at_s: float) -> None:
        """It told a reading."""
        before_s = self._heard.get(source_id)
        self._heard[source_id] = at_s
        if before_s is not None and at_s - before_s > self._interval_s:
            self._pauses[source_id] = max(self._pauses.get(source_id, 0.0), at_s - before_s)

    def trouble(self, source_id: str, at_s: float, *, said: bool) -> None:
        """A line that is no reading; a source that says itself why is not waited for."""
        if said:
            self._heard.pop(source_id, None)
        else:
            self.heard(source_id, at_s)

    def missed_s(self, source_id: str, at_s: float) -> float | None:
        """Since when a source that speaks, but tells no reading, should have told one; None: it is not late, or never told any."""
        heard_s, pause_s = self._heard.get(source_id), self._pauses.get(source_id, 0.0)
        if 0 < self._looked_s < at_s - max(_PAUSE_S, _PAUSE_INTERVALS * self._interval_s):
            return None
        if heard_s is None or at_s - heard_s < min(MOST_S, max(LATE_S, LATE_INTERVALS * max(self._interval_s, pause_s))):
            return None
        return heard_s + self._interval_s

    def stale(self, at_s: float) -> tuple[tuple[str, float], ...]:
        """(source, when it was heard last) of those that have been silent for too long; each is told once."""
        passed_s = at_s - self._looked_s
        if 0 <= passed_s < self._interval_s:
            return ()
        self._looked_s = at_s
        if not 0 <= passed_s <= self._most_step_s:
            unheard_s = passed_s - self._most_step_s
            self._heard = {id_: at_s if passed_s < 0 else min(at_s, heard_s + unheard_s) for id_, heard_s in self._heard.items()}
        found = tuple((id_, heard_s) for id_, heard_s in self._heard.items() if at_s - heard_s > self._bound_s(id_))
        for id_, _ in found:
            del self._heard[id_]
        return found

    def _bound_s(self, source_id: str) -> float:
        slow_s = min(MOST_S, STALE_PAUSES * self._pauses.get(source_id, 0.0))
        return max(STALE_S, STALE_INTERVALS * self._interval_s, slow_s)
