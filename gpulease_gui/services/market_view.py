"""Where does an offer lie among the public prices that were imported?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged
from gpulease_gui.economics.market import Spread, spread_of
from gpulease_gui.economics.offer_facts import OfferFacts, Reference


class Place(StrEnum):
    """On which side of the listed prices an offer lies."""

    BELOW = "below"
    WITHIN = "within"
    ABOVE = "above"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MarketPlace:
    """An offer beside the public prices of its family, currency and kind of price.

    `share` is how far between the lowest (0) and the highest (1) it lies, None outside or unknown; `sources` are the
    lists with their days; `words` say it to people.
    """

    place: Place
    words: Text
    spread: Spread | None = None
    share: Decimal | None = None
    sources: tuple[str, ...] = ()


def market_place(facts: OfferFacts, reference: Reference) -> MarketPlace:
    """Where the offer lies; UNKNOWN with the reason when it or the lists say too little."""
    spread = spread_of(facts, reference)
    price = facts.price_gpu_hour
    if isinstance(spread, Flagged) or price is None:
        return MarketPlace(Place.UNKNOWN, spread.reason if isinstance(spread, Flagged) else Text("no price is stated", "未说明价格"))
    sources = spread.sources
    place = Place.BELOW if price < spread.low else Place.ABOVE if price > spread.high else Place.WITHIN
    if place is not Place.WITHIN:
        en, zh = ("below", "低于") if place is Place.BELOW else ("above", "高于")
        return MarketPlace(place, Text(f"{amount_text(price)} is {en} {spread.words.en}", f"{amount_text(price)} {zh}{spread.words.zh}"), spread, None, sources)
    width = spread.high - spread.low
    share = (price - spread.low) / width if width else Decimal(0)
    percent = f"{share * 100:.0f} %"
    return MarketPlace(
        place, Text(f"{amount_text(price)} lies at {percent} of {spread.words.en}", f"{amount_text(price)} 处于{spread.words.zh}的 {percent} 处"), spread, share, sources
    )
