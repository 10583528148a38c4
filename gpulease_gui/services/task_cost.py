"""What do a million tokens, or one finished job, cost on a node at the effective price of its contract?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.task import TaskEnd, TaskRun
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.workload import Workload, equal_sessions
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.services.commerce import DealFacts, deal_in
from gpulease_gui.services.commerce_cost import cost_of
from gpulease_gui.store import nodes
from gpulease_gui.store.doors import Reader

_PLACES = 4
_MONTH_S = 30 * 24 * 3600
ALL_MONTH = Text("rented for 30 days without a pause and busy all the time", "连续租用 30 天且始终有任务")


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Amounts in `currency`; None = cannot be counted, `missing` says why. `assumed`: what nobody stated.

    `per_gpu_hour` is the effective price of the workload that was asked for, all counted.
    """

    currency: str = ""
    per_gpu_hour: Decimal | None = None
    gpus: int | None = None
    per_million_tokens: Decimal | None = None
    per_job: Decimal | None = None
    assumed: tuple[Text, ...] = ()
    missing: tuple[Text, ...] = ()


def task_cost_in(connection: Reader, run: TaskRun, day: date, workload: Workload | None = None) -> TaskCost:
    """The cost of a run at the contract of its node; `workload` None: the node is rented for a month and never idle."""
    node = nodes.get_node(connection, run.node_id)
    if node.contract_id is None:
        return TaskCost(missing=(Text("the node has no contract", "该节点没有合同"),))
    return task_cost(deal_in(connection, Subject(HolderOf.CONTRACT, node.contract_id), day), run, workload)


def task_cost(facts: DealFacts, run: TaskRun, workload: Workload | None = None) -> TaskCost:
    """The cost of a run at the effective price of an offer or contract."""
    gpus = len(run.environment.gpus) or facts.row.gpu_count
    if gpus is None:
        return TaskCost(missing=(Text("how many GPUs took part is not known", "不知道有多少张卡参与"),))
    asked = workload or equal_sessions(gpus, 1, _MONTH_S)
    try:
        found = cost_of(facts, asked)
    except UsageError as error:
        return TaskCost(gpus=gpus, missing=(Text(f"no effective price: {error.what}", f"没有实际单价：{error.what}"),))
    hour = found.cost.effective_per_gpu_hour
    assumed = (*found.assumed, *(() if workload else (ALL_MONTH,)))
    if hour is None:
        return TaskCost(found.cost.currency, None, gpus, assumed=assumed, missing=(Text("nothing useful runs in this workload", "该负载中没有有效使用"),))
    tokens, why_tokens = _tokens(run, hour, gpus)
    job, why_job = _job(run, hour, gpus)
    return TaskCost(found.cost.currency, hour, gpus, tokens, job, assumed, tuple(w for w in (why_tokens, why_job) if w.en))


def _tokens(run: TaskRun, hour: Decimal, gpus: int) -> tuple[Decimal | None, Text]:
    rates = {rate.unit: rate.median for rate in run.reading.rates} if run.reading else {}
    each = rates.get(Unit.TOKENS_S_GPU)
    tokens_s = rates.get(Unit.TOKENS_S, each * gpus if each is not None else None)
    if not tokens_s:
        return None, Text("the log tells no tokens/s", "日志没有给出 token/s")
    return half_up(Fraction(hour) * gpus / 3600 / Fraction(tokens_s) * 1_000_000, _PLACES), NO_TEXT


def _job(run: TaskRun, hour: Decimal, gpus: int) -> tuple[Decimal | None, Text]:
    if run.end is not TaskEnd.FINISHED or run.seconds is None:
        return None, Text("the job did not finish", "该任务没有完成")
    return half_up(Fraction(hour) * gpus * Fraction(run.seconds) / 3600, _PLACES), NO_TEXT
