"""What do the chosen offers cost for a workload, in which order, and where does the order of quoted prices turn round?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import Contract, FxRate
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.economics.billing_terms import Alignment, BillingTerms
from gpulease_gui.economics.cost import exact_cost
from gpulease_gui.economics.price import per_gpu_hour
from gpulease_gui.economics.rounding import CENTS, half_up
from gpulease_gui.economics.workload import Workload
from gpulease_gui.services.commerce import DealFacts, deal_in, offers_in
from gpulease_gui.services.commerce_cost import DealCost, SavedWorkload, cost_of, workloads_in
from gpulease_gui.store import suppliers
from gpulease_gui.store.deals import DealRow
from gpulease_gui.store.reference import list_rates, rate_between

if TYPE_CHECKING:
    import sqlite3

MOST_OFFERS = 12
_LAST = Decimal("Infinity")


@dataclass(frozen=True, slots=True)
class SignedContract:
    """A contract that was signed from an offer, with what is stored of it."""

    contract: Contract
    facts: DealFacts


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that is read once: then workloads are turned without the store.

    `rows` are all offers, `offers` those that are priced, `signed` the contracts by offer id.
    """

    workloads: tuple[SavedWorkload, ...]
    rows: tuple[DealRow, ...]
    offers: tuple[DealFacts, ...]
    signed: Mapping[str, tuple[SignedContract, ...]]
    rates: tuple[FxRate, ...]
    day: date


@dataclass(frozen=True, slots=True)
class Sieve:
    """Which offers are priced: the named ones, else those whose words hold all of `words`; the cheapest quotes first."""

    wanted: tuple[str, ...] = ()
    words: str = ""
    currency: str = "CNY"


def desk_in(connection: sqlite3.Connection, day: date, sieve: Sieve) -> Desk:
    """Read the workloads and the offers that `sieve` keeps, at most twelve."""
    rows, rates = offers_in(connection), list_rates(connection)
    kept = _kept(rows, rates, sieve)
    facts = tuple(deal_in(connection, row.subject, day) for row in kept)
    ids = {row.id for row in kept}
    signed: dict[str, tuple[SignedContract, ...]] = {}
    for contract in suppliers.list_contracts(connection):
        if contract.offer_id in ids:
            found = SignedContract(contract, deal_in(connection, Subject(HolderOf.CONTRACT, contract.id), day))
            signed[contract.offer_id] = (*signed.get(contract.offer_id, ()), found)
    return Desk(workloads_in(connection), rows, facts, signed, rates, day)


def _kept(rows: Sequence[DealRow], rates: Sequence[FxRate], sieve: Sieve) -> list[DealRow]:
    if sieve.wanted:
        return [row for row in rows if row.id in sieve.wanted][:MOST_OFFERS]
    wanted = sieve.words.casefold().split()
    found = [row for row in rows if all(word in _hay(row) for word in wanted)]
    into = {code: rate_between(rates, code, sieve.currency) for code in {row.price_currency for row in found} if code}
    return sorted(found, key=lambda row: (_quoted(row, into), row.deal))[:MOST_OFFERS]


def _hay(row: DealRow) -> str:
    return f"{row.title} {row.number} {row.supplier} {row.gpu_model or ''}".casefold()


def _quoted(row: DealRow, into: Mapping[str, FxRate | None]) -> Decimal:
    rate = into.get(row.price_currency or "")
    return _LAST if row.price_gpu_hour is None or rate is None else half_up(Fraction(row.price_gpu_hour) * rate.paid, 12)


def offer_name(row: DealRow) -> str:
    """How an offer is called in a line: its number, or its title."""
    return visible(row.number or row.title or row.id)


@dataclass(frozen=True, slots=True)
class PricedOffer:
    """An offer priced for the workload, money in the currency of the desk; None: no price, or no rate to convert with.

    `by_price` and `by_cost` are its places in the two orders, from 1. `trouble` says why it can't be priced.
    """

    facts: DealFacts
    found: DealCost | None = None
    headline: Decimal | None = None
    effective: Decimal | None = None
    total: Decimal | None = None
    by_price: int | None = None
    by_cost: int | None = None
    trouble: str = ""

    @property
    def name(self) -> str:
        """Its name in a line."""
        return offer_name(self.facts.row)

    @property
    def turned(self) -> bool:
        """Whether the terms moved it away from the place of its quoted price."""
        return self.by_price is not None and self.by_cost is not None and self.by_price != self.by_cost


@dataclass(frozen=True, slots=True)
class Ask:
    """What is priced, and how it is compared."""

    workload: Workload
    currency: str = "CNY"
    tax_recoverable: bool = True


