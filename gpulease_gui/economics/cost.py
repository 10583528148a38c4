"""What does an offer cost for a workload, all counted?

Every line is an exact fraction until the end; what is shown is rounded once from it, never from rounded lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.economics.billed import billed
from gpulease_gui.economics.billing_terms import BillingTerms, Discount, Tax
from gpulease_gui.economics.compute_charge import charge
from gpulease_gui.economics.price import per_gpu_hour
from gpulease_gui.economics.rounding import CENTS, half_up
from gpulease_gui.economics.workload import Workload

_FINE = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """An offer priced for a workload: amounts in `currency`, to the cent; rates per GPU-hour to four places.

    `compute` is after discounts, `discount` what they took off. `comparison_cost` is net where the tax comes back,
    else gross. None: nothing useful ran (rates), or the contract has no such part. `exact_comparison` is for sorting.
    """

    currency: str
    billed_gpus: int
    billed_seconds_per_session: tuple[int, ...]
    billed_seconds_total: int
    billed_gpu_hours: Decimal
    compute: Decimal
    discount: Decimal
    storage: Decimal
    egress: Decimal
    fees: Decimal
    net_total: Decimal
    tax: Decimal
    gross_total: Decimal
    comparison_cost: Decimal
    exact_comparison: Fraction
    effective_per_gpu_hour: Decimal | None = None
    hidden_cost_pct: Decimal | None = None
    base_currency: str | None = None
    comparison_cost_base: Decimal | None = None
    unused_commitment: Decimal | None = None
    shortfall: Decimal | None = None
    on_demand_alternative: Decimal | None = None
    break_even_hours: Decimal | None = None


def cost(terms: BillingTerms, workload: Workload) -> Cost:
    """The cost of `workload` under `terms`; amounts in the contract's currency.

    Raises UsageError if a session lacks the start that the clock needs, a month its hours, or volume steps their end.
    """
    quantity = billed(terms, workload)
    before = charge(terms, workload, quantity)
    compute = before.amount * _kept(terms.discounts)
    storage, egress = _storage(terms, workload), _egress(terms, workload)
    fees = sum((Fraction(fee.amount) for fee in terms.fees), Fraction(0))
    net, gross = _taxed(terms.tax, compute + storage + egress + fees)
    compared = net if terms.tax.recoverable else gross
    return Cost(
        currency=terms.currency,
        billed_gpus=quantity.gpus,
        billed_seconds_per_session=quantity.per_session_s,
        billed_seconds_total=quantity.total_s,
        billed_gpu_hours=half_up(quantity.gpu_hours, _FINE),
        compute=half_up(compute, CENTS),
        discount=half_up(before.amount - compute, CENTS),
        storage=half_up(storage, CENTS),
        egress=half_up(egress, CENTS),
        fees=half_up(fees, CENTS),
        net_total=half_up(net, CENTS),
        tax=half_up(gross - net, CENTS),
        gross_total=half_up(gross, CENTS),
        comparison_cost=half_up(compared, CENTS),
        exact_comparison=compared,
        effective_per_gpu_hour=_shown(_effective(compared, workload), _FINE),
        hidden_cost_pct=_shown(_hidden_pct(compared, terms, workload), CENTS),
        base_currency=terms.fx.to if terms.fx else None,
        comparison_cost_base=_shown(_in_base(compared, terms), CENTS),
        unused_commitment=_shown(before.unused, CENTS),
        shortfall=_shown(before.shortfall, CENTS),
        on_demand_alternative=_shown(before.on_demand, CENTS),
        break_even_hours=_shown(before.break_even_hours, _FINE),
    )


def exact_cost(terms: BillingTerms, workload: Workload) -> Fraction:
    """The exact comparison cost alone, for curves and searches of many workloads. Raises UsageError as `cost` does."""
    compute = charge(terms, workload, billed(terms, workload)).amount * _kept(terms.discounts)
    fees = sum((Fraction(fee.amount) for fee in terms.fees), Fraction(0))
    net, gross = _taxed(terms.tax, compute + _storage(terms, workload) + _egress(terms, workload) + fees)
    return net if terms.tax.recoverable else gross


def _shown(value: Fraction | None, places: int) -> Decimal | None:
    return None if value is None else half_up(value, places)


def _kept(discounts: Iterable[Discount]) -> Fraction:
    kept = Fraction(1)
    for discount in discounts:
        kept *= 1 - Fraction(discount.value)
    return kept


def _storage(terms: BillingTerms, workload: Workload) -> Fraction:
    if terms.storage is None:
        return Fraction(0)
    charged_gb = max(Fraction(workload.storage_gb) - Fraction(terms.storage.free_gb), Fraction(0))
    months = Fraction(workload.storage_hours) / Fraction(terms.storage.hours_per_month)
    return charged_gb * months * Fraction(terms.storage.price_per_gb_month)


def _egress(terms: BillingTerms, workload: Workload) -> Fraction:
    if terms.egress is None:
        return Fraction(0)
    charged_gb = max(Fraction(workload.egress_gb) - Fraction(terms.egress.free_gb), Fraction(0))
    return charged_gb * Fraction(terms.egress.price_per_gb)


def _taxed(tax: Tax, subtotal: Fraction) -> tuple[Fraction, Fraction]:
    """Net and gross."""
    factor = 1 + Fraction(tax.rate)
    return (subtotal / factor, subtotal) if tax.included else (subtotal, subtotal * factor)


def _effective(compared: Fraction, workload: Workload) -> Fraction | None:
    useful = workload.ready_gpu_hours * Fraction(workload.busy_fraction)
    return compared / useful if useful else None


def _hidden_pct(compared: Fraction, terms: BillingTerms, workload: Workload) -> Fraction | None:
    if not workload.ready_gpu_hours:
        return None
    headline = per_gpu_hour(terms) * workload.ready_gpu_hours
    return (compared / headline - 1) * 100 if headline else None


def _in_base(compared: Fraction, terms: BillingTerms) -> Fraction | None:
    if terms.fx is None:
        return None
    return compared * Fraction(terms.fx.rate) * (1 + Fraction(terms.fx.surcharge))
