"""Where can a few letters lead: any record with a name, runs, files, terms, checks, checklist items, pages, commands?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.finding import VERDICT_WORDS
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.store import attachments, nodes, reference, runs, suppliers
from gpulease_gui.store.deal_list import DealColumns, deal_columns, supplier_lines

if TYPE_CHECKING:
    import sqlite3

MOST = 60
HERE, OWNER = "here", "owner"  # the offer or contract in sight, and its supplier
_LATEST = 300
_PART = {"site": "sites"}


class PlaceKind(StrEnum):
    """What a place is, in the order in which equally good ones are listed."""

    PAGE = "page"
    COMMAND = "command"
    NODE = "node"
    CONTRACT = "contract"
    SUPPLIER = "supplier"
    OFFER = "offer"
    SITE = "site"
    WORKLOAD = "workload"
    RUN = "run"
    FILE = "file"
    CHECK = "check"
    TERM = "term"
    ITEM = "item"


KIND_WORDS = {
    PlaceKind.PAGE: Text("page", "页面"), PlaceKind.COMMAND: Text("command", "命令"), PlaceKind.NODE: Text("node", "节点"),
    PlaceKind.CONTRACT: Text("contract", "合同"), PlaceKind.SUPPLIER: Text("supplier", "供应商"), PlaceKind.OFFER: Text("offer", "报价"),
    PlaceKind.CHECK: Text("check", "检查项"), PlaceKind.ITEM: Text("checklist item", "清单项"), PlaceKind.SITE: Text("site", "机房"),
    PlaceKind.WORKLOAD: Text("workload", "负载"), PlaceKind.RUN: Text("run", "验收"), PlaceKind.FILE: Text("file", "附件"),
    PlaceKind.TERM: Text("term", "条款"),
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


class _Part(Protocol):
    """Places that can be numbered, made or not."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> Place: ...


@dataclass(frozen=True, slots=True)
class Places:
    """All places, part by part, with the words that they are found by, in lower case."""

    parts: tuple[_Part, ...] = ()
    hay: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.hay)

    def at(self, place: int) -> Place:
        """One of them."""
        for part in self.parts:
            if place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError(place)

    def find(self, words: str, most: int = MOST) -> list[Place]:
        """At most `most` of the places that hold every one of `words`; those that begin with them come first."""
        return self.look(words, most)[0]

    def look(self, words: str, most: int = MOST) -> tuple[list[Place], int]:
        """What `find` gives, and how many places hold the words in all."""
        wanted, hay = words.casefold().split(), self.hay
        found: Sequence[int] = range(len(hay))
        for word in wanted:
            found = [n for n in found if word in hay[n]]
        first = [n for n in found if hay[n].startswith(wanted[0])][:most] if wanted else []
        taken = set(first)
        rest = islice((n for n in found if n not in taken), most - len(first))
        return [self.at(n) for n in (*first, *rest)], len(found)


class _Deals:
    """Offers or contracts; a place is made when it is listed."""

    def __init__(self, kind: PlaceKind, columns: DealColumns, sellers: Mapping[str, str]) -> None:
        self._kind, self._columns = kind, columns
        self._notes = [f"{number} · {sellers[owner]}" for number, owner in zip(columns.number, columns.supplier_id, strict=True)]

    def __len__(self) -> int:
        return len(self._notes)

    def __getitem__(self, place: int) -> Place:
        columns = self._columns
        return Place(self._kind, columns.name[place], self._notes[place], "suppliers", (columns.kind[place], columns.id[place]))

    def words(self) -> list[str]:
        """What each is found by."""
        return [f"{name} {note}" for name, note in zip(self._columns.name, self._notes, strict=True)]


def places_of(known: Sequence[Place]) -> Places:
    """The places with their words; all are folded at once."""
    return Places((tuple(known),), _folded(_words_of(known)))


def _words_of(known: Iterable[Place]) -> list[str]:
    return [f"{_all(place.title)} {_all(place.note)} {place.narrow}" for place in known]


