"""Are two records of one machine measured one after the other, and others beside each other?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.services import measure
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.fleet_run import FleetRun, Phase
from gpulease_gui.services.measure_lines import Task
from gpulease_gui.services.one_machine import MachineTurns
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes as stored

ONE = Node("one", "one", Reach.SSH, Address("10.0.0.5", 22), jump="gate-a")
TOGETHER_S = 0.3


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "demo.db", demo=True)
    yield opened
    opened.close()


def test_that_a_second_record_of_a_machine_waits_and_can_be_cancelled_meanwhile() -> None:
    turns, token = MachineTurns(), CancelToken()
    other = replace(ONE, id="other", name="other", address=Address("10.0.0.5", 22, "ops"))
    with turns.alone(ONE, CancelToken()):
        token.cancel()
        with pytest.raises(Cancelled), turns.alone(other, token):
            pytest.fail("both at once")
        for elsewhere in (replace(ONE, jump="gate-b"), replace(ONE, proxy="socks5://p:1"), replace(ONE, address=Address("10.0.0.5", 23))):
            with turns.alone(elsewhere, token):
                pass
    with turns.alone(other, CancelToken()):
        pass


@pytest.mark.parametrize(("second", "is_together"), [("honest", False), ("capped", True)])
def test_that_two_records_of_one_machine_are_not_measured_at_once(second: str, is_together: bool, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [Node(id_, id_, Reach.DEMO, demo_name=name) for id_, name in (("a", "honest"), ("b", second))]
    for node in pair:
        services.workspace.submit(lambda db, node=node: stored.save_node(db, node)).result()
    barrier, met = threading.Barrier(2), []
    usual = measure.MEASURES["disk_rates"].measure

    def watched(task: Task) -> object:
        try:
            barrier.wait(20 if is_together else TOGETHER_S)
            met.append(True)
        except threading.BrokenBarrierError:
            met.append(False)
        return usual(task)

    monkeypatch.setitem(measure.MEASURES, "disk_rates", replace(measure.MEASURES["disk_rates"], measure=watched))
    run = FleetRun(services, pair, lambda connection, node: Request(only=("disk.seq",), seconds=1))
    run.start("both").job.done.result()
    run.close()
    assert {line.node.id: line.phase for line in run.lines()} == {"a": Phase.DONE, "b": Phase.DONE}
    assert set(met) == {is_together}
