"""How many of the expected samples are there, and for how long was nobody there to read them, which is no fault of the node?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.gui.models.unwatched import joined_spans, unwatched_spans
from gpulease_gui.gui.pages.live_holes import NOT_RECORDED
from gpulease_gui.gui.pages.live_table import short_text
from gpulease_gui.gui.widgets.chart_spec import Hole, share_text
from gpulease_gui.services.intake import GapSpan


def unwatched_s(gaps: Iterable[GapSpan], start_s: float, end_s: float, holes: Iterable[Hole] = ()) -> float:
    """How many seconds of a stretch (UTC seconds) nobody watched: what gaps of the whole node say, and what lies between what was recorded."""
    between = [(hole.start_s, end_s if hole.end_s is None else hole.end_s) for hole in holes if hole.reason == NOT_RECORDED and not hole.source]
    spans = joined_spans([*unwatched_spans(gaps, start_s, end_s), *between], start_s, end_s)
    return sum(after_s - begin_s for begin_s, after_s in spans)


def samples_words(count: int, expected: int, missed_s: float) -> tuple[Text, ...]:
    """So many of the samples that were due, and for how many seconds nobody watched; then the same for less and less room."""
    shown, missed = share_text(count, expected), missed_words([missed_s])
    whole, short = Text(f"Samples {shown} of expected{missed.en}", f"样本 {shown}{missed.zh}"), Text(f"Samples {shown}{missed.en}", f"样本 {shown}{missed.zh}")
    return (whole, short, Text(f"{shown}{missed.en}", short.zh)) if missed.en else (whole, short)


def missed_words(missed_s: Sequence[float]) -> Text:
    """For how many seconds nobody watched each of some nodes, to stand behind their share of samples; empty where it is less than one."""
    longest_s = max(missed_s, default=0.0)
    if longest_s < 1:
        return NO_TEXT
    lasted, alike = short_text(longest_s + 0.5, up=False), longest_s - min(missed_s) < 1
    return Text(f" ({'' if alike else 'up to '}{lasted.en} not watched)", f"（{'' if alike else '最长 '}{lasted.zh}未监控）")
