"""From how many hours a month is a month price cheaper than paying by the hour?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.billing_terms import BillingTerms, PrepaidPeriod, PriceUnit
from gpulease_gui.economics.cost import exact_cost
from gpulease_gui.economics.workload import Session
from gpulease_gui.economics.workload_pattern import MONTH_HOURS, Pattern, workload_of
from gpulease_gui.services.workload_desk import Ask, PricedOffer

POINTS = 25


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of one month over the hours of use: one value a place of `BreakEven.hours`."""

    name: Text
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Two lines over the hours of use of one month, and the first whole hour from which the month is no dearer.

    `from_hours` None: by the hour is cheaper all through the month. `hours_now` are those of the workload.
    """

    currency: str
    hours: tuple[float, ...]
    by_hour: CostLine
    by_month: CostLine
    from_hours: int | None
    hours_now: float


Price = Callable[[int], Fraction]


def break_even(offers: Sequence[PricedOffer], chosen: PricedOffer, pattern: Pattern, ask: Ask) -> BreakEven | None:
    """The chosen offer against its own hourly price, else against the cheapest offer of the other kind; None without one."""
    pair = _own_pair(chosen) or _rivals(offers, chosen)
    if pair is None:
        return None
    (hourly_name, hourly), (monthly_name, monthly) = pair
    one = replace(pattern, months=1)
    by_hour, by_month = _price_of(hourly, one), _price_of(monthly, one)
    hours = tuple(MONTH_HOURS * place / (POINTS - 1) for place in range(POINTS))
    return BreakEven(
        ask.currency, hours, CostLine(hourly_name, _values(by_hour, hours)), CostLine(monthly_name, _values(by_month, hours)),
        _first(by_hour, by_month), float(one.hours_per_month),
    )  # fmt: skip


Named = tuple[Text, tuple[BillingTerms, FxRate | None]]


def _terms(offer: PricedOffer) -> tuple[BillingTerms, FxRate | None]:
    assert offer.found is not None
    return offer.found.billing.terms, offer.found.rate


def _own_pair(chosen: PricedOffer) -> tuple[Named, Named] | None:
    """A month price whose contract also says what an hour costs without it."""
    terms = chosen.found.billing.terms if chosen.found else None
    prepaid = terms.commitment if terms else None
    if terms is None or not isinstance(prepaid, PrepaidPeriod) or prepaid.on_demand_gpu_hour is None or chosen.found is None:
        return None
    rate = chosen.found.rate
    hourly = replace(terms, commitment=None, unit_price=prepaid.on_demand_gpu_hour, price_unit=PriceUnit.GPU_HOUR)
    monthly = replace(terms, commitment=replace(prepaid, periods=Decimal(1)))
    name = chosen.name
    return (
        (Text(f"{name}, on demand", f"{name}，按需"), (hourly, rate)),
        (Text(f"{name}, by the month", f"{name}，包月"), (monthly, rate)),
    )


def is_monthly(offer: PricedOffer) -> bool:
    """Whether a period is paid whole, whatever is used of it."""
    return offer.found is not None and isinstance(offer.found.billing.terms.commitment, PrepaidPeriod)


def _rivals(offers: Sequence[PricedOffer], chosen: PricedOffer) -> tuple[Named, Named] | None:
    other = next((o for o in offers if o.total is not None and is_monthly(o) is not is_monthly(chosen)), None)
    if other is None or chosen.total is None:
        return None
    monthly, hourly = (chosen, other) if is_monthly(chosen) else (other, chosen)
    terms, rate = _terms(monthly)
    prepaid = terms.commitment
    if isinstance(prepaid, PrepaidPeriod):
        terms = replace(terms, commitment=replace(prepaid, periods=Decimal(1)))
    return (foreign(hourly.name), _terms(hourly)), (foreign(monthly.name), (terms, rate))


def _price_of(terms_rate: tuple[BillingTerms, FxRate | None], pattern: Pattern) -> Price:
    """What so many hours of a month cost, spread over the starts of the pattern, to the second."""
    terms, rate = terms_rate
    factor = rate.paid if rate is not None else Fraction(1)
    month = workload_of(replace(pattern, hours_per_day=Decimal(0), kept_stopped=False))
    count = max(len(month.sessions), 1)

    def price(hours: int) -> Fraction:
        each, over = divmod(hours * 3600, count)
        sessions = (Session(each + 1),) * over + (Session(each),) * (count - over)
        return exact_cost(terms, replace(month, sessions=sessions)) * factor

    return price


def _values(price: Price, hours: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(price(round(hour))) for hour in hours)


def _first(by_hour: Price, by_month: Price) -> int | None:
    """The first whole hour at which the month costs no more; hours only ever cost more, so halving finds it."""
    if by_hour(MONTH_HOURS) < by_month(MONTH_HOURS):
        return None
    low, high = -1, MONTH_HOURS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if by_hour(middle) >= by_month(middle) else (middle, high)
    return high
