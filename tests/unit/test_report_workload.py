"""Does the report tell the team's own task whole: what ran with what, its curves, the verdict, the cost, the way to repeat it?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from io import BytesIO

import openpyxl
import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.task import (
    SourceKind,
    TaskEnd,
    TaskEnvironment,
    TaskFault,
    TaskPoint,
    TaskRate,
    TaskReading,
    TaskRun,
    TaskSource,
    TaskSpec,
    variable,
)
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.as_csv import csv_bytes
from gpulease_gui.reports.as_html import html_text
from gpulease_gui.reports.as_json import json_bytes
from gpulease_gui.reports.assemble import assemble
from gpulease_gui.reports.document import LineChart, Table
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, TaskBeside, TaskFacts, TaskRow
from gpulease_gui.reports.sections import workload
from gpulease_gui.services.task_compare import compare
from gpulease_gui.services.task_paper import steps_xlsx

from .report_facts import START, facts_of, node_of

SPEC = TaskSpec("llama-7b lora", TaskSource(SourceKind.FOLDER, "/home/me/lora"), "torchrun --nproc-per-node=8 train.py <b>--bf16</b>",
                (variable("HF_TOKEN", "hf_secret_value"),))  # fmt: skip


def points(rate: float, loss: float = 1.0) -> tuple[TaskPoint, ...]:
    return tuple(TaskPoint(5.0 + n * 2.5, n, loss * (2.4 - n / 200), (("tokens/s", rate * (0.2 if n == 0 else 1 + (n % 5) / 100)),)) for n in range(240))


RUN = TaskRun(
    "t1", SPEC, "n7", START, START + timedelta(seconds=610), TaskEnd.FINISHED, 0, seconds=607.5, log_sha256="ab" * 32, log_bytes=90_000,
    reading=TaskReading("Hugging Face Trainer", 240, 239, 2.4, 1.2, (TaskRate("tokens/s", 216, 61_200.0, 60_400.0, 62_050.0, -0.012, 24),),
                        (TaskFault("loader_stall", 88, "UserWarning: DataLoader worker is slow <i>"),), 900, points(60_000.0)),
    environment=TaskEnvironment("550.54.15", "12.4", "2.6.0+cu124", "3.11.9", "docker team/lora:3", tuple(f"GPU-{n}" for n in range(8))),
    repeat_command="gpulease workload run root@203.0.113.7:2222 --folder /home/me/lora --env HF_TOKEN=••• -- torchrun train.py", clean=True,
)  # fmt: skip
SPEED = Finding("work.task", Verdict.WARN, Text("61,200 tokens/s, 87 % of the promise", "61,200 tokens/s，为承诺值的 87%"), "work.tokens_s", 70_000, 61_200.0,
                "tokens/s", basis=Basis.MEASURED)  # fmt: skip
BESIDE = TaskBeside(
    "own-cluster-3", START - timedelta(days=9), Verdict.FAIL, Text("slower than the reference by 12 % (61,200 against 69,600 tokens/s)",
                                                                   "比参考运行慢 12%（61,200 对 69,600 tokens/s）"),
    "tokens/s", tuple(TaskRow(n * 6, n * 6 + 5, 2.4 - n * 0.03, 2.4 - n * 0.03, 61_200.0, 69_600.0) for n in range(40)), points(68_000.0),
    (Text("driver: 550.54.15, reference 560.35.03", "驱动：550.54.15，参考为 560.35.03"),),
)  # fmt: skip
COSTS = ((Text("Cost per million tokens", "每百万 token 成本"), Text("0.0781 USD", "0.0781 USD")),)


def told(**changes) -> EvaluationFacts:
    task = replace(TaskFacts(RUN, (SPEED,), Verdict.WARN, BESIDE, COSTS), **changes)
    return facts_of(replace(node_of((SPEED,)), tasks=(task, *(TaskFacts(RUN, ()) for _ in range(4)))))


def test_that_a_contract_without_tasks_has_no_such_section() -> None:
    assert workload.build(facts_of(node_of((SPEED,)))) == ()


def test_that_task_environment_verdict_cost_and_command_stand_in_both_languages() -> None:
    for language, words in (
        (Language.EN, ("550.54.15", "12.4", "2.6.0+cu124", "docker team/lora:3", "61,200 tokens/s, 87 % of the promise", "slower than the reference by 12 %",
                       "own-cluster-3", "Cost per million tokens", "The same task again:", "2 earlier tasks are not shown.", "−1.2 %", "Hugging Face Trainer: 240 steps")),
        (Language.ZH, ("团队自有任务", "为承诺值的 87%", "比参考运行慢 12%", "每百万 token 成本", "重新运行同一任务", "另有 2 次较早的任务未列出", "240 步，损失 2.4000 → 1.2000")),
    ):  # fmt: skip
        html = html_text(assemble(told(), language))
        assert [word for word in words if word not in html] == []
        assert "hf_secret_value" not in html and "<b>--bf16" not in html and "slow <i>" not in html


def test_that_both_runs_lie_over_each_other_from_their_start_on() -> None:
    loss, rate = (block for block in workload.build(told()) if isinstance(block, LineChart) and len(block.curves) == 2)
    assert (loss.unit, rate.unit, loss.start_s, loss.utc_offset_s, [c.name for c in rate.curves]) == ("", "tokens/s", 0.0, 0, ["node-07", "own-cluster-3"])
    assert loss.curves[0].times_s[0] == 5.0 and loss.end_s == 602.5
    steps = next(b for b in workload.build(told()) if isinstance(b, Table) and b.columns[0].head.en == "Steps")
    assert len(steps.rows) <= workload.ROWS_SHOWN


def test_that_a_run_that_told_nothing_and_one_that_was_cut_say_so() -> None:
    silent = replace(RUN, reading=None, end=TaskEnd.CUT, reason=Text("cut by the end of the program", "因程序退出而中断"), environment=TaskEnvironment())
    html = html_text(assemble(told(run=silent, beside=None, findings=(), costs=()), Language.EN))
    assert "cut off: cut by the end of the program" in html and "tells neither loss nor speed" in html and "not read" in html


def test_that_machines_get_the_same_and_a_spreadsheet_the_findings_of_the_task() -> None:
    (task, *_) = json.loads(json_bytes(told()))["nodes"][0]["tasks"]
    assert (task["name"], task["end"], task["torch"], task["rates"][0]["median"], task["reference"]["verdict"]) == (
        "llama-7b lora", "finished", "2.6.0+cu124", 61_200.0, "fail",
    )  # fmt: skip
    assert task["repeat_command"] == RUN.repeat_command and "hf_secret_value" not in json.dumps(task)
    assert "· llama-7b lora,work.tokens_s" in csv_bytes(told(), Language.EN).decode()


def test_that_the_curve_is_a_workbook_with_numbers() -> None:
    rows = list(openpyxl.load_workbook(BytesIO(steps_xlsx(RUN, None, Language.ZH))).active.iter_rows(values_only=True))
    assert rows[0] == ("秒", "步", "损失", "tokens/s") and rows[1] == (5, 0, 2.4, 12_000) and len(rows) == 241
    again = replace(RUN, id="t2")
    found = compare(RUN, again, Promise(load_catalogue()))
    rows = list(openpyxl.load_workbook(BytesIO(steps_xlsx(RUN, found, Language.EN))).active.iter_rows(values_only=True))
    assert rows[0][:4] == ("first step", "last step", "loss", "loss, reference") and rows[1][:3] == (0, 5, pytest.approx(2.3875)) and rows[1][6] == 1


def test_that_a_node_that_was_never_verified_still_shows_its_task() -> None:
    node = NodeFacts(node_of((SPEED,)).node, None, tasks=(TaskFacts(RUN, ()),))
    assert "llama-7b lora" in html_text(assemble(facts_of(node), Language.EN))
