"""Which files belong to a supplier, an offer, a contract?"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.evidence import save_blobs
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.kept import Document
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    from collections.abc import Iterable

_ATTACHMENT = "SELECT id, holder_kind, holder_id, sha256, name, kind, added_at, added_by, note FROM attachments"
_LONGEST = 120
# Names of devices on Windows, whatever their ending; ":" there leads into a hidden part of a file.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)
_NEVER_IN_NAMES = str.maketrans(dict.fromkeys('<>:"|?*', "_"))


def add_attachment(recorder: Recorder, attachment: Attachment, blob: EvidenceBlob) -> None:
    """Keep a file with its bytes; pack the blob before the writer's turn."""
    save_blobs(recorder.db, [blob])
    recorder.put("attachment", (attachment.id,), _document(attachment))


def list_attachments(connection: sqlite3.Connection, subject: Subject) -> tuple[Attachment, ...]:
    """The files of one record that are not in the trash, oldest first."""
    rows = connection.execute(
        f"{_ATTACHMENT} WHERE holder_kind = ? AND holder_id = ? "
        "AND id NOT IN (SELECT record_id FROM trash WHERE kind = 'attachment') ORDER BY added_at, id",
        (subject.kind, subject.id),
    )
    return tuple(_attachment(*row) for row in rows)


def list_names(connection: sqlite3.Connection, most: int) -> tuple[Attachment, ...]:
    """The latest files of all records that are not in the trash, newest first."""
    kept = "id NOT IN (SELECT record_id FROM trash WHERE kind = 'attachment') AND holder_id NOT IN (SELECT record_id FROM trash)"
    return tuple(_attachment(*row) for row in connection.execute(f"{_ATTACHMENT} WHERE {kept} ORDER BY added_at DESC, id LIMIT ?", (most,)))


def get_attachments(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Attachment]:
    """Some files by id, also from the trash; unknown ids are left out."""
    wanted = tuple(ids)
    rows = connection.execute(f"{_ATTACHMENT} WHERE id IN ({', '.join('?' * len(wanted))})", wanted)
    return {row[0]: _attachment(*row) for row in rows}


def safe_name(name: str) -> str:
    """A name of a file without folders, control or bidi characters, that each system takes, and not longer than people read.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\\\offers\\\\quote 7.pdf"), safe_name(""), safe_name("CON.txt")
    ('passwd', 'quote 7.pdf', 'file', '_CON.txt')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(character for character in last if unicodedata.category(character)[0] != "C").translate(_NEVER_IN_NAMES).strip(" .")
    kept = f"_{kept}" if _DEVICE.match(kept) else kept
    stem, dot, ending = kept.rpartition(".")
    if len(kept) > _LONGEST and dot and len(ending) <= 10:
        return f"{stem[: _LONGEST - len(ending) - 1]}.{ending}"
    return kept[:_LONGEST] or "file"


def _document(attachment: Attachment) -> Document:
    return {
        "holder_kind": attachment.holder_kind, "holder_id": attachment.holder_id, "sha256": attachment.sha256,
        "name": safe_name(attachment.name), "kind": attachment.kind, "note": attachment.note,
        "added_at": utc_text(attachment.at), "added_by": attachment.by,
    }  # fmt: skip


def _attachment(
    id_: str, holder_kind: str, holder_id: str, sha256: str, name: str, kind: str, at: str, by: str, note: str
) -> Attachment:
    return Attachment(id_, holder_kind, holder_id, sha256, name, kind, utc_from(at), by, note)
