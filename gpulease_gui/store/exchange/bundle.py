"""How does everything that was written down go into one bundle, and what would a bundle change here?"""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate, Price
from gpulease_gui.store import deals, reference
from gpulease_gui.store.attachments import safe_name
from gpulease_gui.store.codec import json_text, maybe_value_from, maybe_value_text
from gpulease_gui.store.evidence import get_content, save_blobs
from gpulease_gui.store.exchange.bundle_schema import FORMAT, SECTIONS, VERSION, Bundle, Record, Section
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.kept import Document, Key, kinds
from gpulease_gui.store.prices import document_of
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database

_HOLDERS = {"supplier": "suppliers", "site": "sites", "offer": "offers", "contract": "contracts"}
_KEPT = {kind: f"id NOT IN (SELECT record_id FROM trash WHERE kind = '{kind}')" for kind in (*_HOLDERS, "attachment")}
_DEAL = "CASE WHEN d.offer_id IS NULL THEN 'contract' ELSE 'offer' END, coalesce(d.offer_id, d.contract_id)"
_LIVE_DEAL = (
    "coalesce(d.offer_id, '') NOT IN (SELECT record_id FROM trash WHERE kind = 'offer') "
    "AND coalesce(d.contract_id, '') NOT IN (SELECT record_id FROM trash WHERE kind = 'contract')"
)
_CLAIM_HOLDER = "CASE WHEN c.offer_id IS NULL THEN 'contract' ELSE 'offer' END, coalesce(c.offer_id, c.contract_id)"
# One reading a section whose rows are not a table of the same columns. Columns in the order of key, then fields.
_SQL = {
    "claims": f"SELECT {_CLAIM_HOLDER}, c.term, c.value, c.state, c.source, c.note FROM claims c JOIN deals d "
              f"ON d.offer_id = c.offer_id OR d.contract_id = c.contract_id WHERE {_LIVE_DEAL} AND NOT (c.value IS NULL AND c.state = 'not_asked')",
    "terms": "SELECT holder_kind, holder_id, document FROM term_versions t WHERE document <> '{}' AND version = "
             "(SELECT max(version) FROM term_versions WHERE holder_kind = t.holder_kind AND holder_id = t.holder_id) "
             "AND holder_id NOT IN (SELECT record_id FROM trash WHERE kind = t.holder_kind)",
    "prices": f"SELECT p.price_id, {_DEAL}, p.amount, p.currency, p.unit, p.mode, p.valid_from, p.valid_to, p.tax_included, p.tax_rate, "
              "p.invoice_kind, p.evidence_id, p.note FROM price_versions p JOIN deals d ON d.id = p.deal_id WHERE NOT p.withdrawn "
              f"AND p.entry = (SELECT max(entry) FROM price_versions WHERE price_id = p.price_id) AND {_LIVE_DEAL}",
    "answers": f"SELECT {_DEAL}, a.item_id, a.state, a.value, a.basis, a.measured, a.note, a.evidence, a.answered_at, a.answered_by "
               f"FROM answers a JOIN deals d ON d.id = a.deal_id WHERE {_LIVE_DEAL}",
    "waivers": f"SELECT {_DEAL}, w.item_id, w.given_by, w.reason, w.expires, w.given_at FROM waivers w JOIN deals d ON d.id = w.deal_id WHERE {_LIVE_DEAL}",
    "setups": f"SELECT {_DEAL}, d.template_id, d.scenario FROM deals d WHERE (d.template_id <> '' OR d.scenario <> '') AND {_LIVE_DEAL}",
    "rates": "SELECT DISTINCT from_currency, to_currency, day, rate, source, surcharge FROM fx_rates",
}  # fmt: skip
# Of two prices without days the later one counts, so they travel in the order in which they came.
_ORDER = {"prices": "(SELECT min(entry) FROM price_versions WHERE price_id = p.price_id)"}
_TABLES = {
    "suppliers": "suppliers", "sites": "sites", "offers": "offers", "contracts": "contracts", "attachments": "attachments",
    "templates": "checklist_templates", "weights": "scoring_weights", "workloads": "workloads", "mappings": "import_mappings",
    "market": "market_prices",
}  # fmt: skip


def records_in(connection: sqlite3.Connection) -> dict[str, list[dict[str, object]]]:
    """Every record by section, in a fixed order; what lies in the trash stays there."""
    return {section.name: list(_section_rows(connection, section)) for section in SECTIONS}


