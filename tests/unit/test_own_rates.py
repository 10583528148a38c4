"""The programs that stand in for iperf3 and fio: old Pythons, strangers, bounds, and streams that are heard in turn."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts import disk_own, tcp_rate
from gpulease_gui.facts.own_ends import Misfit
from gpulease_gui.facts.tcp_rate import Wish
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.stream import LineCutter, Stream

AGENTS = Path(__file__).resolve().parents[2] / "gpulease_gui" / "agent"
TOKEN = "0123456789abcdef" * 2
ALLOWED = {"array", "fcntl", "hmac", "json", "mmap", "os", "signal", "socket", "sys", "termios", "time"}


@pytest.mark.parametrize("name", ["tcp_rate.py", "disk_rate.py"])
def test_that_python_3_6_can_read_them_and_they_import_nothing_of_ours(name: str) -> None:
    tree = ast.parse((AGENTS / name).read_text(), feature_version=(3, 6))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= ALLOWED
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def begun(wish: Wish) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", wish.command.line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def told(process: subprocess.Popen[bytes]) -> bytes:
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return out


@pytest.mark.parametrize("here_sends", [True, False])
def test_that_both_directions_are_measured_and_a_stranger_is_shown_the_door(free_port: int, here_sends: bool) -> None:
    waits = begun(Wish("127.0.0.1", free_port, TOKEN, 1, 2, listens=True, sends=not here_sends))
    assert waits.stdout is not None and waits.stdout.readline() == b"listening\n"
    with socket.create_connection(("127.0.0.1", free_port), 5) as stranger:
        stranger.sendall(b"f" * len(TOKEN) + b"00")
        assert stranger.recv(1) == b""
    calls = begun(Wish("127.0.0.1", free_port, TOKEN, 1, 2, listens=False, sends=here_sends))
    here, there = told(calls), told(waits)
    sender, receiver = (here, there) if here_sends else (there, here)
    whole = tcp_rate.combine(sender, receiver, asked_s=1.0, took_s=60.0)
    assert whole is not None
    rate = tcp_rate.parse(whole)
    assert (rate.streams, rate.broken, rate.seconds, rate.misfit) == (2, 0, 1.0, None)
    assert rate.gbit_s is not None and rate.gbit_s > 0.01
    assert rate.busiest_percent is not None and rate.waiting_percent is not None
    # What one end counted, the other one sent.
    ends = json.loads(whole.stdout)
    assert all(0 < stream["bytes"] <= stream["all_bytes"] for stream in ends["sender"])
    assert all(came["all_bytes"] <= sent["all_bytes"] for sent, came in zip(ends["sender"], ends["receiver"], strict=True))


def test_that_it_listens_on_the_address_asked_for_and_on_no_other(free_port: int) -> None:
    foreign = begun(Wish("192.0.2.7", free_port, TOKEN, 1, 1, listens=True, sends=False))
    out, said = foreign.communicate(timeout=30)
    assert (foreign.returncode, out) == (3, b"")
    assert b"can't listen on 192.0.2.7" in said


def test_that_an_end_that_nobody_answers_says_so_in_one_line(free_port: int) -> None:
    lonely = begun(Wish("127.0.0.1", free_port, TOKEN, 1, 2, listens=False, sends=True))
    out, said = lonely.communicate(timeout=30)
    assert (lonely.returncode, out) == (3, b"")
    assert said.startswith(b"unable to connect to 127.0.0.1") and said.count(b"\n") == 1


def test_that_neither_token_nor_wish_is_seen_among_the_processes(free_port: int) -> None:
    command = Wish("127.0.0.1", free_port, TOKEN, 1, 1, listens=True, sends=False).command
    assert command.argv == ()
    head, _, rest = command.script.partition("\n")
    assert head.startswith("python3 - <<'") and TOKEN not in head and TOKEN in rest


@pytest.mark.parametrize("reads", [True, False])
def test_that_the_disk_test_moves_bytes_and_its_file_has_no_name(tmp_path: Path, reads: bool) -> None:
    line = disk_own.command(reads=reads, seconds=1, size_mib=32).line
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=True)
    rate = disk_own.parse(disk_own.timed(CommandOutput(done.stdout), 1, 60.0))
    assert rate.reads is reads and rate.mb_s is not None and rate.mb_s > 1 and rate.seconds is not None and rate.seconds >= 0.9
    assert list(tmp_path.iterdir()) == []


def test_that_a_node_sets_neither_the_length_nor_our_clock() -> None:
    lie = b'{"gpulease_disk": 1, "reads": true, "direct": true, "workers": [{"bytes": 1000000, "seconds": 30}], "asked_s": 30, "took_s": 99}'
    assert disk_own.parse(CommandOutput(lie)).misfit is None
    assert disk_own.parse(disk_own.timed(CommandOutput(lie), 30, 2.5)).misfit is Misfit.CLOCK
    torn = CommandOutput(lie[:60])
    assert disk_own.timed(torn, 30, 2.5) is torn


def test_that_streams_of_one_turn_are_heard_one_after_the_other() -> None:
    turn, heard = threading.Lock(), list[str]()
    inside, leave = threading.Event(), threading.Event()

    def slowly(*_: object) -> None:
        heard.append("first begins")
        inside.set()
        assert leave.wait(20)
        heard.append("first ends")

    first, second = stream(slowly, turn), stream(lambda *_: heard.append("second"), turn)
    threads = [threading.Thread(target=one._take, args=(b"m gpu x\n", b"")) for one in (first, second)]
    threads[0].start()
    assert inside.wait(20)
    threads[1].start()
    assert turn.locked()
    threads[1].join(0.1)
    assert heard == ["first begins"] and threads[1].is_alive()
    leave.set()
    for thread in threads:
        thread.join(20)
    assert heard == ["first begins", "first ends", "second"]


def stream(on_line: Callable[..., object], turn: threading.Lock) -> Stream:
    made = Stream(LocalLine(), [("gpu", "")], 1.0, on_line, turn=turn)
    made._cutter = LineCutter("m", ["gpu"])
    return made


def test_that_bytes_that_are_none_of_ours_are_no_sign_of_life_once_the_node_spoke():
    made = stream(lambda *_: None, threading.Lock())
    moments = []
    for out, err in ((b"motd\n", b""), (b"m gpu x\n", b""), (b"noise\n", b"noise\n"), (b"m bogus x\n", b""), (b"m BEAT\n", b"")):
        before = made._last_s = 0.0
        made._take(out, err)
        moments.append(made._last_s > before)
    assert moments == [True, True, False, False, True]
