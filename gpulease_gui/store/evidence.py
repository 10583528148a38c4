"""How is raw output kept, once per content and under its hash?"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import utc_from, utc_text
from gpulease_gui.store.records import EvidenceBlob, RunEvidence, new_id

if TYPE_CHECKING:
    from sqlite_utils import Database

_RUN_EVIDENCE = (
    "SELECT id, run_id, fact_id, command, collected_at, exit_code, seconds, stdout_sha256, stderr_sha256, stdout_cut, "
    "stderr_cut FROM run_evidence"
)


def collected(
    run_id: str, fact_id: str, command: str, output: CommandOutput, at: datetime
) -> tuple[RunEvidence, tuple[EvidenceBlob, ...]]:
    """What is to be saved of one output: the line and its blobs (standard error only if there is some).

    Packs the bytes, so call it in the thread that read them, not in the writer's. `at` is UTC on our clock.
    """
    blobs = [EvidenceBlob.of(output.stdout, cut=output.stdout_cut)]
    if output.stderr:
        blobs.append(EvidenceBlob.of(output.stderr, cut=output.stderr_cut))
    line = RunEvidence(
        new_id(), run_id, fact_id, command, at, output.exit_code, output.seconds, blobs[0].sha256,
        blobs[1].sha256 if output.stderr else None, output.stdout_cut, output.stderr_cut,
    )  # fmt: skip
    return line, tuple(blobs)


def save_blobs(db: Database, blobs: Iterable[EvidenceBlob]) -> None:
    """Keep each content that is not kept yet."""
    db.conn.executemany(
        "INSERT INTO evidence (sha256, zlib_bytes, full_size, cut) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(blob.sha256, blob.packed, blob.full_size, int(blob.cut)) for blob in blobs],
    )


def full_sizes(connection: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, int]:
    """SHA-256 -> size in bytes of those contents that are kept."""
    wanted = tuple(hashes)
    marks = ", ".join("?" * len(wanted))
    return dict(connection.execute(f"SELECT sha256, full_size FROM evidence WHERE sha256 IN ({marks})", wanted))


def save_run_evidence(db: Database, line: RunEvidence, blobs: Iterable[EvidenceBlob] = ()) -> None:
    """Keep how one output came to be, with its content; a line that is kept already stays as it is.

    Raises sqlite3.IntegrityError for a hash whose content is neither given nor kept.
    """
    save_blobs(db, blobs)
    db.conn.execute(
        "INSERT INTO run_evidence (id, run_id, fact_id, command, collected_at, exit_code, seconds, stdout_sha256, "
        "stderr_sha256, stdout_cut, stderr_cut) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (
            line.id, line.run_id, line.fact_id, line.command, utc_text(line.collected_at), line.exit_code,
            line.seconds, line.stdout_sha256, line.stderr_sha256, int(line.stdout_cut), int(line.stderr_cut),
        ),
    )  # fmt: skip


def list_run_evidence(connection: sqlite3.Connection, run_id: str) -> tuple[RunEvidence, ...]:
    """All outputs of a run in the order in which they were saved."""
    rows = connection.execute(f"{_RUN_EVIDENCE} WHERE run_id = ? ORDER BY entry", (run_id,))
    return tuple(_line(*row) for row in rows)


def get_blob(connection: sqlite3.Connection, sha256: str) -> EvidenceBlob:
    """The packed content of `sha256`. Raises UsageError for an unknown hash."""
    row = connection.execute(
        "SELECT sha256, zlib_bytes, full_size, cut FROM evidence WHERE sha256 = ?", (sha256,)
    ).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no evidence {sha256!r}", f"没有证据 {sha256!r}"))
    return EvidenceBlob(row[0], row[1], row[2], bool(row[3]))


def get_content(connection: sqlite3.Connection, sha256: str) -> bytes:
    """The raw bytes of `sha256`. Raises UsageError for an unknown hash, UserFacing if they no longer fit it."""
    blob = get_blob(connection, sha256)
    # No more than was put in may come out: a planted blob must not fill the memory.
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(blob.packed, blob.full_size or 1)
    except zlib.error:
        content = b""
    if len(content) != blob.full_size or hashlib.sha256(content).hexdigest() != sha256:
        raise UserFacing(
            Text(f"evidence {sha256[:12]} was changed after it was saved", f"证据 {sha256[:12]} 在保存后被改动"), Text("its bytes no longer fit its hash", "内容与其哈希不符"),
            Text("do not rely on it; compare with a backup of the workspace", "请勿依据它；请与工作区备份比对"),
        )  # fmt: skip
    return content


def get_output(connection: sqlite3.Connection, line: RunEvidence) -> CommandOutput:
    """The output as it was collected, for judging it again. Raises as `get_content` does."""
    stderr = get_content(connection, line.stderr_sha256) if line.stderr_sha256 else b""
    return CommandOutput(
        get_content(connection, line.stdout_sha256), stderr, line.exit_code, line.seconds, line.stdout_cut,
        line.stderr_cut,
    )  # fmt: skip


def _line(
    id_: str, run_id: str, fact_id: str, command: str, at: str, exit_code: int | None, seconds: float, stdout: str,
    stderr: str | None, stdout_cut: int, stderr_cut: int,
) -> RunEvidence:  # fmt: skip
    return RunEvidence(
        id_, run_id, fact_id, command, utc_from(at), exit_code, seconds, stdout, stderr, bool(stdout_cut),
        bool(stderr_cut),
    )  # fmt: skip
