"""Which figures divide pass from warn and fail, whose are they, and which did the user move?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import SHARE, JudgedBy, Origin

__all__ = ["NOTHING_MOVED", "SHARE", "Moved", "Origin", "Threshold", "Thresholds"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A figure that a rule compares with; `value` is what the program ships, in `unit` (`share` = a part of one).

    `check` and `name` are its address. `low` and `high` bound what may be set in its place. `terms`: only findings of
    these terms are judged by it (empty = all). A figure that several checks use belongs to the first of them.
    """

    check: str
    name: str
    value: float
    unit: str
    title: Text
    sign: str = ""
    origin: Origin = Origin.ASSUMPTION
    source: str = ""
    low: float = 0.0
    high: float = math.inf
    terms: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Check id and name."""
        return self.check, self.name

    def accepts(self, value: float) -> bool:
        """Whether `value` may stand in its place."""
        return math.isfinite(value) and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Moved:
    """A value in place of the shipped one; `why` with name and day is what the finding shows as its source."""

    value: float
    why: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The figures as they stand for one run: the shipped ones, but for those that were moved."""

    moved: Mapping[tuple[str, str], Moved]

    def value(self, threshold: Threshold) -> float:
        """What to compare with."""
        found = self._moved(threshold)
        return threshold.value if found is None else found.value

    def judged_by(self, thresholds: Iterable[Threshold], term: str | None) -> tuple[JudgedBy, ...]:
        """What a finding of `term` keeps of the figures that it was judged by."""
        return tuple(self._shown(one) for one in thresholds if not one.terms or term in one.terms)

    def _moved(self, threshold: Threshold) -> Moved | None:
        found = self.moved.get(threshold.key)
        # A newer program may have narrowed the bounds: a value outside of them counts no more.
        return found if found is not None and threshold.accepts(found.value) else None

    def _shown(self, one: Threshold) -> JudgedBy:
        found = self._moved(one)
        origin, source = (one.origin, one.source) if found is None else (Origin.SET, found.why)
        return JudgedBy(one.check, one.name, one.title, self.value(one), one.unit, origin, source, one.sign)


NOTHING_MOVED = Thresholds({})
