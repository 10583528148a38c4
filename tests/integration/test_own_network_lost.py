"""Is a fleet of nodes blamed when it is this computer whose network goes away, and is only the rest asked once it is back?"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.remote import impatient, lookout
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.fleet_run import FleetRun, Phase
from gpulease_gui.services.run_view import prepare
from gpulease_gui.store import nodes as stored

pytestmark = [pytest.mark.sshd, pytest.mark.netns]

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET


def _sh(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _enter(path: str) -> None:
    """This thread, and those that it starts, from now on have that network."""
    place = os.open(path, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(place, _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), path)
    finally:
        os.close(place)


@pytest.fixture
def networks() -> Iterator[tuple[str, str]]:
    """Files of two networks with a line between them: 10.251.8.1 on `wire0` and 10.251.8.2; back in our own after that."""
    names = f"gpn{os.getpid()}a", f"gpn{os.getpid()}b"
    ours = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        for name in names:
            _sh("ip", "netns", "add", name)
        _sh("ip", "-n", names[0], "link", "add", "wire0", "type", "veth", "peer", "name", "wire1", "netns", names[1])
        for number, name in enumerate(names):
            _sh("ip", "-n", name, "address", "add", f"10.251.8.{number + 1}/24", "dev", f"wire{number}")
            _sh("ip", "-n", name, "link", "set", f"wire{number}", "up")
            _sh("ip", "-n", name, "link", "set", "lo", "up")
        _enter(f"/run/netns/{names[0]}")
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces here: {error}")
    finally:
        _enter(f"/proc/self/fd/{ours}")
        os.close(ours)
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@pytest.fixture
def fleet(networks, make_sshd, home: Path, tmp_path: Path) -> Iterator[tuple]:
    """Three nodes on the other side whose nvidia-smi waits for a file, the run of them, and what came of each."""
    here, there = (f"/run/netns/{name}" for name in networks)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text(f"#!/bin/sh\nwhile [ ! -e {tmp_path}/there ]; do sleep 0.05; done\nexit 9\n")
    (tools / "nvidia-smi").chmod(0o755)
    _enter(there)
    server = make_sshd("ListenAddress 10.251.8.2\n", env={"PATH": f"{tools}:/usr/bin:/bin"})
    _enter(here)
    services, outcomes = open_services(tmp_path / "fleet.db"), {}
    nodes = [
        Node(f"n{n}", f"n{n}", Reach.SSH, replace(server.address, host="10.251.8.2"), identity_file=server.key_file) for n in range(3)
    ]
    for node in nodes:
        services.workspace.submit(lambda db, node=node: stored.save_node(db, node)).result()
        services.links.trust(node, server.keys.host_keys()[0], "test")

    def keep(node: Node, outcome: object) -> None:
        outcomes.setdefault(node.id, []).append(outcome)

    run = FleetRun(services, nodes, lambda connection, found: prepare(connection, found.id)[1], on_outcome=keep)
    yield run, outcomes
    run.close()
    services.close()


def test_that_our_own_lost_network_is_no_fault_of_a_node_and_only_the_rest_is_asked_again(
    fleet, networks, until: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookout, "INTERVAL_S", 0.5)
    run, outcomes = fleet
    whole = run.start("all")
    assert until(lambda: all(line.answered for line in run.lines()))
    _sh("ip", "-n", networks[0], "link", "set", "wire0", "down")
    whole.job.done.result(60)
    (tmp_path / "there").touch()
    assert run.left == ("n0", "n1", "n2")
    for node_id in run.left:
        (outcome,) = outcomes[node_id]
        found = {one.check: (one.verdict, one.reason_code, one.reason.en) for one in outcome.findings}
        assert found["gpu.model"] == (Verdict.INCONCLUSIVE, "own_network", "this computer had no network before the output ended")
        assert {one.reason_code for one in outcome.findings} & {"timeout", "connection_lost"} == set()
    _sh("ip", "-n", networks[0], "link", "set", "wire0", "up")
    again = run.again("again")
    again.job.done.result(60)
    assert [line.phase for line in run.lines()] == [Phase.DONE] * 3
    for first, second in outcomes.values():
        answered = {one.check for one in first.findings if one.reason_code != "own_network"}
        asked = {one.check for one in second.findings}
        assert "gpu.model" in asked and not asked & answered


def test_that_a_fleet_without_a_network_is_cancelled_at_once(fleet, networks, until: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpulease_gui.remote.collect.END_SECONDS", 3600.0)  # waited for, it would never end
    monkeypatch.setattr(lookout, "INTERVAL_S", 3600.0)
    run, outcomes = fleet
    whole = run.start("all")
    assert until(lambda: all(line.answered for line in run.lines()))
    _sh("ip", "-n", networks[0], "link", "set", "wire0", "down")
    run.cancel_all()
    whole.job.done.result(60)
    assert impatient.CANCEL_S < 0.5
    assert [line.phase for line in run.lines()] == [Phase.CANCELLED] * 3
    assert {one.overall for each in outcomes.values() for one in each} == {Verdict.INCONCLUSIVE}
