"""How does the cost of an offer for a workload come about, step by step, and what does leaving its contract cost today?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.billing_terms import (
    Alignment,
    BillingTerms,
    CommittedHours,
    CommittedSpend,
    MinimumScope,
    PrepaidPeriod,
    PriceUnit,
)
from gpulease_gui.economics.cost import Cost
from gpulease_gui.economics.early_exit import ExitCost, exit_cost
from gpulease_gui.economics.price import per_gpu_hour
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.workload import Workload
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.commerce_billing import exit_terms_of
from gpulease_gui.services.commerce_cost import DealCost
from gpulease_gui.services.commercial_words import plain, seconds_text, surcharge_text


@dataclass(frozen=True, slots=True)
class CostStep:
    """One line: what is counted, how much comes out, and by which rule. `total` lines sum up what stands above."""

    what: Text
    result: Text
    rule: Text
    total: bool = False


def steps_of(found: DealCost, workload: Workload) -> tuple[CostStep, ...]:
    """Every step from the GPUs asked for to the price of a useful GPU-hour, in the contract's currency until the last lines."""
    terms, cost = found.billing.terms, found.cost
    return (
        _gpus(terms, cost, workload), _time(terms, cost, workload), _compute(terms, cost), *_discounts(terms, cost),
        *_storage(terms, cost, workload), *_traffic(terms, cost, workload), *_fees(terms, cost), _tax(terms, cost),
        _compared(terms, cost), *_converted(found), _effective(cost, workload), _hidden(terms, cost),
    )  # fmt: skip


def money(currency: str, amount: Decimal) -> str:
    """The currency before the figure, with thousands apart.

    >>> money("CNY", Decimal("-12345.60"))
    'CNY\\u202f−12,345.60'
    """
    return f"{currency}\N{NARROW NO-BREAK SPACE}{amount_text(amount)}".replace("-", "−")


def _same(words: str) -> Text:
    return foreign(words)


def _gpus(terms: BillingTerms, cost: Cost, workload: Workload) -> CostStep:
    if terms.whole_node_only:
        rule = Text(f"whole nodes of {terms.gpus_per_node}", f"按 {terms.gpus_per_node} 卡整机计费")
    elif terms.gpu_increment > 1 or terms.min_gpus > 1:
        rule = Text(f"in steps of {terms.gpu_increment}, at least {terms.min_gpus}", f"以 {terms.gpu_increment} 卡为单位，至少 {terms.min_gpus} 卡")
    else:
        rule = Text("as asked for", "按所需卡数")
    asked = Text(f"{cost.billed_gpus} for {workload.gpus} asked", f"需 {workload.gpus} 卡，计 {cost.billed_gpus} 卡")
    return CostStep(Text("GPUs charged", "计费卡数"), asked, rule)


def hours(seconds: int) -> str:
    """Seconds as hours to two places, without needless zeros."""
    return plain(half_up(Fraction(seconds, 3600), 2))


def _time(terms: BillingTerms, cost: Cost, workload: Workload) -> CostStep:
    used = sum(session.duration_s for session in workload.sessions)
    count = len(workload.sessions)
    parts = [Text(f"{count} sessions" if count != 1 else "1 session", f"{count} 次使用")]
    if terms.granularity_s > 1:
        step = seconds_text(terms.granularity_s)
        clock = terms.alignment is Alignment.CLOCK
        parts.append(Text(f"steps of {step.en}{' of the clock' if clock else ''}", f"按{step.zh}{'整点' if clock else ''}取整"))
    if terms.min_billed_s:
        least, once = seconds_text(terms.min_billed_s), terms.min_scope is MinimumScope.ORDER
        parts.append(Text(f"at least {least.en} {'per order' if once else 'each'}", f"{'每单' if once else '每次'}至少{least.zh}"))
    result = Text(f"{hours(cost.billed_seconds_total)} h for {hours(used)} h used", f"使用 {hours(used)} 小时，计 {hours(cost.billed_seconds_total)} 小时")
    return CostStep(Text("Time charged", "计费时长"), result, _joined(parts))


def _joined(parts: Iterable[Text]) -> Text:
    known = tuple(parts)
    return Text(", ".join(part.en for part in known), "，".join(part.zh for part in known))


def _compute(terms: BillingTerms, cost: Cost) -> CostStep:
    before = cost.compute + cost.discount
    return CostStep(Text("Computing", "计算费用"), _same(money(cost.currency, before)), _compute_rule(terms, cost))


def _compute_rule(terms: BillingTerms, cost: Cost) -> Text:
    quoted = money(cost.currency, half_up(per_gpu_hour(terms), 4).normalize())
    gpu_hours = f"{plain(cost.billed_gpu_hours)}"
    match terms.commitment:
        case PrepaidPeriod(periods=periods, period_hours=hours):
            unit = money(cost.currency, terms.unit_price)
            if terms.price_unit not in (PriceUnit.GPU_MONTH, PriceUnit.NODE_MONTH):
                return Text(
                    f"{plain(periods)} periods of {plain(hours)} h at {quoted} per GPU-hour paid ahead, used or not",
                    f"预付 {plain(periods)} 期，每期 {plain(hours)} 小时，每卡时 {quoted}，用否均付",
                )
            return Text(f"{plain(periods)} x {unit} paid ahead, used or not", f"预付 {plain(periods)} 期 × {unit}，用否均付")
        case CommittedHours(hours=least, price=price, overage_price=over):
            lost = cost.unused_commitment or Decimal(0)
            return Text(
                f"{plain(least)} GPU-hours committed at {price}, above at {over}; {money(cost.currency, lost)} not used",
                f"承诺 {plain(least)} 卡时，单价 {price}，超出 {over}；未用 {money(cost.currency, lost)}",
            )
        case CommittedSpend(amount=amount):
            short = cost.shortfall or Decimal(0)
            return Text(f"at least {money(cost.currency, amount)}; {short} short", f"最低消费 {money(cost.currency, amount)}；差额 {short}")
        case None:
            by = Text("by volume steps", "按用量阶梯") if terms.tiers else Text(f"x {quoted}", f"× {quoted}")
            return Text(f"{gpu_hours} GPU-hours {by.en}", f"{gpu_hours} 卡时 {by.zh}")


