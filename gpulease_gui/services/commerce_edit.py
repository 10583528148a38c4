"""How are suppliers, offers, terms and prices changed, each act as one step that can be taken back?

Every function here is handed to `Services.change` and runs in the writer's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.fields import validate_field
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Attachment, Contract, FxRate, Offer, Price, Site, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.offer_facts import MarketPrice
from gpulease_gui.services.acting import recorder, user_name_in
from gpulease_gui.store import answers, attachments, claims, deals, prices, reference, suppliers, term_versions, trash
from gpulease_gui.store.bulk import NewOffer, add_offers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.kept import Document, row_kind
from gpulease_gui.store.records import EvidenceBlob, new_id

if TYPE_CHECKING:
    from sqlite_utils import Database


def put_terms(acting: Recorder, subject: Subject, changes: Mapping[str, Stated | None], catalogue: Catalogue) -> Terms:
    """Change some commercial terms within an act; None takes one out. One more version if anything is different.

    Raises UsageError for a value that its field can't have.
    """
    terms = term_versions.get_terms(acting.db.conn, subject)
    for key, said in changes.items():
        if said is not None and said.value is not None:
            said = replace(said, value=validate_field(key, said.value, catalogue.fields))
        terms = terms.having(key, said)
    acting.put("terms", (subject.kind, subject.id), term_versions.document_of(terms))
    return terms


def state_fields(
    db: Database, subject: Subject, changes: Mapping[str, Stated | None], catalogue: Catalogue, why: str = ""
) -> Terms:
    """Write down what was said of some fields; the terms as they are now. One version, one step back."""
    acting = recorder(db, why)
    terms = put_terms(acting, subject, changes, catalogue)
    count = len(changes)
    if count == 1:
        label = catalogue.fields[next(iter(changes))].label
        acting.finish(Text(f"change {label.en}", f"修改{label.zh}"))
    else:
        acting.finish(Text(f"change {count} terms", f"修改 {count} 项条款"))
    return terms


def save_price(db: Database, subject: Subject, price: Price, why: str = "") -> Price:
    """Keep a price (a new one, or a new version of the one with its id). Raises UsageError for days in the wrong order."""
    acting = recorder(db, why)
    put_price(acting, subject, price)
    acting.finish(Text(f"price {price.money}", f"价格 {price.money}"))
    return price


def put_price(acting: Recorder, subject: Subject, price: Price) -> None:
    """Keep a price within an act. Raises UsageError for one that can't be."""
    _refuse_price(price)
    deal = deals.enter(acting.db, subject)
    acting.put("price", (price.id,), None if price.withdrawn else prices.document_of(deal, price))


def _refuse_price(price: Price) -> None:
    if price.valid_from and price.valid_to and price.valid_to < price.valid_from:
        raise UsageError(Text("the price ends before it begins", "价格的结束早于开始"), next_step=Text("change one of the days", "请修改其中一天"))
    if not price.money.amount.is_finite() or price.money.amount < 0:
        raise UsageError(Text(f"{price.money} is no price", f"{price.money} 不是价格"), next_step=Text("write an amount of 0 or more", "请填写不小于 0 的金额"))
    if price.unit not in set(PriceUnit):
        raise UsageError(Text(f"{price.unit!r} is no unit of a price", f"{price.unit!r} 不是计价单位"), next_step=Text(f"write one of: {', '.join(PriceUnit)}", f"请填写其一：{', '.join(PriceUnit)}"))
    if price.tax_rate is not None and not (price.tax_rate.is_finite() and 0 <= price.tax_rate < 1):
        raise UsageError(Text(f"{price.tax_rate} is no tax rate", f"{price.tax_rate} 不是税率"), next_step=Text("write a share, such as 0.13 for 13 %", "请填写比例，如 13 % 写 0.13"))


def change_price(db: Database, subject: Subject, price: Price, since: date, why: str = "") -> Price:
    """A new price from a day on: the one before ends the day before, both stay on record."""
    acting = recorder(db, why)
    before = prices.price_on(prices.list_prices(db.conn, deals.enter(db, subject)), since)
    if before is not None and before.id != price.id and (before.valid_from is None or before.valid_from < since):
        put_price(acting, subject, replace(before, valid_to=date.fromordinal(since.toordinal() - 1)))
    put_price(acting, subject, replace(price, valid_from=since))
    acting.finish(Text(f"price {price.money} from {since}", f"自 {since} 起价格 {price.money}"))
    return price


