"""Does a watched node show fewer cards than its contract states?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.checks.watch_time import paid_card
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.live_words import age_s
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.paid_cards import COUNTS

if TYPE_CHECKING:
    from gpulease_gui.services.watch import WatchView

# A reading that is older than so many intervals and seconds is none of now.
STALE_INTERVALS, STALE_S = 5.0, 3.0


def fresh_since_s(view: WatchView, now_s: float) -> float:
    """From when on (UTC seconds) a reading is one of now."""
    return now_s - (STALE_INTERVALS * view.interval_s + STALE_S)


def fewer_cards(node: LiveNode | None, view: WatchView | None, now_s: float) -> Text | None:
    """"7 of 8 cards"; None where no fewer are read, and where that can't be said: nothing is stated or read, or the reading has just begun.

    What was taken away by agreement is not expected. Where a card of the contract may be a module or a chip, it is what claims less.
    """
    stated = next((value for term in COUNTS if node is not None and (value := node.terms.get(term)) is not None), None)
    if view is None or not isinstance(stated, int) or isinstance(stated, bool) or view.state is not NodeState.CONNECTED:
        return None
    since_s = fresh_since_s(view, now_s)
    chips = {
        subject for (metric, subject), ring in tuple(view.rings.items())
        if subject and metric.startswith(("gpu.", "npu.")) and (last := ring.last) is not None and last[0] >= since_s and last[1] == last[1]
    }  # fmt: skip
    expected, seen = stated - len(view.away.keys() - chips), len({paid_card(chip) for chip in chips})
    seen = len(chips) if len(chips) <= expected else seen
    if not 0 < seen < expected or _begun_s(view, now_s) > since_s:
        return None
    return Text(f"{seen} of {expected} cards", f"{seen} / {expected} 张卡")


def _begun_s(view: WatchView, now_s: float) -> float:
    """Since when (UTC seconds) cards are read without a break: they come one after the other."""
    ends = [gap.end_s for gap in (*view.gaps, *view.source_gaps) if gap.end_s is not None and not gap.metric]
    return max([now_s - age_s(view, now_s), *ends])
