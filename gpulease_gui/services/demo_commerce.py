"""Which terms, rates and workload do the demo's offers come with?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.fields import load_fields, validate_field
from gpulease_gui.catalog.loader import read_toml, resource
from gpulease_gui.domain.commercial import Field, HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.economics.workload import Workload, equal_sessions
from gpulease_gui.services.commerce_cost import SavedWorkload, workload_document
from gpulease_gui.store import deals, prices, reference
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.term_versions import document_of

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class DemoTerms:
    """What the demo's quote with this number says beside its technical promises; prices of the quote are its own."""

    mode: str
    tax_included: bool | None
    tax_rate: Decimal | None
    invoice_kind: str
    terms: Terms


@dataclass(frozen=True, slots=True)
class DemoCommerce:
    """Terms by quote number, rates of exchange, workloads."""

    offers: Mapping[str, DemoTerms]
    rates: tuple[FxRate, ...]
    workloads: tuple[SavedWorkload, ...]


@cache
def load_demo_commerce() -> DemoCommerce:
    """What resources/demo/commerce.toml says. Raises CatalogueFault, UsageError or KeyError for a broken file."""
    tables, fields = read_toml(resource("demo", "commerce.toml")), load_fields()
    return DemoCommerce(
        {table["quote_no"]: _terms(table, fields) for table in tables["offer"]},
        tuple(FxRate(t["from"], t["to"], Decimal(t["rate"]), _day(t["day"]), t["source"]) for t in tables["rate"]),
        tuple(SavedWorkload(t["id"], t["name"], _workload(t)) for t in tables["workload"]),
    )


def _terms(table: Mapping[str, Any], fields: Mapping[str, Field]) -> DemoTerms:
    stated = {key: Stated(validate_field(key, value, fields), source=table["source"]) for key, value in table["terms"].items()}
    rate = table.get("tax_rate")
    return DemoTerms(
        table["mode"], table.get("tax_included"), None if rate is None else Decimal(rate), table.get("invoice_kind", ""), Terms(stated)
    )


def _day(value: object) -> date:
    assert isinstance(value, date)
    return value


def _workload(table: Mapping[str, Any]) -> Workload:
    return replace(
        equal_sessions(table["gpus"], table["sessions"], table["seconds"]), storage_gb=Decimal(table["storage_gb"]),
        storage_hours=Decimal(table["storage_hours"]), egress_gb=Decimal(table["egress_gb"]),
    )  # fmt: skip


def put_terms_of(db: Database, offer_id: str, quote_no: str, by: str, paper: str = "") -> None:
    """Write what the demo says of one offer, before it is signed; no act that could be taken back.

    `paper`: the id of the quote's sheet, which proves what is said to stand on it.
    """
    said = load_demo_commerce().offers.get(quote_no)
    if said is None:
        return
    acting, subject = Recorder(db, by, utc_now()), Subject(HolderOf.OFFER, offer_id)
    deal = deals.enter(db, subject)
    proven = {key: replace(s, evidence=paper) if paper and s.source.startswith(quote_no) else s for key, s in said.terms.stated.items()}
    acting.put("terms", (subject.kind, subject.id), document_of(Terms(proven)))
    for price in prices.list_prices(db.conn, deal):
        written = any(s.source.startswith(quote_no) for s in said.terms.stated.values())
        proof = paper if paper and written else price.evidence
        whole = replace(price, evidence=proof, mode=said.mode, tax_included=said.tax_included, tax_rate=said.tax_rate, invoice_kind=said.invoice_kind)
        acting.put("price", (price.id,), prices.document_of(deal, whole))
    acting.settle()


def put_rates_and_workloads(db: Database, by: str) -> None:
    """Write the rates and workloads of the demo."""
    found, acting = load_demo_commerce(), Recorder(db, by, utc_now())
    for rate in found.rates:
        reference.save_rate(db, rate, by=by, at=acting.at)
    for saved in found.workloads:
        acting.put("workload", (saved.id,), workload_document(saved))
    acting.settle()
