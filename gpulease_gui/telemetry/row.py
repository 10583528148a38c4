"""What have lines of a stream that look alike in common, so that it is worked out once and not for each of them?"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gpulease_gui.telemetry.source import Point

NAN = math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Which curves (metric, subject) a line tells, in its order. A form is only like itself: what follows from it is kept by it.

    `indexes` are the numbers that the node gives the subjects.
    """

    keys: tuple[tuple[str, str], ...]
    indexes: tuple[tuple[str, int], ...] = ()

    def places(self, metrics: Collection[str]) -> dict[str, list[tuple[str, int]]]:
        """By subject: which of these metrics are told of it, and where in a row."""
        found: dict[str, list[tuple[str, int]]] = {}
        for place, (metric, subject) in enumerate(self.keys):
            if metric in metrics:
                found.setdefault(subject, []).append((metric, place))
        return found


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one line in the order of its form, of nothing that is lost; NaN = not told, which is never a zero.

    A reader makes rows of lines only that tell every value.
    """

    form: Form
    values: Sequence[float]


@runtime_checkable
class RowReader(Protocol):
    """A reader of lines that knows some of them by their form."""

    def look(self, line: str) -> Row | tuple[Point, ...]:
        """The points of one line, as a row where it looks like the one before it. Raises Unreadable."""


def form_of(points: Sequence[Point]) -> Form:
    """What points that were told together are the values of."""
    indexes = {point.subject: point.index for point in points if point.index is not None}
    return Form(tuple((point.metric, point.subject) for point in points), tuple(indexes.items()))


def row_of(form: Form, points: Sequence[Point]) -> Row:
    """The values of points in the order of their form."""
    return Row(form, [NAN if point.value is None else point.value for point in points])
