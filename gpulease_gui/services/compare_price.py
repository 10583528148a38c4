"""What do offers cost beside each other: the price lines of a comparison, in one currency, unit and period?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from gpulease_gui.domain.money import Money, amount_text, decimals_of
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.workload import Workload
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.commerce_billing import assumed_tax
from gpulease_gui.services.commercial_words import PRICE_MODES, PRICE_UNITS, plain
from gpulease_gui.services.comparison import Cell, CellState, CompareHead, CompareRow
from gpulease_gui.services.price_of_day import validity
from gpulease_gui.services.price_period import PER_WORDS, PricePer, period_price, span_of

Rates = Mapping[str, FxRate | None]
_HOUR_PLACES, _MONTH_PLACES = 4, 2


@dataclass(frozen=True, slots=True)
class Quoting:
    """How prices are written, and for which workload, if any."""

    currency: str
    per: PricePer = PricePer.GPU_HOUR
    tax_recoverable: bool = True
    workload: Workload | None = None

    @property
    def places(self) -> int:
        """Decimals of a figure that has to be rounded."""
        return _MONTH_PLACES if self.per.of_month else _HOUR_PLACES

    def named(self, en: str, zh: str) -> Text:
        """A label with the unit behind it, a month with its hours."""
        unit = PER_WORDS[self.per]
        month = Text(" (720 h)", "（720 小时）") if self.per.of_month else NO_TEXT
        return Text(f"{en} per {unit.en}{month.en}", f"{zh} / {unit.zh}{month.zh}")


def price_rows(deals: Sequence[DealFacts], heads: Sequence[CompareHead], rates: Rates, how: Quoting) -> Iterable[CompareRow]:
    """The lines of the price, then those of the workload's cost where one was priced. `price.gpu_hour` is the price per `how.per`."""
    quoted = aligned(_quoted(facts, rates, how) for facts in deals)
    yield CompareRow("price.gpu_hour", "price", how.named("Price", "单价"), quoted, "less")
    yield _row("price.agreed", Text("Price as agreed", "标价，原币种"), (_agreed(facts) for facts in deals))
    yield _row("price.mode", Text("Kind of price", "计价方式"), (_mode(facts) for facts in deals))
    yield _row("price.tax", Text("Tax", "税"), (_tax(facts) for facts in deals))
    yield _row("price.valid_until", Text("Valid until", "有效期至"), (_said(_day(facts.row.valid_until)) for facts in deals))
    if how.workload is not None:
        effective = (_effective(facts, head, how, how.workload) for facts, head in zip(deals, heads, strict=True))
        yield _row("price.total", Text("Comparison cost of the workload", "负载总成本"), (_total(h, how.currency) for h in heads), "less")
        yield _row("price.effective", how.named("Effective price", "有效成本"), effective, "less")
        yield _row("price.hidden", Text("Hidden cost", "隐性成本"), (_hidden(h) for h in heads), "less")


def _row(key: str, label: Text, cells: Iterable[Cell], better: str = "") -> CompareRow:
    return CompareRow(key, "price", label, aligned(cells), better)


def _said(text: Text | None) -> Cell:
    return Cell() if text is None else Cell(text, CellState.STATED)


def _quoted(facts: DealFacts, rates: Rates, how: Quoting) -> Cell:
    """Net where the tax comes back, else gross, as the cost is compared; what was made of the agreed price stands beside it."""
    found = period_price(facts, how.per, tax_recoverable=how.tax_recoverable)
    if found is None or facts.price is None:
        return Cell()
    money = facts.price.money
    cell = money_cell(Money(money.amount, money.currency), rates, how.currency, exact=found.exact, places=how.places)
    notes, unstated = (*found.notes, *found.assumed), (assumed_tax(facts.price, how.tax_recoverable), validity(facts))
    cell = replace(cell, assumed=(*found.assumed, *(words for words in unstated if words is not None)))
    if not notes:
        return cell
    told = (*((cell.original,) if cell.original.en else ()), *notes)
    return replace(cell, original=Text(", ".join(t.en for t in told), "，".join(t.zh for t in told)))


