"""Is a run compared with its reference step by step, in words, and is its cost counted only where everything is known?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.task import (
    SourceKind,
    TaskEnd,
    TaskEnvironment,
    TaskPoint,
    TaskRate,
    TaskReading,
    TaskRun,
    TaskSource,
    TaskSpec,
)
from gpulease_gui.domain.text import Text
from gpulease_gui.services import task_history
from gpulease_gui.services.task_compare import compare
from gpulease_gui.services.task_cost import task_cost_in
from gpulease_gui.store import task_runs
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run
from gpulease_gui.store.runs import save_finding
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.workspace import Workspace

BEGIN = datetime(2026, 11, 30, 8, tzinfo=UTC)
SPEC = TaskSpec("tiny", TaskSource(SourceKind.SCRIPT, "train.py"), "python train.py")
PROMISE = Promise(load_catalogue())


def task(id_: str, tokens_s: float = 12000.0, *, steps: int = 100, loss: float = 1.0, unit: str = "tokens/s", node: str = "n1", **changes) -> TaskRun:
    points = tuple(TaskPoint(n / 2, n, loss * (9 - n / 20), ((unit, tokens_s),)) for n in range(steps))
    rate = TaskRate(unit, steps - 10, tokens_s, tokens_s, tokens_s, 0.0, 10)
    reading = TaskReading("nanoGPT", steps, steps - 1, 9.0, 4.0, (rate,), (), steps, points)
    told = TaskRun(id_, SPEC, node, BEGIN, BEGIN + timedelta(seconds=600), TaskEnd.FINISHED, 0, seconds=600.0, reading=reading,
                   environment=TaskEnvironment("550.54", "12.4", "2.6.0", gpus=tuple(f"GPU-{n}" for n in range(8))))  # fmt: skip
    return replace(told, **changes)


def test_that_a_run_as_fast_as_its_reference_passes_and_every_stretch_stands_beside_it() -> None:
    found = compare(task("a", 12060.0), task("r"), PROMISE)
    assert (found.verdict, found.unit, round(found.share, 4)) == (Verdict.PASS, "tokens/s", 1.005)
    assert found.words.en == "as fast as the reference (12,060 against 12,000 tokens/s)"
    assert len(found.rows) == 34 and found.rows[0] == replace(found.rows[0], first=0, last=2, loss=8.95, loss_reference=8.95, rate=12060.0)
    assert [o.unit for o in found.overlays] == ["loss", "tokens/s"] and found.overlays[0].here[:2] == ((0, 9.0), (1, 8.95))


def test_that_one_slow_run_warns_and_two_fail() -> None:
    once = compare(task("a", 9600.0), task("r"), PROMISE)
    assert (once.verdict, once.words.en) == (Verdict.WARN, "slower than the reference by 20 % (9,600 against 12,000 tokens/s)")
    assert once.words.zh == "比参考运行慢 20%（9,600 对 12,000 tokens/s）" and "once more" in once.next_step.en
    twice = compare(task("a", 9600.0), task("r"), PROMISE, [task("b", 9480.0)])
    assert (twice.verdict, twice.words.en) == (Verdict.FAIL, "slower than the reference by 20 % (9,600 against 12,000 tokens/s; the better of 2 runs)")
    assert "supplier" in twice.next_step.en
    assert compare(task("a", 9600.0), task("r"), PROMISE, [task("b", 11900.0)]).verdict is Verdict.PASS


def test_that_seconds_per_step_are_better_when_less() -> None:
    found = compare(task("a", 0.5, unit="s/step"), task("r", 0.4, unit="s/step"), PROMISE)
    assert (found.verdict, found.words.en) == (Verdict.WARN, "slower than the reference by 20 % (0.50 against 0.40 s/step)")
    assert found.rows[3].share == pytest.approx(0.8)


def test_that_another_loss_is_named_with_its_step() -> None:
    found = compare(task("a", loss=1.08), task("r"), PROMISE)
    assert found.verdict is Verdict.WARN and "loss apart by more than 5 % from step 9 on: 9.180 against 8.500 (8 %)" in found.words.en
    assert "自第 9 步起损失相差超过 5%：9.180 对 8.500（8%）" in found.words.zh and "seed" in found.next_step.en


def test_that_runs_without_a_common_unit_are_open_and_differences_are_noted() -> None:
    other = task("r", 3.0, unit="samples/s", environment=TaskEnvironment("560.35", "12.4", None, gpus=("GPU-1",)))
    found = compare(task("a"), other, PROMISE)
    assert (found.verdict, found.unit, found.share) == (Verdict.INCONCLUSIVE, None, None) and "same unit" in found.next_step.en
    assert [n.en for n in found.notes] == ["driver: 550.54, reference 560.35", "number of GPUs: 8, reference 1"]


def test_that_a_resumed_run_that_steps_back_counts_its_later_steps() -> None:
    run = task("a", steps=50)
    again = tuple(TaskPoint(30.0 + n, n, 5.0, (("tokens/s", 12000.0),)) for n in range(40, 60))
    found = compare(replace(run, reading=replace(run.reading, points=run.reading.points + again)), task("r"), PROMISE)
    assert found.overlays[0].here[39:42] == ((39, 7.05), (40, 5.0), (41, 5.0)) and found.rows[-1].last == 59


def test_that_a_run_without_points_has_no_rows() -> None:
    found = compare(replace(task("a"), reading=None), task("r"), PROMISE)
    assert (found.rows, found.overlays, found.verdict) == ((), (), Verdict.INCONCLUSIVE)


@pytest.fixture
def workspace(tmp_path):
    opened = Workspace.open(tmp_path / "w.gpulease")

    def fill(db) -> None:
        save_supplier(db, Supplier("s", "Northlight"))
        save_contract(db, Contract("c", "s", "NL-1", price=Money(Decimal("2.00"), "USD"), price_unit="gpu_hour"))
        save_node(db, Node("n1", "node one", Reach.LOCAL, contract_id="c"))
        save_node(db, Node("n2", "own cluster", Reach.LOCAL))

    opened.submit(fill).result()
    yield opened
    opened.close()


def keep(workspace: Workspace, run: TaskRun, verdict: Verdict = Verdict.PASS) -> None:
    def work(db) -> None:
        task_runs.begin_task_run(db, replace(run, end=None, ended_at=None, reading=None), Run(run.id, run.node_id, run.started_at, original_id=run.id))
        save_finding(db, run.id, Finding("work.task", verdict, Text("x", "x")), saved_at=BEGIN)
        if run.end is not None:
            task_runs.finish_task_run(db, run)

    workspace.submit(work).result()


def test_that_the_list_names_node_supplier_verdict_and_reference(workspace) -> None:
    keep(workspace, task("aa", node="n2"))
    keep(workspace, task("bb", 9000.0, started_at=BEGIN + timedelta(hours=1)), Verdict.WARN)
    workspace.submit(lambda db: task_history.mark_reference(db, "aa", at=BEGIN, why="own cluster")).result()
    with workspace.read() as connection:
        told = [(one.run.id, one.node, one.supplier, one.verdict, one.is_reference) for one in task_history.task_lines(connection)]
        assert told == [("bb", "node one", "Northlight", Verdict.WARN, False), ("aa", "own cluster", "", Verdict.PASS, True)]
        found = task_history.compare_with_reference(connection, "bb", PROMISE.catalogue)
        assert found.words.en.startswith("slower than the reference by 25 %") and found.reference.id == "aa"
        with pytest.raises(UsageError, match="the reference itself"):
            task_history.compare_with_reference(connection, "aa", PROMISE.catalogue)


def test_that_a_task_without_a_reference_says_what_to_do(workspace) -> None:
    keep(workspace, task("aa"))
    with workspace.read() as connection, pytest.raises(UsageError) as caught:
        task_history.compare_with_reference(connection, "aa", PROMISE.catalogue)
    assert "a node that you trust" in caught.value.next_step
    keep(workspace, replace(task("empty"), reading=None))
    with pytest.raises(UsageError, match="can't be a reference"):
        workspace.submit(lambda db: task_history.mark_reference(db, "empty", at=BEGIN)).result()


def test_that_a_run_that_the_end_of_the_program_cut_is_read_as_far_as_it_was_kept(workspace, tmp_path) -> None:
    keep(workspace, replace(task("aa"), end=None, ended_at=None, reading=None))
    log = "".join(f"iter {n}: loss {9 - n / 10:.2f}, time 500.00ms\n" for n in range(30)).encode()
    workspace.submit(lambda db: task_runs.add_task_points(db, "aa", [TaskPoint(float(n), n, 9 - n / 10) for n in range(30)], at=BEGIN)).result()
    workspace.submit(lambda db: task_runs.add_task_log(db, "aa", log, at=BEGIN)).result()
    workspace.close()
    again = Workspace.open(tmp_path / "w.gpulease")
    with again.read() as connection:
        opened = task_history.open_task(connection, "a")
    again.close()
    assert opened.cut_by_the_end and opened.run.end is TaskEnd.CUT and opened.log == log
    assert (opened.run.reading.form, opened.run.reading.steps, len(opened.run.reading.points)) == ("nanoGPT", 30, 30)
    assert opened.run.reading.rates[0].median == 0.5


def test_that_cost_is_counted_from_the_contract_and_what_is_missing_is_said(workspace) -> None:
    keep(workspace, task("aa"))
    with workspace.read() as connection:
        found = task_cost_in(connection, task("aa"), date(2026, 11, 30))
        # 2 USD x 8 GPUs / 3600 s / 12,000 tokens/s, per million; and 600 s of 8 GPUs.
        assert (found.currency, found.per_gpu_hour, found.per_million_tokens, found.per_job) == ("USD", Decimal("2.0000"), Decimal("0.3704"), Decimal("2.6667"))
        assert "30 days" in found.assumed[-1].en and found.missing == ()
        steps = task_cost_in(connection, task("aa", 0.5, unit="s/step", end=TaskEnd.CUT), date(2026, 11, 30))
        assert (steps.per_million_tokens, steps.per_job) == (None, None)
        assert [m.en for m in steps.missing] == ["the log tells no tokens/s", "the job did not finish"]
        own = task_cost_in(connection, task("aa", node="n2"), date(2026, 11, 30))
        assert own.per_gpu_hour is None and [m.en for m in own.missing] == ["the node has no contract"]


def test_that_a_contract_without_a_price_gives_no_cost(workspace) -> None:
    workspace.submit(lambda db: save_contract(db, Contract("c", "s", "NL-1"))).result()
    with workspace.read() as connection:
        found = task_cost_in(connection, task("aa"), date(2026, 11, 30))
    assert found.per_gpu_hour is None and found.missing[0].en.startswith("no effective price")
    assert Subject(HolderOf.CONTRACT, "c").id == "c"
