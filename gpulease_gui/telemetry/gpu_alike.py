"""What does a line of a card say that looks like the line before it?

Nearly all lines of a card differ by their figures only. Their values are worked out here without looking at each name again;
a line that is otherwise, be it by one figure that is none, is left to the reader that looks at everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import gt, itemgetter, mul, sub

from gpulease_gui.telemetry.row import Form, Row

_NUMBERS = frozenset({int, float})
# No figure of a card is so large; a counter whose bits are all set has no value, and a larger one is none that is kept.
MOST = 2.0**63


@dataclass(frozen=True, slots=True)
class Shape:
    """Names of a line that are told as figures, each once: gauges and rates with their factors and with the most that is possible
    (as the line tells it; in counts a second), counters whose rises are summed.

    `silent` are gauges, `silent_counters` counters that the card names and never tells.
    """

    gauges: Sequence[tuple[str, float, float]]
    rates: Sequence[tuple[str, float, float]]
    changes: Sequence[tuple[str, ...]]
    silent: Sequence[str] = ()
    silent_counters: Sequence[str] = ()


class Alike:
    """Reads the lines of one card that have this shape, after one with the counters `told`. Values come in the order of the shape."""

    def __init__(self, index: object, told: Mapping[str, object], form: Form, shape: Shape) -> None:
        self.form, self.index = form, index
        counters = [name for name, *_ in shape.rates] + [name for names in shape.changes for name in names]
        self.counters = tuple(counters)
        # With the number of the card and the time there are always two or more, so that a getter makes tuples.
        self._gauges = itemgetter("index", *(name for name, *_ in shape.gauges))
        self._highest = (MOST, *(most for *_, most in shape.gauges))
        self._counts = itemgetter("at_s", *counters)
        self._factors = [1.0, *(factor for _, factor, _ in shape.gauges)]
        self._rates = [factor for _, factor, _ in shape.rates]
        self._most = [most for *_, most in shape.rates]
        self._least_most = min(self._most, default=MOST)
        self._sums = _spans(1 + len(shape.rates), shape.changes)
        self._silent = itemgetter(*shape.silent) if shape.silent else None
        self._silent_counters = itemgetter(*shape.silent_counters) if shape.silent_counters else None
        self._names = 3 + len(shape.gauges) + len(shape.silent)
        self._counted = 1 + len(counters) + len(shape.silent_counters)
        self.before: Sequence[float] = self._counts(told)

    def row(self, said: Mapping[str, object]) -> Row | None:
        """The values of a line; None for one that has another shape or a figure that is none."""
        counters = said.get("counters")
        if len(said) != self._names or type(counters) is not dict or len(counters) != self._counted:
            return None
        try:
            gauges, counts = self._gauges(said), self._counts(counters)
            if not self._still_silent(said, counters) or gauges[0] != self.index or type(gauges[0]) is not int or not _figures(gauges + counts):
                return None
        except KeyError:
            return None
        if True in map(gt, gauges, self._highest):
            return None
        risen = list(map(sub, counts, self.before))
        step_s = risen[0]
        if step_s <= 0 or min(risen) < 0 or (max(risen) > self._least_most * step_s and self._is_impossible(risen)):
            return None
        self.before = counts
        values = list(map(mul, gauges, self._factors))
        del values[0]
        values += [rise * factor / step_s for rise, factor in zip(risen[1:], self._rates, strict=False)]
        values += [risen[begin] if end - begin == 1 else sum(risen[begin:end]) for begin, end in self._sums]
        return Row(self.form, values)

    def _is_impossible(self, risen: Sequence[float]) -> bool:
        return any(rise > most * risen[0] for rise, most in zip(risen[1:], self._most, strict=False))

    def _still_silent(self, said: Mapping[str, object], counters: Mapping[str, object]) -> bool:
        for getter, where in ((self._silent, said), (self._silent_counters, counters)):
            if getter is not None:
                told = getter(where)
                if told is not None and (type(told) is not tuple or told.count(None) != len(told)):
                    return False
        return True


def _spans(first: int, groups: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """From and up to which place the members of each group lie, one group after the other."""
    spans = []
    for names in groups:
        spans.append((first, first + len(names)))
        first += len(names)
    return spans


def _figures(told: Sequence[float]) -> bool:
    """Whether these are finite numbers, none of them below zero or beyond all bounds."""
    if not _NUMBERS.issuperset(map(type, told)) or min(told) < 0:
        return False
    try:
        return float(sum(told)) < MOST  # of what is no finite number a sum is none either
    except OverflowError:
        return False
