"""Does the agent end with its client, however that ends, and does the watch say what happened?"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.timeline import Clock
from gpulease_gui.services.watch import Watching, WatchView
from gpulease_gui.store.nodes import get_node, save_node
from gpulease_gui.store.samples import list_gaps
from tests.standin.build import build_nvml

from .conftest import SshServer, children

pytestmark = pytest.mark.sshd
ROOT = Path(__file__).resolve().parents[2]
Until = Callable[..., bool]
FIRST, SECOND = "GPU-aaaa0000-0000-4000-8000-000000000000", "GPU-bbbb1111-0000-4000-8000-000000000001"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    services = open_services(tmp_path / "own.gpulease.db")
    yield services
    services.close()


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    path = tmp_path / "faults"
    path.write_text("")
    return path


@pytest.fixture
def sshd(make_sshd: Callable[..., SshServer], tmp_path: Path, faults: Path) -> SshServer:
    """A node with the stand-in of the driver's library."""
    build_nvml(tmp_path)
    return make_sshd(env={"LD_LIBRARY_PATH": str(tmp_path), "NVML_STANDIN": str(faults)})


def known(services: Services, sshd: SshServer) -> Node:
    node = Node("n1", "real", Reach.SSH, Address(sshd.address.host, sshd.address.port, sshd.address.user), identity_file=sshd.key_file)
    key: HostKey = sshd.keys.host_keys()[0]
    services.workspace.submit(lambda db: save_node(db, node)).result()
    services.links.trust(node, key, "the test")
    return node


def count(view: WatchView, metric: str) -> int:
    return sum(ring.total for (id_, _), ring in view.rings.items() if id_ == metric)


def agents(sshd: SshServer) -> list[int]:
    """The agents that run on this node."""
    assert sshd.process is not None
    return [pid for pid in children(sshd.process.pid) if b"exec(compile(" in read(pid) and read(pid).startswith(b"python3")]


def read(pid: int) -> bytes:
    path = Path(f"/proc/{pid}/cmdline")
    try:
        return path.read_bytes()
    except OSError:
        return b""


def gone(pids: list[int]) -> bool:
    return not any(read(pid) for pid in pids)


@pytest.fixture
def watched(own: Services, sshd: SshServer, until: Until) -> WatchView:
    view = own.watching.start(known(own, sshd), interval_s=0.5)
    assert until(lambda: count(view, "gpu.power_w") >= 2 and count(view, "agent.cpu_percent") >= 2), view
    assert view.by_agent
    return view


def test_that_a_node_is_read_by_the_agent_and_nothing_is_left_of_it(own: Services, watched: WatchView, sshd: SshServer, until: Until) -> None:
    running = agents(sshd)
    assert len(running) == 1 and watched.indexes == {FIRST: 0, SECOND: 1}
    cost = watched.rings["agent.memory_mib", ""].last
    assert cost is not None and 1 < cost[1] < 200
    own.watching.close()
    assert until(lambda: gone(running)) and not list(sshd.home.iterdir())


def test_that_a_cut_line_ends_the_agent(watched: WatchView, sshd: SshServer, until: Until) -> None:
    running = agents(sshd)
    sshd.cut_sessions()
    assert until(lambda: gone(running))
    assert until(lambda: watched.gaps and watched.gaps[0].resumed)
    assert watched.gaps[0].reason == "connection_lost"


def test_that_a_killed_agent_is_a_gap_of_its_own_and_started_again(watched: WatchView, sshd: SshServer, until: Until) -> None:
    os.kill(agents(sshd)[0], signal.SIGKILL)
    assert until(lambda: watched.gaps and watched.gaps[0].resumed)
    assert watched.gaps[0].reason == "agent_ended" and watched.by_agent
    values = watched.rings["gpu.power_w", FIRST].view().values.tolist()
    assert any(math.isnan(value) for value in values), "no line may be drawn over the gap"


def test_that_an_agent_that_falls_silent_is_a_gap(watched: WatchView, sshd: SshServer, until: Until) -> None:
    stopped = agents(sshd)
    os.kill(stopped[0], signal.SIGSTOP)
    try:
        assert until(lambda: watched.gaps)
        assert watched.gaps[0].reason == "no_answer"
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    assert until(lambda: gone(stopped))


