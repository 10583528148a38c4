"""Do the simulated nodes answer over real SSH, and nothing but our protocol?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import paramiko
import pytest

from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.nodes import NAMES, demo_nodes
from gpulease_gui.demo.server import DemoServer, sweep_folders
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.frame import (
    ACTIVE,
    COLLECT,
    MAX_STDOUT_BYTES,
    STREAM,
    Frame,
    FrameReader,
    active_line,
    head_line,
    new_boundary,
)
from gpulease_gui.facts.fact import readers

NOW = datetime(2026, 11, 30, 8, 15, 30, tzinfo=UTC)
PASSIVE = [r.fact.id for r in readers().values() if r.fact.command and r.fact.impact is Impact.PASSIVE]


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer(pace=0, now=NOW) as started:
        yield started


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """The server of this module outlives each of its tests; that none outlives the server is a test of its own."""
    yield


@contextmanager
def login(server: DemoServer, name: str) -> Iterator[paramiko.Transport]:
    address = server.address(name)
    transport = paramiko.Transport(socket.create_connection((address.host, address.port), timeout=60))
    try:
        key = paramiko.Ed25519Key.from_private_key_file(str(server.client_key_path))
        transport.connect(username=address.user, pkey=key)
        yield transport
    finally:
        transport.close()
        transport.join()


def run(transport: paramiko.Transport, command: str, stdin: str) -> tuple[bytes, int]:
    channel = transport.open_session(timeout=60)
    channel.settimeout(20)
    channel.exec_command(command)
    channel.sendall(stdin.encode())
    output = b""
    while chunk := channel.recv(1 << 20):
        output += chunk
    return output, channel.recv_exit_status()


def collect(server: DemoServer, name: str, ids: list[str]) -> tuple[list[Frame], FrameReader]:
    boundary = new_boundary()
    reader = FrameReader(boundary)
    with login(server, name) as transport:
        output, _ = run(transport, COLLECT, head_line(boundary, ids) + "{ the rest is not read; }\n")
    return reader.feed(output), reader


@pytest.mark.parametrize("name", NAMES)
def test_that_a_collection_brings_one_whole_frame_per_fact(server: DemoServer, name: str) -> None:
    frames, reader = collect(server, name, PASSIVE)
    assert reader.ended
    assert sorted(f.id for f in frames) == sorted(PASSIVE)
    plain = {f.id: f.output for f in frames if (name, f.id) != ("hostile", "dmesg")}
    assert plain == {id_: answer(demo_nodes()[name], id_, NOW) for id_ in plain}


def test_that_the_host_key_shown_is_the_one_to_pin(server: DemoServer) -> None:
    shown = {}
    for name in NAMES:
        with login(server, name) as transport:
            shown[name] = transport.get_remote_server_key().fingerprint
    assert shown == {name: server.host_key(name).fingerprint for name in NAMES}
    assert len(set(shown.values())) == len(NAMES)


def test_that_another_key_is_refused(server: DemoServer) -> None:
    address = server.address("honest")
    transport = paramiko.Transport(socket.create_connection((address.host, address.port), timeout=60))
    with pytest.raises(paramiko.AuthenticationException):
        transport.connect(username=address.user, pkey=paramiko.RSAKey.generate(2048))
    transport.close()
    transport.join()


def test_that_a_shell_a_foreign_command_and_sftp_are_refused(server: DemoServer) -> None:
    with login(server, "honest") as transport:
        for ask in (
            lambda c: c.invoke_shell(),
            lambda c: c.exec_command("nvidia-smi"),
            lambda c: c.invoke_subsystem("sftp"),
        ):
            with pytest.raises(paramiko.SSHException):
                ask(transport.open_session(timeout=60))


def test_that_nothing_is_forwarded(server: DemoServer) -> None:
    with login(server, "honest") as transport:
        with pytest.raises(paramiko.ChannelException) as refused:
            transport.open_channel("direct-tcpip", ("127.0.0.1", 22), ("127.0.0.1", 1), timeout=60)
        assert refused.value.code == 1
        with pytest.raises(paramiko.SSHException):
            transport.request_port_forward("127.0.0.1", 0)


def test_that_there_is_no_python_for_the_agent(server: DemoServer) -> None:
    with login(server, "honest") as transport:
        channel = transport.open_session(timeout=60)
        channel.settimeout(10)
        channel.exec_command("python3 -c 'import sys'")
        channel.sendall(b"12\n")
        assert channel.recv_exit_status() == 127
        assert channel.recv_stderr(100) == b"sh: 1: python3: not found\n"


def test_that_a_missing_tool_is_exit_127(server: DemoServer) -> None:
    frames, _ = collect(server, "ascend", ["smi_xml", "npu_smi"])
    assert {f.id: f.output.exit_code for f in frames} == {"smi_xml": 127, "npu_smi": 0}


def test_that_the_flood_is_cut_at_the_cap_and_forges_no_frame(server: DemoServer) -> None:
    frames, reader = collect(server, "hostile", ["dmesg", "clock_now"])
    assert [f.id for f in frames] == ["clock_now", "dmesg"]
    flood = frames[1].output
    assert (len(flood.stdout), flood.stdout_cut) == (MAX_STDOUT_BYTES, True)
    assert b" smi_xml 0 0.100 2 0 0 0\nOK" in flood.stdout
    assert reader.noise_bytes > 100


def test_that_fio_gives_the_rates_of_the_disk(server: DemoServer) -> None:
    rates = {}
    for direction in ("read", "write"):
        argv = ("fio", "--name=s", "--filename=f", f"--rw={direction}", "--runtime=5", "--output-format=json")
        output = active(server, "honest", "fio_json", argv)
        rates[direction] = round(json.loads(output.stdout)["jobs"][0][direction]["bw_bytes"] / 1e6)
        assert output.seconds == 5
    assert rates == {"read": pytest.approx(6780, rel=0.01), "write": pytest.approx(4010, rel=0.01)}


def test_that_the_pair_delivers_a_quarter_of_what_was_sold(server: DemoServer) -> None:
    for client, host in (("slow-net-a", "slow-net-b"), ("slow-net-b", "slow-net-a")):
        with listening(server, host, "5233"):
            output = active(
                server, client, "iperf3_json", ("iperf3", "-c", "10.77.0.32", "-p", "5233", "-J", "-t", "5", "-P", "8")
            )
        received = json.loads(output.stdout)["end"]["sum_received"]["bits_per_second"]
        assert received / 1e9 == pytest.approx(24.2, abs=0.3)


def test_that_a_taken_port_is_told(server: DemoServer) -> None:
    boundary = new_boundary()
    with listening(server, "sick", "5240"):
        with login(server, "sick") as transport:
            output, _ = run(
                transport, ACTIVE, active_line(boundary, "iperf3_json", ("iperf3", "-s", "-1", "-p", "5240"))
            )
        active(server, "capped", "iperf3_json", ("iperf3", "-c", "sick", "-p", "5240", "-J"))
    assert b"Address already in use" in output and output.endswith(f"\n{boundary} END 1\n".encode())


def test_that_iperf3_without_a_server_says_refused(server: DemoServer) -> None:
    output = active(server, "honest", "iperf3_json", ("iperf3", "-c", "10.0.0.9", "-p", "5999", "-J"))
    assert output.exit_code == 1
    assert "Connection refused" in json.loads(output.stdout)["error"]


def active(server: DemoServer, name: str, fact_id: str, argv: tuple[str, ...]):
    boundary = new_boundary()
    with login(server, name) as transport:
        output, _ = run(transport, ACTIVE, active_line(boundary, fact_id, argv))
    (frame,) = FrameReader(boundary).feed(output)
    assert frame.id == fact_id
    return frame.output


@contextmanager
def listening(server: DemoServer, name: str, port: str) -> Iterator[None]:
    boundary = new_boundary()
    with login(server, name) as transport:
        channel = transport.open_session(timeout=60)
        channel.settimeout(10)
        channel.exec_command(ACTIVE)
        channel.sendall(active_line(boundary, "iperf3_json", ("iperf3", "-s", "-1", "-p", port)).encode())
        greeting = f"\n{boundary} START\n{'-' * 59}\nServer listening on {port} (test #1)\n{'-' * 59}\n"
        assert channel.recv(400) == greeting.encode()
        yield
        rest = b""
        while chunk := channel.recv(4096):
            rest += chunk
        assert rest.endswith(f"\n{boundary} END 0\n".encode())


def test_that_a_stream_tells_of_every_card_each_second(server: DemoServer) -> None:
    boundary = new_boundary()
    with login(server, "honest") as transport:
        channel = transport.open_session(timeout=60)
        channel.settimeout(10)
        channel.exec_command(STREAM)
        channel.sendall(head_line(boundary, ["gpu", "npu"]).encode())
        output = b""
        while output.count(b" BEAT\n") < 2:
            output += channel.recv(1 << 16)
        channel.close()
    lines = output.decode().splitlines()
    assert f"{boundary} npu ! npu-smi is not installed on the node" in lines
    cards = [line.split(", ")[1] for line in lines if line.startswith(f"{boundary} gpu ")][:8]
    assert cards == [c.uuid for c in demo_nodes()["honest"].machine.gpus]


def test_that_a_closed_session_ends_its_work_and_stop_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    server = DemoServer(pace=60)
    server.start()
    server.start()
    with login(server, "honest") as transport:
        channel = transport.open_session(timeout=60)
        channel.exec_command(COLLECT)
        channel.sendall(head_line(new_boundary(), ["smi_xml"]).encode())
        workers = [t for t in threading.enumerate() if t.name == "demo-honest"]
        channel.close()
        for worker in workers:
            worker.join(60)
        assert len(workers) == 1 and not workers[0].is_alive()
    with login(server, "sick") as transport:
        channel = transport.open_session(timeout=60)
        channel.exec_command(STREAM)
        channel.sendall(head_line(new_boundary(), ["gpu"]).encode())
        channel.recv(10)
        key = server.client_key_path
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 5
    server.stop()
    assert not key.exists()
    assert set(threading.enumerate()) <= before


def test_that_a_cut_line_ends_the_session_and_the_node_can_be_reached_again(server: DemoServer) -> None:
    with login(server, "ascend") as transport:
        channel = transport.open_session(timeout=60)
        channel.settimeout(10)
        channel.exec_command(STREAM)
        channel.sendall(head_line(new_boundary(), ["host"]).encode())
        assert channel.recv(1) == b"\n"
        server.cut("ascend")
        while channel.recv(1 << 16):
            pass
        transport.join(60)
        assert not transport.is_active()
    frames, _ = collect(server, "ascend", ["clock_now"])
    assert [f.id for f in frames] == ["clock_now"]


def test_that_a_caller_who_says_nothing_or_nonsense_holds_nobody_up(capfd: pytest.CaptureFixture[str]) -> None:
    server = DemoServer(pace=0)
    server.start()
    address = server.address("honest")
    with (
        socket.create_connection((address.host, address.port)) as silent,
        socket.create_connection((address.host, address.port)) as rude,
    ):
        rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
        frames, _ = collect(server, "honest", ["clock_now"])
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 5
        assert silent.recv(4) == b"SSH-"
    assert [f.id for f in frames] == ["clock_now"]
    assert capfd.readouterr().err == ""


def test_that_a_server_can_be_started_again() -> None:
    server = DemoServer(pace=0)
    for _ in range(2):
        server.start()
        frames, _ = collect(server, "honest", ["clock_now"])
        server.stop()
        assert [f.id for f in frames] == ["clock_now"]
    with pytest.raises(RuntimeError):
        server.address("honest")


def test_that_the_key_of_a_killed_demo_goes_at_the_next_start_and_nothing_else(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    names = (f"gpulease-demo-{gone.pid}-a", f"gpulease-demo-{os.getpid()}-b", "gpulease-demo-c", "gpulease-demo-x-d", "other")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "id_ed25519").touch()
    (tmp_path / f"gpulease-demo-{gone.pid}-link").symlink_to(tmp_path / "other")
    sweep_folders(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], f"gpulease-demo-{gone.pid}-link"}
    assert (tmp_path / "other" / "id_ed25519").exists()
