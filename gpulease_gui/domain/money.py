"""How is an amount kept exact?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from gpulease_gui.domain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Money:
    """A decimal amount and its ISO 4217 code; a unit price may have any number of decimals."""

    amount: Decimal
    currency: str

    @classmethod
    def parse(cls, amount: str, currency: str) -> Money:
        """Read `amount` as plain decimal text. Raises UsageError for anything else."""
        try:
            value = Decimal(amount.strip())
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite():
            raise UsageError(f"{amount!r} is not an amount", next_step="write digits and a dot, such as 16.20")
        if len(currency) != 3 or not currency.isascii() or not currency.isupper():
            raise UsageError(f"{currency!r} is not a currency", next_step="write the three-letter code, such as CNY")
        return cls(value, currency)

    def __str__(self) -> str:
        return f"{self.currency} {self.amount}"
