"""A task that a signal ended is told by the node's own numbers, whatever system this computer runs."""

from __future__ import annotations

import signal

import pytest

from gpulease_gui.remote.task import TaskReport
from gpulease_gui.services.task_end import ending_of


@pytest.mark.parametrize(("code", "name"), [(135, "SIGBUS"), (138, "SIGUSR1"), (139, "SIGSEGV"), (140, "SIGUSR2"), (143, "SIGTERM"), (190, "62")])
def test_that_a_signal_is_named_as_the_node_counts_them(monkeypatch: pytest.MonkeyPatch, code: int, name: str) -> None:
    monkeypatch.delattr(signal, "SIGKILL")  # as under Windows
    reason = ending_of(TaskReport("exit", code=code), "").reason
    assert reason.en == f"it was ended by the signal {name}"
    assert reason.zh == f"被信号 {name} 结束"


def test_that_a_kill_beside_an_oom_kill_is_told_as_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGKILL")
    assert ending_of(TaskReport("exit", code=137, oom_kills=1), "").reason.en == "the kernel of the node killed it: out of memory"
    assert ending_of(TaskReport("exit", code=137), "").reason.en == "it was ended by the signal SIGKILL"
