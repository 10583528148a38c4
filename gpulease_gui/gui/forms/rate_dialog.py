"""What does one unit of a currency cost in another, on which day, and who says so?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.services.commercial_words import plain


class RateDialog(DraftDialog):
    """A rate of exchange; `keep` is called with it. Rates are only ever added: what was compared before stays explained."""

    def __init__(self, source: str, target: str, day: date, keep: Callable[[FxRate], None], known: FxRate | None = None,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(
            Text("Rate of exchange", "汇率"), Text(f"{source} to {target}", f"{source} 换算为 {target}"),
            consequence=Text("Prices stay in their own currency; the rate only converts what is compared.",
                             "价格仍以原币种保存；汇率只用于对比时换算。"), parent=parent,
        )  # fmt: skip
        self._pair, self._keep = (source, target), keep
        self.facts.hide()
        self.rate = LineField(Text("Rate", "汇率"), "7.0835")
        self.day = LineField(Text("Day", "日期"), "2026-12-01")
        self.surcharge = LineField(Text("Surcharge", "手续费"), "0")
        self.source = LineField(Text("Source", "来源"), Text("such as a bank's list", "例如某银行牌价"))
        self._rate = Field(Text(f"1 {source} in {target}", f"1 {source} 等于多少 {target}"), self.rate)
        self._day = Field(Text("Day of the rate", "汇率日期"), self.day)
        self._surcharge = Field(Text("Surcharge of the card or bank, in %", "银行卡或银行手续费（%）"), self.surcharge)
        for field in (self._rate, self._surcharge, self._day, Field(Text("Who says so", "来源"), self.source)):
            self.column.addWidget(field)
        self.day.setText(day.isoformat())
        if known is not None:
            self.rate.setText(f"{known.rate:f}")
            self.surcharge.setText(plain(known.surcharge * 100) if known.surcharge else "")
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save the rate", "保存汇率"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)
        self._lines = (self.rate, self.surcharge, self.day, self.source)
        for line in self._lines:
            line.textEdited.connect(self.touch)
        self.rate.setFocus()

    def words_now(self) -> tuple[str, ...]:
        """What stands in the lines, from top to bottom."""
        return tuple(line.text() for line in self._lines)

    def put_words(self, words: Sequence[str]) -> bool:
        """Put the lines back."""
        if len(words) != len(self._lines):
            return False
        for line, said in zip(self._lines, words, strict=True):
            line.setText(said)
        return True

    def _save(self) -> None:
        rate, day, surcharge = _rate_of(self.rate.text()), _day_of(self.day.text()), _share_of(self.surcharge.text())
        self._rate.complain("" if rate else Text("a number above 0, such as 7.0835", "请填写大于 0 的数字，如 7.0835"))
        self._day.complain("" if day else Text("a day such as 2026-12-01", "请按 2026-12-01 的格式填写"))
        self._surcharge.complain(Text("a part of 100, such as 3; none: leave it empty", "请填写 0 至 100 的数字，如 3；没有则留空") if surcharge is None else "")
        if rate is not None and day is not None and surcharge is not None:
            self._keep(FxRate(*self._pair, rate, day, self.source.text().strip(), surcharge))

    def refuse(self, trouble: UserFacing) -> None:
        """The store did not take it."""
        self._rate.complain(trouble.whole_text)


def _rate_of(words: str) -> Decimal | None:
    try:
        rate = Decimal(words.strip())
    except InvalidOperation:
        return None
    return rate if rate.is_finite() and rate > 0 else None


def _share_of(words: str) -> Decimal | None:
    """Per cent as a share; nothing written is nothing added."""
    try:
        share = Decimal(words.strip().rstrip("%％").strip() or "0") / 100
    except InvalidOperation:
        return None
    return share if share.is_finite() and 0 <= share < 1 else None


def _day_of(words: str) -> date | None:
    try:
        return date.fromisoformat(words.strip())
    except ValueError:
        return None
