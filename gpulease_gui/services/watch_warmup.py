"""From when on is the speed of a task held against its promise?

The first steps compile and fill caches; a run leaves them out when it is judged, so they break no promise in the chart either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpulease_gui.domain.task import TaskPoint, TaskRate
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_curve import warmup_of


def judged_from(points: Sequence[TaskPoint], rates: Sequence[TaskRate] = ()) -> tuple[int, float]:
    """(speeds left out, seconds after the start from which on the others stand); infinite while there are no others.

    `rates` tell how many a run that is over left out; its points may be thinned.
    """
    times = [point.at_s for point in points if point.speeds and point.at_s is not None]
    if not times:
        return 0, math.inf
    left_out, seen = (rates[0].warmup, rates[0].warmup + rates[0].n) if rates else (warmup_of(len(times)), len(times))
    place = math.ceil(len(times) * left_out / seen) if seen else 0
    return left_out, times[place] if place < len(times) else math.inf


def with_warmup(words: Text, left_out: int) -> Text:
    """The words of a task's stretch, and how much of it is not judged."""
    if not left_out:
        return words
    steps = "step" if left_out == 1 else "steps"
    return Text(f"{words.en}; warm-up, {left_out} {steps}, not judged", f"{words.zh}；预热 {left_out} 步不计")
