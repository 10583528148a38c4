"""How are runs and their findings saved, so that nothing that was shown can be lost or changed?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.finding import Finding, Value, Verdict
from gpulease_gui.domain.node import HostKey, Reach
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import (
    finding_from,
    finding_text,
    maybe_utc_from,
    maybe_utc_text,
    pairs_from,
    pairs_text,
    storable,
    utc_from,
    utc_text,
)
from gpulease_gui.store.evidence import save_blobs, save_run_evidence
from gpulease_gui.store.inspection import is_demo
from gpulease_gui.store.records import EvidenceBlob, Run, RunEvidence, RunKind, RunState, StoredFinding, new_id

if TYPE_CHECKING:
    from sqlite_utils import Database

_RUN = (
    "SELECT id, node_id, started_at, contract_id, finished_at, state, overall, tool_version, host_key_type, "
    "host_key_fingerprint, demo, clock_offset_s, terms, kind, "
    "original_id FROM runs"
)
_FINDING = "SELECT id, run_id, saved_at, document FROM findings"


def save_run(db: Database, run: Run) -> None:
    """Begin a run. Raises UserFacing for a demo node in a real workspace or the reverse.

    Also sqlite3.IntegrityError for an unknown node or contract, or a run that was begun before.
    """
    _refuse_other_kind(db.conn, run)
    key = run.host_key
    row = {
        "id": run.id, "node_id": run.node_id, "contract_id": run.contract_id, "started_at": utc_text(run.started_at),
        "finished_at": maybe_utc_text(run.finished_at), "state": run.state, "overall": run.overall,
        "tool_version": run.tool_version, "host_key_type": key.kind if key else None,
        "host_key_fingerprint": key.fingerprint if key else None, "demo": int(run.demo),
        "clock_offset_s": run.clock_offset_s, "terms": pairs_text(run.terms),
        "kind": run.kind, "original_id": run.original_id,
    }  # fmt: skip
    db.table("runs").insert(row)


def _refuse_other_kind(connection: sqlite3.Connection, run: Run) -> None:
    found = connection.execute("SELECT name, reach FROM nodes WHERE id = ?", (run.node_id,)).fetchone()
    demo_file = is_demo(connection)
    demo_node = found is not None and found[1] == Reach.DEMO
    if found is None or demo_node == demo_file == run.demo:
        return
    of_demo = demo_node or run.demo
    raise UserFacing(
        Text(f"{found[0]} can't be verified in this workspace", f"{found[0]} 不能在此工作区验收"),
        Text(f"{'a demo' if of_demo else 'a real'} run does not belong in a {'demo' if demo_file else 'real'} workspace",
             f"{'演示' if of_demo else '真实'}验收不能存入{'演示' if demo_file else '真实'}工作区"),
        Text(f"open {'a real' if demo_file else 'the demo'} workspace for it", f"请为它打开{'真实' if demo_file else '演示'}工作区"),
    )  # fmt: skip


def save_connection(db: Database, run_id: str, *, host_key: HostKey | None, clock_offset_s: float | None) -> None:
    """Note whom a run reached: the host key, and the node's clock minus ours in seconds (None = not read)."""
    db.conn.execute(
        "UPDATE runs SET host_key_type = ?, host_key_fingerprint = ?, clock_offset_s = ? WHERE id = ?",
        (host_key.kind if host_key else None, host_key.fingerprint if host_key else None, clock_offset_s, run_id),
    )


def finish_run(db: Database, run_id: str, state: RunState, finished_at: datetime, overall: Verdict | None) -> None:
    """End a run that is running. Raises UsageError if it is over or unknown."""
    cursor = db.conn.execute(
        "UPDATE runs SET state = ?, finished_at = ?, overall = ? WHERE id = ? AND state = 'running'",
        (state, utc_text(finished_at), overall, run_id),
    )
    if cursor.rowcount != 1:
        raise UsageError(Text(f"run {run_id!r} is not running", f"验收 {run_id!r} 不在执行中"))


_COLUMNS = ("id", "run_id", "saved_at", "document", "check_id", "term", "direction", "verdict", "required", "promised", "measured",
            "unit", "basis", "reason", "reason_code", "rule_version")  # fmt: skip
