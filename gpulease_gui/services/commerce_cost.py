"""What does a stored offer cost for a stored workload, which red flags does it raise, and which plan does it serve?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import Alignment, Commitment, CommittedHours, CommittedSpend, PrepaidPeriod
from gpulease_gui.economics.cost import Cost, cost
from gpulease_gui.economics.flag import FlagFinding, flags_of
from gpulease_gui.economics.offer_facts import OfferFacts, PriceMode, Reference
from gpulease_gui.economics.suitable import Choice
from gpulease_gui.economics.workload import Session, Workload
from gpulease_gui.economics.workload_pattern import MONTH_HOURS, Pattern, pattern_of
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.commerce_billing import Billing, billing_of
from gpulease_gui.services.price_of_day import last_day
from gpulease_gui.services.workload_plan import ModelPlan, plan_from, plan_table
from gpulease_gui.store import reference
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.deals import DealRow
from gpulease_gui.store.kept import Document
from gpulease_gui.store.reference import rate_between

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class DealCost:
    """The cost with the rules behind it. `rate` is what converted it; `converted` in its currency, None without a rate.

    `rests_on` are the assumptions that this cost moves with: what is free of charge by assumption and is not used is none.
    """

    cost: Cost
    billing: Billing
    rate: FxRate | None
    converted: Decimal | None
    rests_on: tuple[Text, ...] = ()

    @property
    def assumed(self) -> tuple[Text, ...]:
        """What was taken for granted because nobody stated it."""
        return tuple(self.billing.assumed.values())


def cost_of(
    facts: DealFacts, workload: Workload, *, currency: str | None = None, rates: Iterable[FxRate] = (), tax_recoverable: bool = True
) -> DealCost:
    """The cost of `workload` under the stored terms, also in `currency` where a rate is known.

    Raises UsageError for an offer without a price or terms that can't be counted with.
    """
    own = facts.price.money.currency if facts.price else ""
    rate = rate_between(rates, own, currency) if currency and own != currency else None
    billing = _without_clock(billing_of(facts, tax_recoverable=tax_recoverable, rate=rate), workload)
    billing = over_span(billing, workload)
    found = cost(billing.terms, workload)
    same = not currency or own == currency
    return DealCost(found, billing, rate, found.comparison_cost if same else found.comparison_cost_base, tuple(_resting_on(billing, workload)))


def _resting_on(billing: Billing, workload: Workload) -> Iterable[Text]:
    terms, gpus = billing.terms, billing.terms.gpus_per_node
    whole = "gpu.count" not in billing.assumed and workload.gpus % gpus == 0
    paid_whole = isinstance(terms.commitment, PrepaidPeriod)
    idle = {
        "storage.price_gb_month": not workload.storage_gb, "traffic.out_price_gb": not workload.egress_gb,
        "billing.stopped_rate": paid_whole or not workload.stopped_s, "billing.whole_node_only": whole, "workload.span": True,
        "billing.bill_provisioning": paid_whole or all(session.ready for session in workload.sessions),
        "billing.granularity_s": paid_whole, "billing.min_billed_s": paid_whole,
    }  # fmt: skip
    return (words for key, words in billing.assumed.items() if not idle.get(key, False))


def _without_clock(billing: Billing, workload: Workload) -> Billing:
    """Sessions without a time of day, under steps of the clock: each is taken to begin with a step, which costs least."""
    if billing.terms.alignment is not Alignment.CLOCK or all(s.start is not None for s in workload.sessions):
        return billing
    said = Text("every session begins with a billing step", "每次使用都从计费整点开始")
    return Billing(replace(billing.terms, alignment=Alignment.ROLLING), {**billing.assumed, "workload.start": said})


_MONTH = (28 * 24, 31 * 24)


def over_span(billing: Billing, workload: Workload) -> Billing:
    """A workload of several periods pays the commitment of each; a number of periods that the offer states stays the least."""
    commitment = billing.terms.commitment
    hours = commitment.period_hours if commitment else None
    if commitment is None or not hours or workload.span_hours is None:
        return billing
    # A month has 672 to 744 hours, by contract; one month of use is one month of pay in each of them.
    each = Decimal(MONTH_HOURS) if _MONTH[0] <= hours <= _MONTH[1] else hours
    periods = Decimal(ceil(Fraction(workload.span_hours) / Fraction(each)))
    longer = _longer(commitment, periods)
    if longer == commitment:
        return billing
    said = Text(f"the workload spans {periods} periods of the commitment", f"负载跨 {periods} 个承诺周期")
    return Billing(replace(billing.terms, commitment=longer), {**billing.assumed, "workload.span": said})


def _longer(commitment: Commitment, periods: Decimal) -> Commitment:
    if periods <= 1:
        return commitment
    match commitment:
        case PrepaidPeriod():
            return replace(commitment, periods=max(periods, commitment.periods))
        case CommittedHours():
            return replace(commitment, hours=commitment.hours * periods)
        case CommittedSpend():
            return replace(commitment, amount=commitment.amount * periods)


@dataclass(frozen=True, slots=True)
class SavedWorkload:
    """A workload with its name. `pattern`: how it was said, when it repeats; the tax comes back unless it does not.

    `model`: which model it runs, if somebody wrote that down.
    """

    id: str
    name: str
    workload: Workload
    pattern: Pattern | None = None
    tax_recoverable: bool = True
    model: ModelPlan | None = None


def workloads_in(connection: sqlite3.Connection) -> tuple[SavedWorkload, ...]:
    """The saved workloads by name."""
    return tuple(_saved(s.id, s.name, json.loads(s.document)) for s in reference.list_workloads(connection))


def _saved(id_: str, name: str, said: dict[str, Any]) -> SavedWorkload:
    workload, pattern = _workload(said), said.get("pattern")
    made = pattern_of(workload) if pattern is None else _pattern(pattern)
    return SavedWorkload(id_, name, workload, made, said.get("tax_recoverable", True), plan_from(said.get("model")))


def save_workload(db: Database, saved: SavedWorkload) -> SavedWorkload:
    """Keep a workload as one step. Raises UsageError without a name."""
    if not saved.name.strip():
        raise UsageError(Text("a workload needs a name", "负载需要名称"), next_step=Text("write one, such as fine-tuning, 200 h a month", "请填写，如“微调，每月 200 小时”"))
    acting = recorder(db)
    acting.put("workload", (saved.id,), workload_document(saved))
    acting.finish(Text(f"save workload {saved.name}", f"保存负载 {saved.name}"))
    return saved


def workload_document(saved: SavedWorkload) -> Document:
    """How the journal keeps a workload (kind workload); its key is (id,)."""
    return {"name": saved.name.strip(), "document": _workload_text(saved)}


def remove_workload(db: Database, workload_id: str) -> None:
    """Delete a workload as one step; Undo brings it back."""
    acting = recorder(db)
    acting.put("workload", (workload_id,), None)
    acting.finish(Text("delete a workload", "删除负载"))


def _workload_text(saved: SavedWorkload) -> str:
    workload = saved.workload
    return json_text({
        "gpus": workload.gpus, "stopped_s": workload.stopped_s, "storage_gb": format(workload.storage_gb, "f"),
        "storage_hours": format(workload.storage_hours, "f"), "egress_gb": format(workload.egress_gb, "f"),
        "busy_fraction": format(workload.busy_fraction, "f"),
        "sessions": [[s.duration_s, s.start.isoformat() if s.start else None, s.ready] for s in workload.sessions],
        "span_hours": None if workload.span_hours is None else format(workload.span_hours, "f"),
        "pattern": _pattern_table(saved.pattern), "tax_recoverable": saved.tax_recoverable,
        "model": plan_table(saved.model),
    })  # fmt: skip


_DECIMALS = ("hours_per_day", "storage_gb", "egress_gb_per_month", "busy_fraction")


def _pattern_table(pattern: Pattern | None) -> dict[str, object] | None:
    if pattern is None:
        return None
    told: dict[str, object] = asdict(pattern)
    return {**told, **{name: format(getattr(pattern, name), "f") for name in _DECIMALS}}


def _pattern(said: dict[str, Any]) -> Pattern:
    return Pattern(**{**said, **{name: Decimal(said[name]) for name in _DECIMALS}})


def _workload(said: dict[str, Any]) -> Workload:
    kinds = {tuple(session): _session(*session) for session in said["sessions"]}
    sessions = tuple(kinds[tuple(session)] for session in said["sessions"])
    return Workload(
        said["gpus"], sessions, said["stopped_s"], Decimal(said["storage_gb"]), Decimal(said["storage_hours"]),
        Decimal(said["egress_gb"]), Decimal(said["busy_fraction"]),
        None if said.get("span_hours") is None else Decimal(said["span_hours"]),
    )  # fmt: skip


def _session(seconds: int, start: str | None, ready: bool) -> Session:
    return Session(seconds, datetime.fromisoformat(start) if start else None, ready)


def offer_facts_of(facts: DealFacts, gpus_asked: int | None = None) -> OfferFacts:
    """What the red flags look at: stored terms, price and promises; what nobody stated stays None."""
    terms, price, row = facts.terms, facts.price, facts.row
    words = {claim.term: claim.note for claim in facts.claims.values() if claim.note}
    return OfferFacts(
        terms=facts.promised, words=words, currency=row.price_currency,
        price_gpu_hour=None if row.price_gpu_hour is None else Decimal(row.price_gpu_hour),
        price_mode=PriceMode(price.mode) if price and price.mode in set(PriceMode) else None,
        on_demand_gpu_hour=terms.amount("billing.on_demand_gpu_hour"), gpus_asked=gpus_asked, gpus_per_node=row.gpu_count,
        whole_node_only=terms.yes_no("billing.whole_node_only"), min_gpus=terms.whole("billing.min_gpus"),
        granularity_s=terms.whole("billing.granularity_s"), min_billed_s=terms.whole("billing.min_billed_s"),
        stopped_rate=terms.amount("billing.stopped_rate"), bill_provisioning=terms.yes_no("billing.bill_provisioning"),
        bill_outage=terms.yes_no("billing.bill_outage"), tax_included=price.tax_included if price else None,
        auto_renew=terms.yes_no("billing.auto_renew"), renew_charge_lead_days=terms.whole("billing.renew_charge_lead_days"),
        replace_s=terms.whole("sla.replace_s"), valid_until=last_day(facts), day=facts.day,
        quoted=row.price_amount is not None,
    )  # fmt: skip


def reference_in(connection: sqlite3.Connection, catalogue: Catalogue) -> Reference:
    """What offers are held against: the products and the public prices that were imported."""
    return Reference(catalogue.gpus, reference.list_market(connection))


def flags_in(facts: DealFacts, held_against: Reference, gpus_asked: int | None = None) -> tuple[FlagFinding, ...]:
    """The red flags of an offer: raised before open, serious before notable."""
    return flags_of(offer_facts_of(facts, gpus_asked), held_against)


@dataclass(frozen=True, slots=True)
class Serving:
    """An offer that has the cards of a plan. `enough` None: it does not say how many it has."""

    row: DealRow
    choice: Choice
    enough: bool | None


def offers_serving(rows: Iterable[DealRow], choices: Iterable[Choice], catalogue: Catalogue) -> tuple[Serving, ...]:
    """The offers whose promised model is one of the plan's choices, in the order of the choices, then by price.

    A family ("H100") serves a choice when every product that it may mean is one: else it is left out.
    """
    by_id = {choice.gpu.id: choice for choice in choices}
    place = {id_: n for n, id_ in enumerate(by_id)}
    products: dict[str, frozenset[str]] = {}
    found: list[Serving] = []
    for row in rows:
        if row.gpu_model is None:
            continue
        if row.gpu_model not in products:
            products[row.gpu_model] = _product_ids(row.gpu_model, catalogue)
        meant = products[row.gpu_model]
        if meant and meant <= by_id.keys():
            choice = max((by_id[id_] for id_ in meant), key=lambda c: c.gpu_count)
            found.append(Serving(row, choice, _enough(row, choice)))
    return tuple(sorted(found, key=lambda s: (place[s.choice.gpu.id], _price(s.row), s.row.deal)))


def _product_ids(word: str, catalogue: Catalogue) -> frozenset[str]:
    return frozenset(product.id for product in Reference(catalogue.gpus).products(word))


def _enough(row: DealRow, choice: Choice) -> bool | None:
    if row.gpu_count is None:
        return None
    return row.gpu_count * (row.node_count or 1) >= choice.gpu_count if row.node_count or row.gpu_count >= choice.gpu_count else None


def _price(row: DealRow) -> Decimal:
    return Decimal("Infinity") if row.price_gpu_hour is None else Decimal(row.price_gpu_hour)
