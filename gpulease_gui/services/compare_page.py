"""What does the compare page show beside the matrix: what can be chosen, the head figures, who leads and who is beaten?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.catalog.scenarios import Scenario, load_scenarios
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.economics.ranking import Front
from gpulease_gui.economics.scoring import Status
from gpulease_gui.services.commerce import contracts_in, offers_in
from gpulease_gui.services.commerce_compare import CompareBy, comparison_in
from gpulease_gui.services.commerce_cost import SavedWorkload, workloads_in
from gpulease_gui.services.compare_table import stability_text
from gpulease_gui.services.comparison import CellState, Comparison
from gpulease_gui.store.deals import DealRow, deal_ids, deal_rows
from gpulease_gui.store.reference import list_rates

if TYPE_CHECKING:
    import sqlite3

EVERY_USE = Text("Every use", "不限场景")


@dataclass(frozen=True, slots=True)
class HeadFigures:
    """What the top of a column draws. Money in the currency, unit and period of the comparison; None = can't be told.

    `quoted` is the headline price, `effective` what its use costs with the workload. `top` and `cheapest` mark
    the best of those that may be taken (rejected ones are never the best). `assumed` is how many unstated terms the figure
    rests on: then it is the least that it can be, and cheapest only if it stays so.
    """

    quoted: Decimal | None
    effective: Decimal | None
    hidden_pct: Decimal | None
    top: bool = False
    cheapest: bool = False
    assumed: int = 0


@dataclass(frozen=True, slots=True)
class CompareLook:
    """A comparison with all that is drawn around it; `titles` (cards, number) and `figures` one a column.

    `differing` are the keys of the rows that differ.
    """

    comparison: Comparison
    titles: tuple[Text, ...]
    figures: tuple[HeadFigures, ...]
    front: Front
    differing: frozenset[str]
    stability: Text


def look_in(
    connection: sqlite3.Connection, subjects: Sequence[Subject], catalogue: Catalogue, day: date, by: CompareBy | None = None
) -> CompareLook:
    """Compare and count everything that the page draws; for a worker. Raises UsageError as `comparison_in` does."""
    return look_of(comparison_in(connection, subjects, catalogue, day, by), catalogue.gpus)


def look_of(comparison: Comparison, gpus: GpuCatalogue) -> CompareLook:
    """The look of a comparison that was read or whose columns were moved."""
    differing = frozenset(row.key for row in comparison.rows if row.differs)
    titles = tuple(deal_words(head.row, gpus) for head in comparison.heads)
    return CompareLook(comparison, titles, figures_of(comparison), comparison.front, differing, stability_text(comparison))


def figures_of(comparison: Comparison) -> tuple[HeadFigures, ...]:
    """The figures of the heads, with the best marked."""
    quoted, effective = _numbers(comparison, "price.gpu_hour"), _numbers(comparison, "price.effective")
    hidden = _numbers(comparison, "price.hidden")
    may = [head.score.score.status is not Status.REJECTED for head in comparison.heads]
    scores = [head.score.score.score_low if ok else None for head, ok in zip(comparison.heads, may, strict=True)]
    costs = [(e if e is not None else q) if ok else None for e, q, ok in zip(effective, quoted, may, strict=True)]
    best_score = max((s for s in scores if s is not None), default=None) if _differ(scores) else None
    best_cost = min((c for c in costs if c is not None), default=None) if _differ(costs) else None
    return tuple(
        HeadFigures(q, e, h, s is not None and s == best_score, c is not None and c == best_cost, n)
        for q, e, h, s, c, n in zip(quoted, effective, hidden, scores, costs, _assumed(comparison), strict=True)
    )


def _assumed(comparison: Comparison) -> list[int]:
    price = comparison.row("price.gpu_hour")
    quoted = [len(cell.assumed) for cell in price.cells] if price is not None else [0] * len(comparison.heads)
    return [len(head.cost.rests_on) if head.cost is not None else n for head, n in zip(comparison.heads, quoted, strict=True)]


def _numbers(comparison: Comparison, key: str) -> list[Decimal | None]:
    row = comparison.row(key)
    if row is None:
        return [None] * len(comparison.heads)
    return [cell.number if cell.state is CellState.STATED else None for cell in row.cells]


def _differ(values: Sequence[Decimal | None]) -> bool:
    return len({value for value in values if value is not None}) > 1


def deal_words(row: DealRow, gpus: GpuCatalogue) -> Text:
    """What is offered, in one line: cards by the name of the catalogue where it is one of it, number."""
    product = gpus.models.get(row.gpu_model or "")
    model = product.name if product is not None else row.gpu_model or ""
    count = f"{row.gpu_count} × " if row.gpu_count and model else ""
    said = [part for part in (count + model, row.number) if part]
    contract = Text("contract ", "合同 ") if row.kind is HolderOf.CONTRACT else NO_TEXT
    return Text(contract.en + " · ".join(said), contract.zh + " · ".join(said))


# -- what can be chosen ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choices:
    """What the pickers over the matrix offer."""

    scenarios: tuple[Scenario, ...]
    workloads: tuple[SavedWorkload, ...]
    rates: tuple[FxRate, ...]


def choices_in(connection: sqlite3.Connection) -> Choices:
    """The uses, the saved workloads and the rates of exchange."""
    return Choices(tuple(load_scenarios().scenarios.values()), workloads_in(connection), list_rates(connection))


@dataclass(frozen=True, slots=True)
class PickId:
    """An offer or contract that may be ticked, by its number in this file."""

    kind: HolderOf
    deal: int


def pickable_in(connection: sqlite3.Connection, words: str = "") -> tuple[PickId, ...]:
    """Offers, then contracts; with `words` only those whose supplier, number, title or model hold all of them."""
    wanted = words.casefold().split()
    if not wanted:
        return tuple(PickId(kind, deal) for kind in (HolderOf.OFFER, HolderOf.CONTRACT) for deal in deal_ids(connection, kind))
    rows = (*offers_in(connection), *contracts_in(connection))
    return tuple(PickId(row.kind, row.deal) for row in rows if all(word in _hay(row) for word in wanted))


def _hay(row: DealRow) -> str:
    return f"{row.supplier} {row.number} {row.title} {row.gpu_model or ''}".casefold()


@dataclass(frozen=True, slots=True)
class PickLine:
    """An offer or contract with what is offered in one line."""

    row: DealRow
    words: Text


def picked_lines(connection: sqlite3.Connection, picks: Sequence[PickId], gpus: GpuCatalogue) -> tuple[PickLine, ...]:
    """The lines of some of them, in no order."""
    kinds = (HolderOf.OFFER, HolderOf.CONTRACT)
    rows = (row for kind in kinds for row in deal_rows(connection, kind, [p.deal for p in picks if p.kind is kind]))
    return tuple(PickLine(row, deal_words(row, gpus)) for row in rows)


def first_offers(connection: sqlite3.Connection, most: int) -> tuple[Subject, ...]:
    """One offer of each supplier in the order in which they came, the last in another currency if there is one.

    It is what the demo shows before anything was chosen.
    """
    seen: dict[str, DealRow] = {}
    for row in offers_in(connection):
        seen.setdefault(row.supplier_id, row)
    rows = list(seen.values())
    first = rows[:most]
    other = next((row for row in rows[most:] if row.price_currency != first[0].price_currency), None)
    if other is not None and len({row.price_currency for row in first}) == 1:
        first[-1] = other
    return tuple(row.subject for row in first)