# One statement for all: a run of a hundred nodes keeps nine thousand findings while the window is in sight.
_SAVE_FINDING = f"INSERT INTO findings ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"


def save_finding(
    db: Database, run_id: str, finding: Finding, blobs: Iterable[EvidenceBlob] = (), lines: Iterable[RunEvidence] = (),
    *, saved_at: datetime,
) -> StoredFinding:  # fmt: skip
    """Keep a finding with its evidence, all or nothing; a finding that is kept already is never replaced.

    `blobs` that are kept already (by hash) and `lines` (by id) may be given again. Raises sqlite3.IntegrityError for
    a hash in `finding.evidence` whose content is neither given nor kept.
    """
    stored = StoredFinding(new_id(), run_id, saved_at, finding)
    with db.atomic():
        save_blobs(db, blobs)
        for line in lines:
            save_run_evidence(db, line)
        db.conn.execute(_SAVE_FINDING, finding_row(stored))
        db.conn.executemany(
            "INSERT INTO finding_evidence (finding_id, position, sha256) VALUES (?, ?, ?)",
            [(stored.id, position, sha256) for position, sha256 in enumerate(finding.evidence)],
        )
    return stored


def finding_row(stored: StoredFinding) -> dict[str, str | int | None]:
    """`document` is the finding; the other columns are for queries and for readers with other tools."""
    finding = stored.finding
    return {
        "id": stored.id, "run_id": stored.run_id, "saved_at": utc_text(stored.saved_at),
        "document": finding_text(finding), "check_id": finding.check, "term": finding.term,
        "direction": finding.direction, "verdict": finding.verdict, "required": int(finding.required),
        "promised": _shown(finding.promised), "measured": _shown(finding.measured), "unit": finding.unit,
        "basis": finding.basis, "reason": storable(finding.reason.en), "reason_code": finding.reason_code,
        "rule_version": finding.rule_version,
    }  # fmt: skip


def _shown(value: Value) -> str | None:
    return None if value is None else storable(str(value))


def interrupt_unfinished(connection: sqlite3.Connection) -> int:
    """Mark runs whose process was killed; how many. The end is the last sign of life: their newest finding."""
    return connection.execute(
        "UPDATE runs SET state = 'interrupted', finished_at = "
        "(SELECT max(saved_at) FROM findings WHERE findings.run_id = runs.id) WHERE state = 'running'"
    ).rowcount


def list_runs(
    connection: sqlite3.Connection, *, node_id: str | None = None, contract_id: str | None = None, parts: bool = False
) -> tuple[Run, ...]:
    """Whole verifications, newest first, of a node or contract if given; with `parts` also those of some checks only.

    Runs that were only judged again are no news of a node.
    """
    rows = connection.execute(
        f"{_RUN} WHERE kind = 'verified' AND (:parts OR original_id IS NULL) AND (:node IS NULL OR node_id = :node) "
        "AND (:contract IS NULL OR contract_id = :contract) ORDER BY started_at DESC, rowid DESC",
        {"node": node_id, "contract": contract_id, "parts": parts},
    )
    return tuple(_run(*row) for row in rows)


def list_parts(connection: sqlite3.Connection, run_id: str) -> tuple[Run, ...]:
    """The runs of some checks that join this whole one, oldest first."""
    rows = connection.execute(
        f"{_RUN} WHERE kind = 'verified' AND original_id = ? AND id <> original_id ORDER BY started_at, rowid", (run_id,)
    )
    return tuple(_run(*row) for row in rows)


def list_rejudged(connection: sqlite3.Connection, original_id: str) -> tuple[Run, ...]:
    """The runs that judged the evidence of this one again, newest first."""
    rows = connection.execute(
        f"{_RUN} WHERE kind = 'rejudged' AND original_id = ? ORDER BY started_at DESC, rowid DESC", (original_id,)
    )
    return tuple(_run(*row) for row in rows)


def find_run(connection: sqlite3.Connection, word: str) -> Run:
    """The run whose id begins with `word`. Raises UsageError if none or several do."""
    rows = connection.execute(f"{_RUN} WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2", (word,)).fetchall()
    if word and len(rows) == 1:
        return _run(*rows[0])
    raise UsageError(Text(f"several runs begin with {word!r}", f"有多次验收以 {word!r} 开头") if rows else Text(f"there is no run {word!r}", f"没有验收 {word!r}"))


