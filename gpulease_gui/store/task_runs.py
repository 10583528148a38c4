"""How are tasks that ran on nodes kept, so that a killed program loses no more than the last seconds of one?"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.task import TaskEnd, TaskPoint, TaskRun, TaskSpec
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import maybe_utc_text, storable, utc_from, utc_text
from gpulease_gui.store.evidence import save_blobs, save_run_evidence
from gpulease_gui.store.records import EvidenceBlob, Run, RunEvidence
from gpulease_gui.store.runs import save_run
from gpulease_gui.store.task_codec import points_packed, points_unpacked, run_from, run_text, spec_from, spec_text

if TYPE_CHECKING:
    from sqlite_utils import Database

CUT_BY_THE_END = Text("cut by the end of the program", "因程序退出而中断")
_AGAIN = Text("run the task again; its log is kept as far as it had come", "请重新运行该任务；日志已保存到中断为止")


def _no_run(word: str) -> Text:
    return Text(f"there is no task run {word!r}", f"没有任务运行 {word!r}")


def begin_task_run(db: Database, task: TaskRun, run: Run) -> None:
    """Begin the run of a task, all or nothing: `run` is the record that its evidence and findings will belong to.

    Secrets are never written. Raises UsageError if the two differ in id or node, and as `save_run` does.
    """
    if (task.id, task.node_id) != (run.id, run.node_id):
        raise UsageError(Text(f"task run {task.id!r} is no part of run {run.id!r}", f"任务运行 {task.id!r} 不属于验收 {run.id!r}"))
    with db.atomic():
        save_run(db, run)
        db.table("task_runs").insert({"run_id": task.id, "node_id": task.node_id, "task": storable(task.spec.name), **_row(task, task.started_at)})
        _add_points(db, task.id, task.reading.points if task.reading else ())


def add_task_points(db: Database, run_id: str, points: Sequence[TaskPoint], *, at: datetime) -> None:
    """Keep the next points of a running task's curve, in order; `at` (UTC) is a sign of life."""
    with db.atomic():
        _add_points(db, run_id, points)
        _seen(db, run_id, at)


def add_task_log(db: Database, run_id: str, piece: bytes, *, at: datetime) -> None:
    """Keep the next piece of a running task's log, cleaned of secrets by the caller, bounded by the caller."""
    if piece:
        row = (run_id, zlib.compress(piece, 6), len(piece))
        db.conn.execute("INSERT INTO task_log_pieces (run_id, zlib_bytes, full_size) VALUES (?, ?, ?)", row)
    _seen(db, run_id, at)


def update_task_run(db: Database, task: TaskRun, *, at: datetime) -> None:
    """Keep what became known while it runs (such as its environment). Raises UsageError for an unknown run."""
    _update(db, task, at)


def finish_task_run(db: Database, task: TaskRun, blobs: Iterable[EvidenceBlob] = (), lines: Iterable[RunEvidence] = ()) -> None:
    """End the run of a task with its log as evidence, all or nothing.

    The pieces of log and curve that were kept on the way are replaced by the evidence and by the curve of `task.reading`, as
    far as these are given. Raises UsageError for a run that has no end or is unknown, sqlite3.IntegrityError for a log whose
    content is neither given nor kept.
    """
    if task.end is None or task.ended_at is None:
        raise UsageError(Text(f"task run {task.id!r} has no end", f"任务运行 {task.id!r} 没有结束时间"))
    with db.atomic():
        save_blobs(db, blobs)
        for line in lines:
            save_run_evidence(db, line)
        _update(db, task, task.ended_at)
        if task.reading is not None and task.reading.points:
            db.conn.execute("DELETE FROM task_curves WHERE run_id = ?", (task.id,))
            _add_points(db, task.id, task.reading.points)
        if task.log_sha256 is not None:
            db.conn.execute("DELETE FROM task_log_pieces WHERE run_id = ?", (task.id,))


