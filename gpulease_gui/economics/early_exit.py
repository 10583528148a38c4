"""What comes back when a prepaid term ends early, and what is a part of a month?"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import CENTS, half_up


class FeeBasis(StrEnum):
    """What the fee for leaving is a part of."""

    CLAWBACK = "clawback"
    REMAINING = "remaining"


@dataclass(frozen=True, slots=True)
class ExitTerms:
    """The clause on leaving early; prices per GPU-hour. `clawback`: the discount on used hours is taken back."""

    on_demand_gpu_hour: Decimal
    reserved_gpu_hour: Decimal
    period_hours: Decimal
    fee_rate: Decimal = Decimal(0)
    fee_on: FeeBasis = FeeBasis.CLAWBACK
    clawback: bool = True


@dataclass(frozen=True, slots=True)
class ExitCost:
    """Leaving now, per GPU: amounts to the cent, the effective price per used GPU-hour to four places (None: none used)."""

    paid: Decimal
    remaining: Decimal
    clawback: Decimal
    fee: Decimal
    refund: Decimal
    net_cost: Decimal
    effective_per_gpu_hour: Decimal | None


def exit_cost(terms: ExitTerms, used_hours: Decimal) -> ExitCost:
    """What leaving after `used_hours` costs; a refund is never negative. Raises UsageError for hours outside the period."""
    if not 0 <= used_hours <= terms.period_hours:
        raise UsageError(Text(f"{used_hours} used hours are not within the period of {terms.period_hours}", f"已用 {used_hours} 小时不在 {terms.period_hours} 小时的租期之内"))
    used, period = Fraction(used_hours), Fraction(terms.period_hours)
    reserved = Fraction(terms.reserved_gpu_hour)
    paid, remaining = reserved * period, reserved * (period - used)
    clawback = (Fraction(terms.on_demand_gpu_hour) - reserved) * used if terms.clawback else Fraction(0)
    fee = Fraction(terms.fee_rate) * (clawback if terms.fee_on is FeeBasis.CLAWBACK else remaining)
    refund = max(remaining - clawback - fee, Fraction(0))
    return ExitCost(
        half_up(paid, CENTS), half_up(remaining, CENTS), half_up(clawback, CENTS), half_up(fee, CENTS),
        half_up(refund, CENTS), half_up(paid - refund, CENTS), half_up((paid - refund) / used, 4) if used else None,
    )  # fmt: skip


class DayBasis(StrEnum):
    """How many days a month has when only a part of it is charged."""

    CALENDAR_DAYS = "calendar_days"
    FIXED_30 = "fixed_30"


@dataclass(frozen=True, slots=True)
class Prorated:
    """A part of a month price."""

    days: int
    amount: Decimal


def prorated(month_price: Decimal, start: date, end_exclusive: date, basis: DayBasis) -> Prorated:
    """The part of a month price from `start` up to the day before `end_exclusive`, to the cent.

    Calendar days divide by the days of the month of the start. Raises UsageError when the end is before the start.
    """
    days = (end_exclusive - start).days
    if days < 0:
        raise UsageError(Text(f"the period ends on {end_exclusive}, before it starts on {start}", f"租期于 {end_exclusive} 结束，早于开始日 {start}"))
    whole = calendar.monthrange(start.year, start.month)[1] if basis is DayBasis.CALENDAR_DAYS else 30
    return Prorated(days, half_up(Fraction(month_price) * days / whole, CENTS))