def save_offer(db: Database, offer: Offer) -> Offer:
    """Keep an offer as one step; a changed price is one more version of its price. Raises UsageError."""
    if not (offer.quote_no.strip() or offer.title.strip()):
        raise UsageError(Text("an offer needs a number or a title", "报价需要编号或标题"), next_step=Text("write the number that stands on the quote", "请填写报价单上的编号"))
    acting = recorder(db)
    put_offer(acting, offer)
    acting.finish(Text(f"save offer {offer.quote_no or offer.title}", f"保存报价 {offer.quote_no or offer.title}"))
    return offer


def put_offer(acting: Recorder, offer: Offer) -> int:
    """Keep an offer within an act; its number in this file."""
    acting.put("offer", (offer.id,), suppliers.offer_document(offer))
    subject = Subject(HolderOf.OFFER, offer.id)
    deal = deals.enter(acting.db, subject)
    _follow_price(acting, subject, deal, offer)
    return deal


def _follow_price(acting: Recorder, subject: Subject, deal: int, record: Offer | Contract) -> None:
    """The price of the form is the price of today: it becomes a version when it is another one."""
    now = prices.price_on(prices.list_prices(acting.db.conn, deal), acting.at.date())
    if record.price is None:
        if now is not None:
            put_price(acting, subject, replace(now, withdrawn=True))
    elif now is None:
        put_price(acting, subject, Price(new_id(), record.price, record.price_unit))
    elif (now.money, now.unit) != (record.price, record.price_unit):
        put_price(acting, subject, replace(now, money=record.price, unit=record.price_unit))


def save_contract(db: Database, contract: Contract) -> Contract:
    """Keep a contract as one step. Raises UsageError for no number, one that is taken, or an end before the start."""
    _refuse_contract(contract, suppliers.list_contracts(db.conn))
    acting = recorder(db)
    acting.put("contract", (contract.id,), suppliers.contract_document(contract))
    subject = Subject(HolderOf.CONTRACT, contract.id)
    _follow_price(acting, subject, deals.enter(db, subject), contract)
    acting.finish(Text(f"save contract {contract.number}", f"保存合同 {contract.number}"))
    return contract


def save_supplier(db: Database, supplier: Supplier) -> Supplier:
    """Keep a supplier as one step. Raises UsageError when it has no name or another one has the same."""
    if not supplier.name.strip():
        raise UsageError(Text("a supplier needs a name", "供应商需要名称"), next_step=Text("write the name that stands on the quote", "请填写报价单上的名称"))
    if any(s.name == supplier.name and s.id != supplier.id for s in suppliers.list_suppliers(db.conn)):
        raise UsageError(Text(f"there is a supplier {supplier.name!r} already", f"已有供应商 {supplier.name!r}"), next_step=Text("choose it in the list, or write another name", "请在列表中选择，或换一个名称"))
    acting = recorder(db)
    acting.put("supplier", (supplier.id,), suppliers.supplier_document(supplier))
    acting.finish(Text(f"save supplier {supplier.name}", f"保存供应商 {supplier.name}"))
    return supplier


def save_site(db: Database, site: Site) -> Site:
    """Keep a place of a supplier as one step. Raises UsageError without a name."""
    if not site.name.strip():
        raise UsageError(Text("a site needs a name", "机房需要名称"), next_step=Text("write the name of the data centre", "请填写机房名称"))
    acting = recorder(db)
    acting.put("site", (site.id,), suppliers.site_document(site))
    acting.finish(Text(f"save site {site.name}", f"保存机房 {site.name}"))
    return site


