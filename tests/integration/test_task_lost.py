"""A task whose line is lost: is the node blamed for what befell this computer or a jump host?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskPhase, TaskSource, TaskSpec
from gpulease_gui.domain.text import Text
from gpulease_gui.remote import awake, own_network
from gpulease_gui.services.events import Event, TaskProgressed
from gpulease_gui.services.task_runs import TaskOutcome, TaskRequest
from tests.integration.test_ssh_lost_hop import saved, tool

pytestmark = pytest.mark.sshd

AGAIN = "run it again; if it happens again, ask the supplier about the SSH service and the network"
AWAKE = "keep this computer awake and run it again"
NETWORK = "check the network of this computer and run it again"
AT_HOP = "run it again; if it is lost each time, ask who runs the jump host"
SLEPT = "the connection did not outlast a sleep of this computer, or a time in which it stood still"
NO_NETWORK = "the connection was lost as this computer had no network"


@pytest.fixture
def lose(monkeypatch) -> Callable[[str], None]:
    """What befalls this computer before a line is cut."""
    lasting = awake.lasting_s

    def befall(what: str) -> None:
        if what == "slept":
            monkeypatch.setattr(awake, "lasting_s", lambda: lasting() + 1800.0)
        if what == "own network":
            monkeypatch.setattr(own_network, "has_way", lambda host, port: False)

    return befall


class Places:
    """A node behind a jump host."""

    def __init__(self, services, make_sshd, **more: object) -> None:
        self.services, self.gate, self.server = services, make_sshd(), make_sshd(**more)
        self.hop = self.gate.address.host_port
        self.node = saved(services, self.server, f"{self.gate.address.user}@{self.hop}")
        services.links.trust(self.node, self.gate.keys.host_keys()[0], "test", hop=self.hop)

    def follow(self, path: Path, until: Callable[[], bool], lost: str, lose: Callable[[str], None]) -> TaskOutcome:
        """A log is followed; once `until()` holds the line is lost."""
        ended: list[TaskOutcome] = []
        request = TaskRequest(TaskSpec("t", TaskSource(SourceKind.LOG, str(path)), time_limit_s=60))
        thread = threading.Thread(target=lambda: ended.append(self.services.tasks.run(self.node, request, CancelToken())))
        thread.start()
        assert until()
        lose(lost)
        (self.gate if lost == "jump host" else self.server).cut_sessions()
        thread.join(60)
        return ended[0]

    def at(self) -> Text:
        return Text(
            f"at jump host {self.hop} (1 of 1): the connection to it was lost", f"在跳板机 {self.hop}（第 1 个，共 1 个）：与其的连接已断开"
        )


LOSSES = [
    ("node", None, AGAIN, "connection_lost"), ("jump host", None, AT_HOP, "connection_lost"), ("own network", NO_NETWORK, NETWORK, "own_network"),
    ("slept", SLEPT, AWAKE, "computer_slept"),
]  # fmt: skip


def is_told(ended, places: Places, lost: str, why: str | None, step: str) -> None:
    """The end of a task says of whom it befell what, in its reason and its next step."""
    assert (ended.task.end, ended.task.next_step.en) == (TaskEnd.CUT, step)
    if why is not None:
        assert ended.task.reason.en == why
    if lost == "jump host":
        at = places.at()
        assert ended.task.reason == Text(f"the connection was lost: {at.en}", f"连接中断：{at.zh}")


@pytest.mark.parametrize(("lost", "why", "step", "code"), LOSSES, ids=[one[0] for one in LOSSES])
def test_that_what_befalls_a_task_before_it_begins_is_told_of_whom_it_befell(lost, why, step, code, services, make_sshd, until, tmp_path, lose):
    places = Places(services, make_sshd, env=tool(tmp_path, "nvidia-smi"))
    ended = places.follow(tmp_path / "log", lambda: until((tmp_path / "begun").exists), lost, lose)
    is_told(ended, places, lost, why, step)
    (found,) = (one for one in ended.outcome.findings if one.check == "work.task")
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, code)
    if lost == "jump host":
        assert found.reason.zh.endswith(places.at().zh)


@pytest.mark.parametrize(("lost", "why", "step"), [one[:3] for one in LOSSES], ids=[one[0] for one in LOSSES])
def test_that_what_ends_a_task_that_runs_is_told_of_whom_it_befell(lost, why, step, services, make_sshd, until, tmp_path, lose):
    places = Places(services, make_sshd)
    log = tmp_path / "log"
    log.write_text("iter 1: loss 2.5, time 10.00ms, mfu 40.00%\n")
    heard: list[Event] = []
    forget = services.bus.subscribe(heard.append)

    def runs() -> bool:
        return until(lambda: any(isinstance(one, TaskProgressed) and one.progress.phase is TaskPhase.RUNNING for one in list(heard)))

    ended = places.follow(log, runs, lost, lose)
    forget()
    is_told(ended, places, lost, why, step)