def _row(task: TaskRun, seen_at: datetime) -> dict[str, str | int | None]:
    return {
        "started_at": utc_text(task.started_at), "ended_at": maybe_utc_text(task.ended_at), "seen_at": utc_text(seen_at), "ending": task.end,
        "exit_code": task.exit_code, "log_sha256": task.log_sha256, "document": run_text(replace(task, spec=task.spec.hidden())),
    }  # fmt: skip


def _update(db: Database, task: TaskRun, at: datetime) -> None:
    row = _row(task, at)
    columns = ", ".join(f"{name} = :{name}" for name in row)
    if db.conn.execute(f"UPDATE task_runs SET {columns} WHERE run_id = :run_id", {**row, "run_id": task.id}).rowcount != 1:
        raise UsageError(_no_run(task.id))


def _add_points(db: Database, run_id: str, points: Sequence[TaskPoint]) -> None:
    if not points:
        return
    units, content = points_packed(points)
    (first,) = db.conn.execute("SELECT coalesce(max(first + count), 0) FROM task_curves WHERE run_id = ?", (run_id,)).fetchone()
    db.conn.execute(
        "INSERT INTO task_curves (run_id, first, count, units, float64_bytes) VALUES (?, ?, ?, ?, ?)", (run_id, first, len(points), units, content)
    )


def _seen(db: Database, run_id: str, at: datetime) -> None:
    db.conn.execute("UPDATE task_runs SET seen_at = ? WHERE run_id = ?", (utc_text(at), run_id))


def cut_unfinished_tasks(connection: sqlite3.Connection) -> int:
    """End the tasks whose program was killed, at their last sign of life; how many."""
    rows = connection.execute("SELECT run_id, seen_at, document FROM task_runs WHERE ending IS NULL").fetchall()
    for run_id, seen_at, document in rows:
        begun, end = run_from(document), utc_from(seen_at)
        seconds = max(0.0, (end - begun.started_at).total_seconds())
        cut = replace(begun, ended_at=end, end=TaskEnd.CUT, seconds=seconds, reason=CUT_BY_THE_END, next_step=_AGAIN)
        connection.execute(
            "UPDATE task_runs SET ended_at = ?, ending = ?, document = ? WHERE run_id = ?", (seen_at, TaskEnd.CUT, run_text(cut), run_id)
        )
    return len(rows)