def get_run(connection: sqlite3.Connection, run_id: str) -> Run:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_RUN} WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no run {run_id!r}", f"没有验收 {run_id!r}"))
    return _run(*row)


def get_latest_run(connection: sqlite3.Connection, node_id: str) -> Run | None:
    """The newest whole run of a node; None if it was never verified."""
    row = connection.execute(
        f"{_RUN} WHERE kind = 'verified' AND original_id IS NULL AND node_id = ? ORDER BY started_at DESC, rowid DESC LIMIT 1", (node_id,)
    ).fetchone()
    return None if row is None else _run(*row)


def list_latest_runs(connection: sqlite3.Connection, contract_id: str | None = None) -> tuple[Run, ...]:
    """The newest whole run of each node, of the nodes' runs for one contract if given; newest first."""
    rows = connection.execute(
        f"{_RUN} WHERE rowid IN (SELECT first_value(rowid) OVER (PARTITION BY node_id ORDER BY started_at DESC, rowid "
        "DESC) FROM runs WHERE kind = 'verified' AND original_id IS NULL AND (:contract IS NULL OR contract_id = :contract)) "
        "ORDER BY started_at DESC, rowid DESC",
        {"contract": contract_id},
    )
    return tuple(_run(*row) for row in rows)


def list_findings(connection: sqlite3.Connection, run_id: str) -> tuple[StoredFinding, ...]:
    """Every finding of a run in the order of saving, those that were measured again later included."""
    return tuple(_stored(*row) for row in connection.execute(f"{_FINDING} WHERE run_id = ? ORDER BY entry", (run_id,)))


def list_current_findings(connection: sqlite3.Connection, run_id: str) -> tuple[StoredFinding, ...]:
    """The newest finding of each (check, term, direction) of a run, in the order of saving."""
    rows = connection.execute(
        f"{_FINDING} WHERE entry IN "
        "(SELECT max(entry) FROM findings WHERE run_id = ? GROUP BY check_id, term, direction) ORDER BY entry",
        (run_id,),
    )
    return tuple(_stored(*row) for row in rows)


def list_term_findings(connection: sqlite3.Connection, contract_id: str, term: str) -> tuple[StoredFinding, ...]:
    """What all verifications for a contract found of one term, newest first."""
    rows = connection.execute(
        "SELECT f.id, f.run_id, f.saved_at, f.document FROM runs JOIN findings f ON f.run_id = runs.id "
        "WHERE runs.kind = 'verified' AND runs.contract_id = ? AND f.term = ? ORDER BY f.entry DESC",
        (contract_id, term),
    )
    return tuple(_stored(*row) for row in rows)


def get_finding(connection: sqlite3.Connection, finding_id: str) -> StoredFinding:
    """Raises UsageError for an unknown id."""
    row = connection.execute(f"{_FINDING} WHERE id = ?", (finding_id,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no finding {finding_id!r}", f"没有检查结果 {finding_id!r}"))
    return _stored(*row)


def _stored(id_: str, run_id: str, saved_at: str, document: str) -> StoredFinding:
    return StoredFinding(id_, run_id, utc_from(saved_at), finding_from(document))


def _run(
    id_: str, node_id: str, started: str, contract_id: str | None, finished: str | None, state: str,
    overall: str | None, version: str, key_type: str | None, fingerprint: str | None, demo: int,
    offset_s: float | None, terms: str, kind: str, original_id: str | None,
) -> Run:  # fmt: skip
    key = HostKey(key_type, fingerprint) if key_type is not None and fingerprint is not None else None
    return Run(
        id_, node_id, utc_from(started), contract_id, maybe_utc_from(finished), RunState(state),
        Verdict(overall) if overall is not None else None, version, key, bool(demo), offset_s, _terms(terms),
        RunKind(kind), original_id,
    )  # fmt: skip


def _terms(text: str) -> tuple[tuple[str, TermValue], ...]:
    return tuple((key, value) for key, value in pairs_from(text) if value is not None)
