"""Is a node asked again as it is written now, and does it say the same worst, and the one reason of most of its silence?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.checks.check import Rule
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.fleet_rest import loudness, untold_words
from gpulease_gui.services.fleet_run import FleetRun, Phase, _Going
from gpulease_gui.services.run_view import prepare
from gpulease_gui.services.verify import _Run
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.records import RunState
from gpulease_gui.store.runs import list_current_findings, list_runs

pytestmark = pytest.mark.sshd


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "fleet.db")
    yield opened
    opened.close()


def test_that_a_node_that_was_corrected_is_asked_again_at_its_new_address(services: Services, sshd) -> None:
    """The first round kept the old record: whatever was corrected, the dead port was asked for ever."""
    wrong = Node("n", "n", Reach.SSH, Address("127.0.0.1", 1, sshd.address.user), identity_file=str(sshd.keys.user("id_ed25519")))
    services.workspace.submit(lambda db: stored.save_node(db, wrong)).result()
    run = FleetRun(services, [wrong], lambda connection, found: prepare(connection, found.id)[1])
    run.start("first").job.done.result()
    assert [line.phase for line in run.lines()] == [Phase.NOT_REACHED]
    right = replace(wrong, address=sshd.address)
    services.workspace.submit(lambda db: stored.save_node(db, right)).result()
    services.links.trust(right, sshd.keys.host_keys()[0], "test")
    again = run.again("again")
    assert again is not None
    again.job.done.result()
    assert [(line.phase, line.node) for line in run.lines()] == [(Phase.DONE, right)]
    run.close()


def test_that_a_round_of_the_window_calls_a_node_at_the_address_of_its_turn(services: Services, sshd) -> None:
    """It is chosen, load is confirmed, others come first: what is edited meanwhile counts."""
    chosen = Node("n", "n", Reach.SSH, Address("127.0.0.1", 1, sshd.address.user), identity_file=str(sshd.keys.user("id_ed25519")))
    right = replace(chosen, address=sshd.address)
    services.workspace.submit(lambda db: stored.save_node(db, right)).result()
    services.links.trust(right, sshd.keys.host_keys()[0], "test")
    run = FleetRun(services, [chosen], lambda connection, found: prepare(connection, found.id)[1], anew=True)
    run.start("first").job.done.result()
    assert [(line.phase, line.node) for line in run.lines()] == [(Phase.DONE, right)]
    run.close()


def test_that_nodes_with_the_same_faults_say_the_same_worst_whatever_came_first() -> None:
    def fail(check: str) -> Finding:
        return Finding(check, Verdict.FAIL, Text(check, check), required=True)

    loud = [fail("cpu.model"), fail("trust.environment"), fail("power.limit"), replace(fail("trust.hooks"), verdict=Verdict.WARN), fail("made.up")]
    told = []
    for order in (loud, loud[::-1]):
        going = _Going(Node("n", "n"))
        for finding in order:
            going.take(finding)
        told.append(going.line(0.0).worst_check)
    assert told == ["power.limit", "power.limit"]
    assert sorted(loud, key=loudness)[1].check == "trust.environment"  # type: ignore[arg-type]
    assert loudness(Finding("cpu.model", Verdict.PASS, NO_TEXT)) is None


def test_that_the_one_reason_of_many_checks_is_told_and_promises_that_nobody_made_are_none() -> None:
    tool = Text("nvidia-smi is not installed on the node", "节点未安装 nvidia-smi")
    missing = [Finding(f"a{i}", Verdict.INCONCLUSIVE, tool, reason_code=Reason.MISSING_TOOL) for i in range(10)]
    others = [Finding(f"b{i}", Verdict.INCONCLUSIVE, Text("x", "x"), reason_code=Reason.NOT_PROMISED) for i in range(30)]
    told = "10 of 40 findings can't be judged: nvidia-smi is not installed on the node"
    assert untold_words([*missing, *others]) == (Text(told, "40 项结果中有 10 项无法判定：节点未安装 nvidia-smi"), NO_TEXT)
    one_more = Finding("c", Verdict.PASS, NO_TEXT)
    assert untold_words([*missing, *others, one_more]) == untold_words(missing[:9]) == untold_words(others) == (NO_TEXT, NO_TEXT)
    late = Finding("d", Verdict.INCONCLUSIVE, NO_TEXT, reason_code=Reason.TIMEOUT)
    assert untold_words([*missing, late])[0].en.startswith("1 check has no answer")


def test_that_who_cancels_waits_for_no_connection_and_what_has_come_is_judged_no_more(services: Services, sshd, monkeypatch) -> None:
    """Cancelling took as long as all connections together, and each node judged first what lay there: seconds, of many nodes."""
    node = Node("n", "n", Reach.SSH, sshd.address, identity_file=str(sshd.keys.user("id_ed25519")))
    services.workspace.submit(lambda db: stored.save_node(db, node)).result()
    services.links.trust(node, sshd.keys.host_keys()[0], "test")
    told = threading.Event()
    read: list[str] = []
    usual = _Run._read

    def slow(self: _Run, frame: Frame) -> list[Rule]:
        read.append(frame.id)
        if len(read) == 3:
            run.cancel_all()
            told.wait(10)  # until the token is set
        return usual(self, frame)

    monkeypatch.setattr(_Run, "_read", slow)
    run = FleetRun(services, [node], lambda connection, found: prepare(connection, found.id)[1])
    real = CancelToken.cancel

    def late(token: CancelToken) -> None:
        if not read:  # the login is over, and takes back what it asked
            return real(token)
        assert threading.current_thread().name == "fleet-cancel"
        real(token)
        told.set()

    monkeypatch.setattr(CancelToken, "cancel", late)
    whole = run.start("one")
    whole.job.done.result()
    (line,) = run.lines()
    assert (line.phase, len(read)) == (Phase.CANCELLED, 3)
    with services.workspace.read() as connection:
        (kept,) = list_runs(connection, node_id="n")
        saved = list_current_findings(connection, kept.id)
    assert kept.state is RunState.CANCELLED and line.answered == len({one.finding.check for one in saved}) < line.planned
    monkeypatch.undo()
    run.close()
