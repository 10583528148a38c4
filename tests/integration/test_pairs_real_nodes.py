"""All pairs of some nodes: three real servers in network namespaces on one bridge, and the simulated ones."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.events import Event, PairMeasured
from gpulease_gui.services.pair_runs import PairRequest, PairRuns
from gpulease_gui.services.targets import node_of
from gpulease_gui.store import runs

RATES = ("400mbit", "400mbit", "60mbit")


def gpulease(*words: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "gpulease_gui.cli.main", *words)
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def run(words: str) -> None:
    subprocess.run(words.split(), check=True)


def can_make_namespaces() -> bool:
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("ip"):
        return False
    made = subprocess.run(["ip", "netns", "add", "gl-try-pairs"], capture_output=True).returncode == 0
    subprocess.run(["ip", "netns", "del", "gl-try-pairs"], capture_output=True)
    return made


@pytest.fixture
def three_hosts() -> Iterator[tuple[str, ...]]:
    """Namespaces 10.77.4.1 to 10.77.4.3 on a bridge in a namespace of its own; the third sends 60 Mbit/s at most."""
    if not can_make_namespaces():
        pytest.skip("network namespaces can't be made here (needs root and iproute2)")
    switch, names = f"gl-s-{os.getpid()}", tuple(f"gl-p{n}-{os.getpid()}" for n in range(3))
    with contextlib.ExitStack() as stack:
        for name in (switch, *names):
            run(f"ip netns add {name}")
            stack.callback(run, f"ip netns del {name}")
        run(f"ip -n {switch} link add br0 type bridge")
        run(f"ip -n {switch} link set br0 up")
        for n, (name, rate) in enumerate(zip(names, RATES, strict=True)):
            run(f"ip link add gl{n} netns {name} type veth peer name port{n} netns {switch}")
            run(f"ip -n {switch} link set port{n} master br0 up")
            run(f"ip -n {name} addr add 10.77.4.{n + 1}/24 dev gl{n}")
            run(f"ip -n {name} link set gl{n} up")
            run(f"ip -n {name} link set lo up")
            run(f"tc -n {name} qdisc add dev gl{n} root tbf rate {rate} burst 64kb latency 50ms")
        yield names


INSIDE = "ForceCommand ip netns exec {} sh -c 'mount --bind {} /proc/sys/kernel/random/boot_id && exec sh -c \"$SSH_ORIGINAL_COMMAND\"'\n"


@pytest.mark.netns
@pytest.mark.sshd
def test_that_the_slow_node_of_three_is_named(
    make_sshd: Callable[..., Any], three_hosts: tuple[str, ...], tmp_path: Path
) -> None:
    servers = []
    for number, name in enumerate(three_hosts):
        boot = tmp_path / f"boot{number}"
        boot.write_text(f"6e2d4b63-1a1f-4b1c-8b78-00000000000{number}\n")
        servers.append(make_sshd(extra=INSIDE.format(name, boot)))
    targets = [str(server.address) for server in servers]
    keys = [word for key in servers[0].keys.host_keys() for word in ("--fingerprint", key.fingerprint)]
    where = [word for n, target in enumerate(targets) for word in ("--address", f"{target}=10.77.4.{n + 1}")]
    done = gpulease(
        "pairs", *targets, "--identity", servers[0].key_file, *keys[:2], *where, "--seconds", "1", "--gbit", "0.3", "--json",
        "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["slow_nodes"], told["slow_pairs"], told["unmeasured"]) == ([targets[2]], [], []), done.stderr
    rates = {tuple(pair["nodes"]): pair for pair in told["pairs"]}
    assert rates[targets[0], targets[1]]["there_gbit_s"] > 0.25
    assert rates[targets[0], targets[2]]["back_gbit_s"] < 0.07 and rates[targets[0], targets[2]]["run"]
    assert done.returncode == 1 and "3 pairs in 3 rounds" in done.stderr


def test_that_a_cancel_keeps_the_pairs_that_were_measured(tmp_path: Path) -> None:
    services = open_services(tmp_path / "demo.db", demo=True)
    try:
        names = ("honest", "slow-net-a", "slow-net-b")
        nodes = [node_of(services.workspace, f"demo:{name}") for name in names]
        cancel, heard = CancelToken(), list[Event]()
        services.bus.subscribe(heard.append)
        report = PairRuns(services.verification, services.bus).run(
            nodes, PairRequest(seconds=1), cancel, lambda result: cancel.cancel()
        )
        assert report.cancelled and report.verdict is Verdict.INCONCLUSIVE
        measured = [result for result in report.results if result.rate is not None]
        assert len(measured) == 1 and len(report.blame.unmeasured) == 2
        assert [(e.done, e.total) for e in heard if isinstance(e, PairMeasured)] == [(1, 3)]
        with services.workspace.read() as connection:
            assert runs.get_run(connection, measured[0].run_id or "").is_part
    finally:
        services.close()


def test_that_two_words_for_one_node_are_a_wrong_call(tmp_path: Path) -> None:
    done = gpulease("pairs", "demo:honest", "demo:honest", "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64 and "are one node" in done.stderr
