"""How do several offers stand beside each other, in one currency, unit and period?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.catalog.fields import GROUPS
from gpulease_gui.catalog.scenarios import Scenario
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import Field, FieldKind, FieldValue, HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.term import Term, TermKind
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.economics.workload import Workload
from gpulease_gui.reports.wording import value_text
from gpulease_gui.services.checklist_templates import Template, template_in
from gpulease_gui.services.checklist_view import OUTCOME_WORDS, ChecklistView, Outcome, checklist_of
from gpulease_gui.services.claims_view import GROUP_ORDER, Found, found_in, group_of, short_unit
from gpulease_gui.services.commerce import DealFacts, deal_in
from gpulease_gui.services.commerce_cost import DealCost, cost_of, flags_in, offer_facts_of, reference_in
from gpulease_gui.services.commerce_score import score_of, stability_of, weights_in
from gpulease_gui.services.commercial_words import field_figure, field_text
from gpulease_gui.services.compare_price import Quoting, aligned, money_cell, price_rows
from gpulease_gui.services.comparison import (
    Cell,
    CellState,
    CompareGroup,
    CompareHead,
    CompareRow,
    Comparison,
    flagged,
    marked,
)
from gpulease_gui.services.market_view import market_place
from gpulease_gui.services.price_of_day import on_the_day
from gpulease_gui.services.price_period import PricePer
from gpulease_gui.store import claims, reference, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.reference import rate_between

if TYPE_CHECKING:
    import sqlite3

_PRICE = CompareGroup("price", Text("Price", "价格"))
_FIRST = ("price", "billing", "commitment")


@dataclass(frozen=True, slots=True)
class CompareBy:
    """What a comparison is made for. `currency` None: the first offer's, or one that all convert to; `scenario` None: every use alike."""

    scenario: Scenario | None = None
    workload: Workload | None = None
    currency: str | None = None
    tax_recoverable: bool = True
    per: PricePer = PricePer.GPU_HOUR


@dataclass(frozen=True, slots=True)
class _Side:
    """One offer with all that its column needs; a contract that was made of it lends what its runs found."""

    facts: DealFacts
    view: ChecklistView
    claims: Mapping[str, Claim]
    found: Mapping[str, Found]


def comparison_in(
    connection: sqlite3.Connection, subjects: Sequence[Subject], catalogue: Catalogue, day: date, by: CompareBy | None = None
) -> Comparison:
    """The matrix of the offers (or contracts) as of `day`. Raises UsageError for an unknown one, or for none."""
    by = by or CompareBy()
    if not subjects:
        raise UsageError(Text("there is nothing to compare", "没有可比较的对象"), next_step=Text("choose two or more offers", "请选择两个或更多报价"))
    sides = [_side(connection, subject, catalogue, day, by) for subject in subjects]
    rates = reference.list_rates(connection)
    currency = by.currency or _currency_of(sides, rates)
    heads = _heads(connection, sides, catalogue, by, rates, currency)
    used = {s.facts.row.price_currency: rate_between(rates, s.facts.row.price_currency, currency) for s in sides if s.facts.row.price_currency}
    rows = (*price_rows([side.facts for side in sides], heads, used, Quoting(currency, by.per, by.tax_recoverable, by.workload)), *_field_rows(sides, catalogue, currency, used), *_term_rows(sides, catalogue), *_item_rows(sides))
    stability = stability_of((head.name, head.score) for head in heads)
    return Comparison(
        heads, _groups(rows, catalogue), tuple(flagged(marked(row), heads) for row in rows), currency,
        tuple(rate for code, rate in used.items() if rate is not None and code != currency),
        tuple(code for code, rate in used.items() if rate is None), None if stability is None or len(stability.base.tied) > 1 else stability.stable, stability, by.per,
    )  # fmt: skip


def _currency_of(sides: Iterable[_Side], rates: tuple[FxRate, ...]) -> str:
    """The first currency that every price can be converted to, those of the offers first; without one the first offer's."""
    own = tuple(dict.fromkeys(s.facts.row.price_currency for s in sides if s.facts.row.price_currency))
    known = dict.fromkeys((*own, *(code for rate in rates for code in (rate.to_currency, rate.from_currency))))
    fitting = (code for code in known if all(rate_between(rates, one, code) is not None for one in own))
    return next(fitting, own[0] if own else "CNY") if own else "CNY"


def _side(connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue, day: date, by: CompareBy) -> _Side:
    facts = on_the_day(deal_in(connection, subject, day))
    template = template_in(connection, facts.row.template_id) if facts.row.template_id else Template("", "")
    view = checklist_of(facts, template, catalogue, by.scenario.id if by.scenario else "")
    signed = _signed(connection, facts)
    if signed is None:
        return _Side(facts, view, facts.claims, {})
    theirs = {claim.term: claim for claim in claims.list_claims(connection, Holder.contract(signed))}
    return _Side(facts, view, {**facts.claims, **theirs}, found_in(connection, signed, catalogue))


def _signed(connection: sqlite3.Connection, facts: DealFacts) -> str | None:
    """The contract whose runs speak of this deal."""
    if facts.in_contract:
        return facts.row.id
    made = [c.id for c in suppliers.list_contracts(connection, facts.supplier.id) if c.offer_id == facts.row.id]
    return made[-1] if made else None


