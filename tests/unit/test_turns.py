"""Do nodes that say nothing hold up those behind them?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.remote.gate import HandshakeGate
from gpulease_gui.services import jobs as module
from gpulease_gui.services.events import Bus
from gpulease_gui.services.jobs import REMOTE_THREADS, SILENT_MOST, Jobs

PATIENT_S = 30


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs(Bus())
    yield made
    made.close()


class Held:
    """Work that goes on until it is let go; `begun` is set when so many do it at once."""

    def __init__(self, count: int, *, calls: bool) -> None:
        self._count, self._calls = count, calls
        self._lock, self._now = threading.Lock(), 0
        self.most = 0
        self.begun, self.let_go = threading.Event(), threading.Event()

    def __call__(self, cancel: CancelToken) -> None:
        if not self._calls:
            self._hold()
            return
        with cancel.calls.calling():
            self._hold()

    def _hold(self) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now == self._count:
                self.begun.set()
        self.let_go.wait(PATIENT_S)
        with self._lock:
            self._now -= 1


def test_that_the_node_behind_thirty_two_silent_ones_is_begun_while_they_are_waited_for(jobs: Jobs) -> None:
    silent = Held(REMOTE_THREADS, calls=True)
    whole = jobs.start_all("all", [silent] * REMOTE_THREADS + [lambda cancel: "good"])
    try:
        assert whole.parts[-1].done.result(PATIENT_S) == "good"
        assert not any(part.done.done() for part in whole.parts[:-1])
    finally:
        silent.let_go.set()
    whole.job.done.result(PATIENT_S)


def test_that_no_more_than_thirty_two_work_at_once_and_no_more_than_two_hundred_besides_are_waited_for(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Held(REMOTE_THREADS, calls=False)
    whole = jobs.start_all("busy", [busy] * (REMOTE_THREADS + 8))
    assert busy.begun.wait(PATIENT_S)
    busy.let_go.set()
    whole.job.done.result(PATIENT_S)
    assert busy.most == REMOTE_THREADS
    monkeypatch.setattr(module, "SILENT_S", 0.001)
    dead = Held(REMOTE_THREADS + SILENT_MOST, calls=True)
    whole = jobs.start_all("dead", [dead] * (REMOTE_THREADS + SILENT_MOST + 8))
    assert dead.begun.wait(PATIENT_S)
    dead.let_go.set()
    whole.job.done.result(PATIENT_S)
    assert dead.most == REMOTE_THREADS + SILENT_MOST


def test_that_no_thread_is_left_when_the_work_is_done(jobs: Jobs) -> None:
    before = set(threading.enumerate())
    jobs.start_all("all", [lambda cancel: None] * 100).job.done.result(PATIENT_S)
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENT_S)
    assert set(threading.enumerate()) <= before


def test_that_work_that_is_not_begun_when_the_program_closes_never_is() -> None:
    jobs, busy, late = Jobs(Bus()), Held(REMOTE_THREADS, calls=False), threading.Event()
    whole = jobs.start_all("busy", [busy] * REMOTE_THREADS + [lambda cancel: late.set()])
    assert busy.begun.wait(PATIENT_S)
    whole.parts[0].cancel.on_cancel(busy.let_go.set)
    jobs.close()
    assert not late.is_set()


class Waiting(CancelToken):
    """Who waits at the gate: at the second look one of the two inside leaves and another enters, at the fourth all leave."""

    def __init__(self, gate: HandshakeGate) -> None:
        super().__init__()
        self.looks, self.heard_at = 0, []
        self.calls = self  # type: ignore[assignment]
        self._inside = [gate.hold("bastion:22", 1, CancelToken()) for _ in range(3)]
        for one in self._inside[:2]:
            one.__enter__()

    def heard(self) -> None:
        self.heard_at.append(self.looks)

    def check(self) -> None:
        self.looks += 1
        if self.looks == 2:
            self._inside.pop(0).__exit__(None, None, None)
            self._inside[-1].__enter__()
        if self.looks == 4:
            for one in self._inside:
                one.__exit__(None, None, None)


def test_that_a_host_that_lets_others_in_is_not_silent_to_those_who_wait_behind_them() -> None:
    gate = HandshakeGate(2)
    waiting = Waiting(gate)
    with gate.hold("bastion:22", PATIENT_S, waiting):
        assert (waiting.looks, waiting.heard_at[:2]) == (4, [1, 2])
