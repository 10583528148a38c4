"""How are suppliers listed with what they offered and what was signed?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Contract, Offer
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.two_lines import Line
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.overview_tables import nodes_en
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.directory import Deal, SupplierDeals

SUPPLIER, OFFER, CONTRACT = "supplier", "offer", "contract"


def key_of(kind: str, record_id: str) -> str:
    """How an entry of the list is known."""
    return f"{kind}/{record_id}"


def deal_key(deal: Deal) -> str:
    """The key of an offer or a contract."""
    return key_of(CONTRACT if isinstance(deal.record, Contract) else OFFER, deal.record.id)


def lines_of(suppliers: Sequence[SupplierDeals], words: str = "") -> tuple[Line, ...]:
    """Each supplier, then its offers, then its contracts; only those that hold all of `words`."""
    wanted = words.casefold().split()
    made: list[Line] = []
    for entry in suppliers:
        deals = [line for deal in entry.deals if _holds(line := _deal_line(deal), wanted, entry.supplier.name)]
        head = _supplier_line(entry)
        if deals or _holds(head, wanted, ""):
            made += [head, *deals]
    return tuple(made)


def _holds(line: Line, wanted: list[str], more: str) -> bool:
    hay = f"{say(line.title)} {say(line.note)} {more}".casefold()
    return all(word in hay for word in wanted)


def _supplier_line(entry: SupplierDeals) -> Line:
    verdicts = [deal.verdict for deal in entry.deals if deal.verdict is not None]
    badge = badge_of(min(verdicts, key=_badness)) if verdicts else None
    icon, tone = (badge.icon, badge.token) if badge else ("verdict-notrun", "t3")
    supplier = entry.supplier
    return Line(key_of(SUPPLIER, supplier.id), supplier.name, supplier.country, icon=icon, tone=tone, heading=True)


def _badness(verdict: object) -> int:
    return ("fail", "inconclusive", "warn", "pass").index(str(verdict)) if str(verdict) != "not_applicable" else 9


def _deal_line(deal: Deal) -> Line:
    record = deal.record
    if isinstance(record, Contract):
        badge = badge_of(deal.verdict) if deal.verdict is not None else None
        icon, tone = (badge.icon, badge.token) if badge else ("document", "t3")
        nodes = Text(f"contract · {nodes_en(deal.nodes)}", f"合同 · {deal.nodes} 个节点")
        return Line(deal_key(deal), record.number, nodes, price_words(record.price), icon, tone)
    signed = Text(" · accepted", " · 已转为合同") if deal.contracts else Text("", "")
    note = Text(f"{record.quote_no} · offer{signed.en}", f"{record.quote_no} · 报价{signed.zh}")
    return Line(deal_key(deal), record.title or record.quote_no, note, price_words(record.price), "nav-offers", "t3")


def price_words(price: Money | None) -> Words:
    """Currency before the number with a thin space; nothing where no price is written."""
    return f"{price.currency}\N{NARROW NO-BREAK SPACE}{price.amount}" if price else ""


def find_deal(suppliers: Sequence[SupplierDeals], key: str) -> tuple[SupplierDeals, Deal | None] | None:
    """The supplier of an entry, and the deal if the entry is one."""
    for entry in suppliers:
        if key == key_of(SUPPLIER, entry.supplier.id):
            return entry, None
        for deal in entry.deals:
            if deal_key(deal) == key:
                return entry, deal
    return None


def first_key(suppliers: Sequence[SupplierDeals]) -> str:
    """Where a first look begins: a contract, else an offer, else a supplier."""
    deals = [deal for entry in suppliers for deal in entry.deals]
    signed = [deal for deal in deals if isinstance(deal.record, Contract)]
    if signed or deals:
        return deal_key((signed or deals)[0])
    return key_of(SUPPLIER, suppliers[0].supplier.id) if suppliers else ""


def deal_title(record: Offer | Contract) -> str:
    """The words over the terms."""
    return record.number if isinstance(record, Contract) else record.title or record.quote_no
