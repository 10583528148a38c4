"""Which tasks of a node belong into the report of its contract, and what stands beside them?"""

from __future__ import annotations

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.task import TaskRun
from gpulease_gui.domain.text import Language, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.as_xlsx import TableCell, xlsx_bytes
from gpulease_gui.reports.facts import TaskBeside, TaskFacts, TaskRow
from gpulease_gui.reports.sections.workload import TASKS_SHOWN
from gpulease_gui.services.task_compare import Comparison
from gpulease_gui.services.task_cost import TaskCost
from gpulease_gui.services.task_history import OpenedTask, compare_two, open_task
from gpulease_gui.store import nodes, runs, task_runs
from gpulease_gui.store.doors import Reader

_SECOND, _STEP, _LOSS = Text("second", "秒"), Text("step", "步"), Text("loss", "损失")
_FIRST, _LAST = Text("first step", "起始步"), Text("last step", "结束步")


def task_facts(connection: Reader, node: Node, contract_id: str, catalogue: Catalogue) -> tuple[TaskFacts, ...]:
    """The tasks that ran on the node for this contract and ended, newest first; those that are shown with all that is known."""
    made = [one for one in task_runs.list_task_runs(connection, node_id=node.id) if one.end is not None]
    own = [one for one in made if runs.get_run(connection, one.id).contract_id == contract_id]
    shown = tuple(_facts(connection, open_task(connection, one.id), catalogue) for one in own[:TASKS_SHOWN])
    return (*shown, *(TaskFacts(one, ()) for one in own[TASKS_SHOWN:]))


def _facts(connection: Reader, opened: OpenedTask, catalogue: Catalogue) -> TaskFacts:
    reference = opened.reference
    beside = None
    if reference is not None and reference.run_id != opened.run.id:
        beside = _beside(connection, compare_two(connection, opened.run.id, reference.run_id, catalogue))
    return TaskFacts(opened.run, opened.findings, opened.line.verdict, beside, cost_lines(opened.cost))


def _beside(connection: Reader, found: Comparison) -> TaskBeside:
    rows = tuple(TaskRow(r.first, r.last, r.loss, r.loss_reference, r.rate, r.rate_reference) for r in found.rows)
    reading = found.reference.reading
    return TaskBeside(
        nodes.get_node(connection, found.reference.node_id).name, found.reference.started_at, found.verdict, found.words, found.unit, rows,
        reading.points if reading else (), found.notes,
    )  # fmt: skip


def cost_lines(cost: TaskCost) -> tuple[tuple[Text, Text], ...]:
    """Labels with amounts for people: what is known, what was assumed for it, and why the rest is not counted."""
    amounts = (
        (Text("Effective price per GPU-hour", "实际卡时单价"), cost.per_gpu_hour), (Text("Cost per million tokens", "每百万 token 成本"), cost.per_million_tokens),
        (Text("Cost of this job", "本次任务成本"), cost.per_job),
    )  # fmt: skip
    told = [(label, foreign(f"{number_text(float(amount), 4)} {cost.currency}")) for label, amount in amounts if amount is not None]
    if told and cost.assumed:
        told.append((Text("Assumed", "假设"), _joined(cost.assumed)))
    if cost.missing:
        told.append((Text("Not counted", "未计算"), _joined(cost.missing)))
    return tuple(told)


def steps_xlsx(run: TaskRun, found: Comparison | None, language: Language) -> bytes:
    """The curve of a run as a workbook: every point, or with a reference the steps of both runs beside each other."""
    if found is None:
        reading = run.reading
        units = [rate.unit for rate in reading.rates] if reading else []
        head = [_SECOND.say(language), _STEP.say(language), _LOSS.say(language), *units]
        rows: list[list[TableCell]] = [[p.at_s, p.step, p.loss, *(dict(p.speeds).get(unit) for unit in units)] for p in (reading.points if reading else ())]
        return xlsx_bytes(run.spec.name or "task", head, rows)
    unit, other = found.unit or "", Text("reference", "参考").say(language)
    steps = [_FIRST.say(language), _LAST.say(language), _LOSS.say(language)]
    head = [*steps, f"{_LOSS.say(language)}, {other}", unit, f"{unit}, {other}", Text("share", "比例").say(language)]
    rows = [[r.first, r.last, r.loss, r.loss_reference, r.rate, r.rate_reference, r.share] for r in found.rows]
    return xlsx_bytes(run.spec.name or "task", head, rows)


def _joined(words: tuple[Text, ...]) -> Text:
    return Text("; ".join(w.en for w in words), "；".join(w.zh for w in words))
