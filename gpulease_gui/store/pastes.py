"""How is kept what a supplier sent in a chat, apart from everything that we saw ourselves?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.store.codec import finding_from, finding_text, pairs_from, pairs_text, storable, utc_from, utc_text
from gpulease_gui.store.evidence import save_blobs
from gpulease_gui.store.records import EvidenceBlob, Paste, PastedOutput

if TYPE_CHECKING:
    from sqlite_utils import Database

_PASTE = "SELECT id, contract_id, pasted_at, terms, overall, tool_version FROM pastes"


def save_paste(db: Database, paste: Paste, blobs: Iterable[EvidenceBlob]) -> None:
    """Keep a paste with its outputs and findings, all or nothing.

    Raises sqlite3.IntegrityError for an unknown contract, a paste that is kept already, a hash without content.
    """
    with db.atomic():
        save_blobs(db, blobs)
        db.table("pastes").insert({
            "id": paste.id, "contract_id": paste.contract_id, "pasted_at": utc_text(paste.pasted_at),
            "terms": pairs_text(paste.terms), "overall": paste.overall, "tool_version": paste.tool_version,
        })  # fmt: skip
        db.conn.executemany(
            "INSERT INTO paste_outputs (paste_id, fact_id, source, command, sha256, cut) VALUES (?, ?, ?, ?, ?, ?)",
            [(paste.id, o.fact_id, storable(o.source), storable(o.command), o.sha256, int(o.cut)) for o in paste.outputs],
        )
        db.conn.executemany(
            "INSERT INTO paste_findings (paste_id, document, check_id, term, verdict) VALUES (?, ?, ?, ?, ?)",
            [(paste.id, finding_text(f), f.check, f.term, f.verdict) for f in paste.findings],
        )


def list_pastes(connection: sqlite3.Connection, contract_id: str | None = None) -> tuple[Paste, ...]:
    """What was pasted, newest first, for a contract if given."""
    rows = connection.execute(
        f"{_PASTE} WHERE :contract IS NULL OR contract_id = :contract ORDER BY pasted_at DESC, rowid DESC",
        {"contract": contract_id},
    ).fetchall()
    return tuple(_paste(connection, *row) for row in rows)


def _paste(
    connection: sqlite3.Connection, id_: str, contract_id: str | None, at: str, terms: str, overall: str, version: str
) -> Paste:
    outputs = connection.execute(
        "SELECT fact_id, source, command, sha256, cut FROM paste_outputs WHERE paste_id = ? ORDER BY entry", (id_,)
    )
    documents = connection.execute("SELECT document FROM paste_findings WHERE paste_id = ? ORDER BY entry", (id_,))
    return Paste(
        id_, utc_from(at), tuple(PastedOutput(fact, source, command, sha, bool(cut)) for fact, source, command, sha, cut in outputs),
        tuple(finding_from(document) for (document,) in documents), Verdict(overall), contract_id,
        tuple((key, value) for key, value in pairs_from(terms) if value is not None), version,
    )  # fmt: skip
