"""Do tasks that ran, saved tasks and their references come along to another computer as they are?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.task import (
    SourceKind,
    TaskEnd,
    TaskPoint,
    TaskReading,
    TaskRun,
    TaskSource,
    TaskSpec,
    variable,
)
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.store import nodes, runs, task_runs
from gpulease_gui.store.evidence import collected
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.workspace import Workspace

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SPEC = TaskSpec("llama 微调", TaskSource(SourceKind.FOLDER, "/home/wang/job"), "sh go.sh", (variable("HF_TOKEN", "hf_secret"),))
POINTS = tuple(TaskPoint(n / 3, n, None if n == 3 else 9.0 - n, (("s/step", 0.5),)) for n in range(6))
READING = TaskReading("nanoGPT", 6, 5, 9.0, 4.0, (), (), 6, POINTS)
LOG = CommandOutput(b"iter 0: loss 9.0\n", b"", 0, 3.0)


def add_run(db, id_: str, end: TaskEnd | None) -> None:
    begun = TaskRun(id_, SPEC, "n1", NOW, repeat_command="gpulease workload run n1 --folder /home/wang/job")
    task_runs.begin_task_run(db, begun, Run(id_, "n1", NOW))
    task_runs.add_task_log(db, id_, b"iter 0: loss 9.0\n", at=NOW)
    if end is None:
        return
    line, blobs = collected(id_, "task_log", "task", LOG, NOW)
    done = replace(begun, ended_at=NOW + timedelta(seconds=3), end=end, exit_code=0, log_sha256=blobs[0].sha256, reading=READING)
    task_runs.finish_task_run(db, done, blobs, [line])
    runs.finish_run(db, id_, RunState.FINISHED, NOW + timedelta(seconds=3), None)


def cut_run(db) -> None:
    add_run(db, "t2", None)
    task_runs.cut_unfinished_tasks(db.conn)
    runs.finish_run(db, "t2", RunState.INTERRUPTED, NOW, None)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Workspace]]:
    opened: list[Workspace] = []

    def made(name: str, *steps: Callable[..., object]) -> Workspace:
        opened.append(Workspace.open(tmp_path / f"{name}.db"))
        for step in (lambda db: nodes.save_node(db, Node("n1", "node", Reach.LOCAL)), *steps):
            opened[-1].submit(step).result(30)
        return opened[-1]

    yield made
    for workspace in opened:
        workspace.close()


def said_of(workspace: Workspace) -> bytes:
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def merged(workspace: Workspace, data: bytes) -> object:
    bundle = valid_bundle(parse_bundle(data), CATALOGUE)
    with workspace.read() as connection:
        found = merge_in(connection, bundle, demo=False)
    workspace.submit(lambda db: apply_merge(db, found, "theirs.json")).result(30)
    return found


STEPS = (
    lambda db: add_run(db, "t1", TaskEnd.FINISHED), cut_run, lambda db: add_run(db, "t3", None),
    lambda db: task_runs.save_task_spec(db, SPEC, at=NOW), lambda db: task_runs.mark_reference(db, "t1", at=NOW, by="me", why="first good one"),
)  # fmt: skip


def test_that_tasks_come_out_as_they_went_in_without_paths_and_secrets(make):
    data = said_of(make("here", *STEPS))
    there = make("there")
    merged(there, data)
    assert said_of(there) == data and not merged(there, data).has_work
    assert b"/home/wang" not in data and b"hf_secret" not in data and b'"t3"' not in data
    with there.read() as connection:
        run = task_runs.get_task_run(connection, "t1")
        assert run.reading is not None and run.reading.points == POINTS and (run.end, run.spec.source.place) == (TaskEnd.FINISHED, "job")
        assert task_runs.task_log_so_far(connection, "t2") == b"iter 0: loss 9.0\n"
        assert [(r.run_id, r.why) for r in task_runs.list_references(connection)] == [("t1", "first good one")]
        assert [s.name for s in task_runs.list_task_specs(connection)] == ["llama 微调"]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_that_of_a_saved_task_and_of_a_reference_the_later_one_counts_on_both_sides(make):
    def early(db):
        task_runs.save_task_spec(db, replace(SPEC, command="sh old.sh"), at=NOW)
        task_runs.mark_reference(db, "t1", at=NOW, by="one")

    def late(db):
        task_runs.save_task_spec(db, replace(SPEC, command="sh new.sh"), at=NOW + timedelta(hours=1))
        task_runs.mark_reference(db, "t2", at=NOW + timedelta(hours=1), by="two")

    base = said_of(make("base", STEPS[0], cut_run))
    one, two = make("one"), make("two")
    for workspace, step in ((one, early), (two, late)):
        merged(workspace, base)
        workspace.submit(step).result(30)
    first, second = said_of(one), said_of(two)
    merged(one, second)
    merged(two, first)
    for workspace in (one, two):
        with workspace.read() as connection:
            assert task_runs.get_task_spec(connection, SPEC.name).command == "sh new.sh"
            assert [r.run_id for r in task_runs.list_references(connection)] == ["t2"]
            assert connection.execute("SELECT count(*) FROM task_references").fetchone() == (2,)


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("task_runs", "task", "another"), ("task_runs", "document", "{}"), ("task_curves", "count", 5), ("task_curves", "float64_hex", "0g"),
        ("task_logs", "full_size", 10**9), ("task_logs", "zlib_hex", "00"), ("task_specs", "document", '{"name": 3}'),
        ("task_runs", "log_sha256", "0" * 64), ("task_references", "run_id", "t9"),
    ],
)  # fmt: skip
def test_that_a_damaged_task_is_refused_whole(make, section, field, value):
    said = json.loads(said_of(make("here", *STEPS)))
    said[section][0][field] = value
    there = make("there")
    before = said_of(there)
    with pytest.raises(UserFacing):
        merged(there, json.dumps(said).encode())
    assert said_of(there) == before


def test_that_a_task_that_is_known_with_other_content_is_refused(make):
    here = make("here", *STEPS)
    said = json.loads(said_of(here))
    said["task_runs"][0]["exit_code"] = 1
    with pytest.raises(UserFacing, match="another task_run t1"):
        merged(here, json.dumps(said).encode())