def _heads(
    connection: sqlite3.Connection, sides: Iterable[_Side], catalogue: Catalogue, by: CompareBy, rates: tuple[FxRate, ...], currency: str
) -> tuple[CompareHead, ...]:
    weights, held_against = weights_in(connection, by.scenario), reference_in(connection, catalogue)
    gpus = by.workload.gpus if by.workload else None
    found: list[CompareHead] = []
    for side in sides:
        cost, trouble = _cost(side.facts, by, rates, currency)
        flags = flags_in(side.facts, held_against, gpus)
        market = market_place(offer_facts_of(side.facts, gpus), held_against)
        found.append(CompareHead(side.facts.row, score_of(side.view, weights), flags, cost, trouble, market))
    return tuple(found)


def _cost(facts: DealFacts, by: CompareBy, rates: tuple[FxRate, ...], currency: str) -> tuple[DealCost | None, str]:
    if by.workload is None:
        return None, ""
    try:
        return cost_of(facts, by.workload, currency=currency, rates=rates, tax_recoverable=by.tax_recoverable), ""
    except UsageError as trouble:
        return None, str(trouble)


# -- commercial terms, promises, checklist -----------------------------------------------------------------------------------


def _field_rows(
    sides: Sequence[_Side], catalogue: Catalogue, currency: str, rates: Mapping[str, FxRate | None]
) -> Iterable[CompareRow]:
    for field in catalogue.fields.values():
        if HolderOf.SITE in field.holders:
            continue
        cells = aligned(_field_cell(side.facts, field, currency, rates) for side in sides)
        yield CompareRow(field.key, field.group, field.label, cells, field.better)


def _field_cell(facts: DealFacts, field: Field, currency: str, rates: Mapping[str, FxRate | None]) -> Cell:
    value = facts.commercial(field.key).value(field.key)
    if value is None:
        return Cell()
    own = facts.row.price_currency or ""
    if field.kind is FieldKind.MONEY and isinstance(value, Decimal) and own:
        return money_cell(Money(value, own), rates, currency)
    figure, unit = field_figure(field, value)
    return Cell(field_text(field, value, own), CellState.STATED, _number(value), figure=figure, unit=unit)


def _number(value: FieldValue) -> Decimal | None:
    return Decimal(value) if isinstance(value, bool | int | Decimal) else None


def _term_rows(sides: Sequence[_Side], catalogue: Catalogue) -> Iterable[CompareRow]:
    place = {key: n for n, key in enumerate(GROUP_ORDER)}
    for term in sorted(catalogue.terms.values(), key=lambda term: place.get(group_of(term).key, len(place))):
        cells = tuple(_term_cell(term, side.claims.get(term.key), side.found.get(term.key), catalogue) for side in sides)
        yield CompareRow(term.key, f"terms.{group_of(term).key}", term.label, cells, {"more": "more", "less": "less"}.get(term.better or "", ""))


def _term_cell(term: Term, claim: Claim | None, found: Found | None, catalogue: Catalogue) -> Cell:
    """The promise, how far it is proven, and what a run found beside it."""
    if claim is None or claim.value is None:
        return Cell()
    value = claim.value
    number = Decimal(str(float(value))) if isinstance(value, int | float) else None
    finding = found.finding if found is not None else None
    shown = finding is not None and finding.measured is not None and finding.verdict in (Verdict.PASS, Verdict.WARN, Verdict.FAIL)
    measured = value_text(finding.measured) if finding is not None and shown else NO_TEXT
    state = claim.state if claim.state is not ClaimState.NOT_ASKED else ClaimState.ANSWERED
    product = catalogue.gpus.models.get(str(value)) if term.kind is TermKind.GPU_MODEL else None
    said, unit = foreign(product.name) if product is not None else value_text(value), short_unit(term)
    text = Text(f"{said.en} {unit.en}".rstrip(), f"{said.zh} {unit.zh}".rstrip())
    figure = number if not isinstance(value, bool) else None
    return Cell(text, CellState.STATED, number, claim=state, measured=measured, figure=figure, unit=unit if figure is not None else NO_TEXT)


_CELLS = {Outcome.UNKNOWN: CellState.NOT_STATED, Outcome.NOT_APPLICABLE: CellState.NOT_APPLICABLE}
_WORTH = {Outcome.PASS: Decimal(2), Outcome.PARTLY: Decimal(1), Outcome.FAIL: Decimal(0)}


def _item_rows(sides: Sequence[_Side]) -> Iterable[CompareRow]:
    lines = [{row.item.id: row for row in side.view.rows} for side in sides]
    items = {id_: row.item for line in lines for id_, row in line.items()}
    for item in items.values():
        cells = []
        for line in lines:
            outcome = line[item.id].outcome if item.id in line else Outcome.NOT_APPLICABLE
            cells.append(Cell(OUTCOME_WORDS[outcome], _CELLS.get(outcome, CellState.STATED), _WORTH.get(outcome)))
        yield CompareRow(item.id, f"checklist.{item.dimension}", item.text, tuple(cells), "more")


def _groups(rows: Iterable[CompareRow], catalogue: Catalogue) -> tuple[CompareGroup, ...]:
    titles = {"price": _PRICE.title, **GROUPS, **{f"checklist.{d}": _checklist(title) for d, title in DIMENSIONS.items()}}
    for term in catalogue.terms.values():
        titles[f"terms.{group_of(term).key}"] = group_of(term).title
    keys = sorted(dict.fromkeys(row.group for row in rows), key=_place)
    return tuple(CompareGroup(key, titles.get(key, foreign(key))) for key in keys)


def _place(group: str) -> int:
    """Price and billing, then what was promised of the machine, then the other papers, then the checklist."""
    if group in _FIRST:
        return 0
    return {"terms": 1, "checklist": 3}.get(group.partition(".")[0], 2)


def _checklist(title: Text) -> Text:
    return Text(f"Checklist: {title.en}", f"清单：{title.zh}")
