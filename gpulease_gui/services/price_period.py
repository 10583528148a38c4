"""For which unit and period are prices compared, and what is a price of the day for it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.price import convert_to_gpu_hour
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.commercial_words import plain
from gpulease_gui.services.price_of_day import MONTHS, hour_price, stated_month_hours, tax_taken

MONTH_OF_30_DAYS = Decimal(720)


class PricePer(StrEnum):
    """What every price of a comparison is a price of."""

    GPU_HOUR = "gpu_hour"
    GPU_MONTH = "gpu_month"
    NODE_MONTH = "node_month"

    @property
    def of_month(self) -> bool:
        """Whether it is a price of a month."""
        return self is not PricePer.GPU_HOUR


PER_WORDS = {
    PricePer.GPU_HOUR: Text("GPU-hour", "卡时"), PricePer.GPU_MONTH: Text("GPU-month", "卡月"), PricePer.NODE_MONTH: Text("node-month", "台月"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PeriodPrice:
    """`exact` in the currency of the price; `notes` say what it was made of, `assumed` what nobody stated."""

    exact: Fraction
    notes: tuple[Text, ...] = ()
    assumed: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """What a GPU-hour is multiplied by: `gpus` 1 unless a node is priced, `hours` 1 unless a month is.

    A month has the hours that the contract counts, else those of 30 days; a price per month that names no hours keeps its amount.
    """

    gpus: int
    hours: Decimal
    notes: tuple[Text, ...] = ()
    assumed: tuple[Text, ...] = ()

    @property
    def factor(self) -> Fraction:
        """GPU-hours in it."""
        return Fraction(self.hours) * self.gpus


def span_of(facts: DealFacts, per: PricePer) -> Span:
    """How many GPU-hours the unit has for this offer, and why."""
    if not per.of_month:
        return Span(1, Decimal(1))
    stated, of_node = stated_month_hours(facts), per is PricePer.NODE_MONTH
    notes = () if stated is None or stated == MONTH_OF_30_DAYS else (_month(stated),)
    nodes = facts.row.gpu_count
    assumed = (Text("a node has 8 GPUs", "每节点 8 卡"),) if of_node and nodes is None else ()
    return Span((nodes or 8) if of_node else 1, stated or MONTH_OF_30_DAYS, notes, assumed)


def _month(hours: Decimal) -> Text:
    return Text(f"a month of {plain(hours)} h, as in its terms", f"按其条款每月 {plain(hours)} 小时")


def period_price(facts: DealFacts, per: PricePer, *, tax_recoverable: bool = True) -> PeriodPrice | None:
    """The price of the day per `per`, exact: net where the tax comes back, else gross, as far as the tax is stated.

    None without a price or with a unit that is not known.
    """
    hour, price = hour_price(facts), facts.price
    if hour is None or price is None:
        return None
    tax, unit, span = tax_taken(price, tax_recoverable), PriceUnit(price.unit), span_of(facts, per)
    as_agreed = unit in MONTHS and per.of_month and stated_month_hours(facts) is None
    month = span.hours if per.of_month else stated_month_hours(facts) or Decimal(730)
    exact = convert_to_gpu_hour(price.money.amount, unit, facts.row.gpu_count or 8, month) * span.factor * tax.factor
    notes = (*((tax.said,) if tax.said.en else ()), *span.notes)
    if as_agreed:
        notes = (*notes, Text("the month as agreed, its hours are not stated", "按约定的月价，月小时数未约定"))
    if not per.of_month:
        return PeriodPrice(exact, notes, hour.assumed)
    return PeriodPrice(exact, notes, tuple(_assumed(unit, span, facts.row.gpu_count)))


def _assumed(unit: PriceUnit, span: Span, gpus: int | None) -> Iterable[Text]:
    """A node of unknown size cancels out where a price of nodes is compared per node."""
    if unit.of_node:
        yield from () if span.assumed or gpus is not None else (Text("a node has 8 GPUs", "每节点 8 卡"),)
    else:
        yield from span.assumed
