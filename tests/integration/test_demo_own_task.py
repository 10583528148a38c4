"""A task of one's own on the simulated nodes: told live, stopped, compared with its reference, and printed in the report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskProgress, TaskSource, TaskSpec
from gpulease_gui.domain.text import Language
from gpulease_gui.reports.as_html import html_text
from gpulease_gui.reports.assemble import assemble
from gpulease_gui.services import task_history
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.evaluate import evaluation_facts
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.task_runs import TaskOutcome, TaskRequest
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.suppliers import save_contract, save_supplier

NAMES = ("honest", "slow-net-b", "sick")


class Desk:
    """A workspace with the simulated nodes as if they were real ones, and a script that would train."""

    def __init__(self, services: Services, server: DemoServer, script: Path) -> None:
        self.services, self.server, self.script = services, server, script
        self.told: list[TaskProgress] = []
        self.cancel = CancelToken()

    def node(self, name: str) -> Node:
        return node_of(self.services.workspace, str(self.server.address(name)), str(self.server.client_key_path))

    def run(self, node: Node, **more: object) -> TaskOutcome:
        spec = TaskSpec("tiny", TaskSource(SourceKind.SCRIPT, str(self.script)), **more)
        return self.services.tasks.run(node, TaskRequest(spec, contract_id=node.contract_id, watch=False), self.cancel, self.hear)

    def hear(self, progress: TaskProgress) -> None:
        self.told.append(progress)


def opened(tmp_path: Path, pace: float) -> Iterator[Desk]:
    (tmp_path / "train.py").write_text("import torch\n")
    with DemoServer({name: demo_nodes()[name] for name in NAMES}, pace=pace) as server:
        services = open_services(tmp_path / "w.db", fingerprints=tuple(server.host_key(name).fingerprint for name in NAMES))
        yield Desk(services, server, tmp_path / "train.py")
        services.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    yield from opened(tmp_path, 0)


@pytest.fixture
def slow_desk(tmp_path: Path) -> Iterator[Desk]:
    yield from opened(tmp_path, 0.2)


def test_that_a_slower_node_stands_beside_its_reference_in_the_table_and_in_the_report(desk: Desk) -> None:
    good = desk.run(desk.node("honest")).task
    assert (good.end, good.exit_code, good.clean, good.environment.torch) == (TaskEnd.FINISHED, 0, True, "2.6.0+cu124")
    assert good.reading is not None and (good.reading.form, good.reading.steps, len(good.environment.gpus)) == ("nanoGPT", 300, 8)
    now = datetime.now(UTC)
    desk.services.workspace.submit(lambda db: task_history.mark_reference(db, good.id, at=now, why="own cluster")).result()
    node = desk.node("slow-net-b")

    def sign(db) -> None:
        save_supplier(db, Supplier("s", "Harbor"))
        save_contract(db, Contract("c", "s", "HG-9", price=Money(Decimal("2.02"), "USD"), price_unit="gpu_hour"))
        save_node(db, Node(node.id, node.name, node.reach, node.address, "c", node.auth, node.identity_file))

    desk.services.workspace.submit(sign).result()
    first = desk.run(desk.node("slow-net-b")).task
    catalogue = desk.services.catalogue
    with desk.services.workspace.read() as connection:
        once = task_history.compare_with_reference(connection, first.id, catalogue)
    assert once.verdict is Verdict.WARN and once.words.en.startswith("slower than the reference by 1")
    assert once.rows[5].share == pytest.approx(0.81, abs=0.02) and [o.unit for o in once.overlays] == ["loss", "tokens/s"]
    second = desk.run(desk.node("slow-net-b")).task
    with desk.services.workspace.read() as connection:
        assert task_history.compare_with_reference(connection, second.id, catalogue).verdict is Verdict.FAIL
        facts = evaluation_facts(connection, "c", catalogue)
        cost = task_history.open_task(connection, second.id).cost
    assert cost.per_million_tokens is not None and cost.per_million_tokens == pytest.approx(Decimal("0.0099"), abs=Decimal("0.0005"))
    page = html_text(assemble(facts, Language.EN))
    words = ("slower than the reference by 1", "the better of 2 runs", "2.6.0+cu124", "Cost per million tokens", "gpulease workload run")
    assert [word for word in words if word not in page] == []


def test_that_a_node_without_pytorch_says_so_in_the_last_line_of_the_log(desk: Desk) -> None:
    task = desk.run(desk.node("sick")).task
    assert (task.end, task.exit_code) == (TaskEnd.FAILED, 1) and "No module named 'torch'" in task.reason.en


def test_that_a_time_limit_ends_a_told_task(desk: Desk) -> None:
    assert desk.run(desk.node("honest"), time_limit_s=10).task.end is TaskEnd.TIME_LIMIT


def test_that_a_cancelled_task_keeps_what_it_told(slow_desk: Desk) -> None:
    def stop(progress: TaskProgress) -> None:
        slow_desk.told.append(progress)
        if progress.log_lines > 10:
            slow_desk.cancel.cancel()

    slow_desk.hear = stop  # type: ignore[method-assign]
    task = slow_desk.run(slow_desk.node("honest")).task
    assert task.end is TaskEnd.CANCELLED and task.clean and task.log_bytes > 0
    with slow_desk.services.workspace.read() as connection:
        assert task_history.open_task(connection, task.id).log.startswith(b"demo node: nothing of yours is run here")
