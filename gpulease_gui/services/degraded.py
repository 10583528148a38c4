"""For how many card-hours was a node less than what is paid for, and what did they cost?

Of the contract counts: from which day to which it runs, in its time zone; the price of each day; and how many cards it pays for
on each of them (`paid_cards`), be they modules or chips. So many are degraded where the whole node is, seen or not, and never more at one time. Where it does not say how many, or there
is none, those count that were there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.checks.watch_rules import NODE, degraded_s
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.services.cards_of_day import cards_before, cards_ever, cards_on
from gpulease_gui.services.commerce import DealFacts, deal_in
from gpulease_gui.services.contract_day import Days, days_of
from gpulease_gui.services.paid_cards import (
    BY_CHIP,
    Counts,
    Seen,
    by_chip,
    change_words,
    correction_words,
    count_on,
    misfit_words,
    paid_as,
    stated_counts,
    written_counts,
)
from gpulease_gui.services.price_of_day import hour_price, validity
from gpulease_gui.store.away import away_times, list_away
from gpulease_gui.store.deals import get_deal
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.imported import imported_events
from gpulease_gui.store.node_moves import Move, contracts_of_runs, list_moves
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.store.watch_ends import lasts_until
from gpulease_gui.store.watch_events import WatchEvent, list_events

_NS = 1_000_000_000
# An older program named the node's lines as if they were cards.
_WHOLE = frozenset({NODE, "net", "disk"})
# Beside the cards that an event of the whole node names; of one that names none NODE stands alone.
_ALL = "*"
NO_CONTRACT = Text("the node has no contract, so its hours have no price", "节点没有合同，时长无法计价")
NO_PRICE = Text("the contract states no price for that day, so hours only", "合同未写明当日价格，只计时长")
NO_TERM = Text("the hours lie outside the time of the contract, so they have no price", "时长不在合同期内，无法计价")
TODAYS = Text(
    "priced by today's contract, though a run was held against another one: when the node moved is not known",
    "按现在的合同计价，但有验收对应另一份合同：节点何时更换合同未知",
)
OTHERS = Text("some of it was measured by another computer (imported)", "部分时长由另一台电脑实测（导入）")
SEVERAL = Text("prices in several currencies are not added up", "多种币种的价格不相加")

_Span = tuple[str, float, float]
# A day and the contract of that time.
_Part = tuple[date, str | None]


@dataclass(frozen=True, slots=True)
class Degraded:
    """Card-hours of seen degraded time, exact. `money` None: `no_money` says why.

    `assumed`: what the price leaves open, which of the hours have none, and whose days they are.
    """

    card_hours: Fraction
    money: Money | None = None
    no_money: Text | None = None
    assumed: tuple[Text, ...] = ()


def degraded_in(connection: Reader, node: Node, start_s: float, end_s: float) -> Degraded:
    """What of start <= time < end (UTC seconds) was degraded, at the price of the day on which each part lies.

    What lies before the node went to another contract is priced by the one that it had then.
    """
    spans = _spans(connection, node.id, start_s, end_s)
    cards, deals = _Cards(connection, node.id, spans), _Deals(connection)
    moves = list_moves(connection, node.id)
    by_part: dict[_Part, Fraction] = {}
    for held, first_s, last_s in _held(node, moves):
        part = _within(spans, first_s, last_s)
        days = deals.days(held)
        for day in sorted({day for _, begin_s, end_s in part for day in days.between(begin_s, end_s)}):
            hours = _hours_on(days.bounds_s(day), part, cards, deals.on(day, held))
            by_part[day, held] = by_part.get((day, held), Fraction(0)) + hours
    total = sum(by_part.values(), Fraction(0))
    if not any(held is not None for _, held in by_part):
        return Degraded(total, no_money=NO_CONTRACT if total else None)
    paid = {part: hours for part, hours in by_part.items() if deals.on(*part) is not None}
    if not paid:
        return Degraded(total, no_money=NO_TERM)
    priced = _priced(deals, paid, total, cards)
    if priced.money is None:
        return priced
    free, held_hours = _hours_of(by_part, None), sum(paid.values(), Fraction(0))
    outside = total - free - held_hours
    more = [_unpaid(outside, "outside the time of the contract", "不在合同期内")] if outside else []
    more += [_unpaid(free, "while the node had no contract", "节点当时没有合同")] if free else []
    more += [TODAYS] if _unsure(connection, node, moves) else []
    more += [OTHERS] if _has_others(connection, node.id, start_s, end_s) else []
    more += dict.fromkeys(deals.days(held).words for _, held in paid)
    more += dict.fromkeys(_cards_words(deals, cards, [part for part, hours in paid.items() if hours]))
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
    return [one for one in made if one[2] > one[1]]


def _has_others(connection: Reader, node_id: str, start_s: float, end_s: float) -> bool:
    """Whether any of the degraded time came in a file."""
    ends_ns = int(start_s * _NS), int(end_s * _NS)
    events = list_events(connection, node_id, *ends_ns) if imported_events(connection, node_id, *ends_ns) else ()
    return any(one.degraded and one.imported is not None for one in events)


def _held(node: Node, moves: Sequence[Move]) -> list[tuple[str | None, float, float]]:
    """(contract, from, to) in UTC seconds; None = none."""
    edges = [-math.inf, *(move.at_s for move in moves), math.inf]
    return list(zip([*(move.before for move in moves), node.contract_id], edges, edges[1:], strict=False))


def _within(spans: Sequence[_Span], first_s: float, last_s: float) -> list[_Span]:
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
    """An event of the whole node names the cards that it had then; an older program did not note them."""
    if event.subject not in _WHOLE:
        return (event.subject,)
    named = tuple(one.id for one in event.finding.subjects if one.id not in _WHOLE)
    return (*named, _ALL) if named else (NODE,)


def _cards_words(deals: _Deals, cards: _Cards, parts: Sequence[_Part]) -> Iterable[Text]:
    """What was taken for a card of the contract, where that goes without saying for none."""
    for held in dict.fromkeys(held for _, held in parts):
        days = [day for day, of in parts if of == held]
        yield from change_words(deals.counts(held), days)
        yield from correction_words(deals.counts(held), deals.written(held), days)
    for day, held in parts:
        stated, day_s = _cards_of_contract(deals.on(day, held)), deals.days(held).bounds_s(day)
        chips = cards.by_chip(stated, day_s)
        if chips is not False:
            yield BY_CHIP if chips else misfit_words(stated, cards.ever)


def idle_s(connection: Reader, node: Node, spans: Sequence[_Span]) -> float:
    """Card-seconds of (card, begin, end) in which nothing worked: two cards that do nothing for an hour are two hours, one of which
    two programs tell is one. What of it was degraded is counted as that, and not here.
    """
    degraded = _spans(connection, node.id, min(one[1] for one in spans), max(one[2] for one in spans)) if spans else []
    cards, deals, total_s = _Cards(connection, node.id, ()), _Deals(connection), 0.0
    for held, first_s, last_s in _held(node, list_moves(connection, node.id)):
        part, days = _within(spans, first_s, last_s), deals.days(held)
        for day in sorted({day for _, begin_s, end_s in part for day in days.between(begin_s, end_s)}):
            day_s = days.bounds_s(day)
            chips = cards.by_chip(_cards_of_contract(deals.on(day, held)), day_s)
            total_s += degraded_s(_without(_within(part, *day_s), _within(degraded, *day_s), paid_as(chips)), 1, of=paid_as(chips))
    return total_s


def _without(spans: Sequence[_Span], degraded: Sequence[_Span], of: Callable[[str], str]) -> list[_Span]:
    """The parts of spans in which their card (`of`) was not degraded."""
    left = list(spans)
    for lost, first_s, last_s in degraded:
        whole = lost in _WHOLE or lost == _ALL
        left = [
            (card, begin_s, end_s) for card, since_s, until_s in left
            for begin_s, end_s in ([(since_s, min(until_s, first_s)), (max(since_s, last_s), until_s)] if whole or of(lost) == of(card) else [(since_s, until_s)])
            if end_s > begin_s
        ]  # fmt: skip
    return left


class _Deals:
    """What is stored of the contracts of a node, by day, each looked up once."""

    def __init__(self, connection: Reader) -> None:
        self._connection = connection
        self._days: dict[str | None, Days] = {}
        self._facts: dict[_Part, DealFacts | None] = {}
        self._contracts: dict[str | None, Contract | None] = {}
        self._counts: dict[str | None, Counts] = {}

    def days(self, held: str | None) -> Days:
        if held not in self._days:
            self._days[held] = days_of(self._connection, held if self._contract(held) else None)
        return self._days[held]

    def on(self, day: date, held: str | None) -> DealFacts | None:
        """None on a day on which the contract does not run, or without one."""
        if (day, held) not in self._facts:
            self._facts[day, held] = self._look_up(day, held)
        return self._facts[day, held]

    def _look_up(self, day: date, held: str | None) -> DealFacts | None:
        one = self._contract(held)
        if one is None:
            return None
        runs = (one.start is None or one.start <= day) and (one.end is None or day <= one.end)
        if not runs:
            return None
        facts = deal_in(self._connection, Subject(HolderOf.CONTRACT, one.id), day)
        return replace(facts, row=replace(facts.row, gpu_count=count_on(self.counts(held), day)))

    def counts(self, held: str | None) -> Counts:
        """How many cards it pays for from which day on."""
        if held not in self._counts:
            one = self._contract(held)
            now = None if one is None else get_deal(self._connection, Subject(HolderOf.CONTRACT, one.id)).gpu_count
            self._counts[held] = ((date.min, None),) if one is None else stated_counts(self._connection, one.id, now)
        return self._counts[held]

    def written(self, held: str | None) -> Counts:
        """Which figure stood in it from which day on."""
        one = self._contract(held)
        return ((date.min, None),) if one is None else written_counts(self._connection, one.id, self.days(held))

    def _contract(self, held: str | None) -> Contract | None:
        """None = there is none here: a move that came with a merged workspace may name one that did not."""
        if held not in self._contracts:
            try:
                self._contracts[held] = None if held is None else get_contract(self._connection, held)
            except UsageError:
                self._contracts[held] = None
        return self._contracts[held]


class _Cards:
    """How many cards the node had on a day. Of a day of which nothing is known it had those of before, else all that were ever seen."""

    def __init__(self, connection: Reader, node_id: str, spans: Sequence[_Span]) -> None:
        self._connection, self._node_id = connection, node_id
        self._missed = [one for one in spans if one[0] not in _WHOLE and one[0] != _ALL]
        self._away = away_times(connection, node_id)
        self._known: dict[float, Seen] = {}
        self._ever: Seen | None = None

    def on(self, day_s: tuple[float, float]) -> Seen:
        """0 = none was ever seen. `day_s`: begin and end (UTC seconds)."""
        if day_s[0] not in self._known:
            found = cards_on(self._connection, self._node_id, day_s, self._missed)
            found = found if found.modules else cards_before(self._connection, self._node_id, day_s[0])
            self._known[day_s[0]] = found if found.modules else self.ever
        return self._known[day_s[0]]

    @property
    def ever(self) -> Seen:
        """All that were ever seen."""
        self._ever = self._ever or cards_ever(self._connection, self._node_id)
        return self._ever

    def by_chip(self, stated: int | None, day_s: tuple[float, float]) -> bool | None:
        """Whether so many cards of a contract are so many chips on a day, not modules; None = they are neither."""
        several = stated is not None and self.ever.chips != self.ever.modules
        return several and by_chip(stated, (self.on(day_s), self.ever))

    def away_edges(self, day_s: tuple[float, float]) -> list[float]:
        """The begin and the end of a day, and when in it a card was taken away or came back."""
        edges = {at_s for _, since_s, until_s in self._away for at_s in (since_s, until_s) if day_s[0] < at_s < day_s[1]}
        return sorted({*day_s, *edges})

    def away_at(self, at_s: float, of: Callable[[str], str]) -> int:
        """How many are away by agreement."""
        return len({of(card) for card, since_s, until_s in self._away if since_s <= at_s < until_s})


def _hours_on(day_s: tuple[float, float], spans: list[_Span], cards: _Cards, facts: DealFacts | None) -> Fraction:
    """Card-hours of a day, of which `facts` are those of the contract that runs on it."""
    stated, total_s, edges = _cards_of_contract(facts), 0.0, cards.away_edges(day_s)
    of = paid_as(cards.by_chip(stated, day_s) if spans else False)
    for first_s, last_s in zip(edges, edges[1:], strict=False):
        cut = _within(spans, first_s, last_s)
        if stated is not None:
            cut = [(NODE if subject == _ALL else subject, begin_s, end_s) for subject, begin_s, end_s in cut]
            total_s += degraded_s(cut, max(0, stated - cards.away_at(first_s, of)), stated, of)
            continue
        cut = [one for one in cut if one[0] != _ALL]
        seen = any(subject == NODE for subject, _, _ in cut) or _shares_a_node(facts)
        count = cards.on(day_s).modules if seen else 0
        total_s += degraded_s(cut, count or 1, (count or 8) if _shares_a_node(facts) else math.inf)
    # Readings have milliseconds; beyond them a float of a time since 1970 says nothing.
    return Fraction(round(1000 * total_s), 3_600_000)


def _cards_of_contract(facts: DealFacts | None) -> int | None:
    return None if facts is None else facts.row.gpu_count or None


def _shares_a_node(facts: DealFacts | None) -> bool:
    """Whether the price of a node is shared by as many cards as were seen, because the contract does not say how many it has."""
    return facts is not None and facts.row.gpu_count is None and facts.price is not None and facts.price.unit.startswith("node")


def _priced(deals: _Deals, paid: Mapping[_Part, Fraction], total: Fraction, cards: _Cards) -> Degraded:
    amount, currencies, assumed = Fraction(0), set[str](), list[Text]()
    for (day, held), hours in paid.items():
        facts = deals.on(day, held)
        seen = cards.on(deals.days(held).bounds_s(day)).modules or None if _shares_a_node(facts) else None
        price = None if facts is None else hour_price(facts, seen=seen)
        if facts is None or price is None or facts.price is None:
            return Degraded(total, no_money=NO_PRICE)
        amount += hours * price.exact
        currencies.add(facts.price.money.currency)
        assumed += [one for one in (*price.assumed, validity(facts)) if one is not None and one not in assumed]
    if len(currencies) != 1:
        return Degraded(total, no_money=SEVERAL)
    rounded: Decimal = half_up(amount, 2)
    return Degraded(total, Money(rounded, currencies.pop()), None, tuple(assumed))