def test_that_a_lost_gpu_is_a_state_and_the_other_goes_on_under_its_own_name(watched: WatchView, faults: Path, until: Until) -> None:
    faults.write_text("lost0 swapped")
    assert until(lambda: FIRST in watched.lost)
    before = watched.rings["gpu.util_percent", SECOND].total
    assert until(lambda: watched.rings["gpu.util_percent", SECOND].total > before)
    assert watched.indexes[SECOND] == 0
    lost, other = watched.rings["gpu.util_percent", FIRST].view(), watched.rings["gpu.util_percent", SECOND].view()
    assert lost.values.tolist()[-1] != lost.values.tolist()[-1] and 0 not in lost.values.tolist()
    assert set(other.values.tolist()) == {88}
    faults.write_text("")
    assert until(lambda: not watched.lost)


def test_that_a_reloaded_driver_leaves_no_joined_line(watched: WatchView, faults: Path, until: Until) -> None:
    faults.write_text("unloaded")
    assert until(lambda: "gpu" in watched.troubles)
    assert until(lambda: math.isnan(watched.rings["gpu.power_w", FIRST].view().values[-1]))
    assert watched.state is NodeState.CONNECTED and not watched.gaps, "the other sources go on"
    faults.write_text("")
    assert until(lambda: "gpu" not in watched.troubles, 12)


def test_that_the_agent_ends_when_its_client_is_killed(own: Services, sshd: SshServer, tmp_path: Path, until: Until) -> None:
    known(own, sshd)
    own.close()
    client = start_client(tmp_path / "own.gpulease.db", "n1")
    running = agents(sshd)
    assert len(running) == 1
    client.kill()
    client.communicate()
    assert until(lambda: gone(running))


