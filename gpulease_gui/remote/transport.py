"""What do an SSH connection and this computer have in common?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.awake import VIGIL

SLICE_S = 0.1
SLEPT = Text("this computer slept or stood still meanwhile", "期间本机休眠或停顿")
STAY_AWAKE = Text("keep this computer awake and try again", "请保持本机唤醒并重试")


@dataclass(frozen=True, slots=True)
class Chunk:
    """What came in: bytes of both outputs; `ended` when there will be no more."""

    out: bytes = b""
    err: bytes = b""
    ended: bool = False


class Channel(Protocol):
    """One running command. All calls but `end_input` and `close` come from one thread."""

    def write(self, data: bytes) -> None:
        """Send `data` to the command's stdin. Raises LineLost."""

    def end_input(self) -> None:
        """End the command's stdin: the lifeline of our programs. Never raises."""

    def read(self, seconds: float = SLICE_S) -> Chunk:
        """What there is, after waiting up to `seconds` for something; both outputs are drained. Never raises."""

    def listen(self, take: Callable[[bytes, bytes], None], wake: Callable[[], None]) -> bool:
        """Hand what comes to `take(out, err)` as it comes, one call at a time; from now on `read` only waits for the end.

        False: this channel has no thread of its own, and has to be read. `wake` is called when `read` is to be called.
        """

    def behind(self) -> bool:
        """Whether bytes came to this computer that were not taken yet: silence is then ours. Never raises."""

    def exit_status(self, seconds: float) -> int | None:
        """The exit code, waiting up to `seconds`; None if it is not known."""

    def close(self) -> None:
        """Give the channel up; any thread, any number of times, never raises."""


class Line(Protocol):
    """An open way to run commands on one machine."""

    @property
    def name(self) -> str:
        """Which machine, as messages name it."""

    @property
    def alive(self) -> bool:
        """Whether commands can still be started, as far as is known without asking."""

    @property
    def lost_at(self) -> Text:
        """Which jump host was lost, and with it the line; empty where none was. It may take a moment."""

    def open(self, exec_string: str) -> Channel:
        """Start `exec_string`. Raises UserFacing (a ConnectFailed of phase channel) or LineLost."""

    def close(self) -> None:
        """End everything that runs on this line; any number of times."""


class LineLost(UserFacing):
    """The connection is gone."""

    def __init__(self, name: str, why: str | Text = "") -> None:
        what = Text(f"the connection to {name} was lost", f"与 {name} 的连接已断开")
        super().__init__(what, why, Text("connect again", "请重新连接"))


class ComputerSlept(LineLost):
    """The connection is gone, or nothing came of it, after this computer slept."""

    def __init__(self, name: str) -> None:
        super().__init__(name, SLEPT)
        self.next_text = STAY_AWAKE


def finish(channel: Channel, seconds: float) -> bool:
    """End stdin and wait until the far side has ended all it started; True if that was seen."""
    channel.end_input()
    with VIGIL.kept() as watch:
        until_s = watch.now_s() + seconds
        while (left := until_s - watch.now_s()) > 0:
            if channel.read(min(SLICE_S, left)).ended:
                return True
    return False
