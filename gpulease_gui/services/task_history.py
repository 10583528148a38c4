"""Which tasks ran where, what did they say, and how do they stand beside the run that is kept as the reference?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.finding import Finding, Verdict, worst
from gpulease_gui.domain.task import TaskReading, TaskRun, TaskSpec
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_log import read_log, without_head
from gpulease_gui.services.task_compare import Comparison, compare
from gpulease_gui.services.task_cost import TaskCost, task_cost_in
from gpulease_gui.services.task_log import reading_of
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store import evidence, nodes, runs, suppliers, task_runs
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.task_runs import CUT_BY_THE_END, Reference

BY = "user"
NO_REFERENCE = Text("no run of this task is kept as the reference", "该任务还没有选定参考运行")


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One line of the list of runs, without the points of its curve. `verdict` None: nothing was judged."""

    run: TaskRun
    node: str
    supplier: str
    verdict: Verdict | None
    is_reference: bool


@dataclass(frozen=True, slots=True)
class OpenedTask:
    """A run with all that is kept of it. `log`: whole, head and tail, or as far as it had come when the program died."""

    line: TaskLine
    run: TaskRun
    findings: tuple[Finding, ...]
    log: bytes
    reference: Reference | None
    cost: TaskCost

    @property
    def cut_by_the_end(self) -> bool:
        """Whether the program was killed while it ran."""
        return self.run.reason == CUT_BY_THE_END


def task_lines(connection: Reader, *, node_id: str | None = None, task: str | None = None, limit: int = 500) -> tuple[TaskLine, ...]:
    """The newest runs of tasks, of a node or of a task by name if given."""
    marked = {one.run_id for one in task_runs.list_references(connection)}
    names = _names(connection)
    found = task_runs.list_task_runs(connection, node_id=node_id, task=task, limit=limit)
    return tuple(_line(connection, run, names, run.id in marked) for run in found)


def open_task(connection: Reader, word: str) -> OpenedTask:
    """The run whose id begins with `word`. Raises UsageError if none or several do."""
    run = task_runs.find_task_run(connection, word)
    log = without_head(evidence.get_content(connection, run.log_sha256)) if run.log_sha256 else task_runs.task_log_so_far(connection, run.id)
    run = _with_reading(connection, run, log)
    reference = task_runs.reference_of(connection, run.spec.name)
    line = _line(connection, run, _names(connection), reference is not None and reference.run_id == run.id)
    cost = task_cost_in(connection, run, run.started_at.astimezone().date())
    return OpenedTask(line, run, _findings(connection, run.id), log, reference, cost)


def _with_reading(connection: Reader, run: TaskRun, log: bytes) -> TaskRun:
    """A run that was cut has no reading of its own: what was saved of its log is read now."""
    if run.reading is not None:
        return run
    points = task_runs.task_points(connection, run.id)
    reading: TaskReading | None
    try:
        reading = reading_of(read_log([log.decode("utf-8", "replace")], run.spec.pattern), points)
    except (Unreadable, UsageError):
        reading = TaskReading("", len(points), None, None, None, (), (), log.count(b"\n"), points) if points else None
    return replace(run, reading=reading)


def mark_reference(db: Database, run_id: str, *, at: datetime, by: str = BY, why: str = "") -> Reference:
    """Compare other runs of this task with this one from now on. Raises UsageError for a run without a speed or a loss."""
    run = task_runs.get_task_run(db.conn, run_id)
    if run.reading is None or not (run.reading.rates or run.reading.points):
        raise UsageError(
            Text("this run can't be a reference", "此次运行不能作为参考运行"), Text("its log told neither loss nor speed", "日志中既没有 loss 也没有速度"),
            Text("choose a run whose curve is shown", "请选择显示了曲线的运行"),
        )  # fmt: skip
    return task_runs.mark_reference(db, run_id, at=at, by=by, why=why)


def unmark_reference(db: Database, task: str, *, at: datetime, by: str = BY, why: str = "") -> None:
    """From now on the task has no reference."""
    task_runs.unmark_reference(db, task, at=at, by=by, why=why)


def compare_with_reference(connection: Reader, run_id: str, catalogue: Catalogue) -> Comparison:
    """The run beside the reference of its task, judged by the figures as they stand now.

    Raises UsageError where the task has no reference, or this run is it.
    """
    run = open_task(connection, run_id).run
    reference = task_runs.reference_of(connection, run.spec.name)
    if reference is None:
        raise UsageError(NO_REFERENCE, next_step=Text("open the run of a node that you trust and keep it as the reference", "请打开可信节点的运行，并将其设为参考运行"))
    return compare_two(connection, run_id, reference.run_id, catalogue)


def compare_two(connection: Reader, run_id: str, reference_id: str, catalogue: Catalogue) -> Comparison:
    """Any run beside any other one, such as those of two suppliers. Raises UsageError for one and the same run."""
    run, reference = open_task(connection, run_id).run, open_task(connection, reference_id).run
    if run.id == reference.id:
        raise UsageError(Text("this run is the reference itself", "此次运行就是参考运行本身"), next_step=Text("choose a run of another node", "请选择其他节点的运行"))
    others = task_runs.list_task_runs(connection, node_id=run.node_id, task=run.spec.name, limit=20)
    again = [one for one in others if one.id not in (run.id, reference.id) and one.spec.command == run.spec.command]
    return compare(run, reference, Promise(catalogue, thresholds=effective(connection)), again)


def save_task(db: Database, spec: TaskSpec, *, at: datetime) -> None:
    """Keep a task under its name for later; values of secrets are never kept. Raises UsageError without a name."""
    task_runs.save_task_spec(db, spec, at=at)


def saved_tasks(connection: Reader) -> tuple[TaskSpec, ...]:
    """The saved tasks by name; their secret variables are empty and must be asked for."""
    return task_runs.list_task_specs(connection)


def remove_task(db: Database, name: str) -> None:
    """Forget a saved task; its runs stay."""
    task_runs.remove_task_spec(db, name)


def _names(connection: Reader) -> dict[str, tuple[str, str]]:
    """Node id -> (name of the node, of its supplier; "" without a contract)."""
    names = {one.id: one.name for one in suppliers.list_suppliers(connection)}
    of_contract = {one.id: names.get(one.supplier_id, "") for one in suppliers.list_contracts(connection)}
    return {node.id: (node.name, of_contract.get(node.contract_id or "", "")) for node in nodes.list_nodes(connection)}


def _line(connection: Reader, run: TaskRun, names: dict[str, tuple[str, str]], is_reference: bool) -> TaskLine:
    name, supplier = names.get(run.node_id, (run.node_id, ""))
    return TaskLine(run, name, supplier, _verdict(_findings(connection, run.id)), is_reference)


def _findings(connection: Reader, run_id: str) -> tuple[Finding, ...]:
    return tuple(stored.finding for stored in runs.list_current_findings(connection, run_id))


def _verdict(findings: Sequence[Finding]) -> Verdict | None:
    return worst(f.verdict for f in findings) if findings else None
