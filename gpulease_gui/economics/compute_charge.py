"""What does the compute part of a bill come to?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billed import Billed
from gpulease_gui.economics.billing_terms import (
    BillingTerms,
    CommittedHours,
    CommittedSpend,
    PrepaidPeriod,
    PriceUnit,
    TierMode,
    Tiers,
)
from gpulease_gui.economics.price import per_gpu_hour
from gpulease_gui.economics.workload import Workload


@dataclass(frozen=True, slots=True)
class Charge:
    """Compute before discounts, and what a commitment did to it; None where the contract has no such commitment.

    `unused` is money paid for hours not used, `shortfall` what lifted the usage to the least spend,
    `on_demand` what the same hours cost without prepaying, `break_even_hours` hours per GPU at which both are equal.
    """

    amount: Fraction
    unused: Fraction | None = None
    shortfall: Fraction | None = None
    on_demand: Fraction | None = None
    break_even_hours: Fraction | None = None


def charge(terms: BillingTerms, workload: Workload, quantity: Billed) -> Charge:
    """Usage (or volume steps) with the stopped time, then the commitment. Raises UsageError as `price` does."""
    usage = _usage(terms, quantity.gpu_hours) + _stopped(terms, workload, quantity)
    match terms.commitment:
        case PrepaidPeriod() as prepaid:
            return _prepaid(terms, prepaid, quantity)
        case CommittedHours() as committed:
            return _committed(committed, quantity.gpu_hours)
        case CommittedSpend(amount=amount):
            least = Fraction(amount)
            return Charge(max(least, usage), shortfall=max(least - usage, Fraction(0)))
        case None:
            return Charge(usage)


def _usage(terms: BillingTerms, hours: Fraction) -> Fraction:
    return tiered(terms.tiers, hours) if terms.tiers else hours * per_gpu_hour(terms)


def _stopped(terms: BillingTerms, workload: Workload, quantity: Billed) -> Fraction:
    if not (terms.stopped_rate and workload.stopped_s):
        return Fraction(0)
    hours = Fraction(quantity.gpus * workload.stopped_s, 3600)
    return Fraction(terms.stopped_rate) * per_gpu_hour(terms) * hours


def _prepaid(terms: BillingTerms, prepaid: PrepaidPeriod, quantity: Billed) -> Charge:
    units = Fraction(quantity.gpus, terms.gpus_per_node if terms.price_unit.of_node else 1)
    amount = Fraction(terms.unit_price) * _units_of(prepaid, terms.price_unit) * units * Fraction(prepaid.periods)
    if prepaid.on_demand_gpu_hour is None:
        return Charge(amount)
    hourly = quantity.gpus * Fraction(prepaid.on_demand_gpu_hour)
    alternative = quantity.gpu_hours * Fraction(prepaid.on_demand_gpu_hour)
    return Charge(amount, on_demand=alternative, break_even_hours=amount / hourly if hourly else None)


def _units_of(prepaid: PrepaidPeriod, unit: PriceUnit) -> Fraction:
    """How many units of the price one period buys: a price by the hour or day is paid for each hour of the period."""
    hours = Fraction(prepaid.period_hours)
    if unit in (PriceUnit.GPU_HOUR, PriceUnit.NODE_HOUR):
        return hours
    return hours / 24 if unit in (PriceUnit.GPU_DAY, PriceUnit.NODE_DAY) else Fraction(1)


def _committed(committed: CommittedHours, used: Fraction) -> Charge:
    hours, price = Fraction(committed.hours), Fraction(committed.price)
    over = max(used - hours, Fraction(0)) * Fraction(committed.overage_price)
    return Charge(hours * price + over, unused=max(hours - used, Fraction(0)) * price)


def tiered(tiers: Tiers, hours: Fraction) -> Fraction:
    """What `hours` GPU-hours cost by volume steps, exact. Raises UsageError when they exceed the last step."""
    last = tiers.steps[-1].up_to
    if last is not None and hours > last:
        raise UsageError(
            Text(f"the volume prices end at {last} GPU-hours", f"阶梯价只到 {last} 卡时"), Text("the workload is charged more", "该负载的计费量更大"),
            Text("give the last step up_to null", "请将最后一档的 up_to 设为 null"),
        )  # fmt: skip
    ends = [hours if step.up_to is None else min(Fraction(step.up_to), hours) for step in tiers.steps]
    if tiers.mode is TierMode.ALL_UNITS:
        holding = next(s for s in tiers.steps if s.up_to is None or hours <= s.up_to)
        return hours * Fraction(holding.price)
    slices = [end - begin for begin, end in pairwise([Fraction(0), *ends])]
    return sum((part * Fraction(s.price) for part, s in zip(slices, tiers.steps, strict=True)), Fraction(0))
