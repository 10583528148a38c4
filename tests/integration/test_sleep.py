"""Is a node blamed for what befalls a verification in which this computer slept, or its clock was set?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.finding import Reason, Verdict
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.remote import awake
from gpulease_gui.remote.collect import CollectEnd, _Waiting, collect
from gpulease_gui.remote.run import run_active
from gpulease_gui.remote.transport import ComputerSlept, Line
from gpulease_gui.services.fleet_run import FleetRun, Phase
from gpulease_gui.services.run_view import prepare
from gpulease_gui.store import nodes as stored

pytestmark = pytest.mark.sshd

# Seconds by which (a clock that runs on in a sleep, time.monotonic, time.time) jump.
SLEEPS = {"as on Windows": (1800.0, 1800.0, 1800.0), "as on Linux and macOS": (1800.0, 0.0, 1800.0)}
SET = {"clock set ahead": (0.0, 0.0, 1800.0), "clock set back": (0.0, 0.0, -1800.0)}


class Clocks:
    """Those of this computer, which jump when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._by = (0.0, 0.0, 0.0)
        self._looks = threading.Semaphore(0)
        lasting, steady, wall, left_s = awake.lasting_s, time.monotonic, time.time, _Waiting.left_s

        def looked(waiting: _Waiting, gathering: object) -> float:
            self._looks.release()
            return left_s(waiting, gathering)  # type: ignore[arg-type]

        monkeypatch.setattr(awake, "lasting_s", lambda: lasting() + self._by[0])
        monkeypatch.setattr(time, "monotonic", lambda: steady() + self._by[1])
        monkeypatch.setattr(time, "time", lambda: wall() + self._by[2])
        monkeypatch.setattr(_Waiting, "left_s", looked)

    def jump(self, by: tuple[float, float, float]) -> None:
        """All at once; back when whoever waits for a command has seen it."""
        self._by = by
        while self._looks.acquire(blocking=False):
            pass
        for _ in range(3):
            assert self._looks.acquire(timeout=60)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def waits_for(path: Path) -> str:
    return f"while [ ! -e {path} ]; do sleep 0.05; done; echo done"


class Collecting:
    """Two commands on a node: the first has answered, the other waits for a file."""

    def __init__(self, line: Line, fact: Callable, until: Callable, path: Path, deadline_s: float | None = None) -> None:
        self.frames: dict[str, Frame] = {}
        self._ends: list[CollectEnd] = []
        facts = [fact("quick", "echo yes"), fact("smi", waits_for(path))]

        def work() -> None:
            self._ends.append(collect(line, facts, lambda f: self.frames.update({f.id: f}), CancelToken(), deadline_s=deadline_s))

        self._thread = threading.Thread(target=work)
        self._thread.start()
        assert until(lambda: self.frames)

    def end(self) -> CollectEnd:
        self._thread.join(60)
        return self._ends[0]


@pytest.mark.parametrize("by", [*SLEEPS.values(), *SET.values()], ids=[*SLEEPS, *SET])
def test_that_a_command_that_answers_after_a_sleep_has_answered(by, sshd, clocks, fact, until, tmp_path):
    with sshd.connect() as session:
        going = Collecting(session, fact, until, tmp_path / "there")
        clocks.jump(by)
        (tmp_path / "there").touch()
        end = going.end()
    assert (end.complete, end.missing) == (True, ())
    assert (going.frames["smi"].output.stdout, going.frames["smi"].output.exit_code) == (b"done\n", 0)


@pytest.mark.parametrize(
    ("by", "reason"), [*((by, Reason.COMPUTER_SLEPT) for by in SLEEPS.values()), *((by, Reason.CONNECTION_LOST) for by in SET.values())],
    ids=[*SLEEPS, *SET],
)  # fmt: skip
def test_that_a_line_that_did_not_outlast_a_sleep_says_so(by, reason, make_sshd, clocks, fact, until, tmp_path):
    server = make_sshd()
    with server.connect() as session:
        going = Collecting(session, fact, until, tmp_path / "there")
        clocks.jump(by)
        server.cut_sessions()
        end = going.end()
    assert going.frames.keys() == {"quick"}
    assert [(one.id, one.reason) for one in end.missing] == [("smi", reason)]


