"""How many of the expected samples are there, and for how long was nobody there to read them, which is no fault of the node?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.gui.pages.live_table import short_text
from gpulease_gui.gui.widgets.chart_spec import share_text
from gpulease_gui.services.gap_words import CLOCK_SET, FAULT, OWN_NETWORK, SLEPT
from gpulease_gui.services.intake import GapSpan
from gpulease_gui.store.unread import NOT_WATCHED

_OURS = frozenset({NOT_WATCHED, SLEPT, CLOCK_SET, OWN_NETWORK, FAULT})


def unwatched_s(gaps: Iterable[GapSpan], start_s: float, end_s: float) -> float:
    """How many seconds of a stretch (UTC seconds) lie in gaps of a whole node for which this program or its computer is the reason."""
    reached_s, found = start_s, 0.0
    ours = [(gap.start_s, end_s if gap.end_s is None else gap.end_s) for gap in tuple(gaps) if gap.reason in _OURS]
    for begin_s, after_s in sorted(ours):
        begin_s, after_s = max(begin_s, reached_s), min(after_s, end_s)
        found += max(0.0, after_s - begin_s)
        reached_s = max(reached_s, after_s)
    return found


def samples_words(count: int, expected: int, missed_s: float) -> tuple[Text, Text]:
    """So many of the expected samples, and for how many seconds nobody watched; the same where there is little room."""
    shown, missed = share_text(count, expected), missed_words([missed_s])
    return Text(f"Samples {shown} of expected{missed.en}", f"样本 {shown}{missed.zh}"), Text(f"Samples {shown}", f"样本 {shown}")


def missed_words(missed_s: Sequence[float]) -> Text:
    """For how many seconds nobody watched each of some nodes, to stand behind their share of samples; empty where it is less than one."""
    longest_s = max(missed_s, default=0.0)
    if longest_s < 1:
        return NO_TEXT
    lasted, alike = short_text(longest_s, up=False), longest_s - min(missed_s) < 1
    return Text(f" ({'' if alike else 'up to '}{lasted.en} not watched)", f"（{'' if alike else '最长 '}{lasted.zh}未监控）")
