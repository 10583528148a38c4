"""Does the interruptible price exceed the firm one?"""

from __future__ import annotations

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid_parts
from gpulease_gui.economics.offer_facts import OfferFacts, PriceMode, Reference

FLAG = RedFlag("spot_above_on_demand", Text("Spot above on-demand", "竞价价高于按需价"), FlagSeverity.NOTABLE, "price.mode")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when a spot price is above the on-demand one of the same offer: one of them is wrong."""
    if facts.price_mode is not PriceMode.SPOT:
        return None
    spot, firm = facts.price_gpu_hour, facts.on_demand_gpu_hour
    missing = unsaid_parts(((spot is not None, Text("its spot price", "竞价价")), (firm is not None, Text("its on-demand price", "按需价"))))
    if spot is None or firm is None:
        return missing
    if spot <= firm:
        return None
    return Flagged(Text(f"spot costs {amount_text(spot)}, on demand {amount_text(firm)} per GPU-hour", f"每卡时竞价 {amount_text(spot)}，按需 {amount_text(firm)}"))