def money_cell(money: Money, rates: Rates, currency: str, *, exact: Fraction | None = None, places: int = _HOUR_PLACES) -> Cell:
    """An amount in the currency of the comparison; the agreed one stands beside it.

    `exact` is what was worked out of it, rounded once; an amount that stays as agreed is written as it was.
    """
    exact = Fraction(money.amount) if exact is None else exact
    amount = money.amount if exact == Fraction(money.amount) else half_up(exact, places)
    own = Money(amount, money.currency)
    agreed, rate = foreign(f"{own.currency} {amount_text(amount)}"), rates.get(own.currency)
    if own.currency == currency:
        return Cell(agreed, CellState.STATED, amount, amount=own)
    if rate is None:
        return Cell(agreed, CellState.NOT_CONVERTED, amount=own)
    converted = exact * rate.paid
    shown = Money(half_up(converted, places), currency)
    return Cell(foreign(f"{currency} {amount_text(shown.amount)}"), CellState.STATED, half_up(converted, 8), agreed, amount=shown)


def aligned(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The money of a row with the same number of decimals."""
    kept = tuple(cells)
    most = max((decimals_of(cell.amount.amount) for cell in kept if cell.amount is not None), default=0)
    return tuple(
        cell if cell.amount is None else replace(cell, text=foreign(f"{cell.amount.currency} {amount_text(cell.amount.amount, decimals=most)}"))
        for cell in kept
    )


def _agreed(facts: DealFacts) -> Cell:
    if facts.price is None:
        return Cell()
    money, unit = facts.price.money, PRICE_UNITS.get(facts.price.unit, foreign(facts.price.unit))
    said, code = f"{money.currency} {amount_text(money.amount)}", money.currency
    unit_text = Text(f"{code} / {unit.en}", f"{code} / {unit.zh}")
    return Cell(Text(f"{said} / {unit.en}", f"{said} / {unit.zh}"), CellState.STATED, figure=money.amount, unit=unit_text)


def _mode(facts: DealFacts) -> Cell:
    mode = facts.price.mode if facts.price else None
    return _said(None if mode is None else PRICE_MODES.get(mode, foreign(mode)))


def _tax(facts: DealFacts) -> Cell:
    if facts.price is None or facts.price.tax_included is None:
        return Cell()
    rate = "" if facts.price.tax_rate is None else f" {plain(facts.price.tax_rate * 100)} %"
    en, zh = ("included", "含税") if facts.price.tax_included else ("not included", "不含税")
    return _said(Text(f"{en}{rate}", f"{zh}{rate}"))


def _day(day: date | None) -> Text | None:
    return None if day is None else foreign(day.isoformat())


def _total(head: CompareHead, currency: str) -> Cell:
    if head.cost is None:
        return Cell()
    own = head.cost.cost
    if head.cost.converted is None:
        return Cell(state=CellState.NOT_CONVERTED, amount=Money(own.comparison_cost, own.currency))
    original = NO_TEXT if own.currency == currency else foreign(f"{own.currency} {amount_text(own.comparison_cost)}")
    shown = Money(head.cost.converted, currency)
    return Cell(state=CellState.STATED, number=shown.amount, original=original, assumed=head.cost.rests_on, amount=shown)


def _effective(facts: DealFacts, head: CompareHead, how: Quoting, workload: Workload) -> Cell:
    """What an hour of use costs with all counted, times the hours (and GPUs) of the unit."""
    useful = workload.ready_gpu_hours * Fraction(workload.busy_fraction)
    if head.cost is None or not useful:
        return Cell()
    own, span = head.cost.cost, span_of(facts, how.per)
    exact = own.exact_comparison / useful * span.factor
    rates: Rates = {own.currency: head.cost.rate}
    cell = money_cell(Money(half_up(exact, how.places), own.currency), rates, how.currency, exact=exact, places=how.places)
    more = tuple(words for words in span.assumed if words not in head.cost.rests_on)
    return replace(cell, assumed=(*head.cost.rests_on, *more))


def _hidden(head: CompareHead) -> Cell:
    hidden = head.cost.cost.hidden_cost_pct if head.cost else None
    if head.cost is None or hidden is None:
        return Cell()
    return Cell(foreign(f"{hidden:+f} %"), CellState.STATED, hidden, assumed=head.cost.rests_on, figure=hidden, unit=foreign("%"))
