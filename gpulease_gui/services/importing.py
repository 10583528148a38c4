"""Which offers would an import add or change, and how are they saved as one act that can be taken back?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Generic, TypeVar

from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Offer, Price, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import PriceReading, TaxReading, price_words
from gpulease_gui.economics.quote_words import trimmed
from gpulease_gui.services.commerce_edit import put_claim
from gpulease_gui.services.importing_lines import Line, Lines, Said
from gpulease_gui.services.importing_memory import remember
from gpulease_gui.services.importing_pause import collector_paused
from gpulease_gui.store import claims, deals, prices, suppliers, term_versions
from gpulease_gui.store.bulk import NewOffer, add_offers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.records import new_id, new_ids

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database, Reader

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Planned:
    """One row and what saving it would do: a new offer, or the changes of a known one (none = it is the same).

    `claims`, `price` and `terms` are only what is new. `changes` are the words for the dry run.
    """

    line: Line
    offer: Offer
    is_new: bool
    claims: tuple[Claim, ...] = ()
    price: Price | None = None
    terms: Terms | None = None
    changes: tuple[Text, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether the offer stands in the workspace already, just so."""
        return not self.is_new and not self.changes


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an import would do, before anything is written."""

    lines: Lines
    planned: tuple[Planned, ...]
    new_suppliers: tuple[Supplier, ...] = ()
    source: str = ""
    owner: str = ""  # the supplier that was chosen; "" = the sheet names them

    @property
    def added(self) -> int:
        """New offers."""
        return sum(1 for row in self.planned if row.is_new)

    @property
    def changed(self) -> int:
        """Known offers that change."""
        return sum(1 for row in self.planned if not row.is_new and row.changes)

    @property
    def same(self) -> int:
        """Known offers that stay as they are."""
        return sum(1 for row in self.planned if row.is_same)

    @property
    def bad(self) -> int:
        """Rows with a cell that can't be understood; they are left out."""
        return sum(1 for line in self.lines.lines if line.bad)

    @property
    def open(self) -> tuple[str, ...]:
        """The questions that must be answered before anything is saved."""
        return tuple(dict.fromkeys(key for line in self.lines.lines for key in line.waits))


@dataclass(slots=True)
class _Known:
    """The offers of one supplier as they stand, found by number and title."""

    by_both: dict[tuple[str, str], Offer] = field(default_factory=dict)
    by_number: dict[str, list[Offer]] = field(default_factory=dict)


def plan(connection: Reader, lines: Lines, supplier: Supplier | None, today: date, source: str = "") -> DryRun:
    """Hold the rows against the workspace. `supplier` has the rows that name none; names that nobody has become suppliers.

    A known offer is one of the same supplier with the same number and title, or the same number where it is the only
    one. Rows that wait for an answer or hold an issue are not planned. Raises UsageError when a row has no supplier.
    """
    known = {s.name: s for s in suppliers.list_suppliers(connection)}
    fresh: dict[str, Supplier] = {}
    if supplier is not None and supplier.id not in {s.id for s in known.values()}:
        # Its id may lie in the trash, after an import that was taken back.
        supplier = known.get(supplier.name) or replace(supplier, id=new_id())
        fresh.setdefault(supplier.name, supplier)
    books: dict[str, _Known] = {}
    planned: list[Planned] = []
    numbers = Counter(line.quote_no for line in lines.lines)
    taken: set[tuple[str, str, str]] = set()
    claimed, stated = _Shared(_claim), _Shared(_stated)
    with collector_paused():
        for id_, line in zip(new_ids(len(lines.lines)), lines.lines, strict=True):
            if line.bad or line.waits:
                continue
            owner = _owner(line, supplier, known, fresh)
            if owner.id not in books:
                books[owner.id] = _known_offers(connection, owner.id)
            offer = _named(id_, line, owner, taken)
            before = _find(books[owner.id], offer, only=numbers[line.quote_no] == 1)
            planned.append(_new(line, offer, claimed, stated) if before is None else _change(connection, line, before, offer, today))
    used = {row.offer.supplier_id for row in planned}
    return DryRun(lines, tuple(planned), tuple(s for s in fresh.values() if s.id in used and s.name not in known), source, supplier.id if supplier else "")


def _owner(line: Line, supplier: Supplier | None, known: Mapping[str, Supplier], fresh: dict[str, Supplier]) -> Supplier:
    if not line.supplier:
        if supplier is None:
            raise UsageError(Text(f"{line.address}: no supplier is named", f"{line.address}：没有写供应商"), next_step=Text("choose the supplier, or map the column that names it", "请选择供应商，或对应写有供应商的列"))
        return supplier
    if line.supplier not in known and line.supplier not in fresh:
        fresh[line.supplier] = Supplier(new_id(), line.supplier)
    return known.get(line.supplier) or fresh[line.supplier]


