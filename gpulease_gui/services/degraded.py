"""For how many card-hours was a node less than what is paid for, and what did they cost?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.checks.watch_rules import NODE, degraded_s
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.price_of_day import HourPrice, hour_price
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.samples import list_series
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.store.watch_events import WatchEvent, list_events

_NS = 1_000_000_000
# An older program named the node's lines as if they were cards.
_WHOLE = frozenset({NODE, "net", "disk"})
NO_CONTRACT = Text("the node has no contract, so its hours have no price", "节点没有合同，时长无法计价")
NO_PRICE = Text("the contract states no price for that day, so hours only", "合同未写明当日价格，只计时长")
NO_TERM = Text("the hours lie outside the time of the contract, so they have no price", "时长不在合同期内，无法计价")
SEVERAL = Text("prices in several currencies are not added up", "多种币种的价格不相加")


@dataclass(frozen=True, slots=True)
class Degraded:
    """Card-hours of seen degraded time, exact. `money` None: `no_money` says why.

    `assumed`: what the price leaves open, and which of the hours have none.
    """

    card_hours: Fraction
    money: Money | None = None
    no_money: Text | None = None
    assumed: tuple[Text, ...] = ()


def degraded_in(connection: Reader, node: Node, start_s: float, end_s: float) -> Degraded:
    """What of start <= time < end (UTC seconds) was degraded, at the price of the day on which each part lies (UTC)."""
    events = list_events(connection, node.id, int(start_s * _NS), int(end_s * _NS))
    spans = [
        (subject, max(start_s, one.began_ns / _NS), min(end_s, end_s if one.ended_ns is None else one.ended_ns / _NS))
        for one in events if one.degraded for subject in _cards_of(one)
    ]  # fmt: skip
    cards = len({one.subject for one in list_series(connection, node.id) if one.metric.startswith(("gpu.", "npu."))})
    by_day = {day: _hours_on(day, spans, cards or 1) for day in _days(spans)}
    total = sum(by_day.values(), Fraction(0))
    if node.contract_id is None or not total:
        return Degraded(total, no_money=NO_CONTRACT if total else None)
    contract = get_contract(connection, node.contract_id)
    paid = {
        day: hours for day, hours in by_day.items()
        if (contract.start is None or contract.start <= day) and (contract.end is None or day <= contract.end)
    }  # fmt: skip
    if not paid:
        return Degraded(total, no_money=NO_TERM)
    priced = _priced(connection, contract.id, paid, total, cards or None)
    unpaid = float(total - sum(paid.values(), Fraction(0)))
    if priced.money is None or not unpaid:
        return priced
    outside = Text(f"{unpaid:.2f} of them outside the time of the contract, not priced", f"其中 {unpaid:.2f} 卡时不在合同期内，未计价")
    return replace(priced, assumed=(*priced.assumed, outside))


def _cards_of(event: WatchEvent) -> tuple[str, ...]:
    """An event of the whole node names the cards that it had then; "" where an older program did not note them."""
    if event.subject not in _WHOLE:
        return (event.subject,)
    return tuple(one.id for one in event.finding.subjects if one.id not in _WHOLE) or (NODE,)


def _days(spans: list[tuple[str, float, float]]) -> list[date]:
    days = {day for _, begin, end in spans for day in range(int(begin // 86_400), int(-(-end // 86_400)))}
    return [datetime.fromtimestamp(day * 86_400, UTC).date() for day in sorted(days)]


def _hours_on(day: date, spans: list[tuple[str, float, float]], cards: int) -> Fraction:
    begin_s = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    cut = [(subject, max(begin, begin_s), min(end, begin_s + 86_400)) for subject, begin, end in spans]
    # Readings have milliseconds; beyond them a float of a time since 1970 says nothing.
    return Fraction(round(1000 * degraded_s([one for one in cut if one[2] > one[1]], cards)), 3_600_000)


def _priced(connection: Reader, contract_id: str, by_day: dict[date, Fraction], total: Fraction, cards: int | None) -> Degraded:
    amount, currencies, assumed = Fraction(0), set[str](), list[Text]()
    for day, hours in by_day.items():
        facts = deal_in(connection, Subject(HolderOf.CONTRACT, contract_id), day)
        price: HourPrice | None = hour_price(facts, seen=cards)
        if price is None or facts.price is None:
            return Degraded(total, no_money=NO_PRICE)
        amount += hours * Fraction(price.amount)
        currencies.add(facts.price.money.currency)
        assumed += [one for one in price.assumed if one not in assumed]
    if len(currencies) != 1:
        return Degraded(total, no_money=SEVERAL)
    rounded: Decimal = half_up(amount, 2)
    return Degraded(total, Money(rounded, currencies.pop()), None, tuple(assumed))
