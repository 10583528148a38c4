"""How does an exact value become the figure that is shown?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

CENTS = 2


def half_up(value: Fraction, places: int) -> Decimal:
    """`value` rounded once to `places` decimals, halves away from zero, never a negative zero."""
    steps = (2 * abs(value.numerator) * 10**places + value.denominator) // (2 * value.denominator)
    digits = tuple(int(digit) for digit in str(steps))
    return Decimal((1 if value < 0 and steps else 0, digits, -places))


def ceil_div(value: int, step: int) -> int:
    """How many whole steps cover `value`."""
    return -(-value // step)
