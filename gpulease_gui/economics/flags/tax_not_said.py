"""Is it said whether the price holds the tax?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("tax_not_said", Text("Tax not stated", "未说明是否含税"), FlagSeverity.NOTABLE, "price.tax")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when a price is there and nothing says whether it holds the tax."""
    if not (facts.quoted or facts.price_gpu_hour is not None) or facts.tax_included is not None:
        return None
    return Flagged(Text("with or without tax can turn the order of two offers", "含税与否足以改变两份报价的先后"))
