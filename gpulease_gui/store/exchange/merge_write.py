"""How is a merge written, so that what people change is one step back and what never changes is only added?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate, Price
from gpulease_gui.store import deals, reference
from gpulease_gui.store.codec import utc_from
from gpulease_gui.store.exchange import merge_runs, merge_versions
from gpulease_gui.store.exchange.bundle_gaps import save_gaps
from gpulease_gui.store.exchange.bundle_schema import Record
from gpulease_gui.store.exchange.bundle_watch import node_of_cards
from gpulease_gui.store.exchange.merge_cards import with_ours
from gpulease_gui.store.exchange.merge_keys import key_of, number_of
from gpulease_gui.store.exchange.merging import Difference, Merge
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.kept import Document, Written, keep_earlier, kinds
from gpulease_gui.store.prices import document_of

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database

_HOLDERS = ("suppliers", "sites", "offers", "contracts", "nodes")
_APART, _GAPS = ("rates", "settings", "task_specs", "trash"), "watch_gaps"
# What an insert needs that is not exchanged: it belongs to a computer.
_OWN: Mapping[str, Document] = {
    "node": {"identity_file": "", "proxy": "", "certificate_file": "", "known_hosts": ""}, "claim": {"node_id": None}, "answer": {"run_id": None},
}  # fmt: skip


def write(recorder: Recorder, merge: Merge, source: str) -> None:
    """Write all differences within an act. Runs, earlier states, rates, settings and marks of the rules are only added, and
    stay when it is taken back."""
    db = recorder.db
    merge_runs.save_contents(db, merge.bundle)
    done = [d for d in merge.differences if not (d.record.section.history or d.record.section.fixed or d.record.section.part_of)]
    first = [d for d in done if d.record.section.name in _HOLDERS]
    for difference in first:
        _write(recorder, difference)
    new = {(d.record.section.kind, d.record.key[0]) for d in done if d.new}
    merge_runs.write_runs(db, merge, source, recorder.at)
    versions = merge_versions.write_first(db, merge)
    for difference in done:
        if difference.record.section.name not in (*_HOLDERS, *_APART, _GAPS):
            _write(recorder, difference, is_whole=_holder(difference.record) in new)
    _price_the_new(recorder, merge)
    merge_versions.write_later(db, merge, versions)
    _keep_the_others(recorder, merge)
    save_gaps(db, [difference.record for difference in done if difference.record.section.name == _GAPS])
    for difference in done:
        if difference.record.section.name in _APART:
            _write_apart(recorder, difference.record, new)


def _holder(record: Record) -> tuple[str, str]:
    return str(record.value("holder_kind")), str(record.value("holder_id"))


def _price_the_new(recorder: Recorder, merge: Merge) -> None:
    """What an offer costs follows from its prices; one that brings none has the price that stands in its record."""
    priced = {_holder(record) for record in merge.bundle.of("prices", "price_versions")}
    for difference in merge.differences:
        record, kind = difference.record, difference.record.section.kind
        amount, currency = record.value("price_amount"), record.value("price_currency")
        if difference.new and kind in ("offer", "contract") and (kind, record.key[0]) not in priced and amount is not None and currency is not None:
            price = Price(record.key[0], Money(Decimal(str(amount)), str(currency)), str(record.value("price_unit")))
            recorder.put("price", record.key, document_of(enter(recorder.db, kind, record.key[0]), price))


def _put(recorder: Recorder, kind: str, key: tuple[str | int, ...], after: Document | None, at: str) -> bool:
    """Make a record what it became elsewhere, on the moment at which it did ("" = now): so it is told from later changes."""
    if not at:
        return recorder.put(kind, key, after)
    before = kinds()[kind].read(recorder.db.conn, key)
    if before == after:
        return False
    kinds()[kind].write(recorder.db, key, before, after, _written(recorder, at, recorder.why))
    recorder.note(kind, key, before, after)
    return True


def _written(recorder: Recorder, at: str, why: str) -> Written:
    return Written(recorder.by, utc_from(at), why, merged=True) if at else recorder.written(why)


def _remove(recorder: Recorder, difference: Difference) -> None:
    """Take a record back, on the moment at which it was taken back there: so it is told from what is changed later."""
    record = difference.record
    kind, key = record.section.kind, key_of(recorder.db.conn, record)
    before = None if key is None else kinds()[kind].read(recorder.db.conn, key)
    if key is None or before is None:
        return
    after: Document | None = dict.fromkeys(before, "") if kind == "setup" else None
    kinds()[kind].write(recorder.db, key, before, after, Written(recorder.by, utc_from(difference.removed_at), recorder.why))
    recorder.note(kind, key, before, after)


def _write(recorder: Recorder, difference: Difference, *, is_whole: bool = False) -> None:
    """One record. With `is_whole` it came with a new offer or contract, and needs no way back of its own."""
    record = difference.record
    if difference.removed_at:
        _remove(recorder, difference)
        return
    kind, after = record.section.kind, dict(record.fields)
    if kind == "price":
        key: tuple[str | int, ...] = record.key
        after = {"deal_id": enter(recorder.db, str(after.pop("holder_kind")), str(after.pop("holder_id"))), **after}
    elif kind in ("answer", "waiver", "setup"):
        key = (enter(recorder.db, record.key[0], record.key[1]), *record.key[2:])
    else:
        key = record.key
    before = kinds()[kind].read(recorder.db.conn, key)
    whole = _filled(kind, record, before, after)
    away = None if difference.back else recorder.db.conn.execute("SELECT * FROM trash WHERE kind = ? AND record_id = ?", (kind, record.key[0])).fetchone()
    if not _put(recorder, kind, key, whole, difference.at) and difference.new and not is_whole:
        recorder.note(kind, key, None, whole)
    if difference.theirs is not None and kind != "terms":
        keep_earlier(recorder.db, kind, key, dict(difference.theirs.fields), _written(recorder, difference.at, "joined with what was changed here"))
    if away is not None:  # it is changed where it lies
        recorder.db.conn.execute("INSERT OR REPLACE INTO trash VALUES (?, ?, ?, ?, ?)", away)
    if kind in ("offer", "contract"):
        enter(recorder.db, kind, record.key[0])


def _filled(kind: str, record: Record, before: Document | None, after: Document) -> Document:
    """The whole record: what the bundle does not say stays as it is here."""
    whole: Document = {**_OWN.get(kind, {}), **(before or {}), **after}
    if before is not None:
        whole.update({name: before[name] for name in record.section.follows})
        if kind == "node" and before["reach"] == "local" and after["host"] is None:
            whole["reach"] = "local"
    return whole


def _write_apart(recorder: Recorder, record: Record, new: set[tuple[str, str]]) -> None:
    """What is no act: rates and gaps are only added; a setting is taken where none was chosen, what cards are called is added; a saved task is replaced; the trash keeps who threw it away."""
    db, name = recorder.db, record.section.name
    if name == "rates":
        one, other, day, rate, source, surcharge = record.key
        reference.save_rate(db, FxRate(one, other, Decimal(rate), date.fromisoformat(day), source, Decimal(surcharge)), by=recorder.by, at=recorder.at)
    elif name == "settings":
        of_cards = node_of_cards(record.key[0])  # a watch may have told more of them since it was shown
        how, value = ("INSERT OR REPLACE", with_ours(db.conn, record).value("value")) if of_cards else ("INSERT OR IGNORE", record.value("value"))
        db.conn.execute(f"{how} INTO settings (key, value) VALUES (?, ?)", (record.key[0], value))
    elif name == "task_specs":
        db.conn.execute("INSERT OR REPLACE INTO task_specs (name, saved_at, document) VALUES (?, ?, ?)", (*record.key, *record.said))
    else:
        if record.key not in new:  # else it never was here outside of the trash
            _put(recorder, record.key[0], record.key[1:], None, str(record.value("deleted_at")))
        db.conn.execute("INSERT OR REPLACE INTO trash (kind, record_id, deleted_at, deleted_by, why) VALUES (?, ?, ?, ?, ?)", (*record.key, *record.said))


def _keep_the_others(recorder: Recorder, merge: Merge) -> None:
    """What was changed here later than in the bundle stays; the bundle's state goes to the history."""
    for difference in merge.kept:
        record = difference.record
        kind = record.section.kind
        if kind in ("claim", "terms", "price", "setting", "node", "task_spec") or difference.back or difference.removed_at:
            continue  # their versions came with the bundle's history
        if difference.new and not difference.both:
            continue  # it is what was removed here
        key: tuple[str | int, ...] = record.key
        if kind in ("answer", "waiver", "setup"):
            key = (number_of(recorder.db.conn, record.key[0], record.key[1]) or 0, *record.key[2:])
        keep_earlier(recorder.db, kind, key, dict(record.fields), _written(recorder, difference.at, "not taken from the merge: changed here later"))


def enter(db: Database, kind: str, id_: str) -> int:
    """The number of an offer or contract, which gets one if it has none."""
    return deals.enter(db, Subject(HolderOf(kind), id_))
