"""What does the workloads page show for one turn of its sliders? Counted without the store, so that it keeps up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.what_if import longest_minimum_s
from gpulease_gui.economics.workload_pattern import Pattern, pattern_of
from gpulease_gui.services.break_even import BreakEven, break_even
from gpulease_gui.services.cost_steps import CostStep, ExitToday, exit_today, steps_of
from gpulease_gui.services.workload_desk import (
    Ask,
    Desk,
    PricedOffer,
    Saving,
    Turned,
    price_offers,
    turned,
    what_rules_cost,
)


@dataclass(frozen=True, slots=True)
class OfferDetail:
    """The chosen offer. `more`: what the turned sliders add to its cost, in the currency of the desk; None = not turned."""

    offer: PricedOffer
    steps: tuple[CostStep, ...] = ()
    assumed: tuple[Text, ...] = ()
    savings: tuple[Saving, ...] = ()
    exits: tuple[ExitToday, ...] = ()
    more: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer of the desk. `wins_below_s`: with a minimum term up to this the cheapest quote would still cost least."""

    ask: Ask
    offers: tuple[PricedOffer, ...]
    order: Turned
    detail: OfferDetail | None
    line: BreakEven | None
    wins_below_s: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What is asked: the workload as it stands in the editor, the one of the sliders (None: not turned), the chosen offer."""

    ask: Ask
    what_if: Ask | None = None
    pattern: Pattern | None = None
    chosen: str = ""


def work_out(desk: Desk, turn: Turn) -> Outcome:
    """Price every offer of the desk and count all that is shown of the chosen one, else of the cheapest."""
    ask = turn.what_if or turn.ask
    offers = price_offers(desk.offers, ask, desk.rates)
    chosen = next((o for o in offers if o.facts.row.id == turn.chosen), offers[0] if offers else None)
    detail = _detail(desk, turn, ask, chosen) if chosen is not None else None
    pattern = turn.pattern or pattern_of(ask.workload)
    line = _line(offers, chosen, pattern, ask) if chosen is not None and pattern is not None else None
    return Outcome(ask, offers, turned(offers), detail, line, _wins_below(offers, ask))


def _detail(desk: Desk, turn: Turn, ask: Ask, chosen: PricedOffer) -> OfferDetail:
    found = chosen.found
    signed = desk.signed.get(chosen.facts.row.id, ())
    exits = tuple(e for s in signed if (e := exit_today(s.facts, s.contract.start, desk.day)) is not None)
    if found is None:
        return OfferDetail(chosen, exits=exits)
    more = None
    if turn.what_if is not None and chosen.total is not None:
        (before,) = price_offers([chosen.facts], turn.ask, desk.rates)
        more = None if before.total is None else chosen.total - before.total
    return OfferDetail(
        chosen, steps_of(found, ask.workload), found.assumed, what_rules_cost(found.billing.terms, ask.workload), exits, more
    )


def _line(offers: Sequence[PricedOffer], chosen: PricedOffer, pattern: Pattern, ask: Ask) -> BreakEven | None:
    try:
        return break_even(offers, chosen, replace(pattern, gpus=ask.workload.gpus), ask)
    except UsageError:
        return None  # volume prices that end before the month does have no line


def _wins_below(offers: Sequence[PricedOffer], ask: Ask) -> int | None:
    """Only within one currency: a minimum is a matter of the contract, not of the rate of the day."""
    leader = next((o for o in offers if o.by_price == 1), None)
    first = next((o for o in offers if o.by_cost == 1), None)
    if leader is None or first is None or leader.by_cost == 1 or leader.found is None or first.found is None:
        return None
    terms = leader.found.billing.terms
    if not terms.min_billed_s or leader.found.cost.currency != first.found.cost.currency:
        return None
    return longest_minimum_s(terms, ask.workload, first.found.cost)
