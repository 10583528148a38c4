"""What do offers cost for workloads?"""

from __future__ import annotations

import argparse
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from gpulease_gui.cli import example_file
from gpulease_gui.cli.example_file import Example, Fields
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
from gpulease_gui.economics.cost import Cost, cost
from gpulease_gui.economics.workload import Session, Workload

add_arguments = example_file.add_arguments


def run(options: argparse.Namespace) -> int:
    """Print the cost of every example of the file."""
    return example_file.answer(options, cost_example, _line)


def cost_example(example: Example) -> dict[str, object]:
    """The result of one example. Raises UsageError."""
    offer = _with_defaults(example, "offer", "defaults")
    terms = terms_of(offer)
    load = _with_defaults(example, "workload", "workload_defaults")
    return as_dict(cost(terms, workload_of(load, terms.alignment)))


def _with_defaults(example: Example, key: str, defaults: str) -> Fields:
    """The table of an example, completed by what the conventions of its file say of absent keys."""
    own = example.fields.raw(key)
    told = example.conventions.get(defaults, {})
    if not isinstance(own, dict) or not isinstance(told, dict):
        return Fields(own, example.fields.where, key)
    whole = {**told, **own}
    for name, value in told.items():
        if isinstance(value, dict) and isinstance(own.get(name), dict):
            whole[name] = {**value, **own[name]}
    return Fields(whole, example.fields.where, key)


class _Rounding(StrEnum):
    CEIL = "ceil"


class _CommitmentKind(StrEnum):
    PREPAID = "prepaid_period"
    HOURS = "committed_hours"
    SPEND = "committed_spend"


def terms_of(offer: Fields) -> BillingTerms:
    """The commercial terms of an offer. Raises UsageError."""
    offer.choice("rounding", _Rounding, _Rounding.CEIL)
    plain = BillingTerms()
    terms = BillingTerms(
        unit_price=offer.amount("unit_price", plain.unit_price),
        currency=_currency(offer, "currency", plain.currency),
        price_unit=offer.choice("price_unit", PriceUnit, plain.price_unit),
        gpus_per_node=offer.whole("gpus_per_node", plain.gpus_per_node, least=1),
        whole_node_only=offer.yes_no("whole_node_only", False),
        gpu_increment=offer.whole("gpu_increment", plain.gpu_increment, least=1),
        min_gpus=offer.whole("min_gpus", plain.min_gpus),
        granularity_s=offer.whole("granularity_s", plain.granularity_s, least=1),
        alignment=offer.choice("alignment", Alignment, plain.alignment),
        min_billed_s=offer.whole("min_billed_s", 0),
        min_scope=offer.choice("min_scope", MinimumScope, plain.min_scope),
        stopped_rate=offer.amount("stopped_rate", ZERO),
        bill_provisioning=offer.yes_no("bill_provisioning", False),
        commitment=_commitment(offer.table("commitment")) if offer.has("commitment") else None,
        tiers=_tiers(offer.table("tiers")) if offer.has("tiers") else None,
        storage=_storage(offer.table("storage")) if offer.has("storage") else None,
        egress=_egress(offer.table("egress")) if offer.has("egress") else None,
        fees=tuple(_fee(fee) for fee in offer.tables("fees")),
        discounts=tuple(_discount(discount) for discount in offer.tables("discounts")),
        tax=_tax(offer.table("tax")) if offer.has("tax") else Tax(),
        fx=_exchange(offer.table("fx")) if offer.has("fx") else None,
    )
    offer.done("name", "note")
    return terms


def _currency(fields: Fields, key: str, default: str | None = None) -> str:
    code = fields.text(key, default)
    if len(code) != 3 or not (code.isascii() and code.isalpha() and code.isupper()):
        raise fields.fault(key, f"{code!r} is no currency", "write the three-letter code, such as CNY")
    return code


def _commitment(fields: Fields) -> Commitment:
    found = _commitment_of(fields, fields.choice("kind", _CommitmentKind))
    fields.done("name", "note")
    return found


def _commitment_of(fields: Fields, kind: _CommitmentKind) -> Commitment:
    if kind is _CommitmentKind.PREPAID:
        hours = fields.amount("period_hours", above_zero=True)
        return PrepaidPeriod(hours, fields.amount("periods", Decimal(1)), fields.optional_amount("on_demand_gpu_hour"))
    month = fields.optional_amount("period_hours", above_zero=True)
    if kind is _CommitmentKind.HOURS:
        return CommittedHours(fields.amount("hours"), fields.amount("price"), fields.amount("overage_price"), month)
    return CommittedSpend(fields.amount("amount"), month)


def _tiers(fields: Fields) -> Tiers:
    mode, steps = fields.choice("mode", TierMode), fields.tables("steps")
    if not steps:
        raise fields.fault("steps", "there are none", 'write such as [{"up_to": "500", "price": "3.00"}, {"up_to": null, "price": "2.60"}]')
    fields.done("name", "note")
    found = tuple(_step(step) for step in steps)
    ends = [step.up_to for step in found]
    if None in ends[:-1] or ends[:-1] != sorted(set(ends[:-1])) or (len(ends) > 1 and ends[-1] and ends[-2] and ends[-1] <= ends[-2]):  # type: ignore[type-var]
        raise fields.fault("steps", "up_to does not ascend", "order the steps; only the last one has up_to null")
    return Tiers(mode, found)


