"""Is money written in one way wherever it is shown?"""

from __future__ import annotations

from decimal import Decimal

from gpulease_gui.domain.money import Money, amount_text


def test_that_money_is_written_one_way():
    written = ("68000.0", "68000", "2.00", "12.5", "16.2050", "0.0001", "1234567.891")
    assert [amount_text(Decimal(words)) for words in written] == ["68,000", "68,000", "2.00", "12.50", "16.205", "0.0001", "1,234,567.891"]
    assert amount_text(Decimal("68000.0"), grouped=False) == "68000" and str(Money(Decimal("68000.0"), "CNY")) == "CNY 68000"
    assert [amount_text(Decimal(words), decimals=3) for words in ("12", "16.205")] == ["12.000", "16.205"], "one row, one number of decimals"
    assert amount_text(Decimal("1E+3")) == "1,000"
