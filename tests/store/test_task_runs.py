"""Is the run of a task kept as it was, without its secrets, and as far as it had come when the program died?"""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import (
    DOTS,
    ContainerTool,
    SourceKind,
    TaskContainer,
    TaskEnd,
    TaskEnvironment,
    TaskFault,
    TaskPoint,
    TaskRate,
    TaskReading,
    TaskRun,
    TaskSize,
    TaskSource,
    TaskSpec,
    TaskVariable,
    variable,
)
from gpulease_gui.domain.text import Text
from gpulease_gui.store import evidence, runs, task_runs
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.workspace import Workspace

BEGIN = datetime(2026, 11, 30, 8, tzinfo=UTC)
SPEC = TaskSpec(
    "llama 微调", TaskSource(SourceKind.FOLDER, "/home/me/job"), "python train.py --bf16", (variable("HF_TOKEN", "hf_very_secret"), variable("LR", "3e-4")),
    900, True, r"loss (?P<loss>[\d.]+)", (("work.tokens_s", 12000), ("work.step_s", 0.5)), TaskContainer("team/train:1", ContainerTool.PODMAN, "host"),
    TaskSize(123_456, 7), 2.5,
)  # fmt: skip
POINTS = tuple(TaskPoint(n / 3, n, None if n == 7 else 9.1 - n / 10, (("s/step", 0.1 * n),) if n % 2 else ()) for n in range(20))
READING = TaskReading(
    "nanoGPT", 20, 19, 9.1, 7.2, (TaskRate("s/step", 18, 0.5, 0.4, 0.6, -0.01, 2), TaskRate("tokens/s", 2, 1e6, 1e6, 1e6, None, 1)),
    (TaskFault("nan_loss", 8, "iter 7: loss nan <b>"),), 21, POINTS,
)  # fmt: skip


def run(id_: str = "t1", **changes) -> TaskRun:
    return replace(TaskRun(id_, SPEC, "n1", BEGIN), **changes)


def ended(id_: str = "t1", **changes) -> TaskRun:
    told = TaskRun(
        id_, SPEC, "n1", BEGIN, BEGIN + timedelta(seconds=61), TaskEnd.FAILED, 3, Text("exit code 3", "退出码 3"), Text("read it", "请查看"), 61.25, None,
        4096, 1024, READING, TaskEnvironment("550.54", "12.4", "2.6.0+cu124", "3.11", "podman team/train:1", ("GPU-1", "GPU-2")), "/root/job-1", 5000,
        "rm -r /root/job-1", "gpulease workload run n1", 2, False,
    )  # fmt: skip
    return replace(told, **changes)


@pytest.fixture
def workspace(path):
    opened = Workspace.open(path)
    opened.submit(lambda db: save_node(db, Node("n1", "this computer", Reach.LOCAL))).result()
    yield opened
    opened.close()


def begin(workspace: Workspace, id_: str = "t1", **changes) -> None:
    task = run(id_, **changes)
    workspace.submit(lambda db: task_runs.begin_task_run(db, task, Run(id_, "n1", task.started_at, original_id=id_))).result()


def test_that_a_run_comes_back_as_it_was_but_for_its_secrets(workspace, path):
    begin(workspace)
    line, blobs = evidence.collected("t1", "train_log", "python train.py", CommandOutput(b"the log"), BEGIN)
    task = ended(log_sha256=line.stdout_sha256)
    workspace.submit(lambda db: task_runs.finish_task_run(db, task, blobs, [line])).result()
    with workspace.read() as connection:
        kept = task_runs.get_task_run(connection, "t1")
        assert evidence.get_content(connection, kept.log_sha256) == b"the log"
        assert kept == replace(task, spec=SPEC.hidden()) and kept.spec.environment[0].value == DOTS
        assert task_runs.list_task_runs(connection) == (replace(kept, reading=replace(READING, points=())),)
        assert task_runs.find_task_run(connection, "t") == kept
    workspace.close()
    assert b"hf_very_secret" not in b"".join(p.read_bytes() for p in path.parent.iterdir() if p.is_file())


def test_that_pieces_are_kept_while_it_runs_and_replaced_by_the_whole_at_its_end(workspace):
    begin(workspace)
    for n in (0, 10):
        workspace.submit(lambda db, n=n: task_runs.add_task_points(db, "t1", POINTS[n : n + 10], at=BEGIN)).result()
        workspace.submit(lambda db, n=n: task_runs.add_task_log(db, "t1", b"piece %d\n" % n, at=BEGIN)).result()
    with workspace.read() as connection:
        assert task_runs.task_points(connection, "t1") == POINTS
        assert task_runs.task_log_so_far(connection, "t1") == b"piece 0\npiece 10\n"
    line, blobs = evidence.collected("t1", "train_log", "x", CommandOutput(b"whole"), BEGIN)
    task = ended(log_sha256=line.stdout_sha256, reading=replace(READING, points=POINTS[:3]))
    workspace.submit(lambda db: task_runs.finish_task_run(db, task, blobs, [line])).result()
    with workspace.read() as connection:
        assert task_runs.get_task_run(connection, "t1").reading.points == POINTS[:3]
        assert task_runs.task_log_so_far(connection, "t1") == b""


