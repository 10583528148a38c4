"""Who is blamed for a line that was lost while something was measured?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote import awake, own_network
from gpulease_gui.remote.transport import ComputerSlept, LineLost
from gpulease_gui.services.lost_lines import lost_at, must_be_the_node, unmeasured

NODE = Node("n", "n", address=Address("203.0.113.9"))
AT = Text("at jump host gate:22 (1 of 1): the connection to it was lost", "在跳板机 gate:22（第 1 个，共 1 个）：与其的连接已断开")


@dataclass
class Line:
    name: str = "203.0.113.9"
    alive: bool = False
    lost_at: Text = NO_TEXT


@pytest.fixture(params=[True, False], ids=["with a network", "without a network"])
def has_network(request, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(own_network, "has_way", lambda host, port: request.param)
    return request.param


def measured(line: Line, meanwhile: Callable[[], None] = lambda: None) -> LineLost | None:
    """What a measurement ends with on a line that stands so after it."""
    try:
        with must_be_the_node(NODE, line):
            meanwhile()
    except LineLost as lost:
        return lost
    return None


def test_that_a_measurement_lost_with_our_network_or_a_jump_host_is_not_taken_for_the_answer_of_the_node(has_network: bool) -> None:
    assert measured(Line(alive=True)) is None
    lost = measured(Line(lost_at=AT))
    assert lost is not None and lost.why_text == AT
    assert (measured(Line()) is None) == has_network


@pytest.mark.parametrize(("seconds", "slept"), [(1800.0, True), (4.0, False)])
def test_that_a_measurement_of_which_a_sleep_cost_the_line_is_not_taken_for_the_answer_of_the_node(
    seconds: float, slept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_network, "has_way", lambda host, port: True)
    lasting, by = awake.lasting_s, [0.0]
    monkeypatch.setattr(awake, "lasting_s", lambda: lasting() + by[0])

    def sleep() -> None:
        by[0] += seconds

    def lose() -> None:
        sleep()
        raise LineLost("203.0.113.9")

    assert measured(Line(alive=True), sleep) is None
    assert isinstance(measured(Line(), sleep), ComputerSlept) == slept
    assert isinstance(measured(Line(), lose), ComputerSlept) == slept


def test_that_what_befell_this_computer_has_its_own_reason_and_next_step(has_network: bool) -> None:
    lost = unmeasured(NODE, LineLost("203.0.113.9", AT))
    said = f"the connection to 203.0.113.9 was lost: {AT.en}", f"与 203.0.113.9 的连接已断开：{AT.zh}"
    assert (lost.reason, lost.reason_zh) == said
    assert (lost.code, lost.next_step) == ((Reason.CONNECTION_LOST, "connect again") if has_network else (Reason.OWN_NETWORK, ""))
    slept = unmeasured(NODE, ComputerSlept("203.0.113.9"))
    assert (slept.code, slept.next_step) == (Reason.COMPUTER_SLEPT, "")
    assert unmeasured(NODE, UserFacing("no room")).reason_zh == "no room"


def test_that_a_jump_host_is_named_only_for_a_lost_line() -> None:
    assert (lost_at(Line(lost_at=AT), Reason.CONNECTION_LOST), lost_at(Line(lost_at=AT), Reason.TIMEOUT)) == (AT, NO_TEXT)