def price_offers(offers: Iterable[DealFacts], ask: Ask, rates: Sequence[FxRate]) -> tuple[PricedOffer, ...]:
    """Every offer priced, the cheapest for the workload first; those without figures last."""
    priced = [_priced(facts, ask, rates) for facts in offers]
    by_price, by_cost = _places(priced, "headline"), _places(priced, "total")
    placed = [
        replace(offer, by_price=by_price.get(offer.facts.row.id), by_cost=by_cost.get(offer.facts.row.id)) for offer in priced
    ]
    return tuple(sorted(placed, key=lambda offer: (offer.by_cost or len(placed) + 1, offer.facts.row.deal)))


def _places(priced: Sequence[PricedOffer], figure: str) -> dict[str, int]:
    """Places from 1; equal figures share a place."""
    known = {offer.facts.row.id: value for offer in priced if (value := getattr(offer, figure)) is not None}
    values = sorted(known.values())
    return {id_: values.index(value) + 1 for id_, value in known.items()}


def _priced(facts: DealFacts, ask: Ask, rates: Sequence[FxRate]) -> PricedOffer:
    try:
        found = cost_of(facts, ask.workload, currency=ask.currency, rates=rates, tax_recoverable=ask.tax_recoverable)
    except UsageError as wrong:
        return PricedOffer(facts, trouble="; ".join(part for part in (wrong.what, wrong.why) if part))
    factor = _factor(found, ask.currency)
    if factor is None:
        return PricedOffer(facts, found, trouble=f"no rate from {found.cost.currency} to {ask.currency}")
    useful = ask.workload.ready_gpu_hours * Fraction(ask.workload.busy_fraction)
    exact = found.cost.exact_comparison * factor
    return PricedOffer(
        facts, found, half_up(per_gpu_hour(found.billing.terms) * factor, 4), half_up(exact / useful, 4) if useful else None,
        half_up(exact, CENTS),
    )  # fmt: skip


def _factor(found: DealCost, currency: str) -> Fraction | None:
    if found.cost.currency == currency:
        return Fraction(1)
    return found.rate.paid if found.rate is not None else None


@dataclass(frozen=True, slots=True)
class Turned:
    """How the order of quoted prices and that of costs differ: names, cheapest first."""

    by_price: tuple[str, ...]
    by_cost: tuple[str, ...]

    @property
    def leader_changes(self) -> bool:
        """Whether another offer leads once all is counted."""
        return self.by_price[:1] != self.by_cost[:1]


def turned(offers: Sequence[PricedOffer]) -> Turned:
    """The two orders of the offers that have both figures."""
    known = [offer for offer in offers if offer.by_price is not None and offer.by_cost is not None]
    quoted = sorted(known, key=lambda offer: (offer.by_price or 0, offer.by_cost or 0))
    return Turned(tuple(offer.name for offer in quoted), tuple(offer.name for offer in known))


@dataclass(frozen=True, slots=True)
class Saving:
    """A rule of the contract, and what it adds to the cost of this workload, in the contract's currency."""

    rule: Text
    amount: Decimal


def what_rules_cost(terms: BillingTerms, workload: Workload) -> tuple[Saving, ...]:
    """Each rule alone taken away: what it adds here, dearest first. Rules that cost nothing here are left out."""
    whole = exact_cost(terms, workload)
    tried = [(rule, whole - exact_cost(other, workload)) for rule, other in _without(terms)]
    found = [Saving(rule, half_up(more, CENTS)) for rule, more in tried if more > 0]
    return tuple(sorted(found, key=lambda saving: -saving.amount))


def _without(terms: BillingTerms) -> Iterable[tuple[Text, BillingTerms]]:
    if terms.min_billed_s:
        yield Text("the minimum term", "最短租期"), replace(terms, min_billed_s=0)
    if terms.granularity_s > 1:
        free = replace(terms, granularity_s=1, alignment=Alignment.ROLLING)
        yield Text("rounding up to the billing step", "按计费粒度向上取整"), free
    if terms.whole_node_only or terms.gpu_increment > 1 or terms.min_gpus > 1:
        single = replace(terms, whole_node_only=False, gpu_increment=1, min_gpus=1)
        yield Text("GPUs that are charged but not asked for", "多计费的 GPU"), single
    if terms.stopped_rate:
        yield Text("the charge while stopped", "关机计费"), replace(terms, stopped_rate=Decimal(0))
    if terms.fees:
        yield Text("fees", "一次性费用"), replace(terms, fees=())
    if terms.storage:
        yield Text("storage", "存储"), replace(terms, storage=None)
    if terms.egress:
        yield Text("outgoing traffic", "出流量"), replace(terms, egress=None)
