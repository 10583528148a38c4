"""Where does an offer lie among the public prices, and when can that not be said?"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from gpulease_gui.catalog.gpus import load_gpus
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.offer_facts import MarketPrice, OfferFacts, PriceMode, Reference
from gpulease_gui.services.importing_market import read_market
from gpulease_gui.services.market_view import Place, market_place
from gpulease_gui.store.exchange.plain_text import read_text

GPUS, DAY = load_gpus(), date(2026, 11, 1)
LISTED = tuple(MarketPrice("H100", Decimal(price), "USD", PriceMode.ON_DEMAND, "list A", DAY) for price in ("2.00", "3.00", "4.00"))


def offer(price: str, **other: object) -> OfferFacts:
    said: dict = {"terms": {"gpu.model": "nvidia-h100-sxm5-80gb"}, "currency": "USD", "price_mode": PriceMode.ON_DEMAND}
    return OfferFacts(price_gpu_hour=Decimal(price), **{**said, **other})


@pytest.mark.parametrize(
    ("price", "place", "share"), [("1.99", Place.BELOW, None), ("2.00", Place.WITHIN, "0"), ("2.50", Place.WITHIN, "0.25"), ("4.00", Place.WITHIN, "1"), ("4.01", Place.ABOVE, None)]
)
def test_that_an_offer_lies_below_within_or_above_the_listed_prices(price: str, place: Place, share: str | None) -> None:
    found = market_place(offer(price), Reference(GPUS, LISTED))
    assert (found.place, found.share) == (place, None if share is None else Decimal(share))
    assert found.sources == ("list A 2026-11-01",) and price in found.words.en and price in found.words.zh


def test_that_nothing_is_said_without_enough_to_compare_with() -> None:
    for facts in (offer("2.5", currency="CNY"), offer("2.5", price_mode=None), offer("2.5", terms={})):
        found = market_place(facts, Reference(GPUS, LISTED))
        assert found.place is Place.UNKNOWN and found.spread is None and found.words.zh
    assert market_place(offer("2.5"), Reference(GPUS, LISTED[:2])).place is Place.UNKNOWN


@pytest.mark.parametrize(("facts", "words"), [
    (offer("2.5", terms={}), ("the offer does not say its model", "报价没有说明型号")),
    (offer("2.5", price_mode=None), ("the offer does not say its kind of price", "报价没有说明计价方式")),
    (replace(offer("2.5"), price_gpu_hour=None, currency=None), ("the offer does not say its price", "报价没有说明价格")),
    (replace(offer("2.5"), price_gpu_hour=None), ("the offer does not say what its price is per GPU-hour", "报价没有说明每卡时的价格")),
    (OfferFacts(), ("the offer does not say its model, its price and its kind of price", "报价没有说明型号、价格与计价方式")),
    (offer("2.5", terms={"gpu.model": "H999"}), ("no single product of the catalogue is called H999", "产品目录中没有唯一对应“H999”的型号")),
])  # fmt: skip
def test_that_only_what_is_missing_is_named(facts: OfferFacts, words: tuple[str, str]) -> None:
    found = market_place(facts, Reference(GPUS, LISTED)).words
    assert (found.en, found.zh) == words


def test_that_the_lists_behind_a_place_are_those_that_were_compared() -> None:
    other = MarketPrice("L40S", Decimal(1), "USD", PriceMode.ON_DEMAND, "list B", DAY)
    assert market_place(offer("2.5"), Reference(GPUS, (*LISTED, other))).sources == ("list A 2026-11-01",)
    one = market_place(offer("2.5"), Reference(GPUS, LISTED[:1])).words
    assert one.en == "only 1 listed price to compare with, 3 are needed"
    none = market_place(offer("2.5"), Reference(GPUS, ())).words
    assert (none.en, none.zh) == ("no listed price to compare with, 3 are needed", "没有可比的公开价格，至少需要 3 条")


def test_that_both_kinds_of_public_lists_are_read_by_their_headings() -> None:
    one = read_text(b"InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice\np5,H100,8,98.32,0\n")
    two = read_text(b"instance_name,location,price,gpu_count,gpu_name,gpu_memory,spot\nx,a,12.29,1,H100,80,False\ny,a,5,1,RTX4090,24,True\n")
    assert [(p.gpu_model, p.price_gpu_hour, p.mode) for p in read_market(one, GPUS, "a", DAY).prices] == [("H100", Decimal("12.29"), PriceMode.ON_DEMAND)]
    found = read_market(two, GPUS, "b", DAY).prices
    assert [(p.price_gpu_hour, p.mode) for p in found] == [(Decimal("12.29"), PriceMode.ON_DEMAND), (Decimal(5), PriceMode.SPOT)]
    assert [p.source for p in found] == ["b", "b"]
    with pytest.raises(UsageError, match="is no price list: it has no column for gpu, count"):
        read_market(read_text(b"a,price\n1,2\n"), GPUS, "a", DAY)


def test_that_a_price_is_divided_exactly_and_rounded_once() -> None:
    listed = read_text(b"AcceleratorName,AcceleratorCount,Price\nH100,3,10\nH100,8,98.32\nH100,8,98.32\nH100,8,x\n")
    found = read_market(listed, GPUS, "a", DAY)
    assert [p.price_gpu_hour for p in found.prices] == [Decimal("3.333333"), Decimal("12.29")]
    assert (found.lines, found.bad) == (4, ("CSV!C5",))
