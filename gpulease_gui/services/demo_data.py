"""What does the demo workspace hold before anything was verified?"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.demo.nodes import DemoNode, demo_nodes
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.services.commerce_edit import copy_commerce
from gpulease_gui.services.demo_answers import put_answers_of
from gpulease_gui.services.demo_commerce import put_rates_and_workloads, put_terms_of
from gpulease_gui.services.demo_companies import put_company, put_paper
from gpulease_gui.services.demo_market import demo_id, put_market
from gpulease_gui.services.demo_workloads import put_demo_workloads
from gpulease_gui.store import claims, hostkeys, nodes, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.records import KeyDecision, KeyState
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from sqlite_utils import Database

WHO = "demo"


def node_id(name: str) -> str:
    """The id of a demo node's record."""
    return f"demo-{name}"


def contract_id(name: str) -> str:
    """The id of the contract that a demo node is rented under."""
    return f"demo-contract-{demo_nodes()[name].deal.contract_no}"


def record(node: DemoNode) -> Node:
    """The node record of a demo node."""
    return Node(
        node_id(node.name), node.name, Reach.DEMO, contract_id=contract_id(node.name), demo_name=node.name, note=node.story.en
    )


def note_of(node: Node) -> Text:
    """The note of a node; the demo's own stories in both languages."""
    known = demo_nodes().get(node.demo_name) if node.reach is Reach.DEMO and node.demo_name else None
    return known.story if known is not None and known.story.en == node.note else foreign(node.note)


def fill_demo(workspace: Workspace) -> None:
    """Write suppliers, offers, contracts, promises and nodes of the demo into an empty demo workspace."""
    with workspace.read() as connection:
        if suppliers.list_suppliers(connection):
            return
    workspace.submit(lambda db: _fill(db, demo_nodes())).result()


def _fill(db: Database, all_nodes: Mapping[str, DemoNode]) -> None:
    seen: set[str] = set()
    put_rates_and_workloads(db, WHO)
    put_market(db, WHO)
    for node in all_nodes.values():
        if node.deal.contract_no not in seen:
            seen.add(node.deal.contract_no)
            _save_deal(db, node)
        nodes.save_node(db, record(node))
        decision = KeyDecision(node_id(node.name), node.host_key, KeyState.TRUSTED, utc_now(), "shipped with the demo", WHO)
        hostkeys.save_key_decision(db, decision)
    put_demo_workloads(db, all_nodes, WHO)


def _save_deal(db: Database, node: DemoNode) -> None:
    deal, now = node.deal, utc_now()
    supplier_id, offer_id = f"demo-supplier-{deal.supplier.en}", f"demo-offer-{deal.quote_no}"
    price = Money(Decimal(deal.price), deal.currency)
    name = f"{deal.supplier.zh.partition('（')[0]} {deal.supplier.en}"
    suppliers.save_supplier(db, Supplier(supplier_id, name, deal.country, deal.contact))
    title = f"{deal.offer.en} · {deal.offer.zh}"
    suppliers.save_offer(db, Offer(offer_id, supplier_id, deal.quote_no, title, price, valid_until=deal.start))
    for term, value in node.terms.items():
        claim = Claim(term, value, ClaimState.EVIDENCED, source=f"{deal.quote_no} (demo)")
        claims.save_claim(db, Holder.offer(offer_id), claim, by=WHO, at=now)
    profile = _head(deal.supplier.en, f"Contact: {deal.contact}")
    put_company(db, supplier_id, deal.supplier.en, WHO, put_paper(db, Subject(HolderOf.SUPPLIER, supplier_id), "company profile.pdf", profile, WHO))
    quoted = _head(deal.supplier.en, f"Quote {deal.quote_no}", deal.offer.en, f"{deal.currency} {deal.price} per GPU-hour")
    paper = put_paper(db, Subject(HolderOf.OFFER, offer_id), f"{deal.quote_no}.pdf", (*quoted, *_said(node)), WHO)
    put_terms_of(db, offer_id, deal.quote_no, WHO, paper)
    put_answers_of(db, Subject(HolderOf.OFFER, offer_id), deal.quote_no, WHO)
    contract = Contract(contract_id(node.name), supplier_id, deal.contract_no, offer_id, deal.start, deal.end, price)
    claims.accept_offer(db, offer_id, contract, by=WHO, at=now)
    copying = Recorder(db, WHO, now)
    signed_as = Subject(HolderOf.CONTRACT, contract.id)
    copy_commerce(copying, Subject(HolderOf.OFFER, offer_id), signed_as, lambda price: demo_id("price", contract.id, price))
    copying.settle()
    signed = _head(deal.supplier.en, f"Contract {deal.contract_no} out of quote {deal.quote_no}", f"{deal.start} to {deal.end}")
    put_paper(db, Subject(HolderOf.CONTRACT, contract.id), f"{deal.contract_no}.pdf", (*signed, *_said(node)), WHO)


def _head(name: str, *lines: str) -> tuple[str, ...]:
    return ("DEMO: invented, no real supplier", "", name, *lines, "")


def _said(node: DemoNode) -> tuple[str, ...]:
    return tuple(f"{term} = {value}" for term, value in node.terms.items())