def test_that_silence_after_a_sleep_is_no_command_that_hangs(sshd, clocks, fact, until, tmp_path):
    """The node's answer may have gone over a line that a router forgot meanwhile. Of the sleep 5 s count."""
    with sshd.connect() as session:
        going = Collecting(session, fact, until, tmp_path / "there", deadline_s=7)
        clocks.jump(SLEEPS["as on Windows"])
        end = going.end()
    assert [(one.id, one.reason) for one in end.missing] == [("smi", Reason.COMPUTER_SLEPT)]


def test_that_a_measurement_that_did_not_outlast_a_sleep_says_so(make_sshd, clocks, until, tmp_path):
    server, told = make_sshd(), []

    def work() -> None:
        try:
            told.append(run_active(session, "one", Command(script=f"touch {tmp_path}/begun; {waits_for(tmp_path / 'there')}"), 20, CancelToken()))
        except ComputerSlept as error:
            told.append(error)

    with server.connect() as session:
        thread = threading.Thread(target=work)
        thread.start()
        assert until(lambda: (tmp_path / "begun").exists())
        clocks.jump(SLEEPS["as on Windows"])
        server.cut_sessions()
        thread.join(60)
    assert [type(one) for one in told] == [ComputerSlept]


@pytest.mark.parametrize("slept", [False, True], ids=["awake", "asleep"])
def test_that_the_clock_of_a_node_is_not_compared_with_ours_over_a_sleep(slept, make_sshd, services, clocks, until, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "date").write_text(f"#!/bin/sh\ntouch {tmp_path}/begun\n{waits_for(tmp_path / 'there')} >/dev/null\nexec /bin/date \"$@\"\n")
    (tools / "date").chmod(0o755)
    server = make_sshd(env={"PATH": f"{tools}:/usr/bin:/bin"})
    node = Node("n", "n", Reach.SSH, server.address, identity_file=server.key_file)
    services.workspace.submit(lambda db: stored.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "test")
    run = FleetRun(services, [node], lambda connection, found: prepare(connection, found.id)[1])
    whole = run.start("one")
    assert until(lambda: (tmp_path / "begun").exists())
    if slept:
        clocks.jump(SLEEPS["as on Windows"])
    (tmp_path / "there").touch()
    whole.job.done.result(60)
    with services.workspace.read() as connection:
        ((offset_s,),) = connection.execute("SELECT clock_offset_s FROM runs").fetchall()
    run.close()
    assert offset_s is None if slept else abs(offset_s) < 5


def test_that_a_fleet_takes_what_a_sleep_lost_as_not_done_and_asks_only_that_again(make_sshd, services, clocks, until, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text(f"#!/bin/sh\n{waits_for(tmp_path / 'there')}\nexit 9\n")
    (tools / "nvidia-smi").chmod(0o755)
    server = make_sshd(env={"PATH": f"{tools}:/usr/bin:/bin"})
    node = Node("n", "n", Reach.SSH, server.address, identity_file=str(server.keys.user("id_ed25519")))
    services.workspace.submit(lambda db: stored.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "test")
    outcomes = []
    run = FleetRun(services, [node], lambda connection, found: prepare(connection, found.id)[1], on_outcome=lambda _, one: outcomes.append(one))
    whole = run.start("one")
    assert until(lambda: run.lines()[0].answered > 0)
    clocks.jump(SLEEPS["as on Windows"])
    server.cut_sessions()
    whole.job.done.result(60)
    lost = {one.check: (one.verdict, one.reason_code, one.reason.en) for one in outcomes[0].findings if one.check == "gpu.model"}
    told = "this computer slept or stood still before the output ended"
    assert lost == {"gpu.model": (Verdict.INCONCLUSIVE, "computer_slept", told)}
    (line,) = run.lines()
    assert (line.is_done, run.left) == (False, ("n",))
    answered = {one.check for one in outcomes[0].findings if one.reason_code != "computer_slept"}
    (tmp_path / "there").touch()
    again = run.again("again")
    assert again is not None
    again.job.done.result(60)
    asked = {one.check for one in outcomes[1].findings}
    assert "gpu.model" in asked and not asked & answered
    assert (run.lines()[0].phase, run.left) == (Phase.DONE, ())
    run.close()
