"""When did nobody watch, so that no sample was due?

The share of samples is: of those that were due, so many came. A sample is due at each time at which the watch asks for one, from
the first reading of its curve in the stretch on, except while this program or its computer is the reason that nobody read: it was
off, slept, stood still, had no network, its clock was set, or it did not note what it did. That time is told beside the share, with
what lies before the first and after the last watch of the stretch: together they are what is hatched and no fault of the node.
A node that does not answer, a line that is lost and a card that is gone owe their samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpulease_gui.services.gap_words import CLOCK_SET, FAULT, OWN_NETWORK, SLEPT
from gpulease_gui.services.intake import GapSpan
from gpulease_gui.store.unread import NOT_WATCHED

NOT_RECORDED = "not_recorded"
OURS = frozenset({NOT_WATCHED, SLEPT, CLOCK_SET, OWN_NETWORK, FAULT, NOT_RECORDED})
Span = tuple[float, float]


def joined_spans(spans: Iterable[Span], start_s: float, end_s: float) -> tuple[Span, ...]:
    """What lies from start to end (UTC seconds) of spans that may overlap, by time; none of it twice."""
    found, reached_s = list[Span](), start_s
    for begin_s, after_s in sorted(spans):
        begin_s, after_s = max(begin_s, reached_s), min(after_s, end_s)
        if after_s > begin_s:
            found.append((begin_s, after_s))
            reached_s = after_s
    return tuple(found)


def unwatched_spans(gaps: Iterable[GapSpan], start_s: float, end_s: float) -> tuple[Span, ...]:
    """When nobody watched between start and end (UTC seconds): gaps of a whole node for which this program or its computer is the reason."""
    ours = [(gap.start_s, end_s if gap.end_s is None else gap.end_s) for gap in tuple(gaps) if gap.reason in OURS]
    return joined_spans(ours, start_s, end_s)


def without(spans: Iterable[Span], others: Iterable[Span], start_s: float, end_s: float) -> tuple[Span, ...]:
    """What of spans from start to end (UTC seconds) no other one lies over."""
    found, cuts = list[Span](), joined_spans(others, start_s, end_s)
    for begin_s, after_s in joined_spans(spans, start_s, end_s):
        for cut_s, until_s in cuts:
            if cut_s < after_s and until_s > begin_s:
                if cut_s > begin_s:
                    found.append((begin_s, cut_s))
                begin_s = until_s
        if after_s > begin_s:
            found.append((begin_s, after_s))
    return tuple(found)


def due(unwatched: Sequence[Span], start_s: float, end_s: float, count: Callable[[float, float], float]) -> int:
    """How many samples were due from start to end (UTC seconds); `count` tells it of a time in which somebody watched."""
    missed = sum(count(begin_s, after_s) for begin_s, after_s in joined_spans(unwatched, start_s, end_s))
    return max(0, round(count(start_s, end_s) - missed)) if end_s > start_s else 0