def _known_offers(connection: Reader, supplier_id: str) -> _Known:
    known = _Known()
    for offer in suppliers.list_offers(connection, supplier_id):
        known.by_both[offer.quote_no, offer.title] = offer
        known.by_number.setdefault(offer.quote_no, []).append(offer)
    return known


def _find(known: _Known, offer: Offer, *, only: bool) -> Offer | None:
    same = known.by_both.get((offer.quote_no, offer.title))
    numbered = known.by_number.get(offer.quote_no, []) if offer.quote_no and only else []
    return same or (numbered[0] if len(numbered) == 1 else None)


def _named(id_: str, line: Line, owner: Supplier, taken: set[tuple[str, str, str]]) -> Offer:
    """A row becomes an offer that can be told from the others of its sheet."""
    title = line.title or _title(line)
    title, number = title or line.address, 1
    base = title
    while (owner.id, line.quote_no, title) in taken:
        number += 1
        title = f"{base} #{number}"
    taken.add((owner.id, line.quote_no, title))
    unit = str(line.price.unit) if line.price and line.price.unit else "gpu_hour"
    return Offer(id_, owner.id, line.quote_no, title, _money(line.price), unit, line.valid_until, line.note)


def _title(line: Line) -> str:
    said = {term.key: term for term in line.terms}
    model, count = line.model_words, said.get("gpu.count") or said.get("npu.count")
    if not model or not count:
        return model
    counted = re.search(rf"(?<!\d){count.value}(?:\s?[x*×卡张]|$)|[x*×]\s?{count.value}(?!\d)", model, re.IGNORECASE)
    return model if counted else f"{model} × {count.value}"  # "H100*8" names its count already


def _money(price: PriceReading | None) -> Money | None:
    return Money(price.amount, price.currency) if price and price.currency else None


