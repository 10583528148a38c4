"""Is the second node of a measurement there, and is it another machine?"""

from __future__ import annotations

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Unreadable, UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_now import ClockNow
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.remote.run import run_active
from gpulease_gui.remote.transport import ComputerSlept, Line
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.measure_lines import NoPeer
from gpulease_gui.services.outcome import Trouble

CLOCK_FACT = "clock_now"
_CLOCK_S = 10


class SameMachine(UserFacing):
    """A peer that runs on the machine that is measured: what passes between them never leaves it."""


class Peer:
    """The peer of one run; it is looked at once, before the first measurement that needs it."""

    def __init__(self, node: Node | None, links: Links) -> None:
        self._node = node
        self._links = links
        self._met = False
        self._trouble: UserFacing | None = None

    def require(self, boot_id: str | None, cancel: CancelToken) -> None:
        """Raises NotConnected, SameMachine (`boot_id` is that of the node that is measured), Cancelled, UserFacing."""
        if self._node is None:
            return
        if not self._met:
            try:
                self._meet(self._node, boot_id, cancel)
            except UserFacing as trouble:
                self._trouble = trouble
            self._met = True
        if self._trouble is not None:
            raise self._trouble

    def _meet(self, node: Node, boot_id: str | None, cancel: CancelToken) -> None:
        with self._links.open(node, cancel) as opened:
            # The simulated nodes are made by one process, and each is a machine of its own.
            own = _boot_id(opened.line, cancel) if node.reach is not Reach.DEMO else None
        if own is not None and own == boot_id:
            raise SameMachine(
                Text(f"the peer {node.target} runs on the machine that is measured", f"对端 {node.target} 与被测节点是同一台机器"),
                Text(f"both show the boot id {own}", f"两者的启动标识均为 {own}"), Text("name a node on another machine", "请指定另一台机器上的节点"),
            )  # fmt: skip

    @property
    def trouble(self) -> Trouble | None:
        """Why the peer was not reached; None when it was, or was not needed."""
        if self._node is None or not isinstance(self._trouble, NotConnected):
            return None
        error, name = self._trouble, self._node.target
        said = error.why_text if error.why else error.what_text
        step = error.next_text if error.next_step else Text("check its address", "请检查其地址")
        why = Text(f"the peer {name} was not reached: {said.en}", f"未能连接对端 {name}：{said.zh}")
        step = Text(f"for the peer {name}: {step.en}", f"对端 {name}：{step.zh}")
        at_terminal = f"for the peer {name}: {error.at_terminal}" if error.at_terminal else step.en
        return Trouble(error.phase, why.en, at_terminal, why, step)


def _boot_id(line: Line, cancel: CancelToken) -> str | None:
    reader = readers()[CLOCK_FACT]
    assert reader.fact.command is not None
    output = run_active(line, CLOCK_FACT, reader.fact.command, _CLOCK_S, cancel, scratch=False, sudo=False)
    try:
        reading = read(reader, output)
    except Unreadable:
        return None
    return reading.boot_id if isinstance(reading, ClockNow) else None


def code_of(trouble: UserFacing) -> Reason:
    """The reason code of a measurement that could not be made."""
    if isinstance(trouble, SameMachine):
        return Reason.SAME_MACHINE
    if isinstance(trouble, ComputerSlept):
        return Reason.COMPUTER_SLEPT
    return Reason.NOT_COLLECTED if isinstance(trouble, NoPeer) else Reason.CONNECTION_LOST