def _discounts(terms: BillingTerms, cost: Cost) -> Iterable[CostStep]:
    if terms.discounts:
        parts = [_same(f"{d.name} −{plain(d.value * 100)} %".strip()) for d in terms.discounts]
        yield CostStep(Text("Discounts", "折扣"), _same(money(cost.currency, -cost.discount)), _joined(parts))


def _storage(terms: BillingTerms, cost: Cost, workload: Workload) -> Iterable[CostStep]:
    if terms.storage is not None:
        price = terms.storage
        sizes = f"({plain(workload.storage_gb)} − {plain(price.free_gb)}) GB x {plain(workload.storage_hours)} / {plain(price.hours_per_month)} h"
        rule = f"{sizes} x {plain(price.price_per_gb_month)}"
        yield CostStep(Text("Storage", "存储"), _same(money(cost.currency, cost.storage)), _same(rule))


def _traffic(terms: BillingTerms, cost: Cost, workload: Workload) -> Iterable[CostStep]:
    if terms.egress is not None:
        rule = f"({plain(workload.egress_gb)} − {plain(terms.egress.free_gb)}) GB x {plain(terms.egress.price_per_gb)}"
        yield CostStep(Text("Outgoing traffic", "出流量"), _same(money(cost.currency, cost.egress)), _same(rule))


def _fees(terms: BillingTerms, cost: Cost) -> Iterable[CostStep]:
    if terms.fees:
        names = ", ".join(fee.name or plain(fee.amount) for fee in terms.fees)
        yield CostStep(Text("Fees", "一次性费用"), _same(money(cost.currency, cost.fees)), _same(names))


def _tax(terms: BillingTerms, cost: Cost) -> CostStep:
    rate = f"{plain(terms.tax.rate * 100)} %"
    inside = Text("in the price", "已含在价内") if terms.tax.included else Text("on top", "另计")
    back = Text("comes back", "可抵扣") if terms.tax.recoverable else Text("is a cost", "计入成本")
    rule = Text(f"{rate} {inside.en}, {back.en}", f"{rate} {inside.zh}，{back.zh}")
    return CostStep(Text("Tax", "税"), _same(money(cost.currency, cost.tax)), rule)


def _compared(terms: BillingTerms, cost: Cost) -> CostStep:
    rule = Text("net of tax", "不含税") if terms.tax.recoverable else Text("with tax", "含税")
    return CostStep(Text("Cost", "成本"), _same(money(cost.currency, cost.comparison_cost)), rule, total=True)


def _converted(found: DealCost) -> Iterable[CostStep]:
    rate = found.rate
    if rate is not None and found.converted is not None:
        more, rest = surcharge_text(rate), f"{rate.day.isoformat()} · {rate.source}"
        rule = Text(f"x {plain(rate.rate)}{more.en} · {rest}", f"x {plain(rate.rate)}{more.zh} · {rest}")
        yield CostStep(Text("Converted", "折算"), _same(money(rate.to_currency, found.converted)), rule)


def _effective(cost: Cost, workload: Workload) -> CostStep:
    useful = plain(half_up(workload.ready_gpu_hours * Fraction(workload.busy_fraction), 2))
    rule = Text(f"over {useful} useful GPU-hours", f"按 {useful} 有效卡时")
    what = Text("Per useful GPU-hour", "每有效卡时")
    if cost.effective_per_gpu_hour is None:
        return CostStep(what, Text("nothing useful ran", "没有有效使用"), rule, total=True)
    return CostStep(what, _same(money(cost.currency, cost.effective_per_gpu_hour)), rule, total=True)


def _hidden(terms: BillingTerms, cost: Cost) -> CostStep:
    quoted = money(cost.currency, half_up(per_gpu_hour(terms), 4))
    rule = Text(f"above {quoted} for every hour used", f"相对于按 {quoted} 每卡时计费")
    if cost.hidden_cost_pct is None:
        return CostStep(Text("Hidden cost", "隐性成本"), Text("can't be told", "无法计算"), rule)
    sign = "+" if cost.hidden_cost_pct > 0 else ""
    percent = f"{sign}{cost.hidden_cost_pct:,f}\N{THIN SPACE}%".replace("-", "−")
    return CostStep(Text("Hidden cost", "隐性成本"), _same(percent), rule)


@dataclass(frozen=True, slots=True)
class ExitToday:
    """Leaving a contract today: amounts per GPU, in `currency`; hours of the running period that are used up."""

    number: str
    currency: str
    used_hours: Decimal
    period_hours: Decimal
    cost: ExitCost


def exit_today(facts: DealFacts, start: date | None, day: date) -> ExitToday | None:
    """What leaving costs on `day`, in the running period; None when the contract does not say enough, or has not begun."""
    terms = exit_terms_of(facts)
    if terms is None or start is None or day < start or facts.row.price_currency is None:
        return None
    elapsed = Decimal((day - start).days * 24)
    used = elapsed if elapsed <= terms.period_hours else elapsed % terms.period_hours
    return ExitToday(facts.row.number, facts.row.price_currency, used, terms.period_hours, exit_cost(terms, used))
