"""How are runs, pasted outputs and notes of another computer kept: as they are, and never as if they were ours?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import finding_from, utc_from
from gpulease_gui.store.evidence import save_blobs
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.merging import Merge
from gpulease_gui.store.imported import note_imported, note_imported_events
from gpulease_gui.store.records import StoredFinding
from gpulease_gui.store.runs import finding_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gpulease_gui.store.doors import Database

_TABLES = {
    "runs": "runs", "outputs": "run_evidence", "sightings": "sightings", "marks": "marks", "pastes": "pastes", "paste_outputs": "paste_outputs",
    "task_runs": "task_runs", "watch_events": "watch_events",
}  # fmt: skip


def save_contents(db: Database, bundle: Bundle) -> None:
    """Keep the outputs and attachments of the bundle."""
    cut = {str(r.value(f"{end}_sha256")) for r in bundle.of("outputs") for end in ("stdout", "stderr") if r.value(f"{end}_cut")}
    cut |= {str(record.value("sha256")) for record in bundle.of("paste_outputs") if record.value("cut")}
    save_blobs(db, [replace(blob, cut=sha in cut) for sha, blob in bundle.contents.items()])


def write_runs(db: Database, merge: Merge, source: str, at: datetime) -> None:
    """Add what is new, as the file says it, and note of each run and event where it came from."""
    new = [difference.record for difference in merge.differences if difference.record.section.fixed or difference.record.section.part_of]
    db.conn.execute("PRAGMA defer_foreign_keys = ON")  # a run that was judged again may stand before the one that it judged
    for name, table in _TABLES.items():
        records = [record for record in new if record.section.name == name]
        _insert(db, table, records)
        if name == "runs":
            note_imported(db, [(record.key[0], str(record.value("node_id"))) for record in records], source, at)
        if name == "watch_events":
            note_imported_events(db, [(record.key[0], str(record.value("node_id"))) for record in records], source, at)
    for record in new:
        if record.section.name == "findings":
            _insert_finding(db, record)
        elif record.section.name == "paste_findings":
            _insert_paste_finding(db, record)
        elif record.section.name in ("task_curves", "task_logs"):
            _insert_of_task(db, record)


def _insert(db: Database, table: str, records: Sequence[Record]) -> None:
    if not records:
        return
    section = records[0].section
    names = [name for name in (*section.key, *section.fields) if name not in ("place", "run_hash")]
    db.conn.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        ([record.value(name) for name in names] for record in records),
    )


def _insert_finding(db: Database, record: Record) -> None:
    document = str(record.value("document"))
    stored = StoredFinding(record.key[0], str(record.value("run_id")), utc_from(str(record.value("saved_at"))), finding_from(document))
    row = {**finding_row(stored), "document": document, "saved_at": record.value("saved_at")}
    db.conn.execute(f"INSERT INTO findings ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    db.conn.executemany(
        "INSERT INTO finding_evidence (finding_id, position, sha256) VALUES (?, ?, ?)",
        [(stored.id, position, sha256) for position, sha256 in enumerate(stored.finding.evidence)],
    )


def _insert_paste_finding(db: Database, record: Record) -> None:
    document = str(record.value("document"))
    said = json.loads(document)
    db.conn.execute(
        "INSERT INTO paste_findings (paste_id, document, check_id, term, verdict) VALUES (?, ?, ?, ?, ?)",
        (record.key[0], document, said["check"], said["term"], said["verdict"]),
    )


def _insert_of_task(db: Database, record: Record) -> None:
    """A block of the curve, or a piece of the log that a cut task left."""
    said = dict(record.fields)
    if record.section.name == "task_curves":
        row = (record.key[0], said["first"], said["count"], said["units"], bytes.fromhex(str(said["float64_hex"])))
        db.conn.execute("INSERT INTO task_curves (run_id, first, count, units, float64_bytes) VALUES (?, ?, ?, ?, ?)", row)
    else:
        piece = (record.key[0], bytes.fromhex(str(said["zlib_hex"])), said["full_size"])
        db.conn.execute("INSERT INTO task_log_pieces (run_id, zlib_bytes, full_size) VALUES (?, ?, ?)", piece)