class _Shared(Generic[T]):
    """What is made of values; equal cells of a column share one value, and what is made of it."""

    def __init__(self, make: Callable[[Said], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[Said, T]] = {}

    def of(self, said: Said) -> T:
        known = self._made.get(id(said))
        if known is None:
            known = self._made[id(said)] = said, self._make(said)  # held, so that its id stays its own
        return known[1]


def _new(line: Line, offer: Offer, claimed: _Shared[Claim], stated: _Shared[Stated]) -> Planned:
    terms = Terms({said.key: stated.of(said) for said in line.fields}) if line.fields else None
    return Planned(line, offer, True, tuple(map(claimed.of, line.terms)), _price(line, line.valid_from), terms)


def _change(connection: Reader, line: Line, before: Offer, asked: Offer, today: date) -> Planned:
    """Only what the row says counts: an empty cell changes nothing."""
    holder = Holder.offer(before.id)
    held = {claim.term: claim for claim in claims.list_claims(connection, holder)}
    changed = tuple(said for said in line.terms if said.key not in held or held[said.key].value not in (said.value, said.words))
    gone = tuple(claim for term in _of_other_cards(line) if (claim := held.get(term)) is not None and claim.value is not None)
    stated = term_versions.get_terms(connection, holder.subject)
    fields = tuple(said for said in line.fields if stated.value(said.key) != said.value)
    terms = stated
    for said in fields:
        terms = terms.having(said.key, _stated(said))
    price, price_change = _price_change(connection, line, before, today)
    offer = replace(before, title=asked.title if line.title else before.title, valid_until=line.valid_until or before.valid_until,
                    note=line.note or before.note)  # fmt: skip
    words = [_words(said, held[said.key].value if said.key in held else None) for said in changed]
    words += [Text(f"{claim.term}: taken back (was {claim.value})", f"{claim.term}：撤回（原为 {claim.value}）") for claim in gone]
    words += [_words(said, stated.value(said.key)) for said in fields]
    words += [price_change] if price_change else []
    words += [Text(f"{en}: {now}", f"{zh}：{now}") for en, zh, was, now in _plain_changes(before, offer) if was != now]
    return Planned(line, offer, False, (*map(_claim, changed), *(Claim(claim.term, None) for claim in gone)), price, terms if fields else None, tuple(words))


def _of_other_cards(line: Line) -> tuple[str, ...]:
    """The terms of a card of the other kind: an NPU that an earlier import wrote down as a GPU is not both."""
    said = {one.key for one in line.terms}
    if "npu.model" in said and "gpu.model" not in said:
        return ("gpu.model", "gpu.count", "gpu.memory_gb", "gpu.form_factor")
    return ("npu.model", "npu.count", "npu.memory_gb") if "gpu.model" in said and "npu.model" not in said else ()


def _plain_changes(before: Offer, after: Offer) -> Iterable[tuple[str, str, object, object]]:
    yield "title", "名称", before.title, after.title
    yield "valid until", "报价有效期", before.valid_until, after.valid_until
    yield "note", "备注", before.note, after.note


def _price_change(connection: Reader, line: Line, before: Offer, today: date) -> tuple[Price | None, Text | None]:
    price = _price(line, line.valid_from or today)
    if price is None:
        return None, None
    now = prices.price_on(prices.list_prices(connection, deals.deal_number(connection, Subject(HolderOf.OFFER, before.id))), today)
    if now is not None:
        # What the sheet does not say stays as it is known.
        price = replace(price, mode=price.mode or now.mode, tax_included=now.tax_included if price.tax_included is None else price.tax_included,
                        tax_rate=now.tax_rate if price.tax_rate is None else price.tax_rate)  # fmt: skip
    same_money = before.price == price.money and before.price_unit == price.unit
    if same_money and (now is None or (now.tax_included, now.tax_rate, now.mode) == (price.tax_included, price.tax_rate, price.mode)):
        return None, None
    was = f"{before.price}/{before.price_unit}" if before.price else "-"
    old = Text("", "") if now is None or now.tax_rate is None else Text(f", tax rate {trimmed(now.tax_rate * 100)} %", f"，税率 {trimmed(now.tax_rate * 100)}%")
    words = price_words(replace(line.price, tax=TaxReading(price.tax_included, price.tax_rate))) if line.price else Text("", "")
    return price, Text(f"price: {words.en} (was {was}{old.en})", f"单价：{words.zh}（原为 {was}{old.zh}）")


def _words(said: Said, was: object) -> Text:
    was = "…" if isinstance(was, tuple) else was
    old_en, old_zh = ("", "") if was is None else (f" (was {was})", f"（原为 {was}）")
    value = said.words if isinstance(said.value, tuple) else said.value
    return Text(f"{said.key}: {value}{old_en}", f"{said.key}：{value}{old_zh}")


def _claim(said: Said) -> Claim:
    value = said.value if isinstance(said.value, str | int | float | bool) else str(said.value)
    return Claim(said.key, value, ClaimState.ANSWERED, "", said.exact_words)


def _stated(said: Said) -> Stated:
    value = Decimal(str(said.value)) if isinstance(said.value, float) else said.value
    return Stated(value, note=said.exact_words)


def _price(line: Line, valid_from: date | None) -> Price | None:
    money = _money(line.price)
    if money is None or line.price is None or line.price.unit is None:
        return None
    tax = line.price.tax
    return Price(new_id(), money, str(line.price.unit), line.mode, valid_from, line.valid_until, tax.included, tax.rate)


# -- saving: handed to Services.change -----------------------------------------------------------------------------------


def save(db: Database, run: DryRun, *, by: str, at: datetime, mapping: str = "") -> int:
    """Write all planned rows as one act; the number of records that changed. `mapping` is remembered for the supplier, and every answer
    for the supplier whose rows asked it.

    The mapping is remembered whatever is taken back. Raises sqlite3.IntegrityError when the workspace changed below the plan in a way that can't hold; then nothing is
    saved.
    """
    recorder = Recorder(db, by, at, f"imported from {run.source}" if run.source else "imported")
    with collector_paused():
        fresh = [NewOffer(row.offer, row.price, row.terms or Terms(), row.claims) for row in run.planned if row.is_new]
        add_offers(recorder, run.new_suppliers, fresh)
    for row in run.planned:
        if row.changes and not row.is_new:
            _save(recorder, row)
    count = run.added + run.changed
    source = run.source or "the clipboard"
    saved = recorder.finish(Text(f"import of {count} offers from {source}", f"从 {run.source or '剪贴板'} 导入 {count} 个报价"))
    if mapping:
        remember(db, run, mapping)
    return saved


def _save(recorder: Recorder, row: Planned) -> None:
    offer = row.offer
    recorder.put("offer", (offer.id,), suppliers.offer_document(offer))
    subject = Subject(HolderOf.OFFER, offer.id)
    deal = deals.enter(recorder.db, subject)
    for claim in row.claims:
        put_claim(recorder, Holder.offer(offer.id), claim)
    if row.price is not None:
        recorder.put("price", (row.price.id,), prices.document_of(deal, row.price))
    if row.terms is not None:
        recorder.put("terms", ("offer", offer.id), term_versions.document_of(row.terms))
