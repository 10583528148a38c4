"""How is an amount kept exact?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text


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
            raise UsageError(Text(f"{amount!r} is not an amount", f"{amount!r} 不是金额"), next_step=Text("write digits and a dot, such as 16.20", "请填写数字与小数点，如 16.20"))
        if len(currency) != 3 or not currency.isascii() or not currency.isupper():
            raise UsageError(Text(f"{currency!r} is not a currency", f"{currency!r} 不是货币"), next_step=Text("write the three-letter code, such as CNY", "请填写三位字母代码，如 CNY"))
        return cls(value, currency)

    def __str__(self) -> str:
        return f"{self.currency} {amount_text(self.amount, grouped=False)}"


_CENTS = 2


def decimals_of(amount: Decimal) -> int:
    """How many decimals an amount is written with: cents where it was written with cents, or as many as it needs.

    >>> [decimals_of(Decimal(words)) for words in ("68000.0", "68000", "2.00", "12.5", "16.2050")]
    [0, 0, 2, 2, 3]
    """
    written, needed = amount.as_tuple().exponent, amount.normalize().as_tuple().exponent
    if not isinstance(written, int) or not isinstance(needed, int) or (written > -_CENTS and needed >= 0):
        return 0
    return max(_CENTS, -needed)


def amount_text(amount: Decimal, *, grouped: bool = True, decimals: int | None = None) -> str:
    """The one way in which money is written: exact, cents where there are cents, thousands apart except in files for machines.

    `decimals` None = as many as the amount needs; figures of one row share the most that one of them needs.

    >>> amount_text(Decimal("68000.0")), amount_text(Decimal("1234.5")), amount_text(Decimal("1234.5"), grouped=False)
    ('68,000', '1,234.50', '1234.50')
    """
    places = decimals_of(amount) if decimals is None else max(decimals, decimals_of(amount))
    return format(amount, f"{',' if grouped else ''}.{places}f")
