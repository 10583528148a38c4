"""What does a GPU-hour cost at the price of a day, with or without the tax, and what had to be assumed for it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.price import convert_to_gpu_hour
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.services.commerce import DealFacts

MONTHS = (PriceUnit.GPU_MONTH, PriceUnit.NODE_MONTH)


@dataclass(frozen=True, slots=True)
class HourPrice:
    """`amount` per GPU-hour in the currency of the price, to be shown; `exact`, to be multiplied; `assumed` is what nobody stated."""

    amount: Decimal
    exact: Fraction
    assumed: tuple[Text, ...] = ()


def hour_price(facts: DealFacts, *, seen: int | None = None) -> HourPrice | None:
    """The price of the day per GPU-hour as agreed; None without a price or with a unit that is not known.

    `seen`: how many cards its node was seen to have, for a deal that does not state them.
    """
    price = facts.price
    if price is None or price.unit not in set(PriceUnit):
        return None
    unit, hours = PriceUnit(price.unit), stated_month_hours(facts)
    gpus = facts.row.gpu_count or seen or 8
    exact = convert_to_gpu_hour(price.money.amount, unit, gpus, hours or Decimal(730))
    amount = price.money.amount if exact == Fraction(price.money.amount) else half_up(exact, 6)
    return HourPrice(amount, exact, assumed=tuple(_assumed(unit, hours, facts.row.gpu_count, seen)))


def stated_month_hours(facts: DealFacts) -> Decimal | None:
    """The hours that a month has in the terms; None = they do not say it."""
    return facts.terms.amount("billing.month_hours") or facts.terms.amount("commitment.period_hours")


def _assumed(unit: PriceUnit, hours: Decimal | None, gpus: int | None, seen: int | None) -> Iterable[Text]:
    if unit in MONTHS and hours is None:
        yield Text("a month has 730 hours", "每月按 730 小时")
    if unit.of_node and gpus is None:
        yield Text(f"the node has the {seen} GPUs that were seen", f"节点按实际看到的 {seen} 卡") if seen else Text("a node has 8 GPUs", "每节点 8 卡")


@dataclass(frozen=True, slots=True)
class TaxTaken:
    """What makes the agreed price comparable: its factor, and what was done in words."""

    factor: Fraction = Fraction(1)
    said: Text = NO_TEXT


def tax_taken(price: Price, tax_recoverable: bool) -> TaxTaken:
    """As the comparison cost takes it: net where the tax comes back, else gross, as far as the tax is stated."""
    if not price.tax_rate or bool(price.tax_included) is not tax_recoverable:
        return TaxTaken()
    factor, rate = 1 + Fraction(price.tax_rate), f"{price.tax_rate * 100:f}".rstrip("0").rstrip(".")
    if tax_recoverable:
        return TaxTaken(1 / factor, Text(f"less {rate} % tax", f"已扣 {rate} % 税"))
    return TaxTaken(factor, Text(f"with {rate} % tax", f"已加 {rate} % 税"))


def last_day(facts: DealFacts) -> date | None:
    """The last day on which the price may be taken: that of the quote or of the price, whichever is first; None = open."""
    days = [day for day in (facts.row.valid_until, facts.price.valid_to if facts.price else None) if day is not None]
    return min(days) if days else None


def validity(facts: DealFacts) -> Text | None:
    """What is wrong with taking the price on the day of the facts; None where it holds."""
    last, first = last_day(facts), facts.price.valid_from if facts.price else None
    if last is not None and last < facts.day:
        return Text(f"the price was valid until {last}", f"价格有效期至 {last}")
    if first is not None and first > facts.day:
        return Text(f"the price is valid from {first}", f"价格自 {first} 起有效")
    return None


def on_the_day(facts: DealFacts) -> DealFacts:
    """The facts with the line of the deal at the price of their day; a figure that rests on an assumption is not in it."""
    price, hour = facts.price, hour_price(facts)
    if price is None:
        return facts
    stated = hour is not None and not hour.assumed
    row = replace(
        facts.row, price_amount=format(price.money.amount, "f"), price_currency=price.money.currency, price_unit=price.unit,
        price_mode=price.mode, tax_included=price.tax_included,
        price_gpu_hour=format(hour.amount, "f") if hour is not None and stated else None,
    )  # fmt: skip
    return replace(facts, row=row)
