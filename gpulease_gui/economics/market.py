"""Where does a price lie among the public price lists?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagState, unsaid
from gpulease_gui.economics.offer_facts import MarketPrice, OfferFacts, Reference

ENOUGH = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """The lowest and highest listed price per GPU-hour in `currency`, from `count` lines."""

    low: Decimal
    high: Decimal
    currency: str
    count: int

    @property
    def words(self) -> Text:
        """The spread for people."""
        span = f"{self.currency} {self.low:f} – {self.high:f}"
        return Text(f"{span} in {self.count} listed prices", f"公开价区间 {span}（{self.count} 条）")


def spread_of(facts: OfferFacts, reference: Reference) -> Spread | Flagged:
    """The prices of the same family, currency and mode; an open flag when the offer or the lists say too little."""
    families = {product.family for product in reference.products(facts.terms.get("gpu.model"))}
    if facts.price_gpu_hour is None or facts.currency is None or facts.price_mode is None or not families:
        return unsaid(Text("its model, price and kind of price", "型号、价格与计价方式"))
    same = [p.price_gpu_hour for p in reference.market if _comparable(p, facts, reference, families)]
    if len(same) < ENOUGH:
        return Flagged(
            Text(f"only {len(same)} listed prices to compare with, {ENOUGH} are needed", f"可比公开价格仅 {len(same)} 条，至少需要 {ENOUGH} 条"),
            FlagState.OPEN,
        )
    return Spread(min(same), max(same), facts.currency, len(same))


def _comparable(listed: MarketPrice, facts: OfferFacts, reference: Reference, families: set[str]) -> bool:
    same_terms = listed.currency == facts.currency and listed.mode == facts.price_mode
    return same_terms and bool(families & {product.family for product in reference.products(listed.gpu_model)})
