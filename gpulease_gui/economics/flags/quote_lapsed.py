"""Does the quote still hold?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("quote_lapsed", Text("Quote lapsed", "报价已过期"), FlagSeverity.NOTABLE, "price.valid_until")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the last day of the quote or its price lies before the day it is looked at."""
    if facts.valid_until is None or facts.day is None or facts.valid_until >= facts.day:
        return None
    return Flagged(Text(f"it was valid until {facts.valid_until}: ask for a new one", f"有效期至 {facts.valid_until}，请重新询价"))
