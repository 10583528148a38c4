"""Which commands that say nothing let the next node go first?"""

from __future__ import annotations

import pytest

from gpulease_gui.domain import calls
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote import collect as module
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.run import run_active

SLOW = Command("sh", "-c", "sleep 0.3; echo done")


class Listening(calls.Calls):
    """Was the work ever taken for one whose node is silent while its command ran?"""

    __slots__ = ("was_silent",)

    def __init__(self) -> None:
        super().__init__()
        self.was_silent = False

    def nothing_came(self) -> None:
        super().nothing_came()
        self.was_silent |= self.silent_s > 0


@pytest.fixture
def cancel(monkeypatch: pytest.MonkeyPatch) -> CancelToken:
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(calls, "COMMAND_S", 0.0)
    made = CancelToken()
    made.calls = Listening()
    return made


def test_that_a_fact_that_does_not_come_is_a_silent_node_and_its_end_is_none(cancel: CancelToken) -> None:
    frames = []
    collect(LocalLine(), [Fact("slow", NO_TEXT, SLOW, 20)], frames.append, cancel)
    assert (frames[0].output.stdout, cancel.calls.was_silent, cancel.calls.silent_s) == (b"done\n", True, 0.0)


def test_that_a_measurement_that_says_nothing_is_at_work(cancel: CancelToken) -> None:
    assert run_active(LocalLine(), "slow", SLOW, 20, cancel).stdout == b"done\n"
    assert (cancel.calls.was_silent, cancel.calls.silent_s) == (False, 0.0)
