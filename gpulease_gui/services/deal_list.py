"""Which suppliers are there with which offers and contracts, in which order, and which of them hold some words?"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import repeat
from operator import contains
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.services.acceptance import acceptance_in
from gpulease_gui.store import suppliers
from gpulease_gui.store.deal_list import DealLine, deal_lines, nodes_per_contract

if TYPE_CHECKING:
    import sqlite3

BY_SUPPLIER, BY_PRICE, BY_MODEL, BY_END = "supplier", "price", "model", "end"
ALL, OFFERS, CONTRACTS, ENDING, NO_PRICE = "all", "offers", "contracts", "ending", "no_price"
SOON = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class DealList:
    """Suppliers by name; `lines` are their deals, those of one supplier together, offers before contracts.

    `owner` and `hay` stand beside `lines`: the place of its supplier, and its own words, which are searched beside those
    of its supplier (`supplier_hay`). `nodes` and `verdicts` of contracts (a contract without verdict was never verified).
    """

    suppliers: tuple[Supplier, ...] = ()
    lines: tuple[DealLine, ...] = ()
    owner: tuple[int, ...] = ()
    hay: tuple[str, ...] = ()
    supplier_hay: tuple[str, ...] = ()
    nodes: Mapping[str, int] | None = None
    verdicts: Mapping[str, Verdict] | None = None
    day: date = date.min

    def keeps(self, chip: str) -> Callable[[DealLine], bool] | None:
        """Which lines a chip leaves; None = all."""
        first, last = self.day.isoformat(), (self.day + SOON).isoformat() if self.day > date.min else ""
        return {
            OFFERS: lambda line: line.kind == "offer", CONTRACTS: lambda line: line.kind == "contract",
            ENDING: lambda line: first <= line.until <= last, NO_PRICE: lambda line: not line.price,
        }.get(chip)  # fmt: skip

    def counts(self) -> dict[str, int]:
        """How many lines each chip leaves."""
        contracts = [line.kind for line in self.lines].count("contract")
        ending = self.keeps(ENDING)
        return {
            ALL: len(self.lines), OFFERS: len(self.lines) - contracts, CONTRACTS: contracts,
            ENDING: sum(map(ending, self.lines)) if ending is not None else 0, NO_PRICE: [line.price for line in self.lines].count(""),
        }  # fmt: skip

    def sorted_by(self, order: str) -> list[int]:
        """The places of all lines in an order; what lacks the figure comes last."""
        lines = self.lines
        if order == BY_PRICE:
            prices = [line.gpu_hour if line.gpu_hour is not None else float("inf") for line in lines]
            return sorted(range(len(lines)), key=prices.__getitem__)
        if order in (BY_MODEL, BY_END):
            words = [(line.model if order == BY_MODEL else line.until) or "\uffff" for line in lines]
            return sorted(range(len(lines)), key=words.__getitem__)
        return list(range(len(lines)))

    def holding(self, order: Sequence[int], words: str, chip: str = ALL) -> list[int]:
        """Those of `order` that hold every one of `words` and that a chip leaves."""
        keep, lines, hay, owner = self.keeps(chip), self.lines, self.hay, self.owner
        found = list(order) if keep is None else [n for n in order if keep(lines[n])]
        for word in words.casefold().split():
            named = {s for s, name in enumerate(self.supplier_hay) if word in name}
            if 8 * len(found) > len(hay):
                # All of them as they lie in memory: in another order, each one would be fetched from far away.
                holds = bytes(map(contains, hay, repeat(word)))
                found = [n for n in found if holds[n] or owner[n] in named] if named else [n for n in found if holds[n]]
            else:
                found = [n for n in found if word in hay[n] or owner[n] in named]
        return found

    def grouped(self, places: Sequence[int], words: str, *, empty_suppliers: bool) -> list[int]:
        """`places` with -1 - s before those of supplier s; suppliers without deals that hold `words` come too."""
        under: dict[int, list[int]] = {}
        for place in places:
            under.setdefault(self.owner[place], []).append(place)
        wanted = words.casefold().split()
        shown: list[int] = []
        for s, hay in enumerate(self.supplier_hay):
            mine = under.get(s)
            if mine is not None:
                shown.append(-1 - s)
                shown += mine
            elif empty_suppliers and all(word in hay for word in wanted):
                shown.append(-1 - s)
        return shown


def deal_list_in(connection: sqlite3.Connection, day: date) -> DealList:
    """The whole list. At 20,000 offers a tenth of a second."""
    with _no_collecting():
        return _deal_list_in(connection, day)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Twenty thousand new tuples make the collector look at everything several times, which doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _deal_list_in(connection: sqlite3.Connection, day: date) -> DealList:
    known = suppliers.list_suppliers(connection)
    offers, contracts = deal_lines(connection, HolderOf.OFFER), deal_lines(connection, HolderOf.CONTRACT)
    signed = {line.signed: line.number for line in contracts if line.signed}
    if signed:
        offers = [line._replace(signed=signed[line.id]) if line.id in signed else line for line in offers]
    mine: dict[str, list[DealLine]] = {supplier.id: [] for supplier in known}
    for line in (*offers, *contracts):
        mine[line.supplier_id].append(line)
    lines = [line for supplier in known for line in mine[supplier.id]]
    owner = [s for s, supplier in enumerate(known) for _ in mine[supplier.id]]
    names = _folded([f"{supplier.name} {supplier.country}" for supplier in known])
    hay = tuple(_folded([f"{line.name} {line.number} {line.model}" for line in lines]))
    nodes = nodes_per_contract(connection)
    return DealList(known, tuple(lines), tuple(owner), hay, tuple(names), nodes, _verdicts_in(connection, nodes), day)


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
