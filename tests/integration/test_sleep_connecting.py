"""Is a node, or a jump host, blamed for what befalls a call in the middle of which this computer slept?"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote import awake
from gpulease_gui.remote.awake import Vigil
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector
from tests.integration.listening import listening
from tests.integration.test_ssh_auth import Doorman, kept_by

pytestmark = pytest.mark.sshd

WHY, STEP = "this computer slept or stood still meanwhile", "keep this computer awake and try again"


@pytest.fixture
def sleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Lets so many seconds go by in which nobody here looks."""
    lasting, by = awake.lasting_s, [0.0]
    monkeypatch.setattr(awake, "lasting_s", lambda: lasting() + by[0])

    def asleep(seconds: float) -> None:
        by[0] += seconds

    yield asleep


def failed(server, node: Hop, hops: tuple[Hop, ...] = (), **deadlines: float) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        Connector().connect(node.address, node.credentials, node.trust, Deadlines(**deadlines), CancelToken(), Route(hops)).close()
    return caught.value


@pytest.mark.parametrize("hangs_up", [True, False], ids=["hangs up", "says nothing"])
@pytest.mark.parametrize(("seconds", "slept"), [(1800.0, True), (4.0, False)])
@pytest.mark.parametrize("number", [1, 2], ids=["the first stop", "behind a jump host"])
def test_that_a_call_that_did_not_outlast_a_sleep_blames_nobody_else(hangs_up, seconds, slept, number, sshd, sleep) -> None:
    left = [seconds]

    def answer(caller: socket.socket) -> None:
        sleep(left.pop() if left else 0.0)  # who hangs up at once is called once more
        if hangs_up:
            caller.shutdown(socket.SHUT_RDWR)

    hops = (Hop(sshd.address, sshd.credentials, sshd.trust),) * (number - 1)
    with listening(answer, "anna") as place:
        error = failed(sshd, Hop(place, sshd.credentials, sshd.trust), hops, banner_s=4.0)  # the jump host answers in that time
    if slept:
        assert (error.cause, error.why, error.next_step, error.hop) == ("computer_slept", WHY, STEP, "")
    else:
        assert error.cause == ("hung_up" if hangs_up else "timeout")
    assert error.phase == "banner"


def test_that_a_jump_host_that_was_lost_in_a_sleep_is_not_blamed(make_sshd, sshd, sleep) -> None:
    gate = make_sshd()

    def ask(_: object) -> Secret:
        sleep(1800.0)
        gate.cut_sessions()
        return Secret("otp")

    with kept_by(Doorman(((("Code:", False),),))) as door:
        node = Hop(door.address, replace(sshd.credentials, ask_prompt=ask), door.trust)
        error = failed(sshd, node, (Hop(gate.address, gate.credentials, gate.trust),))
    assert (error.cause, error.hop, error.why) == ("computer_slept", "", WHY)


def test_that_a_sleep_before_a_call_is_not_one_in_it_and_nobody_looks_for_nothing(sleep, until) -> None:
    vigil = Vigil()
    with vigil.kept() as first:
        sleep(60.0)
        with vigil.kept() as second:
            assert (first.slept, second.slept) == (True, False)
        with vigil.kept() as third:
            sleep(6.0)
            assert third.slept
    assert until(lambda: not [one for one in threading.enumerate() if one.name == "gpulease-vigil"])