def save_rate(db: Database, rate: FxRate) -> FxRate:
    """Note a rate of exchange; rates are only added. Raises UsageError for one that can't be."""
    for code in (rate.from_currency, rate.to_currency):
        if not (len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()):
            raise UsageError(Text(f"{code!r} is no currency", f"{code!r} 不是货币"), next_step=Text("write its three letters, such as CNY", "请填写三位字母代码，如 CNY"))
    if rate.from_currency == rate.to_currency:
        raise UsageError(Text(f"{rate.from_currency} always costs 1 {rate.to_currency}", f"1 {rate.from_currency} 恒等于 1 {rate.to_currency}"), next_step=Text("choose two currencies", "请选择两种货币"))
    if not rate.rate.is_finite() or rate.rate <= 0:
        raise UsageError(Text(f"{rate.rate} is no rate", f"{rate.rate} 不是汇率"), next_step=Text("write what one unit costs in the other currency, such as 7.0835", "请填写一单位折合另一货币的数额，如 7.0835"))
    if not rate.surcharge.is_finite() or not 0 <= rate.surcharge < 1:
        raise UsageError(Text(f"{rate.surcharge} is no surcharge", f"{rate.surcharge} 不是加收比例"), next_step=Text("write the share that is added, such as 0.03 for 3 %", "请填写加收比例，如 3 % 写 0.03"))
    reference.save_rate(db, rate, by=user_name_in(db.conn), at=utc_now())
    return rate


def attach(db: Database, subject: Subject, name: str, kind: str, blob: EvidenceBlob, note: str = "") -> Attachment:
    """Keep a file with a record. `blob` is `EvidenceBlob.of(bytes)`, made before the writer's turn."""
    acting = recorder(db)
    shown = attachments.safe_name(name)
    attachment = Attachment(new_id(), subject.kind, subject.id, blob.sha256, shown, kind, acting.at, acting.by, note)
    attachments.add_attachment(acting, attachment, blob)
    acting.finish(Text(f"attach {shown}", f"添加附件 {shown}"))
    return attachment


def accept_offer(db: Database, offer_id: str, contract: Contract) -> Contract:
    """Make a contract out of an offer: claims, terms, prices, answers and waivers are copied, history kept.

    Raises UsageError for an unknown offer or a number that is taken.
    """
    _refuse_contract(contract, suppliers.list_contracts(db.conn))
    if contract.price is None:
        offer = suppliers.get_offer(db.conn, offer_id)
        contract = replace(contract, price=offer.price, price_unit=offer.price_unit)
    acting, copying = recorder(db), recorder(db, "taken over from the offer")
    acting.put("contract", (contract.id,), suppliers.contract_document(contract))
    # The prices of the offer come first: the contract's own one is then a change of the one of today.
    copy_commerce(copying, Subject(HolderOf.OFFER, offer_id), Subject(HolderOf.CONTRACT, contract.id))
    claims.accept_offer(db, offer_id, contract, by=acting.by, at=acting.at)
    copying.settle()
    acting.finish(Text(f"accept as contract {contract.number}", f"转为合同 {contract.number}"))
    return contract


def _refuse_contract(contract: Contract, known: Iterable[Contract]) -> None:
    if not contract.number.strip():
        raise UsageError(Text("a contract needs a number", "合同需要编号"), next_step=Text("write the number that stands on the paper", "请填写合同上的编号"))
    if any(c.number == contract.number and c.id != contract.id for c in known):
        raise UsageError(Text(f"there is a contract {contract.number!r} already", f"已有合同 {contract.number!r}"), next_step=Text("write another number", "请换一个编号"))
    if contract.start and contract.end and contract.end < contract.start:
        raise UsageError(Text("the contract ends before it starts", "合同的结束早于开始"), next_step=Text("change one of the dates", "请修改其中一个日期"))


def copy_commerce(acting: Recorder, source: Subject, target: Subject, name_price: Callable[[str], str] | None = None) -> None:
    """Commercial terms, prices, answers, waivers and template of one deal for another one.

    `name_price` makes the id of a copied price out of that of the original; fresh ones without it.
    """
    db = acting.db
    there, here = deals.enter(db, source), deals.enter(db, target)
    acting.put("terms", (target.kind, target.id), term_versions.document_of(term_versions.get_terms(db.conn, source)))
    for price in prices.list_prices(db.conn, there):
        acting.put("price", (name_price(price.id) if name_price else new_id(),), prices.document_of(here, price))
    for item, answer in answers.list_answers(db.conn, there).items():
        acting.put("answer", (here, item), answers.answer_document(answer))
    for item, waiver in answers.list_waivers(db.conn, there).items():
        acting.put("waiver", (here, item), answers.waiver_document(waiver, acting.at))
    deals.copy_setup(db, there, here)


