"""Which workloads does the demo come with, and which quote by the month stands beside its hourly ones?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.fields import load_fields, validate_field
from gpulease_gui.catalog.loader import read_toml, resource
from gpulease_gui.demo.nodes import DemoNode
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Offer
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.services.commerce_cost import SavedWorkload, workload_document
from gpulease_gui.store import claims, deals, prices, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.term_versions import document_of

if TYPE_CHECKING:
    from sqlite_utils import Database

_DECIMALS = ("hours_per_day", "storage_gb", "egress_gb_per_month", "busy_fraction")


def demo_workloads() -> tuple[SavedWorkload, ...]:
    """What resources/demo/workloads.toml plans. Raises CatalogueFault or TypeError for a broken file."""
    return tuple(_workload(table) for table in read_toml(resource("demo", "workloads.toml"))["workload"])


def _workload(table: Mapping[str, Any]) -> SavedWorkload:
    said: dict[str, Any] = {key: Decimal(value) if key in _DECIMALS else value for key, value in table.items() if key not in ("id", "name")}
    pattern = Pattern(**said)
    return SavedWorkload(table["id"], table["name"], workload_of(pattern), pattern)


def put_demo_workloads(db: Database, all_nodes: Mapping[str, DemoNode], by: str) -> None:
    """Write the workloads, and each quote beside the node's one that it names; no act that could be taken back."""
    acting = Recorder(db, by, utc_now())
    for saved in demo_workloads():
        acting.put("workload", (saved.id,), workload_document(saved))
    acting.settle()
    for table in read_toml(resource("demo", "workloads.toml"))["offer"]:
        node = next(node for node in all_nodes.values() if node.deal.quote_no == table["beside"])
        _put_offer(db, node, table, by)


def _put_offer(db: Database, node: DemoNode, table: Mapping[str, Any], by: str) -> None:
    fields, number, now = load_fields(), table["quote_no"], utc_now()
    offer = Offer(
        f"demo-offer-{number}", f"demo-supplier-{node.deal.supplier.en}", number, table["title"],
        Money(Decimal(table["amount"]), node.deal.currency), table["unit"], node.deal.end,
    )  # fmt: skip
    suppliers.save_offer(db, offer)
    for term, value in node.terms.items():
        if term.startswith("gpu."):
            claim = Claim(term, value, ClaimState.EVIDENCED, source=f"{number} (demo)")
            claims.save_claim(db, Holder.offer(offer.id), claim, by=by, at=now)
    acting, subject = Recorder(db, by, now), Subject(HolderOf.OFFER, offer.id)
    deal = deals.enter(db, subject)
    stated = {key: Stated(validate_field(key, value, fields), source=table["source"]) for key, value in table["terms"].items()}
    acting.put("terms", (subject.kind, subject.id), document_of(Terms(stated)))
    for price in prices.list_prices(db.conn, deal):
        whole = replace(price, mode=table["mode"], tax_included=table["tax_included"], tax_rate=Decimal(table["tax_rate"]))
        acting.put("price", (price.id,), prices.document_of(deal, whole))
    acting.settle()
