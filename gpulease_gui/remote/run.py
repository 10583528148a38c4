"""How does one measuring command run on a node, and how is a server kept there while it is needed?"""

from __future__ import annotations

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.frame import ACTIVE, Frame, new_boundary
from gpulease_gui.remote.awake import VIGIL
from gpulease_gui.remote.collect import END_SECONDS, gather
from gpulease_gui.remote.impatient import Ending, impatient
from gpulease_gui.remote.masking import NO_MASK, Mask, mask_of
from gpulease_gui.remote.slept import told_of_sleep
from gpulease_gui.remote.transport import SLICE_S, Channel, ComputerSlept, Line, finish
from gpulease_gui.remote.wrap import Limits, active_script, server_script

# On top of the node's own limit: the way there and back, and the KILL after TERM.
_GRACE_S = 15.0
_SERVER_MAX_BYTES = 1024 * 1024


def run_active(
    line: Line,
    fact_id: str,
    command: Command,
    seconds: int,
    cancel: CancelToken,
    *,
    scratch: bool = True,
    sudo: bool = True,
) -> CommandOutput:
    """Run `command` once on a channel of its own, for at most `seconds` (then exit code 124).

    With `scratch` it runs in a private folder below $HOME (else /tmp), also named $GPULEASE_SCRATCH, which is removed.
    The exit code is None when the connection was lost. Raises Cancelled, UserFacing (ComputerSlept).
    """
    frames: list[Frame] = []

    def script(boundary: str) -> bytes:
        return active_script(boundary, fact_id, command, seconds, sudo=sudo, scratch=scratch)

    end = gather(line, ACTIVE, script, [fact_id], frames.append, cancel, Limits(seconds + _GRACE_S))
    if frames:
        return frames[0].output
    if end.cancelled:
        raise Cancelled
    if end.missing[0].reason is Reason.COMPUTER_SLEPT:
        raise ComputerSlept(line.name)
    if end.missing[0].reason is Reason.TIMEOUT:
        return CommandOutput(b"", b"", 124, float(seconds))
    return CommandOutput(b"", end.said.encode(), None, stdout_cut=end.missing[0].reason is Reason.CUT_OFF)


def start_server(line: Line, fact_id: str, command: Command, seconds: int, cancel: CancelToken) -> RunningServer:
    """Start a server (`iperf3 -s -1 --forceflush`) on the node for at most `seconds`. Raises Cancelled, UserFacing (ComputerSlept)."""
    try:
        with told_of_sleep(line.name), impatient(line, cancel):
            channel = line.open(ACTIVE)
            try:
                channel.write(server_script(new_boundary(), fact_id, command, seconds))
            except BaseException:
                channel.close()
                raise
    except UserFacing:
        cancel.check()
        raise
    return RunningServer(channel, cancel, mask_of(line))


class RunningServer:
    """A server on a node. It ends by itself, by `close`, or when the line ends."""

    def __init__(self, channel: Channel, cancel: CancelToken, mask: Mask = NO_MASK) -> None:
        self._channel, self._mask = channel, mask
        self._ending = Ending(channel, cancel)
        self._ending.watch()
        self._output = bytearray()
        self.ended = False

    @property
    def output(self) -> bytes:
        """What it has printed so far (both outputs, our own marks among it), 1 MiB at most."""
        return self._mask.output(bytes(self._output))

    def wait_for(self, words: bytes, seconds: float, cancel: CancelToken) -> bool:
        """Whether it printed `words` within `seconds`. Raises Cancelled."""
        with VIGIL.kept() as watch:
            until_s = watch.now_s() + seconds
            while words not in self._output:
                cancel.check()
                left = until_s - watch.now_s()
                if left <= 0 or self.ended:
                    return False
                self._read(min(SLICE_S, left))
        return True

    def wait_end(self, seconds: float, cancel: CancelToken) -> bool:
        """Whether it ended within `seconds`. Raises Cancelled."""
        with VIGIL.kept() as watch:
            until_s = watch.now_s() + seconds
            while not self.ended and (left := until_s - watch.now_s()) > 0:
                cancel.check()
                self._read(min(SLICE_S, left))
        return self.ended

    def _read(self, seconds: float) -> None:
        chunk = self._channel.read(seconds)
        self._output += (chunk.out + chunk.err)[: max(0, _SERVER_MAX_BYTES - len(self._output))]
        self.ended = self.ended or chunk.ended

    def close(self) -> None:
        """End the server on the node and wait until it is gone, after a cancel for a moment only; any number of times."""
        if not self.ended:
            self.ended = finish(self._channel, self._ending.seconds(END_SECONDS))
        self._ending.over()
        self._channel.close()

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
