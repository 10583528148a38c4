"""Does a sleep of this computer count as time that somebody waited for a node? `time.monotonic` runs on in it on Windows."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.remote import awake, task
from gpulease_gui.remote.failures import Phase, timed_out
from gpulease_gui.remote.run import RunningServer, start_server
from gpulease_gui.remote.task import TaskReport, run_task
from gpulease_gui.remote.task_wrap import TaskOrder
from gpulease_gui.remote.transport import Chunk, ComputerSlept, LineLost, finish

SLEEP_S = 1800.0


@pytest.fixture
def sleep(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds go by in which nobody here looks, as on Windows."""
    lasting, steady, by = awake.lasting_s, time.monotonic, [0.0]
    monkeypatch.setattr(awake, "lasting_s", lambda: lasting() + by[0])
    monkeypatch.setattr(time, "monotonic", lambda: steady() + by[0])

    def asleep(seconds: float) -> None:
        by[0] += seconds

    return asleep


class Channel:
    """A far side that says one thing after the other; before each this computer sleeps for so long. Then it is silent, or ends."""

    def __init__(self, sleep: Callable[[float], None], says: list[tuple[float, Chunk]], last: Chunk | None = None) -> None:
        self._sleep, self._says, self._last = sleep, says, last or Chunk(ended=True)

    def write(self, data: bytes) -> None:
        pass

    def read(self, seconds: float = 0.1) -> Chunk:
        if not self._says:
            return self._last
        slept_s, chunk = self._says.pop(0)
        self._sleep(slept_s)
        return chunk

    def end_input(self) -> None:
        pass

    def close(self) -> None:
        pass


def line(channel: Channel | Exception, sleep: Callable[[float], None] = lambda _: None, alive: bool = True) -> SimpleNamespace:
    def opened(_: str) -> Channel:
        sleep(SLEEP_S)
        if isinstance(channel, Exception):
            raise channel
        return channel

    return SimpleNamespace(name="n", alive=alive, open=opened, close=lambda: None)


def test_that_the_end_of_a_command_is_waited_for_over_a_sleep(sleep: Callable[[float], None]) -> None:
    assert finish(Channel(sleep, [(SLEEP_S, Chunk())]), 10.0)


def test_that_a_server_is_waited_for_over_a_sleep(sleep: Callable[[float], None]) -> None:
    server = RunningServer(Channel(sleep, [(SLEEP_S, Chunk()), (0.0, Chunk(b"ready")), (SLEEP_S, Chunk())]), CancelToken())
    assert server.wait_for(b"ready", 10.0, CancelToken())
    assert server.wait_end(10.0, CancelToken())


class Deaf:
    """Ears of a task that nobody listens with."""

    def sent(self, size_bytes: int) -> None: ...

    def started(self) -> None: ...

    def log(self, data: bytes) -> None: ...

    def tick(self) -> None: ...

    def stopping(self) -> None: ...


MARKS = ("READY /tmp/gpulease-task.abcdef", "START", "END exit 0 1 0 0", "CLEAN 0")


def ran(
    sleep: Callable[[float], None], before: int | None, monkeypatch: pytest.MonkeyPatch, count: int = len(MARKS), quiet_s: float = 0.0
) -> TaskReport:
    """What comes of a task of which the node says `count` marks, and nothing for a while; this computer sleeps before one of
    them, and a look finds nothing.
    """
    monkeypatch.setattr(task, "new_boundary", lambda: "B")
    says: list[tuple[float, Chunk]] = []
    for number, mark in enumerate(MARKS[:count]):
        says += [(SLEEP_S, Chunk())] if number == before else []
        says.append((0.0, Chunk(err=f"B {mark}\n".encode())))
    says += [(4.0, Chunk())] * int(quiet_s / 4)
    return run_task(line(Channel(sleep, says), alive=count == len(MARKS)), TaskOrder("r1", "true", 0, time_limit_s=60), (), Deaf(), CancelToken())


@pytest.mark.parametrize("before", [None, 0, 1, 2, 3])
def test_that_a_task_goes_on_over_a_sleep(before: int | None, sleep: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    report = ran(sleep, before, monkeypatch)
    assert (report.why, report.code, report.clean, report.slept) == ("exit", 0, True, before is not None)


@pytest.mark.parametrize(("before", "quiet_s", "slept"), [(None, 0.0, False), (1, 0.0, True), (1, 56.0, True), (1, 64.0, False)])
def test_that_a_task_that_was_lost_says_whether_this_computer_slept_a_minute_before_at_most(
    before: int | None, quiet_s: float, slept: bool, sleep: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ran(sleep, before, monkeypatch, count=2, quiet_s=quiet_s)
    assert (report.why, report.slept) == ("lost", slept)


@pytest.mark.parametrize("error", [LineLost("n"), timed_out(Phase.CHANNEL, "n:22", 15.0)], ids=["lost", "timeout"])
def test_that_what_was_not_begun_over_a_sleep_says_so(error: Exception, sleep: Callable[[float], None]) -> None:
    works: list[Callable[[SimpleNamespace], object]] = [
        lambda held: run_task(held, TaskOrder("r1", "true", 0), (), Deaf(), CancelToken()),
        lambda held: start_server(held, "iperf3_json", Command("true"), 5, CancelToken()),
    ]
    for work in works:
        with pytest.raises(ComputerSlept) as caught:
            work(line(error, sleep))
        assert (caught.value.why, caught.value.next_step) == ("this computer slept or stood still meanwhile", "keep this computer awake and try again")
        with pytest.raises(type(error)) as awake_one:
            work(line(error))
        assert not isinstance(awake_one.value, ComputerSlept)


def test_that_the_clock_of_who_waits_stands_still_in_a_sleep_on_windows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unbiased(ticks: object) -> int:
        ticks._obj.value = 12_345_000_000  # type: ignore[attr-defined]  # what `byref` was given
        return 1

    assert awake.awake_clock() is time.monotonic or sys.platform == "win32"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=SimpleNamespace(QueryUnbiasedInterruptTime=unbiased)), raising=False)
    assert awake.awake_clock()() == 1234.5
