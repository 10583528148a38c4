"""For how many card-hours was a node less than what is paid for, and what did they cost?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from gpulease_gui.services.cards_of_day import cards_on
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.price_of_day import HourPrice, hour_price
from gpulease_gui.store.away import list_away
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.node_moves import Move, contracts_of_runs, list_moves
from gpulease_gui.store.samples import list_series
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.store.watch_ends import lasts_until
from gpulease_gui.store.watch_events import WatchEvent, list_events

_NS = 1_000_000_000
# An older program named the node's lines as if they were cards.
_WHOLE = frozenset({NODE, "net", "disk"})
NO_CONTRACT = Text("the node has no contract, so its hours have no price", "节点没有合同，时长无法计价")
NO_PRICE = Text("the contract states no price for that day, so hours only", "合同未写明当日价格，只计时长")
NO_TERM = Text("the hours lie outside the time of the contract, so they have no price", "时长不在合同期内，无法计价")
TODAYS = Text(
    "priced by today's contract, though a run was held against another one: when the node moved is not known",
    "按现在的合同计价，但有验收对应另一份合同：节点何时更换合同未知",
)
SEVERAL = Text("prices in several currencies are not added up", "多种币种的价格不相加")

_Span = tuple[str, float, float]
# A day and the contract of that time.
_Part = tuple[date, str | None]


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
    """What of start <= time < end (UTC seconds) was degraded, at the price of the day on which each part lies (UTC).

    What lies before the node went to another contract is priced by the one that it had then.
    """
    spans = _spans(connection, node.id, start_s, end_s)
    cards = _Cards(connection, node.id, spans)
    moves = list_moves(connection, node.id)
    by_part: dict[_Part, Fraction] = {}
    for held, first_s, last_s in _held(node, moves):
        part = _within(spans, first_s, last_s)
        for day in _days(part):
            by_part[day, held] = by_part.get((day, held), Fraction(0)) + _hours_on(day, part, cards)
    total = sum(by_part.values(), Fraction(0))
    contracts = {held: get_contract(connection, held) for _, held in by_part if held is not None}
    if not contracts:
        return Degraded(total, no_money=NO_CONTRACT if total else None)
    paid: dict[_Part, Fraction] = {
        (day, held): hours for (day, held), hours in by_part.items()
        if held is not None and ((one := contracts[held]).start is None or one.start <= day) and (one.end is None or day <= one.end)
    }  # fmt: skip
    if not paid:
        return Degraded(total, no_money=NO_TERM)
    priced = _priced(connection, paid, total, cards)
    if priced.money is None:
        return priced
    free, held_hours = _hours_of(by_part, None), sum(paid.values(), Fraction(0))
    outside = total - free - held_hours
    more = [_unpaid(outside, "outside the time of the contract", "不在合同期内")] if outside else []
    more += [_unpaid(free, "while the node had no contract", "节点当时没有合同")] if free else []
    more += [TODAYS] if _unsure(connection, node, moves) else []
    return replace(priced, assumed=(*priced.assumed, *more))


def _spans(connection: Reader, node_id: str, start_s: float, end_s: float) -> list[_Span]:
    """(card, begin, end) of what was degraded; a card that was taken away by agreement is from then on no part of the node."""
    away = list_away(connection, node_id)
    made = []
    end_ns = int(end_s * _NS)
    for one in list_events(connection, node_id, int(start_s * _NS), end_ns):
        ended_ns = lasts_until(connection, one.id, node_id, one.began_ns, end_ns) if one.ended_ns is None else one.ended_ns
        for subject in _cards_of(one) if one.degraded else ():
            ends = [end_s] if ended_ns == end_ns else [end_s, ended_ns / _NS]
            ends += [gone.at_ns / _NS for gone in away if gone.card == subject and gone.at_ns >= one.began_ns]
            made.append((subject, max(start_s, one.began_ns / _NS), min(ends)))
    return made


def _held(node: Node, moves: Sequence[Move]) -> list[tuple[str | None, float, float]]:
    """(contract, from, to) in UTC seconds; None = none."""
    edges = [-math.inf, *(move.at_s for move in moves), math.inf]
    return list(zip([*(move.before for move in moves), node.contract_id], edges, edges[1:], strict=False))


def _within(spans: list[_Span], first_s: float, last_s: float) -> list[_Span]:
    return [(subject, max(begin, first_s), min(end, last_s)) for subject, begin, end in spans if end > first_s and begin < last_s]


def _unsure(connection: Reader, node: Node, moves: Sequence[Move]) -> bool:
    """Whether a run says that the node was under another contract at a time of which nothing was written down."""
    first_s = moves[0].at_s if moves else math.inf
    known = moves[0].before if moves else node.contract_id
    return any(at_s < first_s and held != known for at_s, held in contracts_of_runs(connection, node.id))


def _hours_of(by_part: Mapping[_Part, Fraction], wanted: str | None) -> Fraction:
    return sum((hours for (_, held), hours in by_part.items() if held == wanted), Fraction(0))


def _unpaid(hours: Fraction, en: str, zh: str) -> Text:
    return Text(f"{float(hours):.2f} of them {en}, not priced", f"其中 {float(hours):.2f} 卡时{zh}，未计价")


def _cards_of(event: WatchEvent) -> tuple[str, ...]:
    """An event of the whole node names the cards that it had then; "" where an older program did not note them."""
    if event.subject not in _WHOLE:
        return (event.subject,)
    return tuple(one.id for one in event.finding.subjects if one.id not in _WHOLE) or (NODE,)


def _days(spans: list[_Span]) -> list[date]:
    days = {day for _, begin, end in spans for day in range(int(begin // 86_400), int(-(-end // 86_400)))}
    return [datetime.fromtimestamp(day * 86_400, UTC).date() for day in sorted(days)]


class _Cards:
    """How many cards the node had on a day; of a day of which nothing is known all that were ever seen count."""

    def __init__(self, connection: Reader, node_id: str, spans: Sequence[_Span]) -> None:
        self._connection, self._node_id = connection, node_id
        self._missed = [one for one in spans if one[0] not in _WHOLE]
        self._known: dict[date, int] = {}

    def on(self, day: date) -> int:
        """0 = none was ever seen."""
        if day not in self._known:
            self._known[day] = cards_on(self._connection, self._node_id, day, self._missed) or self._ever()
        return self._known[day]

    def _ever(self) -> int:
        told = list_series(self._connection, self._node_id)
        return len({one.subject for one in told if one.metric.startswith(("gpu.", "npu."))})


def _hours_on(day: date, spans: list[_Span], cards: _Cards) -> Fraction:
    begin_s = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    cut = [(subject, max(begin, begin_s), min(end, begin_s + 86_400)) for subject, begin, end in spans]
    cut = [one for one in cut if one[2] > one[1]]
    count = cards.on(day) or 1 if any(subject == NODE for subject, _, _ in cut) else 1
    # Readings have milliseconds; beyond them a float of a time since 1970 says nothing.
    return Fraction(round(1000 * degraded_s(cut, count)), 3_600_000)


def _priced(connection: Reader, paid: Mapping[_Part, Fraction], total: Fraction, cards: _Cards) -> Degraded:
    amount, currencies, assumed = Fraction(0), set[str](), list[Text]()
    for (day, held), hours in paid.items():
        facts = deal_in(connection, Subject(HolderOf.CONTRACT, held or ""), day)
        asks = facts.row.gpu_count is None and facts.price is not None and facts.price.unit.startswith("node")
        price: HourPrice | None = hour_price(facts, seen=(cards.on(day) or None) if asks else None)
        if price is None or facts.price is None:
            return Degraded(total, no_money=NO_PRICE)
        amount += hours * Fraction(price.amount)
        currencies.add(facts.price.money.currency)
        assumed += [one for one in price.assumed if one not in assumed]
    if len(currencies) != 1:
        return Degraded(total, no_money=SEVERAL)
    rounded: Decimal = half_up(amount, 2)
    return Degraded(total, Money(rounded, currencies.pop()), None, tuple(assumed))
