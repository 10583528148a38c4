"""What do stored terms mean as rules of billing, and what had to be assumed because nobody stated it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from gpulease_gui.domain.commercial import Scalar, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import FxRate, Price
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import (
    ZERO,
    Alignment,
    BillingTerms,
    Commitment,
    CommittedHours,
    CommittedSpend,
    Discount,
    EgressPrice,
    Exchange,
    Fee,
    MinimumScope,
    PrepaidPeriod,
    PriceUnit,
    Step,
    StoragePrice,
    Tax,
    TierMode,
    Tiers,
)
from gpulease_gui.economics.early_exit import ExitTerms, FeeBasis
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.price_of_day import hour_price, validity

MONTH_HOURS = Decimal(730)


@dataclass(frozen=True, slots=True)
class Billing:
    """The rules, and what was assumed in place of what is not stated (field key -> in words)."""

    terms: BillingTerms
    assumed: Mapping[str, Text]


def billing_of(facts: DealFacts, *, tax_recoverable: bool = True, rate: FxRate | None = None) -> Billing:
    """The rules of billing of an offer, prices in its own currency; `rate` converts for comparison.

    Raises UsageError for an offer without a price, or with a unit that is not known.
    """
    price = facts.price
    if price is None:
        raise UsageError(Text(f"{facts.row.number or facts.row.title}: there is no price", f"{facts.row.number or facts.row.title}：没有价格"), next_step=Text("write down the price first", "请先填写价格"))
    if price.unit not in set(PriceUnit):
        raise UsageError(Text(f"{price.unit!r} is no unit of a price", f"{price.unit!r} 不是计价单位"), next_step=Text(f"write one of: {', '.join(PriceUnit)}", f"请填写其一：{', '.join(PriceUnit)}"))
    terms, unit = facts.terms, PriceUnit(price.unit)
    built = BillingTerms(
        unit_price=price.money.amount, currency=price.money.currency, price_unit=unit,
        gpus_per_node=facts.row.gpu_count or 8, whole_node_only=terms.yes_no("billing.whole_node_only") or False,
        gpu_increment=terms.whole("billing.gpu_increment") or 1, min_gpus=terms.whole("billing.min_gpus") or 1,
        granularity_s=terms.whole("billing.granularity_s") or 1,
        alignment=Alignment(terms.words("billing.alignment") or Alignment.ROLLING),
        min_billed_s=terms.whole("billing.min_billed_s") or 0,
        min_scope=MinimumScope(terms.words("billing.min_scope") or MinimumScope.SESSION),
        stopped_rate=terms.amount("billing.stopped_rate") or ZERO,
        bill_provisioning=terms.yes_no("billing.bill_provisioning") or False,
        commitment=_commitment(facts, unit), tiers=_tiers(terms), storage=_storage(terms), egress=_egress(terms),
        fees=tuple(Fee(_decimal(row, "amount"), str(row.get("name", ""))) for row in terms.rows("billing.fees")),
        discounts=tuple(Discount(_decimal(row, "value"), str(row.get("name", ""))) for row in terms.rows("billing.discounts")),
        tax=Tax(price.tax_rate or ZERO, price.tax_included or False, tax_recoverable),
        fx=Exchange(rate.to_currency, rate.rate, rate.surcharge, rate.day) if rate is not None else None,
    )  # fmt: skip
    return Billing(built, dict(_assumed(facts, price, unit, tax_recoverable)))


# What a field that nobody stated is taken as: always the reading that costs least, so nothing hidden is invented.
_SILENT: Mapping[str, Text] = {
    "billing.granularity_s": Text("billed by the second", "按秒计费"),
    "billing.min_billed_s": Text("no minimum term", "无最短租期"),
    "billing.whole_node_only": Text("single GPUs are rented", "可按单卡租用"),
    "billing.stopped_rate": Text("nothing is charged while stopped", "关机不计费"),
    "billing.bill_provisioning": Text("starting up is free", "开通时间不计费"),
    "storage.price_gb_month": Text("storage is free", "存储免费"),
    "traffic.out_price_gb": Text("outgoing traffic is free", "出流量免费"),
}


def _assumed(facts: DealFacts, price: Price, unit: PriceUnit, tax_recoverable: bool) -> Iterable[tuple[str, Text]]:
    yield from ((key, words) for key, words in _SILENT.items() if facts.terms.value(key) is None)
    if (tax := assumed_tax(price, tax_recoverable)) is not None:
        yield "price.tax", tax
    if (lapsed := validity(facts)) is not None:
        yield "price.valid_until", lapsed
    yield from _assumed_commitment(facts.terms)
    if (unit.of_node or facts.terms.yes_no("billing.whole_node_only")) and facts.row.gpu_count is None:
        yield "gpu.count", Text("a node has 8 GPUs", "每节点 8 卡")
    if unit in (PriceUnit.GPU_MONTH, PriceUnit.NODE_MONTH) and facts.terms.amount("billing.month_hours") is None:
        yield "billing.month_hours", Text("a month has 730 hours", "每月按 730 小时")


def assumed_tax(price: Price, tax_recoverable: bool) -> Text | None:
    """What the cost takes the tax to be where it is not stated whole; None where nothing is missing that it needs."""
    if price.tax_included and price.tax_rate is None:
        return Text("the tax in the price is not taken out: its rate is not stated", "含税价未扣税：税率未约定")
    if price.tax_included is None and price.tax_rate is None:
        return Text("the price is net and no tax is added", "价格不含税且不另计税")
    if price.tax_included is None:
        return Text("the price is net", "价格不含税") if tax_recoverable else Text("the price is net, its tax is added", "价格不含税，另加税")
    if price.tax_rate is None and not tax_recoverable:
        return Text("no tax is added: its rate is not stated", "未另加税：税率未约定")
    return None


def _assumed_commitment(terms: Terms) -> Iterable[tuple[str, Text]]:
    kind = terms.words("commitment.kind")
    if kind == "committed_hours" and terms.amount("commitment.hours") is None:
        yield "commitment.hours", Text("the commitment is not counted: its hours are not stated", "未计承诺：承诺时长未约定")
    elif kind == "committed_hours" and terms.amount("commitment.price") is None:
        yield "commitment.price", Text("committed hours cost the price of the offer", "承诺时长按报价单价计费")
    if kind == "committed_hours" and terms.amount("commitment.hours") is not None and terms.amount("commitment.overage_price") is None:
        yield "commitment.overage_price", Text("hours beyond the commitment cost the committed price", "超出承诺部分按承诺单价计费")
    if kind == "committed_spend" and terms.amount("commitment.amount") is None:
        yield "commitment.amount", Text("the commitment is not counted: its amount is not stated", "未计承诺：承诺金额未约定")


def _commitment(facts: DealFacts, unit: PriceUnit) -> Commitment | None:
    terms = facts.terms
    month = terms.amount("billing.month_hours")
    hours, kind = terms.amount("commitment.period_hours") or month, terms.words("commitment.kind")
    if kind == "prepaid_period":
        return PrepaidPeriod(hours or MONTH_HOURS, terms.amount("commitment.periods") or Decimal(1), terms.amount("billing.on_demand_gpu_hour"))
    if kind == "committed_hours" and terms.amount("commitment.hours") is not None:
        stated = terms.amount("commitment.price")
        quoted = hour_price(facts) if stated is None else None
        price = (quoted.amount if quoted else ZERO) if stated is None else stated
        over = terms.amount("commitment.overage_price")
        return CommittedHours(terms.amount("commitment.hours") or ZERO, price, price if over is None else over, hours)
    if kind == "committed_spend" and terms.amount("commitment.amount") is not None:
        return CommittedSpend(terms.amount("commitment.amount") or ZERO, hours)
    if unit in (PriceUnit.GPU_MONTH, PriceUnit.NODE_MONTH):
        # A month price is a period paid whole, whatever is used of it.
        return PrepaidPeriod(hours or MONTH_HOURS, terms.amount("commitment.periods") or Decimal(1), terms.amount("billing.on_demand_gpu_hour"))
    return None


def _tiers(terms: Terms) -> Tiers | None:
    rows = [row for row in terms.rows("billing.tiers") if "price" in row]
    if not rows:
        return None
    steps = tuple(Step(_decimal(row, "up_to") if "up_to" in row else None, _decimal(row, "price")) for row in rows)
    return Tiers(TierMode(terms.words("billing.tier_mode") or TierMode.GRADUATED), steps)


def _storage(terms: Terms) -> StoragePrice | None:
    price = terms.amount("storage.price_gb_month")
    if price is None:
        return None
    return StoragePrice(price, terms.amount("storage.hours_per_month") or MONTH_HOURS, terms.amount("storage.free_gb") or ZERO)


def _egress(terms: Terms) -> EgressPrice | None:
    price = terms.amount("traffic.out_price_gb")
    return None if price is None else EgressPrice(price, terms.amount("traffic.free_gb") or ZERO)


def _decimal(row: Mapping[str, Scalar], key: str) -> Decimal:
    value = row.get(key)
    return value if isinstance(value, Decimal) else ZERO


def exit_terms_of(facts: DealFacts) -> ExitTerms | None:
    """The clause on leaving early, prices per GPU-hour; None when it does not say enough to count with."""
    refund, on_demand = facts.terms.words("exit.refund"), facts.terms.amount("billing.on_demand_gpu_hour")
    hours = facts.terms.amount("commitment.period_hours") or facts.terms.amount("billing.month_hours")
    if refund not in ("remaining", "clawback") or on_demand is None or hours is None or facts.row.price_gpu_hour is None:
        return None
    fee_on = FeeBasis(facts.terms.words("exit.fee_on") or FeeBasis.CLAWBACK)
    return ExitTerms(
        on_demand, Decimal(facts.row.price_gpu_hour), hours, facts.terms.amount("exit.fee_rate") or ZERO, fee_on,
        refund == "clawback",
    )  # fmt: skip