def _section_rows(connection: sqlite3.Connection, section: Section) -> Iterator[dict[str, object]]:
    names = (*section.key, *section.fields)
    sql = _SQL.get(section.name)
    if sql is None:
        kept = f" WHERE {_KEPT[section.kind]}" if section.kind in _KEPT else ""
        sql = f"SELECT {', '.join(names)} FROM {_TABLES[section.name]}{kept}"
    order = _ORDER.get(section.name) or ", ".join(str(place) for place in range(1, len(section.key) + 1))
    for row in connection.execute(f"{sql} ORDER BY {order}"):
        entry = dict(zip(names, row, strict=True))
        if section.name == "claims":
            entry["value"] = json_text(entry["value"])
        yield entry


def bundle_bytes(connection: sqlite3.Connection, *, made_at: str, tool_version: str, demo: bool) -> bytes:
    """The whole workspace as one bundle: UTF-8, one record a line. Attachments go along, packed."""
    sections = records_in(connection)
    contents = {str(entry["sha256"]) for entry in sections["attachments"]}
    lines = [f'"format":{json.dumps(FORMAT)},"version":{VERSION},"made_at":{json.dumps(made_at)},"tool_version":{json.dumps(tool_version)},"demo":{json.dumps(demo)}']
    for name, entries in sections.items():
        lines.append(f'"{name}":[' + ",\n".join(json_text(entry) for entry in entries) + "]")
    packed = {sha: base64.b64encode(zlib.compress(get_content(connection, sha), 6)).decode() for sha in sorted(contents)}
    lines.append('"contents":' + json_text(packed))
    return ("{" + ",\n".join(lines) + "}\n").encode()


