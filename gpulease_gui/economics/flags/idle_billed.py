"""Does a stopped machine go on costing?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference
from gpulease_gui.economics.rounding import half_up

FLAG = RedFlag("idle_billed", Text("Idle time is billed", "关机仍计费"), FlagSeverity.NOTABLE, "billing.stopped_rate")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when a part of the price is charged while the machine is stopped."""
    if facts.stopped_rate is None:
        return unsaid(Text("what a stopped machine costs", "关机后如何收费"))
    if facts.stopped_rate == Decimal(0):
        return None
    percent = half_up(Fraction(facts.stopped_rate) * 100, 0)
    return Flagged(Text(f"a stopped machine costs {percent} % of its price", f"关机后仍按单价的 {percent} % 计费"))
