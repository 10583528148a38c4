"""How do the earlier states that a bundle brings find their place among those that are here?

Where nothing is known of a record its whole history comes in order, and the last state is the present one. Where something
is, what comes stands before all of ours, so that it never becomes the present one; lists show histories by time.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.store import deals
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.merge_keys import number_of
from gpulease_gui.store.exchange.merging import Merge
from gpulease_gui.store.records import new_id

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database

_VALUES = ("term_versions", "price_versions", "claim_history")
_PRICE = "amount, currency, unit, mode, valid_from, valid_to, tax_included, tax_rate, invoice_kind, evidence_id, note, withdrawn, saved_at, saved_by, why"
Group = tuple[str, ...]
Groups = dict[Group, list[Record]]


def _new(merge: Merge, name: str) -> Groups:
    found: Groups = defaultdict(list)
    for difference in merge.differences:
        if difference.record.section.name == name:
            found[difference.record.group].append(difference.record)
    return found


def write_first(db: Database, merge: Merge) -> frozenset[tuple[str, Group]]:
    """The histories of what has none here, before their records are written: these find their last state then.

    The answer is which of them were written.
    """
    done = {name: [group for group in _new(merge, name) if not _is_known(db, name, group)] for name in _VALUES}
    _insert_claims(db, merge.bundle, done["claim_history"])
    for name, groups in done.items():
        whole = frozenset(groups)
        # In the order of the file: of two prices without days the later one counts.
        for record in merge.bundle.of(name):
            if record.group in whole:
                _append(db, record)
    return frozenset((name, group) for name, groups in done.items() for group in groups)


def _is_known(db: Database, name: str, group: Group) -> bool:
    sql = {
        "term_versions": "SELECT 1 FROM term_versions WHERE holder_kind = ? AND holder_id = ?", "price_versions": "SELECT 1 FROM price_versions WHERE price_id = ?",
        "claim_history": f"SELECT 1 FROM claims WHERE {group[0]}_id = ? AND term = ?",
    }[name]  # fmt: skip
    return db.conn.execute(sql, group[1:] if name == "claim_history" else group).fetchone() is not None


def _insert_claims(db: Database, bundle: Bundle, groups: list[Group]) -> None:
    """The promises themselves; one that was taken back has a history, and says nothing."""
    said = {record.key: record for record in bundle.of("claims")}
    for kind, holder, term in groups:
        record = said.get((kind, holder, term))
        value = db.conn.execute("SELECT json_extract(?, '$')", (record.value("value"),)).fetchone()[0] if record else None
        rest = [record.value(name) for name in ("state", "source", "note", "node_id")] if record else ["not_asked", "", "", None]
        db.conn.execute(
            f"INSERT INTO claims (id, {kind}_id, term, value, state, source, note, node_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (new_id(), holder, term, value, *rest),
        )


def _append(db: Database, record: Record) -> None:
    """As the newest state of its record."""
    name = record.section.name
    if name == "term_versions":
        _insert_terms(db, record, "coalesce(max(version), 0) + 1")
    elif name == "price_versions":
        _insert_price(db, record, None)
    else:
        _insert_change(db, record, None)


def _insert_change(db: Database, record: Record, entry: int | None) -> None:
    kind, holder, term = record.group
    db.conn.execute(
        "INSERT INTO claim_history (entry, claim_id, at, changed_by, value, state, note) "
        f"SELECT ?, id, ?, ?, ?, ?, ? FROM claims WHERE {kind}_id = ? AND term = ?", (entry, *record.said, holder, term),
    )  # fmt: skip


def _insert_terms(db: Database, record: Record, version: str) -> None:
    terms, *stamps = record.said
    db.conn.execute(
        "INSERT INTO term_versions (holder_kind, holder_id, version, document, saved_at, saved_by, why) "
        f"SELECT ?1, ?2, {version}, ?3, ?4, ?5, ?6 FROM term_versions WHERE holder_kind = ?1 AND holder_id = ?2", (*record.group, terms, *stamps),
    )  # fmt: skip


def _insert_price(db: Database, record: Record, entry: int | None) -> None:
    kind, holder, *rest = record.said
    deal = deals.enter(db, Subject(HolderOf(str(kind)), str(holder)))
    db.conn.execute(f"INSERT INTO price_versions (entry, price_id, deal_id, {_PRICE}) VALUES ({', '.join('?' * 18)})", (entry, *record.group, deal, *rest))


def write_later(db: Database, merge: Merge, done: frozenset[tuple[str, Group]]) -> None:
    """The states that others lack; those of answers and the like, and the moves of figures."""
    for name in _VALUES:
        for group, records in _new(merge, name).items():
            for record in reversed(records) if (name, group) not in done else ():
                _put_before(db, record)
    for group, records in _new(merge, "earlier").items():
        _insert_earlier(db, group, records)
    for group, records in _new(merge, "thresholds").items():
        _insert_moves(db, group, records)
    for group, records in _new(merge, "task_references").items():
        _insert_references(db, group, records)


def _put_before(db: Database, record: Record) -> None:
    """Before all states that are here, in the order of the file when the last one comes first."""
    if record.section.name == "term_versions":
        _insert_terms(db, record, "min(1, min(version)) - 1")
    elif record.section.name == "price_versions":
        _insert_price(db, record, _first_place(db, "price_versions"))
    else:
        _insert_change(db, record, _first_place(db, "claim_history"))


def _first_place(db: Database, table: str) -> int:
    """Below every place that is taken, and below 1: the store's own ones begin there."""
    return int(db.conn.execute(f"SELECT min(0, coalesce(min(entry), 0)) - 1 FROM {table}").fetchone()[0])


