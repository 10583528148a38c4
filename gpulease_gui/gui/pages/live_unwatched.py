"""How many of the expected samples are there, and for how long was nobody there to read them, which is no fault of the node?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.domain.text import Text
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
    shown = share_text(count, expected)
    whole = Text(f"Samples {shown} of expected", f"样本 {shown}")
    if missed_s >= 1:
        lasted = short_text(missed_s, up=False)
        whole = Text(f"{whole.en} ({lasted.en} not watched)", f"{whole.zh}（{lasted.zh}未监控）")
    return whole, Text(f"Samples {shown}", f"样本 {shown}")