def get_task_run(connection: sqlite3.Connection, run_id: str) -> TaskRun:
    """The run with its curve as far as it has a reading. Raises UsageError for an unknown id."""
    row = connection.execute("SELECT document FROM task_runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise UsageError(_no_run(run_id))
    return run_from(row[0], task_points(connection, run_id))


def find_task(connection: sqlite3.Connection, run_id: str) -> TaskRun | None:
    """The task of a run, without the points of its curve; None for a run that is no task."""
    row = connection.execute("SELECT document FROM task_runs WHERE run_id = ?", (run_id,)).fetchone()
    return run_from(row[0]) if row else None


def find_task_run(connection: sqlite3.Connection, word: str) -> TaskRun:
    """The run whose id begins with `word`. Raises UsageError if none or several do."""
    rows = connection.execute("SELECT run_id FROM task_runs WHERE substr(run_id, 1, length(?1)) = ?1 LIMIT 2", (word,)).fetchall()
    if word and len(rows) == 1:
        return get_task_run(connection, rows[0][0])
    raise UsageError(Text(f"several task runs begin with {word!r}", f"有多次任务运行以 {word!r} 开头") if rows else _no_run(word))


def list_task_runs(
    connection: sqlite3.Connection, *, node_id: str | None = None, task: str | None = None, limit: int = 500
) -> tuple[TaskRun, ...]:
    """The newest runs of tasks, of a node or of a task by name if given, without the points of their curves."""
    rows = connection.execute(
        "SELECT document FROM task_runs WHERE (:node IS NULL OR node_id = :node) AND (:task IS NULL OR task = :task) "
        "ORDER BY started_at DESC, rowid DESC LIMIT :limit",
        {"node": node_id, "task": task, "limit": limit},
    )
    return tuple(run_from(document) for (document,) in rows)


def task_points(connection: sqlite3.Connection, run_id: str) -> tuple[TaskPoint, ...]:
    """The curve of a run as far as it was kept, in order."""
    rows = connection.execute("SELECT units, count, float64_bytes FROM task_curves WHERE run_id = ? ORDER BY first", (run_id,))
    return tuple(point for row in rows for point in points_unpacked(*row))


def task_log_so_far(connection: sqlite3.Connection, run_id: str) -> bytes:
    """The log of a run that has no evidence yet, because it runs or was cut; empty once the evidence holds it."""
    rows = connection.execute("SELECT zlib_bytes, full_size FROM task_log_pieces WHERE run_id = ? ORDER BY entry", (run_id,))
    return b"".join(zlib.decompressobj().decompress(packed, size) for packed, size in rows)


def save_task_spec(db: Database, spec: TaskSpec, *, at: datetime) -> None:
    """Keep a task under its name, in place of one of that name; without the values of secrets. Raises UsageError without a name."""
    if not spec.name.strip():
        raise UsageError(Text("a task needs a name", "任务需要名称"), next_step=Text("write one, such as llama-7b fine-tuning", "请填写名称，如 llama-7b 微调"))
    row = {"name": storable(spec.name.strip()), "saved_at": utc_text(at), "document": spec_text(replace(spec, name=spec.name.strip()))}
    db.table("task_specs").upsert(row, pk="name")


def list_task_specs(connection: sqlite3.Connection) -> tuple[TaskSpec, ...]:
    """The saved tasks by name; secret variables are empty and must be asked for."""
    return tuple(spec_from(document) for (document,) in connection.execute("SELECT document FROM task_specs ORDER BY name"))


def get_task_spec(connection: sqlite3.Connection, name: str) -> TaskSpec:
    """Raises UsageError for an unknown name."""
    row = connection.execute("SELECT document FROM task_specs WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise UsageError(Text(f"there is no saved task {name!r}", f"没有已保存的任务 {name!r}"))
    return spec_from(row[0])


def remove_task_spec(db: Database, name: str) -> None:
    """Forget a saved task; its runs stay. None is no error."""
    db.conn.execute("DELETE FROM task_specs WHERE name = ?", (name,))


@dataclass(frozen=True, slots=True)
class Reference:
    """The run that other runs of a task are compared with: since when (UTC), who said so, and why."""

    task: str
    run_id: str
    at: datetime
    by: str
    why: str = ""


def mark_reference(db: Database, run_id: str, *, at: datetime, by: str, why: str = "") -> Reference:
    """Make a run the reference of its task, in place of an earlier one, which stays in the history. Raises UsageError (unknown)."""
    row = db.conn.execute("SELECT task FROM task_runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise UsageError(_no_run(run_id))
    _mark(db, row[0], run_id, at, by, why)
    return Reference(row[0], run_id, at, by, why)


def unmark_reference(db: Database, task: str, *, at: datetime, by: str, why: str = "") -> None:
    """From now on the task has no reference."""
    _mark(db, task, None, at, by, why)


def _mark(db: Database, task: str, run_id: str | None, at: datetime, by: str, why: str) -> None:
    db.table("task_references").insert(
        {"task": task, "run_id": run_id, "marked_at": utc_text(at), "marked_by": storable(by), "why": storable(why)}
    )


def list_references(connection: sqlite3.Connection) -> tuple[Reference, ...]:
    """The references that hold now, by task."""
    rows = connection.execute(
        "SELECT task, run_id, marked_at, marked_by, why FROM task_references WHERE entry IN "
        "(SELECT max(entry) FROM task_references GROUP BY task) AND run_id IS NOT NULL ORDER BY task"
    )
    return tuple(Reference(task, run_id, utc_from(at), by, why) for task, run_id, at, by, why in rows)


def reference_of(connection: sqlite3.Connection, task: str) -> Reference | None:
    """The reference of a task; None if it has none."""
    return next((one for one in list_references(connection) if one.task == task), None)
