"""How do all offers look as one table that a spreadsheet, and our own import, can read?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.commercial import Field, FieldKind, HolderOf, Subject, Terms
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.term import Term, TermKind
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.as_xlsx import TableCell
from gpulease_gui.services.importing_price import UNIT_LABELS
from gpulease_gui.store import claims, deals, prices, suppliers, term_versions
from gpulease_gui.store.claims import Holder

if TYPE_CHECKING:
    from datetime import date

    from gpulease_gui.store.doors import Reader

_HEAD = (
    Text("Supplier", "供应商"), Text("Quote no.", "报价单号"), Text("Title", "名称"), Text("Price", "单价"), Text("Currency", "币种"),
    Text("Price per", "计价单位"), Text("Tax included", "含税"), Text("Tax rate", "税率"), Text("Valid until", "报价有效期"), Text("Note", "备注"),
)  # fmt: skip
_UNITS = {str(unit): label for unit, label in UNIT_LABELS.items()}


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows."""

    head: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True, slots=True)
class _Said:
    first: tuple[TableCell, ...]
    promised: dict[str, Claim]
    terms: Terms


def offers_table(connection: Reader, catalogue: Catalogue, language: Language, day: date) -> Table:
    """One row an offer; a column for each promise and commercial term that any of them states. Prices are those of `day`."""
    names = {s.id: s.name for s in suppliers.list_suppliers(connection)}
    found: list[_Said] = []
    for offer in suppliers.list_offers(connection):
        subject = Subject(HolderOf.OFFER, offer.id)
        price = prices.price_on(prices.list_prices(connection, deals.deal_number(connection, subject)), day)
        promised = {c.term: c for c in claims.list_claims(connection, Holder.offer(offer.id)) if c.value is not None}
        first = (
            names.get(offer.supplier_id, ""), offer.quote_no, offer.title, offer.price.amount if offer.price else None,
            offer.price.currency if offer.price else None, _UNITS[offer.price_unit].say(language) if offer.price and offer.price_unit in _UNITS else None,
            *_tax(price, language), offer.valid_until, offer.note or None,
        )  # fmt: skip
        found.append(_Said(first, promised, term_versions.get_terms(connection, subject)))
    terms = [term for term in catalogue.terms.values() if any(term.key in said.promised for said in found)]
    fields = [f for f in catalogue.fields.values() if f.kind is not FieldKind.ROWS and any(said.terms.value(f.key) is not None for said in found)]
    head = (*(words.say(language) for words in _HEAD), *(_term_head(term, language) for term in terms), *(_field_head(f, language) for f in fields))
    rows = tuple((*said.first, *(_promise(said, term, language) for term in terms), *(_field(said, f, language) for f in fields)) for said in found)
    return Table(head, rows)


def _tax(price: Price | None, language: Language) -> tuple[TableCell, TableCell]:
    if price is None:
        return None, None
    included = None if price.tax_included is None else _yes_no(price.tax_included, language)
    return included, None if price.tax_rate is None else f"{(price.tax_rate * 100).normalize():f}%"


def _term_head(term: Term, language: Language) -> str:
    unit = term.unit.split(" ")[0].rstrip(",") if term.kind is TermKind.NUMBER else ""
    return f"{term.label.say(language)} ({unit})" if unit else term.label.say(language)


def _field_head(field: Field, language: Language) -> str:
    unit = {FieldKind.SECONDS: "s", FieldKind.RATE: "%"}.get(field.kind, field.unit)
    return f"{field.label.say(language)} ({unit})" if unit else field.label.say(language)


def _promise(said: _Said, term: Term, language: Language) -> TableCell:
    claim = said.promised.get(term.key)
    value = None if claim is None else claim.value
    return _yes_no(value, language) if isinstance(value, bool) else value


def _field(said: _Said, field: Field, language: Language) -> TableCell:
    value = said.terms.value(field.key)
    if isinstance(value, tuple):
        return None
    if isinstance(value, bool):
        return _yes_no(value, language)
    if field.kind is FieldKind.RATE and isinstance(value, Decimal):
        return f"{(value * 100).normalize():f}%"
    choice = field.choice(value) if isinstance(value, str) else None
    return choice.label.say(language) if choice else value


def _yes_no(value: bool, language: Language) -> str:
    return Text("yes", "是").say(language) if value else Text("no", "否").say(language)