def _folded(lines: Sequence[str]) -> tuple[str, ...]:
    together = "\n".join(lines)
    if together.count("\n") >= len(lines):
        together = "\n".join(line.replace("\n", " ") for line in lines)
    return tuple(together.casefold().split("\n")) if lines else ()


def _all(words: Text | str) -> str:
    return words if isinstance(words, str) else f"{words.en} {words.zh}"


def places_in(connection: sqlite3.Connection, catalogue: Catalogue, more: Sequence[Place] = ()) -> Places:
    """Everything that the workspace and this version know, after `more` (pages and commands of the window)."""
    with collector_paused():
        signed, offered = deal_columns(connection, HolderOf.CONTRACT), deal_columns(connection, HolderOf.OFFER)
        sellers = supplier_lines(connection, {*signed.supplier_id, *offered.supplier_id})
        names = {supplier.id: supplier.name for supplier in sellers}
        node_names = nodes.list_nodes(connection)
        nodes_there = [Place(PlaceKind.NODE, node.name, str(node.address or ""), "nodes", (node.id,)) for node in node_names]
        by_name = tuple([Place(PlaceKind.SUPPLIER, one.name, one.country, "suppliers", ("supplier", one.id)) for one in sellers])
        contracts = _Deals(PlaceKind.CONTRACT, signed, names)
        offers = _Deals(PlaceKind.OFFER, offered, names)
        last = (*_beside(connection, {node.id: node.name for node in node_names}, names), *_of_version(catalogue))
        parts: tuple[tuple[Place, ...] | _Deals, ...] = ((*more, *nodes_there), contracts, by_name, offers, last)
        words = [part.words() if isinstance(part, _Deals) else _words_of(part) for part in parts]
        return Places(parts, _folded([line for part in words for line in part]))


def _of_version(catalogue: Catalogue) -> Iterable[Place]:
    """What the workspace does not change."""
    yield from [Place(PlaceKind.CHECK, rule.check.title, foreign(id_), "verification", (), id_) for id_, rule in rules().items()]
    yield from _terms(catalogue)
    yield from [Place(PlaceKind.ITEM, item.text, foreign(id_), "checklist", (), id_) for id_, item in catalogue.checklist.items()]


def _beside(connection: sqlite3.Connection, node_names: Mapping[str, str], sellers: Mapping[str, str]) -> Iterable[Place]:
    """Sites, workloads, the latest runs and files."""
    for site in suppliers.list_sites(connection):
        yield Place(PlaceKind.SITE, site.name, f"{site.city} {site.country} · {sellers.get(site.supplier_id, '')}", "suppliers", ("supplier", site.supplier_id, "sites"))
    for workload in reference.list_workloads(connection):
        yield Place(PlaceKind.WORKLOAD, workload.name, "", "workloads", (workload.id,))
    for run in runs.list_runs(connection)[:_LATEST]:
        verdict = VERDICT_WORDS[run.overall] if run.overall is not None else Text("not finished", "未完成")
        at = f"{run.started_at.astimezone():%Y-%m-%d %H:%M}"
        yield Place(PlaceKind.RUN, f"{node_names.get(run.node_id, run.node_id)} · {at}", verdict, "verification", (run.node_id, "", run.id))
    for file in attachments.list_names(connection, _LATEST):
        yield Place(PlaceKind.FILE, file.name, f"{file.at.astimezone():%Y-%m-%d %H:%M}", "suppliers", (file.holder_kind, file.holder_id, "files"))


def _terms(catalogue: Catalogue) -> Iterable[Place]:
    """Technical and commercial terms: they lead to the record in sight, narrowed to that term."""
    for key, term in catalogue.terms.items():
        yield Place(PlaceKind.TERM, term.label, foreign(key), "suppliers", (HERE, "", "terms"), key)
    for key, field in catalogue.fields.items():
        where = (HERE, "", "fields") if HolderOf.OFFER in field.holders or HolderOf.CONTRACT in field.holders else (OWNER, "", _PART.get(field.group, "about"))
        yield Place(PlaceKind.TERM, field.label, foreign(key), "suppliers", where, key)