def _step(fields: Fields) -> Step:
    step = Step(fields.optional_amount("up_to"), fields.amount("price"))
    fields.done("name", "note")
    return step


def _storage(fields: Fields) -> StoragePrice:
    price = fields.amount("price_per_gb_month")
    found = StoragePrice(price, fields.amount("hours_per_month", above_zero=True), fields.amount("free_gb", ZERO))
    fields.done("name", "note")
    return found


def _egress(fields: Fields) -> EgressPrice:
    found = EgressPrice(fields.amount("price_per_gb"), fields.amount("free_gb", ZERO))
    fields.done("name", "note")
    return found


def _fee(fields: Fields) -> Fee:
    fee = Fee(fields.amount("amount"), fields.text("name", ""))
    fields.done("note")
    return fee


def _discount(fields: Fields) -> Discount:
    discount = Discount(fields.amount("value", most=1), fields.text("name", ""))
    fields.done("note")
    return discount


def _tax(fields: Fields) -> Tax:
    plain = Tax()
    tax = Tax(
        fields.amount("rate", plain.rate), fields.yes_no("included", plain.included), fields.yes_no("recoverable", plain.recoverable)
    )
    fields.done("name", "note")
    return tax


def _exchange(fields: Fields) -> Exchange:
    day = fields.day("date") if fields.has("date") else None
    rate = fields.amount("rate", above_zero=True)
    fx = Exchange(_currency(fields, "to"), rate, fields.amount("surcharge", ZERO), day)
    fields.done("note", "from", "source")
    return fx


def workload_of(load: Fields, alignment: Alignment = Alignment.ROLLING) -> Workload:
    """The workload. Raises UsageError, also for a session without a start where the clock decides."""
    workload = Workload(
        gpus=load.whole("gpus", 1),
        sessions=tuple(_session(session, alignment) for session in load.tables("sessions")),
        stopped_s=load.whole("stopped_s", 0),
        storage_gb=load.amount("storage_gb", ZERO),
        storage_hours=load.amount("storage_hours", ZERO),
        egress_gb=load.amount("egress_gb", ZERO),
        busy_fraction=load.amount("busy_fraction", Decimal(1), most=1),
    )
    load.done("name", "note")
    return workload


def _session(fields: Fields, alignment: Alignment) -> Session:
    start = fields.moment("start") if fields.has("start") else None
    end = fields.moment("end") if fields.has("end") else None
    ready = fields.yes_no("ready", True)
    seconds = _seconds(fields, start, end)
    fields.done("name", "note")
    if alignment is Alignment.CLOCK and start is None and seconds:
        raise fields.fault("start", "the clock decides what is charged", "write start and end such as 2026-03-02T10:50:00+08:00")
    return Session(seconds, start, ready)


def _seconds(fields: Fields, start: datetime | None, end: datetime | None) -> int:
    if end is None:
        return fields.whole("duration_s")
    if start is None:
        raise fields.fault("start", "the key is missing", "write start and end, or duration_s")
    between = end - start
    seconds = between.days * 86400 + between.seconds
    if seconds < 0:
        raise fields.fault("end", "the session ends before it starts", "check both times and their offsets")
    if fields.has("duration_s") and fields.whole("duration_s") != seconds:
        raise fields.fault("duration_s", f"start and end are {seconds} s apart", "leave duration_s out")
    return seconds


# Keys that only some contracts have.
_MAYBE = ("on_demand_alternative", "break_even_hours", "unused_commitment", "shortfall", "comparison_cost_base")
_TEXT = (
    "billed_gpu_hours", "compute", "discount", "storage", "egress", "fees", "net_total", "tax", "gross_total",
    "comparison_cost", "effective_per_gpu_hour", "hidden_cost_pct",
)  # fmt: skip


def as_dict(found: Cost) -> dict[str, object]:
    """The keys of the example files; amounts as text, None where nothing can be said."""
    result: dict[str, object] = {
        "billed_gpus": found.billed_gpus,
        "billed_seconds_per_session": list(found.billed_seconds_per_session),
        "billed_seconds_total": found.billed_seconds_total,
    }
    for key in (*_TEXT, *_MAYBE):
        value = getattr(found, key)
        # Where an alternative is priced at nothing, no hour breaks even: the key stays, with null.
        told = key == "break_even_hours" and found.on_demand_alternative is not None
        if value is not None or told or key in _TEXT:
            result[key] = None if value is None else f"{value:f}"
    return result


def _line(result: dict[str, Any]) -> str:
    hidden = "" if result["hidden_cost_pct"] is None else f", hidden {result['hidden_cost_pct']} %"
    rate = "" if result["effective_per_gpu_hour"] is None else f" = {result['effective_per_gpu_hour']} per useful GPU-hour"
    return f"{result['comparison_cost']}{rate}{hidden}"
