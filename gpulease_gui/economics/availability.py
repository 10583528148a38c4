"""What part of a period was a node up?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up


@dataclass(frozen=True, slots=True)
class Availability:
    """The part of a period that was up, exact; `shown` has six places."""

    exact: Fraction

    @property
    def shown(self) -> Decimal:
        """For people, 0 to 1; never compared."""
        return half_up(self.exact, 6)

    def meets(self, target: Decimal) -> bool:
        """Whether the target (0.995 is 99.5 %) was kept, before any rounding."""
        return self.exact >= Fraction(target)


def availability(period_s: int, down_s: int) -> Availability:
    """One minus the down time. Raises UsageError when the down time is not within the period."""
    if period_s <= 0 or not 0 <= down_s <= period_s:
        raise UsageError(Text(f"{down_s} s of down time are not within a period of {period_s} s", f"故障时间 {down_s} 秒超出了 {period_s} 秒的周期"))
    return Availability(1 - Fraction(down_s, period_s))
