"""Whose fault is it that the line to a node was lost before all that was asked had come?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gpulease_gui.domain.errors import Unreadable, UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.own_network import told_of, without_network
from gpulease_gui.remote.slept import told_of_sleep
from gpulease_gui.remote.transport import Line, LineLost
from gpulease_gui.services.peer import code_of

# What befell this computer has a next step of its own.
_OURS = (Reason.COMPUTER_SLEPT, Reason.OWN_NETWORK)


def lost_at(line: Line, reason: Reason) -> Text:
    """The jump host with which the line was lost; empty where none was, or for another `reason`."""
    return line.lost_at if reason is Reason.CONNECTION_LOST else NO_TEXT


def why_lost(node: Node, line: Line, *, slept: bool) -> tuple[Reason, Text]:
    """Why a line to that node is over, and the jump host with which it was lost; `slept`: this computer did before."""
    reason = Reason.COMPUTER_SLEPT if slept else told_of(node, Reason.CONNECTION_LOST)
    return reason, lost_at(line, reason)


@contextlib.contextmanager
def must_be_the_node(node: Node, line: Line) -> Iterator[None]:
    """A measurement. Raises LineLost where after it the line is over for which no node is to blame: what it brought last is not
    the whole output. Raises ComputerSlept for what befell that line while this computer slept.
    """
    with told_of_sleep(line.name) as watch:
        yield
        if not line.alive and (watch.slept or line.lost_at.en or without_network(node)):
            raise LineLost(line.name, line.lost_at)


def unmeasured(node: Node, trouble: UserFacing) -> Unreadable:
    """Why a measurement was not made."""
    what, why = trouble.what_text, trouble.why_text
    said = Text(f"{what.en}: {why.en}", f"{what.zh}：{why.zh}") if why.en else what
    code = told_of(node, code_of(trouble))
    return Unreadable(said.en, code=code, next_step="" if code in _OURS else trouble.next_step, reason_zh=said.zh)