def _insert_earlier(db: Database, group: Group, records: list[Record]) -> None:
    kind, holder_kind, holder, key = group
    if holder_kind:
        key = f"{number_of(db.conn, holder_kind, holder)} {key}".strip()
    is_known = db.conn.execute("SELECT 1 FROM earlier_versions WHERE kind = ? AND record_key = ?", (kind, key)).fetchone() is not None
    for record in reversed(records) if is_known else records:
        db.conn.execute(
            "INSERT INTO earlier_versions (entry, kind, record_key, document, replaced_at, replaced_by, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (_first_place(db, "earlier_versions") if is_known else None, kind, key, *record.said),
        )


def _insert_moves(db: Database, group: Group, records: list[Record]) -> None:
    """The later move of a figure counts, whoever made it."""
    newest = db.conn.execute("SELECT coalesce(max(set_at), '') FROM threshold_history WHERE check_id = ? AND name = ? AND subject = ''", group).fetchone()[0]
    later = [record for record in records if str(record.value("set_at")) > newest]
    earlier = [record for record in records if str(record.value("set_at")) <= newest]
    for is_later, record in [*((True, r) for r in later), *((False, r) for r in reversed(earlier))]:
        entry = None if is_later else _first_place(db, "threshold_history")
        db.conn.execute(
            "INSERT INTO threshold_history (entry, check_id, name, subject, value, unit, set_at, set_by, why) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?)",
            (entry, *group, *record.said),
        )


def _insert_references(db: Database, group: Group, records: list[Record]) -> None:
    """The later choice of the run that a task is held against counts, whoever made it."""
    newest = db.conn.execute("SELECT coalesce(max(marked_at), '') FROM task_references WHERE task = ?", group).fetchone()[0]
    later = [record for record in records if str(record.value("marked_at")) > newest]
    earlier = [record for record in records if str(record.value("marked_at")) <= newest]
    for is_later, record in [*((True, r) for r in later), *((False, r) for r in reversed(earlier))]:
        entry = None if is_later else _first_place(db, "task_references")
        db.conn.execute("INSERT INTO task_references (entry, task, run_id, marked_at, marked_by, why) VALUES (?, ?, ?, ?, ?, ?)", (entry, *group, *record.said))