def start_client(workspace: Path, node: str, hz: int = 2, within: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    words = [*within, sys.executable, "-m", "tests.integration.watch_client", str(workspace), node, str(hz)]
    client = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert client.stdout and client.stdout.readline() == "up\n"
    return client


def test_that_a_node_without_python_is_read_by_the_scripts(own: Services, make_sshd: Callable[..., SshServer], until: Until) -> None:
    none = 'case "$SSH_ORIGINAL_COMMAND" in python3*) echo "sh: 1: python3: not found" >&2; exit 127;; *) eval "exec $SSH_ORIGINAL_COMMAND";; esac'
    sshd = make_sshd(f"ForceCommand {none}\n")
    view = own.watching.start(known(own, sshd))
    assert until(lambda: count(view, "ram.used_gib") >= 2), view
    assert not view.by_agent and not view.gaps and ("agent.cpu_percent", "") not in view.rings


def test_that_ux_11_a_sleep_of_this_computer_is_a_gap_and_no_line_goes_through_it(tmp_path: Path, until: Until) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    asleep_s = [0.0]
    watching = Watching(services.workspace, services.bus, services.links, Clock(wall=lambda: time.time() + asleep_s[0]))
    try:
        with services.workspace.read() as connection:
            node = get_node(connection, "demo-honest")
        view = watching.start(node)
        assert until(lambda: count(view, "cpu.util_percent") >= 2)
        asleep_s[0] = 3600.0
        assert until(lambda: view.gaps and view.gaps[-1].end_s)
        gap = view.gaps[-1]
        assert gap.reason == "computer_slept" and gap.resumed and gap.end_s is not None
        assert gap.end_s - gap.start_s == pytest.approx(3600, abs=12)
        assert until(lambda: (last := view.rings["cpu.util_percent", ""].last) is not None and last[0] >= gap.end_s)
        seen = view.rings["cpu.util_percent", ""].view()
        after = next(n for n, at_s in enumerate(seen.times_s) if at_s > gap.start_s + 10)
        assert math.isnan(seen.values[after - 1])
    finally:
        watching.close()
        services.workspace.submit(lambda db: None).result()
        with services.workspace.read() as connection:
            kept = [gap.reason for gap in list_gaps(connection, "demo-honest", "", 0, 2**62)]
        services.close()
    assert kept == ["computer_slept"]


def test_that_a_line_that_did_not_outlive_a_sleep_of_this_computer_is_told_as_that(tmp_path: Path, until: Until) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    asleep_s = [0.0]
    watching = Watching(services.workspace, services.bus, services.links, Clock(wall=lambda: time.time() + asleep_s[0]))
    try:
        with services.workspace.read() as connection:
            node = get_node(connection, "demo-honest")
        view = watching.start(node)
        assert until(lambda: count(view, "cpu.util_percent") >= 2)
        asleep_s[0] = 3600.0
        services.links._demo_server().cut("honest")
        assert until(lambda: view.gaps and view.gaps[0].end_s)
        gap = view.gaps[0]
        assert gap.reason == "computer_slept" and gap.end_s is not None
        assert gap.start_s < time.time() + 60 and gap.end_s - gap.start_s > 3500
    finally:
        watching.close()
        services.close()


# Speaks as the agent does, and once writes a line of a megabyte.
LONG_WINDED = """import json, sys, time
b = sys.stdin.buffer
b.read(int(b.readline()))
mark = json.loads(b.readline())["mark"]
n = 0
while True:
    row = {"index": 0, "uuid": "GPU-a", "power_w": 100 + n, "words": "x" * (2**20 if n == 3 else 1)}
    print(mark, "gpu", json.dumps(row), flush=True)
    n += 1
    time.sleep(0.2)
"""


def test_that_a_line_of_a_megabyte_is_a_trouble_of_its_source_and_a_break_of_its_curves(
    own: Services, make_sshd: Callable[..., SshServer], tmp_path: Path, until: Until
) -> None:
    (tmp_path / "winded.py").write_text(LONG_WINDED)
    sshd = make_sshd(f"ForceCommand exec {sys.executable} {tmp_path}/winded.py\n")
    told: list[str] = []
    view = own.watching.start(known(own, sshd), interval_s=0.2)

    def seen() -> bool:
        told.extend(view.troubles.values())
        return count(view, "gpu.power_w") >= 8

    assert until(seen), view
    values = view.rings["gpu.power_w", "GPU-a"].view().values.tolist()
    assert [value for value in values[:6] if not math.isnan(value)] == [100, 101, 102, 104, 105]
    assert math.isnan(values[3]) and set(told) <= {"a line of more than 64 KiB was left out"}
    assert view.troubles == {} and view.gaps == [] and view.state is NodeState.CONNECTED


def _sh(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def two_networks() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a line of 200 Mbit/s between them; skipped where that is not allowed."""
    here, there = f"gpl{os.getpid()}a", f"gpl{os.getpid()}b"
    try:
        _sh("ip", "netns", "add", here)
        _sh("ip", "netns", "add", there)
        _sh("ip", "-n", here, "link", "add", "wire0", "type", "veth", "peer", "name", "wire1", "netns", there)
        for name, wire, address in ((here, "wire0", "10.251.7.1/24"), (there, "wire1", "10.251.7.2/24")):
            _sh("ip", "-n", name, "address", "add", address, "dev", wire)
            _sh("ip", "-n", name, "link", "set", wire, "up")
            _sh("ip", "-n", name, "link", "set", "lo", "up")
        _sh("tc", "-n", here, "qdisc", "add", "dev", "wire0", "root", "tbf", "rate", "200mbit", "burst", "256kb", "latency", "100ms")
        yield here, there
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces here: {error}")
    finally:
        for name in (here, there):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


SENT_MBIT_S, PAYLOAD = 100, 1400
FRAME = PAYLOAD + 8 + 20 + 14  # UDP, IP and Ethernet around it


@pytest.mark.netns
def test_that_a_known_network_rate_is_charted_within_two_percent(two_networks: tuple[str, str], tmp_path: Path) -> None:
    # iperf3 keeps its rate itself and makes up for a turn that it missed. Where it could not even so, that tells nothing
    # of the chart, and it is done again.
    charted_mbit_s, told_mbit_s = next(
        pair for pair in (charted_and_told(two_networks, tmp_path / f"net{n}.gpulease.db") for n in range(4)) if abs(pair[1] / SENT_MBIT_S - 1) < 0.005
    )
    assert charted_mbit_s == pytest.approx(told_mbit_s * FRAME / PAYLOAD, rel=0.02), "the counters of a line count whole frames"


def charted_and_told(networks: tuple[str, str], database: Path) -> tuple[float, float]:
    """What the agent's curve tells of whole frames, and what iperf3 says that it sent in them."""
    here, there = networks
    with subprocess.Popen(["ip", "netns", "exec", there, "iperf3", "-s", "-1", "--forceflush"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert any("listening" in line for line in iter(server.stdout.readline, ""))
        client = start_client(database, "here", 5, ("ip", "netns", "exec", here))
        words = ["ip", "netns", "exec", here, "iperf3", "-c", "10.251.7.2", "-u", "-b", f"{SENT_MBIT_S}M", "-l", str(PAYLOAD), "-t", "8", "-J"]
        done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=30)
        curves = json.loads(client.communicate("", 20)[0])
        server.kill()
    rates = sorted(value for _, value in curves["net.tx_gbit_s wire0"] if value)
    busy = rates[len(rates) // 4 : -2]  # the seconds in which it began and ended are no rate
    return 1000 * sum(busy) / len(busy), json.loads(done.stdout)["end"]["sum"]["bits_per_second"] / 1e6
