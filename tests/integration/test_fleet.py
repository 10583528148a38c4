"""Does a fleet of real nodes go on while one is dead, one is silent and one shows another key?"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import wait
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.domain import calls
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote import impatient, lookout, wrap
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.services import jobs
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.fleet_rest import END_UNSEEN, unanswered, what_is_left
from gpulease_gui.services.fleet_run import FleetRun, Phase, totals_of
from gpulease_gui.services.jobs import REMOTE_THREADS
from gpulease_gui.services.run_view import prepare
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.records import RunState
from gpulease_gui.store.runs import list_runs

pytestmark = pytest.mark.sshd
OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "fleet.db")
    opened.links._deadlines = Deadlines(banner_s=120)  # the silent node is cancelled, however slow this machine is
    yield opened
    opened.close()


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes calls and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_that_nobody_waits_for_the_dead_the_silent_and_the_changed(services: Services, sshd, silent: int) -> None:
    def node(name: str, port: int) -> Node:
        address = Address("127.0.0.1", port, sshd.address.user)
        made = Node(name, name, Reach.SSH, address, auth=AuthMethod.KEY, identity_file=str(sshd.keys.user("id_ed25519")))
        services.workspace.submit(lambda db: stored.save_node(db, made)).result()
        for key in (OTHER,) if name == "changed" else sshd.keys.host_keys():
            services.links.trust(made, key, "test")
        return made

    port = sshd.address.port
    fleet = [node("dead", 1), node("silent", silent), node("changed", port), node("new", port), node("one", port), node("two", port)]
    asked: list[HostKeyQuestion] = []
    services.bus.subscribe(lambda event: asked.append(event) if isinstance(event, HostKeyQuestion) else None)
    run = FleetRun(services, fleet, lambda connection, found: prepare(connection, found.id)[1])
    whole = run.start("all")
    # The others are done while the silent one still keeps its thread; then it is cancelled alone.
    while not whole.job.done.done():
        over = {line.node.name for line in run.lines() if line.is_over}
        if {"one", "two", "new"} <= over and "silent" not in over:
            run.cancel("silent")
        wait([whole.job.done], timeout=0.05)
    phases = {line.node.name: line.phase for line in run.lines()}
    assert phases == {"dead": Phase.NOT_REACHED, "silent": Phase.CANCELLED, "changed": Phase.NOT_REACHED,
                      "new": Phase.DONE, "one": Phase.DONE, "two": Phase.DONE}  # fmt: skip
    assert [question.node.name for question in asked] == ["changed"]
    totals = totals_of(run.lines())
    assert (totals.nodes, totals.over, totals.not_reached, totals.cancelled, totals.left) == (6, 6, 2, 1, 3)
    assert set(run.left) == {"dead", "silent", "changed"}
    # The changed key is trusted now: only its node is asked again.
    services.links.trust(fleet[2], sshd.keys.host_keys()[0], "test")
    services.links.replace_key(fleet[2], OTHER, "test")
    again = run.again("again", ["changed"])
    assert again is not None and len(again.parts) == 1
    again.job.done.result()
    assert "changed" not in run.left
    run.close()


def test_that_four_good_nodes_behind_thirty_six_dead_ones_are_done_while_those_are_waited_for(services: Services, sshd, until) -> None:
    """Half of the dead take calls and say nothing, half take none; all are still called when the good ones are done."""
    services.links._deadlines = Deadlines(tcp_s=300, banner_s=300)
    with socket.create_server(("0.0.0.0", 0), backlog=200) as mute, socket.socket() as full, contextlib.ExitStack() as stack:
        full.bind(("0.0.0.0", 0))
        full.listen(0)
        for _ in range(4):  # more than it keeps waiting: the next calls get no answer at all
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        places = [(f"127.0.1.{number}", (mute, full)[number % 2].getsockname()[1]) for number in range(1, 37)]
        fleet = []
        for number, (host, port) in enumerate([*places, *[("127.0.0.1", sshd.address.port)] * 4]):
            address = Address(host, port, sshd.address.user)
            fleet.append(Node(f"n{number}", f"n{number}", Reach.SSH, address, identity_file=str(sshd.keys.user("id_ed25519"))))
            services.workspace.submit(lambda db: stored.save_node(db, fleet[-1])).result()
        for node in fleet[-4:]:
            services.links.trust(node, sshd.keys.host_keys()[0], "test")
        run = FleetRun(services, fleet, lambda connection, found: prepare(connection, found.id)[1])
        whole = run.start("all")
        assert until(lambda: all(line.is_over for line in run.lines()[-4:]))
        assert Counter(line.phase for line in run.lines()) == {Phase.DONE: 4, Phase.CONNECTING: 36}
        run.cancel_all()
        whole.job.done.result()
        assert Counter(line.phase for line in run.lines()) == {Phase.DONE: 4, Phase.CANCELLED: 36}
        run.close()


def test_that_a_node_that_lets_in_but_runs_nothing_is_not_reached_and_the_others_go_on(services: Services, sshd, make_sshd) -> None:
    closed = make_sshd("MaxSessions 0\n")
    fleet = []
    for name, port in (("closed", closed.address.port), ("open", sshd.address.port)):
        address = Address("127.0.0.1", port, sshd.address.user)
        fleet.append(Node(name, name, Reach.SSH, address, identity_file=str(sshd.keys.user("id_ed25519"))))
        services.workspace.submit(lambda db: stored.save_node(db, fleet[-1])).result()
        services.links.trust(fleet[-1], sshd.keys.host_keys()[0], "test")
    outcomes = {}
    run = FleetRun(services, fleet, lambda connection, found: Request(), on_outcome=lambda node, outcome: outcomes.update({node.id: outcome}))
    run.start("both").job.done.result()
    lines = {line.node.id: line for line in run.lines()}
    assert (lines["closed"].phase, lines["open"].phase) == (Phase.NOT_REACHED, Phase.DONE)
    assert "no further session" in lines["closed"].reason.en and run.left == ("closed",)
    shut = outcomes["closed"]
    assert (shut.run, shut.error.phase, shut.overall, shut.findings) == (None, "channel", Verdict.INCONCLUSIVE, ())
    with services.workspace.read() as connection:
        assert [made.state for made in list_runs(connection, node_id="closed")] == [RunState.INTERRUPTED]
    run.close()


def test_that_only_what_never_came_is_asked_again(services: Services) -> None:
    def finding(check: str, verdict: Verdict, code: str = "") -> Finding:
        return Finding(check, verdict, Text("", ""), reason_code=code)

    found = [
        finding("a", Verdict.PASS), finding("b", Verdict.INCONCLUSIVE, Reason.TIMEOUT),
        finding("c", Verdict.INCONCLUSIVE, Reason.MISSING_TOOL), finding("d", Verdict.INCONCLUSIVE, Reason.CONNECTION_LOST),
        finding("e", Verdict.INCONCLUSIVE, Reason.DENIED),
    ]  # fmt: skip
    assert unanswered(found) == {"b", "d"}
    with services.workspace.read() as connection:
        request = Request()
        assert what_is_left(connection, "nobody", request, datetime(2026, 1, 1, tzinfo=UTC)) == request


def test_that_a_good_node_is_done_while_thirty_two_before_it_hang_in_their_commands(
    services: Services, sshd, make_sshd, until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "COMMAND_S", 0.1)
    monkeypatch.setattr(wrap, "_FIRST_BYTE_S", 3600.0)  # none of them is given up meanwhile
    hanging = make_sshd("ForceCommand cat >/dev/null\n")

    def node(name: str, server) -> Node:
        made = Node(name, name, Reach.SSH, server.address, auth=AuthMethod.KEY, identity_file=server.key_file)
        services.workspace.submit(lambda db: stored.save_node(db, made)).result()
        services.links.trust(made, server.keys.host_keys()[0], "test")
        return made

    fleet = [*(node(f"h{number}", hanging) for number in range(REMOTE_THREADS)), node("good", sshd)]
    run = FleetRun(services, fleet, lambda connection, found: Request(only=("cpu.model",)))
    whole = run.start("all")
    done, _ = wait([whole.parts[-1].done], timeout=60)
    hang = until(lambda: Counter(line.phase for line in run.lines()) == {Phase.READING: REMOTE_THREADS, Phase.DONE: 1})
    whole.job.cancel.cancel()
    wait([whole.job.done], timeout=60)
    assert done and hang


def test_that_fifty_stalled_nodes_are_cancelled_as_quickly_as_one(
    services: Services, make_sshd, marker, until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SILENT_S", 3600.0)  # a slow machine is no silent node
    monkeypatch.setattr("gpulease_gui.remote.collect.END_SECONDS", 3600.0)  # waited for, they would never end
    monkeypatch.setattr(lookout, "INTERVAL_S", 3600.0)
    server = make_sshd(f"ForceCommand echo hello; sleep {marker.seconds} & cat >/dev/null; kill $!\n")

    def node(number: int) -> Node:
        made = Node(f"n{number}", f"n{number}", Reach.SSH, server.address, auth=AuthMethod.KEY, identity_file=server.key_file)
        services.workspace.submit(lambda db: stored.save_node(db, made)).result()
        services.links.trust(made, server.keys.host_keys()[0], "test")
        return made

    fleet = [node(number) for number in range(50)]
    before = threading.active_count()
    run = FleetRun(services, fleet, lambda connection, found: prepare(connection, found.id)[1])
    whole = run.start("all")
    assert until(lambda: len(marker.processes()) >= 2 * REMOTE_THREADS)  # a shell and its sleep
    with server.stalled():
        run.cancel_all()
        assert not wait([whole.job.done], timeout=60).not_done
        lines = run.lines()
    assert Counter((line.phase, line.reason) for line in lines) == {
        (Phase.CANCELLED, END_UNSEEN): REMOTE_THREADS, (Phase.CANCELLED, NO_TEXT): len(fleet) - REMOTE_THREADS,
    }  # fmt: skip
    assert impatient.CANCEL_S < 0.5
    assert marker.gone()
    assert until(lambda: threading.active_count() <= before + REMOTE_THREADS + 1)  # the pool keeps its own
    with services.workspace.read() as connection:
        assert {kept.state for kept in list_runs(connection)} == {RunState.CANCELLED}
