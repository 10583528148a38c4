"""Who is blamed for a line that was lost while something was measured?"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote import own_network
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


def test_that_a_measurement_lost_with_our_network_or_a_jump_host_is_not_taken_for_the_answer_of_the_node(has_network: bool) -> None:
    must_be_the_node(NODE, Line(alive=True))
    with pytest.raises(LineLost) as caught:
        must_be_the_node(NODE, Line(lost_at=AT))
    assert caught.value.why_text == AT
    if has_network:
        must_be_the_node(NODE, Line())
    else:
        with pytest.raises(LineLost):
            must_be_the_node(NODE, Line())


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
