"""A process that keeps the curve and the log of a task for ever and prints how much is saved; the test kills it."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import SourceKind, TaskPoint, TaskRun, TaskSource, TaskSpec
from gpulease_gui.store import task_runs
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run
from gpulease_gui.store.workspace import Workspace


def main() -> None:
    workspace = Workspace.open(Path(sys.argv[1]))
    begin = utc_now()
    task = TaskRun("task1", TaskSpec("tiny", TaskSource(SourceKind.SCRIPT, "train.py")), "n1", begin)
    workspace.submit(lambda db: save_node(db, Node("n1", "this computer", Reach.LOCAL))).result()
    workspace.submit(lambda db: task_runs.begin_task_run(db, task, Run("task1", "n1", begin, original_id="task1"))).result()
    number = 0
    while True:
        points = [TaskPoint(float(n), n, 9.0 - n / 1e4, (("s/step", 0.5),)) for n in range(number, number + 5)]
        piece = "".join(f"iter {p.step}: loss {p.loss}, time 500.00ms\n" for p in points).encode()
        at = begin + timedelta(seconds=number)
        workspace.submit(lambda db, own=points, at=at: task_runs.add_task_points(db, "task1", own, at=at)).result()
        workspace.submit(lambda db, own=piece, at=at: task_runs.add_task_log(db, "task1", own, at=at)).result()
        number += 5
        print(number, flush=True)


if __name__ == "__main__":
    main()
