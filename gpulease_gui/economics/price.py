"""What is a GPU-hour quoted at?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import BillingTerms, PriceUnit

_HOURS = {PriceUnit.GPU_HOUR: 1, PriceUnit.NODE_HOUR: 1, PriceUnit.GPU_DAY: 24, PriceUnit.NODE_DAY: 24}


def per_gpu_hour(terms: BillingTerms) -> Fraction:
    """The quoted price of one GPU-hour in the contract's currency, exact.

    Raises UsageError for a month price whose commitment does not say how many hours the month has.
    """
    month_hours = terms.commitment.period_hours if terms.commitment else None
    return convert_to_gpu_hour(terms.unit_price, terms.price_unit, terms.gpus_per_node, month_hours)


def convert_to_gpu_hour(price: Decimal, unit: PriceUnit, gpus_per_node: int, month_hours: Decimal | None = None) -> Fraction:
    """`price` of one `unit` as price per GPU-hour, exact. Raises UsageError for a month without hours."""
    hours = _HOURS.get(unit, month_hours)
    if not hours:
        raise UsageError(
            Text(f"a price per {unit} has no hours", f"按 {unit} 计的价格没有对应的小时数"), Text("months have 720, 730 or 744 hours", "一个月可能是 720、730 或 744 小时"),
            Text("write commitment.period_hours, such as 720", "请填写 commitment.period_hours，如 720"),
        )  # fmt: skip
    return Fraction(price) / Fraction(hours) / (gpus_per_node if unit.of_node else 1)