def test_that_a_loss_that_is_no_number_is_kept_as_none(workspace):
    begin(workspace)
    points = [TaskPoint(None, None, math.nan, (("s/step", 0.5),))]
    workspace.submit(lambda db: task_runs.add_task_points(db, "t1", points, at=BEGIN)).result()
    with workspace.read() as connection:
        assert task_runs.task_points(connection, "t1") == (TaskPoint(None, None, None, (("s/step", 0.5),)),)


def test_that_a_task_without_an_end_or_a_start_is_refused(workspace):
    with pytest.raises(UsageError, match="no task run"):
        workspace.submit(lambda db: task_runs.finish_task_run(db, ended("nobody"))).result()
    with pytest.raises(UsageError, match="has no end"):
        workspace.submit(lambda db: task_runs.finish_task_run(db, run())).result()
    with pytest.raises(UsageError, match="no part of run"):
        workspace.submit(lambda db: task_runs.begin_task_run(db, run(), Run("other", "n1", BEGIN))).result()


def test_that_a_saved_task_asks_for_its_secrets_again(workspace):
    workspace.submit(lambda db: task_runs.save_task_spec(db, replace(SPEC, time_limit_s=1), at=BEGIN)).result()
    workspace.submit(lambda db: task_runs.save_task_spec(db, SPEC, at=BEGIN)).result()
    with workspace.read() as connection:
        (kept,) = task_runs.list_task_specs(connection)
        assert kept == replace(SPEC, environment=(TaskVariable("HF_TOKEN", Secret("")), variable("LR", "3e-4")))
        assert task_runs.get_task_spec(connection, SPEC.name) == kept and not kept.environment[0].value
    with pytest.raises(UsageError, match="needs a name"):
        workspace.submit(lambda db: task_runs.save_task_spec(db, replace(SPEC, name=" "), at=BEGIN)).result()
    workspace.submit(lambda db: task_runs.remove_task_spec(db, SPEC.name)).result()
    with workspace.read() as connection, pytest.raises(UsageError, match="no saved task"):
        task_runs.get_task_spec(connection, SPEC.name)


def test_that_the_newest_reference_of_a_task_holds_and_the_earlier_ones_stay_in_the_history(workspace, path):
    begin(workspace, "t1")
    begin(workspace, "t2")
    for id_ in ("t1", "t2"):
        workspace.submit(lambda db, id_=id_: task_runs.mark_reference(db, id_, at=BEGIN, by="me", why="own cluster")).result()
    with workspace.read() as connection:
        assert task_runs.reference_of(connection, SPEC.name) == task_runs.Reference(SPEC.name, "t2", BEGIN, "me", "own cluster")
    workspace.submit(lambda db: task_runs.unmark_reference(db, SPEC.name, at=BEGIN, by="me")).result()
    with workspace.read() as connection:
        assert task_runs.list_references(connection) == ()
        assert connection.execute("SELECT count(*) FROM task_references").fetchone() == (3,)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        workspace.submit(lambda db: db.execute("DELETE FROM task_references")).result()
    with pytest.raises(UsageError, match="no task run"):
        workspace.submit(lambda db: task_runs.mark_reference(db, "nobody", at=BEGIN, by="me")).result()


def test_that_a_task_under_way_when_the_program_is_killed_is_cut_and_keeps_its_log_and_curve(path):
    command = [sys.executable, str(Path(__file__).with_name("task_process.py")), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        shown = [int(process.stdout.readline()) for _ in range(3)]
        process.kill()
        rest, _ = process.communicate(timeout=60)
    saved = max([*shown, *(int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n"))])
    opened = Workspace.open(path)
    with opened.read() as connection:
        task = task_runs.get_task_run(connection, "task1")
        assert (task.end, task.reason) == (TaskEnd.CUT, task_runs.CUT_BY_THE_END)
        assert task.ended_at - task.started_at >= timedelta(seconds=saved - 5) and task.seconds >= saved - 5
        points, log = task_runs.task_points(connection, "task1"), task_runs.task_log_so_far(connection, "task1")
        assert [p.step for p in points] == list(range(len(points))) and len(points) >= saved
        assert log.count(b"\n") >= saved and log.startswith(b"iter 0: loss 9.0,")
        assert runs.get_run(connection, "task1").state is RunState.INTERRUPTED
    opened.close()
