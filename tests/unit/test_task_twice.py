"""Is the second slow run of a task a fail, and does a line that breaks before the task starts leave nothing open?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workload import _exit_of
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskSource, TaskSpec
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.remote.transport import Channel, LineLost
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import TaskEnded
from gpulease_gui.services.links import Opened
from gpulease_gui.services.rejudge import rejudge
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.task_runs import TaskOutcome, TaskRequest
from gpulease_gui.services.task_spec import packed
from gpulease_gui.services.task_work import TaskAim, TaskParts, TaskWork
from gpulease_gui.store import runs
from gpulease_gui.store.records import RunState
from gpulease_gui.store.task_runs import get_task_run
from gpulease_gui.store.workspace import Workspace

TERM = "work.tokens_s"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(Workspace.open(tmp_path / "w.gpulease"))
    yield made
    made.close()


def slow(folder: Path, rate: str = "7.5e+05") -> TaskSpec:
    log = "".join(f"step {n:5d} | loss: {9 - n / 10:.4f} | norm: 1.0 | dt: 340.00ms | tok/sec: {rate}\n" for n in range(12))
    (folder / "train.sh").write_text(f"cat <<'X'\n{log}X\n")
    return TaskSpec("own", TaskSource(SourceKind.SCRIPT, str(folder / "train.sh")), time_limit_s=60, serves=((TERM, 1_500_000),))


def test_that_one_slow_run_warns_and_the_second_fails(services: Services, tmp_path: Path) -> None:
    node = node_of(services.workspace, "local")
    found = [services.tasks.run(node, TaskRequest(slow(tmp_path), watch=False), CancelToken()) for _ in range(2)]
    speeds = [next(f for f in one.outcome.findings if f.term == TERM) for one in found]
    assert [(f.verdict, f.reason_code) for f in speeds] == [(Verdict.WARN, "measured_once"), (Verdict.FAIL, "rate_low")]
    assert (_exit_of(found[1]), "50 % in the run before" in speeds[1].reason.en) == (Exit.FAIL, True)
    again = [rejudge(services.workspace, services.catalogue, one.task.id) for one in found]
    assert [next(f.verdict for f in one.outcome.findings if f.term == TERM) for one in again] == [Verdict.WARN, Verdict.FAIL]


class Broken:
    """A line on which nothing can be started any more."""

    name, alive, lost_at = "node", False, NO_TEXT

    def __init__(self, trouble: UserFacing) -> None:
        self.trouble = trouble

    def open(self, exec_string: str) -> Channel:
        raise self.trouble

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("trouble", "end"), [(LineLost("node", "the far end hung up"), TaskEnd.CUT), (UserFacing("no session", "administratively prohibited"), TaskEnd.ERROR)]
)
def test_that_a_task_whose_line_breaks_before_it_starts_is_ended_and_told(services: Services, tmp_path: Path, trouble: UserFacing, end: TaskEnd) -> None:
    told: list[TaskEnded] = []
    services.bus.subscribe(lambda event: told.append(event) if isinstance(event, TaskEnded) else None)
    node: Node = node_of(services.workspace, "local")
    spec = slow(tmp_path)
    aim = TaskAim(node, spec, packed(spec), dict(spec.serves), None, None, watch=False)
    parts = TaskParts(services.workspace, services.bus, services.catalogue, services.watching)
    found = TaskOutcome(*TaskWork(parts, aim, Opened(Broken(trouble)), utc_now(), None).go(CancelToken()))
    assert (found.task.end, _exit_of(found)) == (end, Exit.NOT_CONNECTED) and trouble.why in found.task.reason.en
    with services.workspace.read() as connection:
        assert get_task_run(connection, found.task.id).end is end and runs.get_run(connection, found.task.id).state is RunState.FINISHED
    assert [event.task.id for event in told] == [found.task.id]
    assert {f.verdict for f in found.outcome.findings} == {Verdict.INCONCLUSIVE}
