"""What does a small chart of a few lines show?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.gui.widgets.labels import Words


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line: its name in the legend and one value a place of the chart's `xs`."""

    name: Words
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over common places from 0. `mark` is where they meet, `now` where the reader stands; words beside both."""

    xs: tuple[float, ...]
    lines: tuple[ChartLine, ...]
    x_unit: Words
    y_unit: str
    sentence: Words
    mark: float | None = None
    mark_words: Words = ""
    now: float | None = None
