"""Active checks against a real OpenSSH server with real fio and iperf3, each as short as it can be."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Basis, Finding, Reason, Verdict
from gpulease_gui.domain.term import TermValue
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import Event, LoadChanged
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store.evidence import list_run_evidence

pytestmark = pytest.mark.sshd

Measure = Callable[..., tuple[Finding, ...]]

# A python3 whose clock runs at half speed, as a preloaded library makes one.
BENT_PYTHON = """#!/bin/sh
echo "gpulease-tick 1000.0 1700000000 0"
sleep 0.25; echo "gpulease-tick 1000.125 1700000000 1"
sleep 0.25; echo "gpulease-tick 1000.25 1700000000 2"
sleep 2; echo "gpulease-tick 1001.25 1700000001 3"
"""


# Eight streams of it are 160 Mbit/s each way, however busy this computer is.
EVEN_IPERF3 = f"""#!/bin/sh
case " $* " in *" -c "*) exec {shutil.which("iperf3")} "$@" -b 20M ;; *) exec {shutil.which("iperf3")} "$@" ;; esac
"""


@pytest.fixture
def server(make_sshd: Callable[..., Any], tmp_path: Path) -> Any:
    """A server whose sessions look for tools in a folder of the test first."""
    return make_sshd(env={"PATH": f"{tmp_path}/tools:{Path(sys.executable).parent}:{os.environ['PATH']}"})


@pytest.fixture
def put_tool(tmp_path: Path) -> Callable[[str, str], None]:
    """`put_tool(name, script)`: a tool of the server's."""

    def put(name: str, script: str) -> None:
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text(script)
        (tmp_path / "tools" / name).chmod(0o755)

    return put


@pytest.fixture
def services(server: Any, tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "w.db", fingerprints=tuple(key.fingerprint for key in server.keys.host_keys()))
    yield opened
    opened.close()


# Another machine, as far as a node can tell: its own boot id. The session's words reach the shell unchanged.
OTHER_BOOT = "ForceCommand unshare {} sh -c 'mount --bind {} /proc/sys/kernel/random/boot_id && exec sh -c \"$SSH_ORIGINAL_COMMAND\"'\n"


