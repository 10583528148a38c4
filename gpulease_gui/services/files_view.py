"""How does a file come to a record, and how does it leave again as the same bytes?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text
from gpulease_gui.services.commerce_edit import attach
from gpulease_gui.services.whole_file import whole_file
from gpulease_gui.store import attachments, evidence, term_versions
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

MOST_BYTES = 32 << 20
_MAGIC = (
    (b"%PDF-", "application/pdf"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"), (b"PK\x03\x04", "application/zip"),
)  # fmt: skip
SHOWABLE = frozenset(["application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp"])
_ENDINGS = {"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file of a record with its size in bytes, and how many terms it proves."""

    file: Attachment
    size: int
    proves: int


def files_in(connection: sqlite3.Connection, subject: Subject) -> tuple[FileLine, ...]:
    """The files of a record, oldest first."""
    terms = term_versions.get_terms(connection, subject)
    proofs = [said.evidence for said in terms.stated.values()]
    files = attachments.list_attachments(connection, subject)
    sizes = evidence.full_sizes(connection, {file.sha256 for file in files})
    return tuple(FileLine(file, sizes.get(file.sha256, 0), proofs.count(file.id)) for file in files)


def kind_of(content: bytes) -> str:
    """What a file is by its first bytes; its name decides nothing.

    >>> kind_of(b"%PDF-1.7"), kind_of(b"MZ")
    ('application/pdf', 'application/octet-stream')
    """
    return next((kind for magic, kind in _MAGIC if content.startswith(magic)), "application/octet-stream")


def read_file(path: Path) -> tuple[str, str, EvidenceBlob]:
    """(name, kind, packed bytes) of a file; on a worker. Raises UsageError for one that is too large or can't be read."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UsageError(
                Text(f"{path.name} is too large", f"{path.name} 过大"),
                Text(f"{size >> 20} MiB; at most {MOST_BYTES >> 20} MiB are kept in the workspace", f"{size >> 20} MiB；工作区最多保存 {MOST_BYTES >> 20} MiB"),
                Text("Attach the pages that matter", "请只附上相关页"),
            )  # fmt: skip
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(Text(f"{path.name} could not be read", f"无法读取 {path.name}"), os_reason(error)) from error
    if not content:
        raise UsageError(Text(f"{path.name} is empty", f"{path.name} 是空文件"))
    return path.name, kind_of(content), EvidenceBlob.of(content)


def keep_file(subject: Subject, read: tuple[str, str, EvidenceBlob]) -> Callable[[Database], Attachment]:
    """Attach what `read_file` read; handed to `Services.change`."""
    name, kind, blob = read
    return lambda db: attach(db, subject, name, kind, blob)


def write_file(connection: sqlite3.Connection, file: Attachment, path: Path) -> Path:
    """Write the bytes of a file to `path`; on a worker.

    Raises UsageError when they are not those that were kept, or the place can't be written.
    """
    content = evidence.get_content(connection, file.sha256)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise UsageError(Text(f"{file.name} is damaged", f"{file.name} 已损坏"), Text("Its bytes do not match their hash", "内容与其哈希不符"), Text("Take a copy from a backup", "请从备份中取一份"))
    try:
        with whole_file(path) as new:
            new.write(content)
    except OSError as error:
        raise UsageError(Text(f"{path} could not be written", f"无法写入 {path}"), os_reason(error), Text("Choose another place", "请换一个位置")) from error
    return path


def open_name(file: Attachment) -> str:
    """The name of a copy to look at: ours, with the ending of what it is, never the one that it came with."""
    return f"attachment-{file.sha256[:12]}{_ENDINGS[file.kind]}"
