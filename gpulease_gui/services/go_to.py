"""Where can a few letters lead: suppliers, offers, contracts, nodes, checks, checklist items, pages, commands?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.store import nodes, suppliers
from gpulease_gui.store.deal_list import deal_lines

if TYPE_CHECKING:
    import sqlite3

MOST = 60


class PlaceKind(StrEnum):
    """What a place is, in the order in which equally good ones are listed."""

    PAGE = "page"
    COMMAND = "command"
    NODE = "node"
    CONTRACT = "contract"
    SUPPLIER = "supplier"
    OFFER = "offer"
    CHECK = "check"
    ITEM = "item"


KIND_WORDS = {
    PlaceKind.PAGE: Text("page", "页面"), PlaceKind.COMMAND: Text("command", "命令"), PlaceKind.NODE: Text("node", "节点"),
    PlaceKind.CONTRACT: Text("contract", "合同"), PlaceKind.SUPPLIER: Text("supplier", "供应商"), PlaceKind.OFFER: Text("offer", "报价"),
    PlaceKind.CHECK: Text("check", "检查项"), PlaceKind.ITEM: Text("checklist item", "清单项"),
}  # fmt: skip


class Place(NamedTuple):
    """Something to go to. A plain tuple: there are as many as offers.

    `path` is what the page is asked to show, `narrow` words that the page is then searched for; a command has its id
    as `page`.
    """

    kind: PlaceKind
    title: Text | str
    note: Text | str
    page: str
    path: tuple[str, ...] = ()
    narrow: str = ""


class Places(NamedTuple):
    """All places with the words that they are found by, in lower case, side by side."""

    known: tuple[Place, ...]
    hay: tuple[str, ...]

    def find(self, words: str, most: int = MOST) -> list[Place]:
        """The places that hold every one of `words`; those that begin with them come first."""
        wanted = words.casefold().split()
        if not wanted:
            return list(self.known[:most])
        hay = self.hay
        found: Iterable[int] = range(len(hay))
        for word in wanted:
            found = [n for n in found if word in hay[n]]
        first = [n for n in found if hay[n].startswith(wanted[0])][:most]
        taken = set(first)
        rest = (n for n in found if n not in taken)
        return [self.known[n] for n in first] + [self.known[n] for _, n in zip(range(most - len(first)), rest, strict=False)]


def places_of(known: Sequence[Place]) -> Places:
    """The places with their words; all are folded at once."""
    lines = [f"{_all(place.title)} {_all(place.note)} {place.narrow}".replace("\n", " ") for place in known]
    return Places(tuple(known), tuple("\n".join(lines).casefold().split("\n")) if lines else ())


def _all(words: Text | str) -> str:
    return words if isinstance(words, str) else f"{words.en} {words.zh}"


def places_in(connection: sqlite3.Connection, catalogue: Catalogue, more: Sequence[Place] = ()) -> Places:
    """Everything that the workspace and this version know, after `more` (pages and commands of the window)."""
    sellers = suppliers.list_suppliers(connection)
    names = {supplier.id: supplier.name for supplier in sellers}
    found: list[Place] = list(more)
    found += [Place(PlaceKind.NODE, node.name, str(node.address or ""), "nodes", (node.id,)) for node in nodes.list_nodes(connection)]
    for kind, of in ((PlaceKind.CONTRACT, HolderOf.CONTRACT), (PlaceKind.SUPPLIER, None), (PlaceKind.OFFER, HolderOf.OFFER)):
        if of is None:
            found += [Place(kind, supplier.name, supplier.country, "suppliers", ("supplier", supplier.id)) for supplier in sellers]
            continue
        found += [
            Place(kind, line.name, f"{line.number} · {names[line.supplier_id]}", "suppliers", (line.kind, line.id))
            for line in deal_lines(connection, of)
        ]
    found += [Place(PlaceKind.CHECK, rule.check.title, foreign(id_), "verification", (), id_) for id_, rule in rules().items()]
    found += [Place(PlaceKind.ITEM, item.text, foreign(id_), "checklist", (), id_) for id_, item in catalogue.checklist.items()]
    return places_of(found)
