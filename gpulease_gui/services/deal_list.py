"""Which suppliers are there with which offers and contracts, in which order, and which of them hold some words?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import repeat
from operator import contains, or_
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.acceptance import acceptance_in
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.store.deal_list import (
    DealColumns,
    DealLine,
    SupplierLine,
    deal_columns,
    nodes_per_contract,
    supplier_lines,
)

if TYPE_CHECKING:
    import sqlite3

BY_SUPPLIER, BY_PRICE, BY_MODEL, BY_END = "supplier", "price", "model", "end"
ALL, OFFERS, CONTRACTS, ENDING, NO_PRICE = "all", "offers", "contracts", "ending", "no_price"
SOON = timedelta(days=7)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class DealList:
    """Suppliers by name, and beside them the columns of all deals: offers, then contracts, in the order in which they came.

    A place is a number into the columns. `nodes` and `verdicts` of contracts (a contract without verdict was never verified).
    What follows from these stands beside them: `owner` is the place of the supplier of each deal, `hay` its own words,
    which are searched beside those of its supplier (`supplier_hay`), `by_supplier` the places in the order of their suppliers,
    `idle` the suppliers without deals.
    """

    suppliers: tuple[SupplierLine, ...] = ()
    deals: DealColumns = DealColumns()
    nodes: Mapping[str, int] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    day: date = date.min
    owner: tuple[int, ...] = field(default=(), compare=False)
    hay: tuple[str, ...] = field(default=(), compare=False)
    supplier_hay: tuple[str, ...] = field(default=(), compare=False)
    by_supplier: tuple[int, ...] = field(default=(), compare=False)
    idle: tuple[int, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        """How many deals there are."""
        return len(self.deals.id)

    def line(self, place: int) -> DealLine:
        """The deal at a place."""
        return self.deals.line(place)

    def supplier(self, place: int) -> SupplierLine:
        """Whose the deal at a place is."""
        return self.suppliers[self.owner[place]]

    def place_of(self, kind: str, id_: str) -> int | None:
        """Where a deal stands; None when it is not there."""
        offers = self.deals.kind.count("offer")
        within = (0, offers) if kind == "offer" else (offers, len(self))
        try:
            return self.deals.id.index(id_, *within)
        except ValueError:
            return None

    def keeps(self, chip: str) -> Callable[[int], bool] | None:
        """Which places a chip leaves; None = all."""
        kind, until, amount = self.deals.kind, self.deals.until, self.deals.amount
        first, last = self._days()
        return {
            OFFERS: lambda place: kind[place] == "offer", CONTRACTS: lambda place: kind[place] == "contract",
            ENDING: lambda place: first <= until[place] <= last, NO_PRICE: lambda place: amount[place] is None,
        }.get(chip)  # fmt: skip

    def _days(self) -> tuple[str, str]:
        return self.day.isoformat(), (self.day + SOON).isoformat() if self.day > date.min else ""

    def counts(self) -> dict[str, int]:
        """How many deals each chip leaves."""
        contracts, (first, last) = self.deals.kind.count("contract"), self._days()
        ending = sum(count for until, count in Counter(self.deals.until).items() if first <= until <= last)
        return {
            ALL: len(self), OFFERS: len(self) - contracts, CONTRACTS: contracts, ENDING: ending,
            NO_PRICE: self.deals.amount.count(None),
        }  # fmt: skip

    def sorted_by(self, order: str) -> Sequence[int]:
        """All places in an order; what lacks the figure comes last, and equal ones by supplier."""
        if order == BY_PRICE:
            return _sorted(self.by_supplier, self.deals.gpu_hour, lambda price: float("inf") if price is None else float(price))
        if order in (BY_MODEL, BY_END):
            return _sorted(self.by_supplier, self.deals.model if order == BY_MODEL else self.deals.until, lambda word: word or "\uffff")
        return self.by_supplier

    def holding(self, order: Sequence[int], words: str, chip: str = ALL) -> list[int]:
        """Those of `order` that hold every one of `words` and that a chip leaves."""
        keep, hay, owner = self.keeps(chip), self.hay, self.owner
        found = list(order if keep is None else filter(keep, order))
        for word in words.casefold().split():
            named = bytes(map(contains, self.supplier_hay, repeat(word)))
            if 8 * len(found) > len(hay):
                # All of them as they lie in memory: in another order, each one would be fetched from far away.
                holds = bytes(map(contains, hay, repeat(word)))
                if any(named):
                    holds = bytes(map(or_, holds, map(named.__getitem__, owner)))
                found = [place for place in found if holds[place]]
            else:
                found = [place for place in found if word in hay[place] or named[owner[place]]]
        return found

    def grouped(self, places: Sequence[int], words: str, *, empty_suppliers: bool) -> list[int]:
        """`places` (by supplier) with -1 - s before those of supplier s; suppliers without deals that hold `words` come too."""
        wanted, owner = words.casefold().split(), self.owner
        empty = [-1 - s for s in self.idle if all(word in self.supplier_hay[s] for word in wanted)] if empty_suppliers else []
        if empty:
            places = sorted([*places, *empty], key=lambda place: owner[place] if place >= 0 else -1 - place)
        shown, last = [], -1
        for place in places:
            s = owner[place] if place >= 0 else -1 - place
            if s != last:
                last = s
                shown.append(-1 - s)
            if place >= 0:
                shown.append(place)
        return shown


def _sorted(places: Iterable[int], column: Sequence[Value], key: Callable[[Value], float | str]) -> list[int]:
    """Only the different values are sorted, which are few: thousands of deals have the same price, model or day."""
    together: defaultdict[Value, list[int]] = defaultdict(list)
    for place in places:
        together[column[place]].append(place)
    return [place for value in sorted(together, key=key) for place in together[value]]


def deal_list_in(connection: sqlite3.Connection, day: date) -> DealList:
    """The whole list. At 20,000 offers a twentieth of a second."""
    with collector_paused():
        offers, contracts = deal_columns(connection, HolderOf.OFFER), deal_columns(connection, HolderOf.CONTRACT)
        signed = dict(zip(contracts.signed, contracts.number, strict=True))
        if any(signed):
            offers = offers._replace(signed=tuple([signed.get(id_, "") for id_ in offers.id]))
        nodes = nodes_per_contract(connection)
        known = supplier_lines(connection, {*offers.supplier_id, *contracts.supplier_id})
        return deal_list_of(known, offers.then(contracts), nodes, _verdicts_in(connection, nodes), day)


def deal_list_of(
    suppliers: Sequence[SupplierLine], deals: DealColumns, nodes: Mapping[str, int], verdicts: Mapping[str, Verdict], day: date
) -> DealList:
    """The list with what follows from its columns."""
    at = {supplier.id: place for place, supplier in enumerate(suppliers)}
    owner = tuple(map(at.__getitem__, deals.supplier_id))
    busy = set(owner)
    hay = _folded([f"{name} {number} {model or ''}" for name, number, model in zip(deals.name, deals.number, deals.model, strict=True)])
    names = _folded([f"{supplier.name} {supplier.country}" for supplier in suppliers])
    idle = tuple([place for place in range(len(suppliers)) if place not in busy])
    by_supplier = tuple(sorted(range(len(owner)), key=owner.__getitem__))
    return DealList(tuple(suppliers), deals, nodes, verdicts, day, owner, tuple(hay), tuple(names), by_supplier, idle)


def _folded(words: Sequence[str]) -> list[str]:
    """All in lower case; one call for all is ten times faster than one each."""
    if not words:
        return []
    together = "\n".join(words)
    if together.count("\n") >= len(words):
        together = "\n".join(word.replace("\n", " ") for word in words)
    return together.casefold().split("\n")


def _verdicts_in(connection: sqlite3.Connection, contracts: Mapping[str, int]) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for contract in contracts:
        acceptance = acceptance_in(connection, contract)
        if any(node.overall is not None for node in acceptance.nodes):
            found[contract] = acceptance.verdict
    return found