@pytest.fixture
def other(make_sshd: Callable[..., Any], tmp_path: Path) -> Any:
    """A server whose sessions see another boot id."""
    boot, how = tmp_path / "boot_id", "-m" if os.geteuid() == 0 else "-rm"
    boot.write_text("5d1c3a52-0f0e-4a0b-9a67-3a1f2b4c5d6e\n")
    mount = f"mount --bind {boot} /proc/sys/kernel/random/boot_id"
    if shutil.which("unshare") is None or subprocess.run(["unshare", how, "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("mount namespaces can't be made here")
    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return make_sshd(env=env, extra=OTHER_BOOT.format(how, boot))


@pytest.fixture
def measure(server: Any, services: Services, request: pytest.FixtureRequest) -> Measure:
    """`measure("disk.rand", seconds, {term: value}, peer=True)`: the findings of these checks on the server."""

    def run(
        only: str, seconds: int, terms: dict[str, TermValue] | None = None, *, peer: bool = False, urls: tuple[str, ...] = ()
    ) -> tuple[Finding, ...]:
        node = node_of(services.workspace, str(server.address), server.key_file)
        second = None
        if peer:
            second = node_of(services.workspace, str(request.getfixturevalue("other").address), server.key_file)
        wanted = Request(terms or {}, only=tuple(only.split()), seconds=seconds, peer=second, urls=urls)
        return services.verification.run(node, wanted, CancelToken()).findings

    return run


def left_in(folder: Path) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if "fio" in name or "gpulease" in name]


def processes_of(home: Path) -> list[str]:
    """Processes that were started in sessions of a server: they carry its HOME."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={home}\0".encode() in path.read_bytes():
                found.append((path.parent / "comm").read_text().strip())
        except OSError:  # it ended meanwhile
            continue
    return [name for name in found if not name.startswith("sshd")]


def test_that_random_reads_are_counted_past_the_page_cache_and_no_file_is_left(measure: Measure, server: Any) -> None:
    (found,) = measure("disk.rand", 1, {"disk.read_iops": 10})
    assert (found.verdict, found.basis, found.unit) == (Verdict.PASS, Basis.MEASURED, "IOPS")
    assert isinstance(found.measured, int) and found.measured > 10
    assert [subject.id for subject in found.subjects] == ["read", "write"]
    assert "over 1 s in a file of 256 MiB" in found.reason.en
    assert left_in(server.home) == []


def test_that_a_rate_that_would_fail_is_measured_once_more(measure: Measure) -> None:
    (found,) = measure("disk.rand", 1, {"disk.read_iops": 90_000_000})
    assert (found.verdict, found.reason_code) == (Verdict.FAIL, "rate_low")
    assert "the other test gave" in found.reason.en


def test_that_flushes_are_timed(measure: Measure, server: Any) -> None:
    (found,) = measure("disk.fsync", 1)
    assert isinstance(found.measured, float) and 0 < found.measured < 5000
    assert (found.unit, found.basis) == ("ms", Basis.MEASURED)
    assert left_in(server.home) == []


def test_that_four_seconds_of_writing_are_too_short_to_judge_what_lasts(measure: Measure, server: Any) -> None:
    (found,) = measure("disk.burst", 4)
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "too_short")
    assert isinstance(found.measured, float) and found.measured > 0
    assert left_in(server.home) == []


def test_that_a_promised_gigabyte_is_written_and_read_back(measure: Measure, server: Any) -> None:
    (found,) = measure("disk.capacity_honest", 60, {"disk.size_gb": 1})
    assert (found.verdict, found.measured) == (Verdict.PASS, 1.0), found.reason.en
    assert "read back without a fault" in found.reason.en
    assert left_in(server.home) == []


def test_that_both_directions_are_measured_once_for_two_checks_and_told_as_loads(
    measure: Measure, services: Services, put_tool: Callable[[str, str], None]
) -> None:
    """A direction that is far slower than the other is measured once more: this line gives the same both ways."""
    put_tool("iperf3", EVEN_IPERF3)
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    found = measure("net.iperf_multi net.iperf_reverse", 1, {"network.gbit_s": 0.01}, peer=True)
    assert [f.check for f in found] == ["net.iperf_multi", "net.iperf_multi", "net.iperf_reverse"]
    assert found[2].evidence == found[0].evidence
    rates = sorted(float(f.measured or 0) for f in found[:2])
    assert found[2].measured == pytest.approx(rates[0] / rates[1], abs=0.01)  # of figures with three decimals
    loads = [(one.load.metric, one.load.seconds, one.runs) for one in heard if isinstance(one, LoadChanged)]
    assert loads == [(way, 1, runs) for way in ("net.tx_gbit_s", "net.rx_gbit_s") for runs in (True, False)]


@contextlib.contextmanager
def counted(port: int) -> Iterator[tuple[int, list[int]]]:
    """A port that leads to another one of this computer, and how many bytes each piece had that came through."""
    listener, pieces, ends, threads = socket.create_server(("127.0.0.1", 0)), list[int](), list[socket.socket](), list[threading.Thread]()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                pieces.append(len(data))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                pair = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
                ends.extend(pair)
                for one in (pair, pair[::-1]):
                    threads.append(threading.Thread(target=pump, args=one))
                    threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield listener.getsockname()[1], pieces
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for end in (listener, *ends):
            end.close()


def test_that_ux_28_one_stream_flows_between_the_nodes_and_not_through_our_channel_and_is_no_load(
    server: Any, other: Any, services: Services
) -> None:
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    peer = node_of(services.workspace, str(other.address), other.key_file)
    with counted(server.port) as (port, pieces):
        node = node_of(services.workspace, f"{server.address.user}@127.0.0.1:{port}", server.key_file)
        request = Request({"network.gbit_s": 0.01}, only=("net.iperf_single",), seconds=1, peer=peer)
        outcome = services.verification.run(node, request, CancelToken())
    there, back = outcome.findings
    measured_bytes = sum(float(found.measured or 0) * 1e9 / 8 for found in (there, back))
    assert 5_000 < sum(pieces) < 500_000 < measured_bytes / 20, "the orders and what the tool says of it, and no more"
    with services.workspace.read() as connection:
        commands = {line.fact_id: line.command for line in list_run_evidence(connection, str(outcome.run))}
    assert commands["iperf_single"] == "iperf3 -c PEER -p PORT -J -t SECONDS -O 1 -P 1"
    assert not any(isinstance(one, LoadChanged) for one in heard), "one stream asks for less than a line gives"
    assert (there.direction, back.direction) == ("target->peer", "peer->target")
    assert (there.verdict, back.verdict) == (Verdict.PASS, Verdict.PASS)
    assert there.reason.en.startswith("one stream carried")


def test_that_the_course_of_a_long_test_is_kept(measure: Measure) -> None:
    (found,) = measure("net.sustained", 4, {"network.gbit_s": 0.01}, peer=True)
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "too_short")
    assert "of 4 s" in found.reason.en


def test_that_a_pair_check_without_a_peer_asks_for_one(measure: Measure) -> None:
    (found,) = measure("net.iperf_single", 1)
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, Reason.NOT_COLLECTED)
    assert "--peer" in found.next_step.en


def test_that_the_round_trip_is_told_or_the_missing_tool(measure: Measure) -> None:
    (found,) = measure("net.latency", 1, {"network.same_site": True}, peer=True)
    if shutil.which("ping") is None:
        assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, Reason.MISSING_TOOL)
        assert "iputils-ping" in found.next_step.en
    else:
        assert found.verdict is Verdict.PASS and isinstance(found.measured, float)


def test_that_a_peer_on_the_same_machine_is_no_path(measure: Measure) -> None:
    (found,) = measure("net.path", 1, peer=True)
    if shutil.which("ip") is None:
        assert found.reason_code == Reason.MISSING_TOOL
    else:
        assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "own_address")


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def test_that_open_ports_answer_and_a_mapped_one_that_does_not_is_named(
    measure: Measure, server: Any, until: Callable[..., bool]
) -> None:
    first, second, closed, inside = free_ports(4)
    (found,) = measure("net.ports", 1, {"network.ports": f"{first}, {second}, {server.port}"})
    assert (found.verdict, found.measured) == (Verdict.PASS, 3), found.reason.en
    (found,) = measure("net.ports", 1, {"network.ports": f"{first}, {closed}->{inside}"})
    assert (found.verdict, found.reason_code, found.measured) == (Verdict.FAIL, "port_closed", 1)
    assert f"{closed} (refused)" in found.reason.en
    assert until(lambda: processes_of(server.home) == [])


def test_that_another_machine_behind_a_port_is_no_pass(measure: Measure) -> None:
    inside = free_ports(1)[0]
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.listen()
        outside = stranger.getsockname()[1]
        (found,) = measure("net.ports", 1, {"network.ports": f"{outside}->{inside}"})
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "port_unsure")


def test_that_the_clock_of_this_machine_is_believed(measure: Measure) -> None:
    # A stamp that waits here for a processor counts as the node's time: the longer the test, the less of a share that is.
    (found,) = measure("trust.clock", 8)
    assert found.verdict is Verdict.PASS, found.reason.en
    assert isinstance(found.measured, float) and found.measured == pytest.approx(1.0, abs=0.02)


def test_that_a_clock_at_half_speed_is_found_in_two_tests(measure: Measure, put_tool: Callable[[str, str], None]) -> None:
    put_tool("python3", BENT_PYTHON)
    (found,) = measure("trust.clock", 2)
    assert (found.verdict, found.reason_code) == (Verdict.FAIL, "clock_bent")
    assert isinstance(found.measured, float) and found.measured == pytest.approx(0.5, abs=0.05)


def test_that_the_busy_loops_are_measured_and_end(measure: Measure, server: Any, until: Callable[..., bool]) -> None:
    (found,) = measure("cpu.steal", 1)
    assert isinstance(found.measured, float) and 0 <= found.measured <= 100, found.reason.en
    assert f"all {os.cpu_count()} processors loaded" in found.reason.en and "got ?" not in found.reason.en
    assert until(lambda: processes_of(server.home) == [])


def test_that_one_processor_and_all_of_them_are_timed(measure: Measure) -> None:
    (found,) = measure("cpu.bench", 1)
    assert isinstance(found.measured, float) and 0.1 < found.measured <= 1.5 * (os.cpu_count() or 1), found.reason.en


def test_that_a_cancelled_load_leaves_no_loop(services: Services, server: Any, until: Callable[..., bool]) -> None:
    node, cancel = node_of(services.workspace, str(server.address), server.key_file), CancelToken()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(services.verification.run, node, Request({}, only=("cpu.steal",), seconds=60), cancel)
        assert until(lambda: processes_of(server.home).count("sh") > (os.cpu_count() or 1))
        cancel.cancel()
        assert job.result(60).cancelled
    assert until(lambda: processes_of(server.home) == [])


class _Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = bytes(4_000_000) if self.path == "/large" else b"please log in"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: object) -> None:
        """Keep the test's output to the test."""


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_that_a_named_file_is_loaded_and_a_login_page_is_no_speed(measure: Measure) -> None:
    web = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    try:
        place = f"http://127.0.0.1:{web.server_address[1]}"
        (found,) = measure("net.egress", 5, {"network.ingress_mbit_s": 1}, urls=(f"{place}/large", f"{place}/", "-o/etc/x"))
        (page,) = measure("net.egress", 5, {"network.ingress_mbit_s": 1}, urls=(f"{place}/",))
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
    assert (found.verdict, found.subjects[0].id) == (Verdict.PASS, "127.0.0.1"), found.reason.en
    assert (page.verdict, page.reason_code) == (Verdict.INCONCLUSIVE, "file_too_small")


def test_that_a_node_without_rdma_says_so(measure: Measure) -> None:
    if Path("/sys/class/infiniband").exists() and os.listdir("/sys/class/infiniband"):
        pytest.skip("this machine has RDMA devices")
    (found,) = measure("rdma.write_bw", 1, peer=True)
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, Reason.NOT_COLLECTED)
    assert "no RDMA device" in found.reason.en
