"""Which rules did all nodes break lately, and what did it come to today? Runs on a worker thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.tile_spec import Broken
from gpulease_gui.services.degraded import degraded_in, idle_s
from gpulease_gui.store.ahead import newest_end
from gpulease_gui.store.nodes import list_nodes
from gpulease_gui.store.watch_events import WatchEvent, list_events

if TYPE_CHECKING:
    import sqlite3

_NS = 1_000_000_000
_IDLE = "watch.idle"


@dataclass(frozen=True, slots=True)
class Watched:
    """Broken rules by node, and of `since_s` to now: degraded card-hours, what they cost by currency, idle card-hours.

    `unpriced`: card-hours that have no price. `seen`: whether any node was read in that time.
    """

    broken: Mapping[str, tuple[Broken, ...]]
    since_s: float
    card_hours: Fraction = Fraction(0)
    money: tuple[Money, ...] = ()
    unpriced: Fraction = Fraction(0)
    idle_card_hours: float = 0.0
    seen: bool = False


def broken_of(event: WatchEvent) -> Broken:
    """An episode as tiles and lists show it."""
    end_s = None if event.ended_ns is None else event.ended_ns / _NS
    return Broken(event.rule, event.subject, event.began_ns / _NS, end_s, event.degraded, event.finding.term or "")


def read_watched(connection: sqlite3.Connection, since_s: float, now_s: float) -> Watched:
    """Read it from the earlier of `since_s` and half an hour ago on (UTC seconds)."""
    nodes = list_nodes(connection)
    begin_ns, end_ns = int(min(since_s, now_s - 1800.0) * _NS), int((now_s + 60.0) * _NS)
    broken = {node.id: tuple(broken_of(one) for one in list_events(connection, node.id, begin_ns, end_ns)) for node in nodes}
    idle = sum(_idle_s(connection, node, broken[node.id], since_s, now_s) for node in nodes)
    hours, money, unpriced = _sums(connection, [node for node in nodes if broken[node.id]], since_s, now_s)
    seen = any(newest_end(connection, node.id, int(now_s * _NS)) > since_s * _NS for node in nodes)
    return Watched(broken, since_s, hours, money, unpriced, idle / 3600, seen)


def _idle_s(connection: sqlite3.Connection, node: Node, broken: Sequence[Broken], since_s: float, now_s: float) -> float:
    """Idle card-seconds of one node from `since_s` to now."""
    spans = [(one.subject, max(since_s, one.start_s), min(now_s, one.end_s or now_s)) for one in broken if one.rule == _IDLE]
    spans = [one for one in spans if one[2] > one[1]]
    return idle_s(connection, node, spans) if spans else 0.0


def card_hours_text(hours: float) -> Text:
    """So many hours of one card each."""
    figure = "< 0.01" if hours < 0.01 else f"{hours:.2f}" if hours < 1 else f"{hours:.1f}"
    return Text(f"{figure} card-hours", f"{figure} 卡时")


def _sums(
    connection: sqlite3.Connection, nodes: Sequence[Node], since_s: float, now_s: float
) -> tuple[Fraction, tuple[Money, ...], Fraction]:
    """Money of one currency is added up, of several it is not."""
    total, unpriced, amounts = Fraction(0), Fraction(0), dict[str, Decimal]()
    for node in nodes:
        one = degraded_in(connection, node, since_s, now_s)
        total += one.card_hours
        if one.money is None:
            unpriced += one.card_hours
        else:
            amounts[one.money.currency] = amounts.get(one.money.currency, Decimal(0)) + one.money.amount
    return total, tuple(Money(amount, currency) for currency, amount in sorted(amounts.items())), unpriced
