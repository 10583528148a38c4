"""Is the price above every listed one?"""

from __future__ import annotations

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag
from gpulease_gui.economics.market import spread_of
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("price_above_market", Text("Price above the market", "价格高于市场"), FlagSeverity.NOTABLE, "price.gpu_hour")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the price lies above the spread of the imported lists; open without enough of them."""
    spread = spread_of(facts, reference)
    if isinstance(spread, Flagged):
        return spread
    price = facts.price_gpu_hour
    if price is None or price <= spread.high:
        return None
    return Flagged(Text(f"{amount_text(price)} is above {spread.words.en}", f"{amount_text(price)} 高于{spread.words.zh}"))