# -- merging ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """What one record of a bundle would do: `new`, or `changed` fields with what stands here and what would."""

    record: Record
    new: bool
    changed: tuple[tuple[str, object, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """A bundle beside this workspace. Records that are the same are only counted."""

    bundle: Bundle
    differences: tuple[Difference, ...]
    same: int

    def counts(self) -> dict[str, tuple[int, int]]:
        """New and changed records by section."""
        new = Counter(d.record.section.name for d in self.differences if d.new)
        changed = Counter(d.record.section.name for d in self.differences if not d.new)
        return {section.name: (new[section.name], changed[section.name]) for section in SECTIONS if new[section.name] or changed[section.name]}


def compare(connection: sqlite3.Connection, bundle: Bundle) -> Merge:
    """What merging would change; writes nothing. Raises UserFacing for a record that refers to none."""
    _refuse_dangling(connection, bundle)
    found: list[Difference] = []
    same = 0
    for record in (_as_kept(record) for record in bundle.records if not _says_nothing(record)):
        before = _before(connection, record)
        after = {name: value for name, value in record.fields if name not in record.section.follows}
        changed = () if before is None else tuple((name, before.get(name), value) for name, value in after.items() if before.get(name) != value)
        if before is None or changed:
            found.append(Difference(record, before is None, changed))
        else:
            same += 1
    return Merge(bundle, tuple(found), same)


def _as_kept(record: Record) -> Record:
    """The record as it reads once it was written: one that is spelled otherwise is no difference."""
    fields = dict(record.fields)
    if record.section.kind == "attachment":
        fields["name"] = safe_name(str(fields["name"]))
    if record.section.kind == "claim":
        fields["value"] = json_text(maybe_value_text(maybe_value_from(json.loads(str(fields["value"])))))
    return replace(record, fields=tuple(fields.items()))


def _says_nothing(record: Record) -> bool:
    """A promise or a choice that nobody made: written or not, it reads as none."""
    empty = {"setup": ("", ""), "claim": ("null", "not_asked", "", ""), "terms": ("{}",)}.get(record.section.kind)
    return tuple(value for _, value in record.fields) == empty


def _refuse_dangling(connection: sqlite3.Connection, bundle: Bundle) -> None:
    there = {name: {row[0] for row in connection.execute(f"SELECT id FROM {name} WHERE {_KEPT[kind]}")} for kind, name in _HOLDERS.items()}
    for record in bundle.records:
        if record.section.name in there:
            there[record.section.name].add(record.key[0])
    for record in bundle.records:
        for name, target in record.section.refers.items():
            value = record.value(name)
            where = _HOLDERS[str(record.value("holder_kind"))] if target == "holder" else target
            if value is not None and value not in there[where]:
                raise UserFacing(
                    "this bundle is not whole", f"a record of {record.section.name} refers to {str(value)[:40]!r}, which is neither in it nor here",
                    "export it again",
                )  # fmt: skip
        if record.section.name == "attachments" and str(record.value("sha256")) not in bundle.contents:
            raise UserFacing("this bundle is not whole", "the content of an attachment is missing", "export it again")


def _before(connection: sqlite3.Connection, record: Record) -> Document | None:
    section = record.section
    if section.kind == "rate":
        known = connection.execute(
            "SELECT 1 FROM fx_rates WHERE from_currency = ? AND to_currency = ? AND day = ? AND rate = ? AND source = ? AND surcharge = ?", record.key
        ).fetchone()
        return None if known is None else {}
    if section.kind == "setup":
        row = connection.execute(f"SELECT template_id, scenario FROM deals WHERE {record.key[0]}_id = ?", (record.key[1],)).fetchone()
        return None if row is None or row == ("", "") else {"template_id": row[0], "scenario": row[1]}
    key = _key(connection, record)
    before = None if key is None else kinds()[section.kind].read(connection, key)
    return _with_holder(connection, before) if before is not None and section.kind == "price" else before


def _key(connection: sqlite3.Connection, record: Record) -> Key | None:
    """The key as the store has it: deals are numbered by each file for itself."""
    if record.section.kind not in ("answer", "waiver"):
        return record.key
    number = _number(connection, record.key[0], record.key[1])
    return None if number is None else (number, record.key[2])


def _number(connection: sqlite3.Connection, kind: str, id_: str) -> int | None:
    row = connection.execute(f"SELECT id FROM deals WHERE {kind}_id = ?", (id_,)).fetchone()
    return None if row is None else int(row[0])


def _with_holder(connection: sqlite3.Connection, price: Document) -> Document:
    subject = deals.subject_of(connection, int(str(price["deal_id"])))
    return {**price, "holder_kind": str(subject.kind), "holder_id": subject.id}


def write(recorder: Recorder, merge: Merge) -> None:
    """Write all differences within an act. Rates of exchange and checklist setups are only added, and stay when it is taken back."""
    save_blobs(recorder.db, [EvidenceBlob.of(content) for content in merge.bundle.contents.values()])
    for difference in merge.differences:
        _write(recorder, difference.record)
    _price_the_new(recorder, merge)


def _price_the_new(recorder: Recorder, merge: Merge) -> None:
    """What an offer costs follows from its prices; one that brings none has the price that stands in its record."""
    priced = {(r.value("holder_kind"), r.value("holder_id")) for r in merge.bundle.records if r.section.kind == "price"}
    for difference in merge.differences:
        record, kind = difference.record, difference.record.section.kind
        amount, currency = record.value("price_amount"), record.value("price_currency")
        if difference.new and kind in ("offer", "contract") and (kind, record.key[0]) not in priced and amount is not None and currency is not None:
            price = Price(record.key[0], Money(Decimal(str(amount)), str(currency)), str(record.value("price_unit")))
            recorder.put("price", record.key, document_of(_enter(recorder.db, kind, record.key[0]), price))


def _write(recorder: Recorder, record: Record) -> None:
    db, kind = recorder.db, record.section.kind
    after: Document = dict(record.fields)
    if kind == "rate":
        one, other, day, rate, source, surcharge = record.key
        reference.save_rate(db, FxRate(one, other, Decimal(rate), date.fromisoformat(day), source, Decimal(surcharge)), by=recorder.by, at=recorder.at)
        return
    if kind == "setup":
        deals.set_setup(db, _enter(db, record.key[0], record.key[1]), str(after["template_id"]), str(after["scenario"]))
        return
    if kind == "price":
        deal = _enter(db, str(after.pop("holder_kind")), str(after.pop("holder_id")))
        recorder.put(kind, record.key, {"deal_id": deal, **after})
        return
    key = record.key if kind not in ("answer", "waiver") else (_enter(db, record.key[0], record.key[1]), record.key[2])
    before = kinds()[kind].read(db.conn, key) if record.section.follows else None
    if before is not None:
        after.update({name: before[name] for name in record.section.follows})
    recorder.put(kind, key, _filled(kind, after))
    if kind in ("offer", "contract"):
        _enter(db, kind, record.key[0])


def _filled(kind: str, after: Document) -> Document:
    """Fields that belong to nodes and runs are not exchanged."""
    if kind == "claim":
        return {**after, "node_id": None}
    return {**after, "run_id": None} if kind == "answer" else after


def _enter(db: Database, kind: str, id_: str) -> int:
    return deals.enter(db, Subject(HolderOf(kind), id_))