def delete(db: Database, kind: str, record_id: str, why: str = "") -> int:
    """Put a supplier (with its offers and contracts), site, offer, contract or attachment into the trash; how many.

    Nothing is lost: `restore` or `undo` brings it back. Raises UsageError for an unknown record.
    """
    acting = recorder(db, why)
    for part, id_ in _with_parts(db, kind, record_id):
        acting.put(part, (id_,), None)
    name = _KIND_WORDS[kind]
    return acting.finish(Text(f"delete {name.en}", f"删除{name.zh}"))


def _with_parts(db: Database, kind: str, record_id: str) -> Iterable[tuple[str, str]]:
    if kind not in _KIND_WORDS or row_kind(kind).read(db.conn, (record_id,)) is None:
        raise UsageError(Text(f"there is no {kind} {record_id!r}", f"没有 {kind} {record_id!r}"))
    if kind == "supplier":
        yield from (("offer", offer.id) for offer in suppliers.list_offers(db.conn, record_id))
        yield from (("contract", contract.id) for contract in suppliers.list_contracts(db.conn, record_id))
    yield kind, record_id


@dataclass(frozen=True, slots=True)
class Restored:
    """How many records came back from the trash; `owners` are the names of those that came only because others hang from them."""

    count: int
    owners: tuple[str, ...] = ()


def restore(db: Database, kind: str, record_id: str) -> Restored:
    """Bring a record back from the trash, what was deleted together with it, and what it hangs from. Raises UsageError."""
    row = db.conn.execute("SELECT deleted_at FROM trash WHERE kind = ? AND record_id = ?", (kind, record_id)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no {kind} {record_id!r} in the trash", f"回收站中没有 {kind} {record_id!r}"))
    acting, owners = recorder(db), []
    wanted: list[tuple[str, str]] = db.conn.execute("SELECT kind, record_id FROM trash WHERE deleted_at = ?", row).fetchall()
    together = frozenset(wanted)
    for part, id_ in wanted:  # what each hangs from joins the end
        document = row_kind(part).buried(db.conn, (id_,))
        above = None if document is None else _above(part, document)
        if above is not None and above not in wanted and trash.in_trash(db.conn, *above):
            wanted.append(above)
        if acting.put(part, (id_,), document) and (part, id_) not in together:
            owners.append(trash.name_of(db.conn, part, id_))
    name = _KIND_WORDS[kind]
    return Restored(acting.finish(Text(f"restore {name.en}", f"恢复{name.zh}")), tuple(owners))


def _above(kind: str, document: Document) -> tuple[str, str] | None:
    """What a record hangs from. A contract lives without its offer."""
    if kind == "attachment":
        return str(document["holder_kind"]), str(document["holder_id"])
    return ("supplier", str(document["supplier_id"])) if kind != "supplier" else None


_KIND_WORDS: Mapping[str, Text] = {
    "supplier": Text("supplier", "供应商"), "site": Text("site", "机房"), "offer": Text("offer", "报价"),
    "contract": Text("contract", "合同"), "attachment": Text("attachment", "附件"),
}  # fmt: skip


def put_claim(acting: Recorder, holder: Holder, claim: Claim) -> None:
    """Write one technical promise within an act; the value is already one that its term can have."""
    nothing = claim == Claim(claim.term, None)  # as the store reads a claim of which nobody said anything
    acting.put("claim", (holder.kind, holder.id, claim.term), None if nothing else claims.claim_document(claim))


def import_offers(db: Database, new_suppliers: Iterable[Supplier], new_offers: Sequence[NewOffer], words: Text, why: str = "") -> int:
    """Keep many new offers at once: one transaction, one step back (`words` names it); how many records came.

    Values are already such as their fields and terms can have. Raises sqlite3.IntegrityError for an id that is there.
    """
    acting = recorder(db, why)
    add_offers(acting, new_suppliers, new_offers)
    return acting.finish(words)


def import_market(db: Database, prices_found: Iterable[MarketPrice], words: Text) -> int:
    """Keep lines of public price lists: one step back; how many."""
    acting, import_id = recorder(db), new_id()
    for price in prices_found:
        acting.put("market", (new_id(),), reference.market_document(import_id, price))
    return acting.finish(words)


def save_mapping(db: Database, supplier_id: str, kind: str, document: str) -> None:
    """Remember how the columns of a supplier's sheets were mapped, as JSON text of the caller; no step of its own."""
    acting = recorder(db)
    acting.put("mapping", (supplier_id, kind), {"document": document})
    acting.settle()
