"""Where does a price lie among the public price lists?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpulease_gui.domain.money import amount_text, decimals_of
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.economics.flag import Flagged, FlagState, unsaid, unsaid_parts
from gpulease_gui.economics.offer_facts import MarketPrice, OfferFacts, Reference

ENOUGH = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """The lowest and highest listed price per GPU-hour in `currency`, from `count` lines of `sources` (list and day)."""

    low: Decimal
    high: Decimal
    currency: str
    count: int
    sources: tuple[str, ...] = ()

    @property
    def words(self) -> Text:
        """The spread for people."""
        most = max(decimals_of(self.low), decimals_of(self.high))
        span = f"{self.currency} {amount_text(self.low, decimals=most)} – {amount_text(self.high, decimals=most)}"
        return Text(f"{span} in {self.count} listed prices", f"公开价区间 {span}（{self.count} 条）")


def spread_of(facts: OfferFacts, reference: Reference) -> Spread | Flagged:
    """The prices of the same family, currency and mode; an open flag when the offer or the lists say too little."""
    word = facts.card
    missing = unsaid_parts((
        (word is not None, Text("its model", "型号")),
        (facts.price_gpu_hour is not None, _UNPRICED if facts.currency is None else _UNCOUNTED),
        (facts.price_mode is not None, Text("its kind of price", "计价方式")),
    ))  # fmt: skip
    if missing is not None or facts.currency is None:
        return missing or unsaid(_UNPRICED)
    families = {product.family for product in reference.products(word)}
    if not families:
        name = visible(str(word))
        return Flagged(Text(f"no single product of the catalogue is called {name}", f"产品目录中没有唯一对应“{name}”的型号"), FlagState.OPEN)
    same = [p for p in reference.market if _comparable(p, facts, reference, families)]
    if len(same) < ENOUGH:
        count = {0: "no listed price", 1: "only 1 listed price"}.get(len(same), f"only {len(same)} listed prices")
        found = f"可比公开价格仅 {len(same)} 条" if same else "没有可比的公开价格"
        return Flagged(Text(f"{count} to compare with, {ENOUGH} are needed", f"{found}，至少需要 {ENOUGH} 条"), FlagState.OPEN)
    prices = [p.price_gpu_hour for p in same]
    return Spread(min(prices), max(prices), facts.currency, len(same), tuple(sorted({f"{p.source} {p.day.isoformat()}" for p in same})))


_UNPRICED = Text("its price", "价格")
_UNCOUNTED = Text("what its price is per GPU-hour", "每卡时的价格")


def _comparable(listed: MarketPrice, facts: OfferFacts, reference: Reference, families: set[str]) -> bool:
    same_terms = listed.currency == facts.currency and listed.mode == facts.price_mode
    return same_terms and bool(families & {product.family for product in reference.products(listed.gpu_model)})
