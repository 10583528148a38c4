"""How are all passive facts of a node read in one go?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.frame import COLLECT, MAX_STDERR_BYTES, MAX_STDOUT_BYTES, Frame, FrameReader, new_boundary
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import visible
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.awake import VIGIL, Watch
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.impatient import Ending, impatient
from gpulease_gui.remote.masking import Mask, mask_of
from gpulease_gui.remote.slept import of_a_sleep
from gpulease_gui.remote.transport import SLICE_S, Channel, Chunk, Line, LineLost, finish
from gpulease_gui.remote.wrap import Limits, collect_script, limits_of, steps_of

NOISE_MAX_BYTES = 16 * 1024 * 1024
SAID_BYTES = 2048
# What the far side needs to end commands that ignore TERM, plus the way there and back.
END_SECONDS = 5.0
_LAST_READS = 10
# How often a collection looks whether it is still wanted: each look is a change of threads, on each of many nodes.
_LOOK_S = 0.25
# Who did not look for longer than that knows the moment of what lies here too badly.
_PAUSE_S = 1.0
# What befalls a line over which this computer slept: a router or the node forgets it, with or without a word.
_OF_A_SLEEP = (Reason.CONNECTION_LOST, Reason.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact whose frame did not come. `reason`: connection_lost, computer_slept, timeout, cut_off or not_collected."""

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class CollectEnd:
    """How a collection ended.

    `complete`: the node sent the end mark. `far_end_seen`: we saw that the node ended all it had started.
    `said`: the first words outside of frames, for the message when nothing else came (foreign
    text, control characters made visible).
    """

    missing: tuple[Missing, ...]
    complete: bool
    cancelled: bool = False
    far_end_seen: bool = False
    noise_bytes: int = 0
    said: str = ""


def collect(
    line: Line,
    facts: Sequence[Fact],
    on_frame: Callable[[Frame], None],
    cancel: CancelToken,
    *,
    sudo: bool = True,
    deadline_s: float | None = None,
) -> CollectEnd:
    """Run all `facts` that have a command in one channel; `on_frame` gets each output as it arrives.

    At most `deadline_s` seconds pass from when the node has taken its program (and 5 more to end the commands); None: as the
    limits of the facts say. Seconds in which this computer slept don't count. A node that sends nothing at all is given up early. Cancelling ends the commands on the
    node and returns what came so far, within half a second: the commands of a node that stalls end when it sees that
    the connection did.
    Raises UserFacing when no channel can be opened; a line lost later is in the answer.
    """
    steps = steps_of(facts)
    limits = limits_of(steps)
    if deadline_s is not None:
        limits = replace(limits, deadline_s=deadline_s)
    return gather(
        line, COLLECT, lambda boundary: collect_script(boundary, steps, sudo=sudo), [step.id for step in steps],
        on_frame, cancel, limits,
    )  # fmt: skip


def gather(
    line: Line,
    exec_string: str,
    script: Callable[[str], bytes],
    ids: Sequence[str],
    on_frame: Callable[[Frame], None],
    cancel: CancelToken,
    limits: Limits,
) -> CollectEnd:
    """Run one framed program and pass on the frames of `ids`; the engine of `collect` and of an active run."""
    boundary = new_boundary()
    gathering = _Gathering(boundary, ids, on_frame, mask_of(line))
    with VIGIL.kept() as watch:
        try:
            return _gather(line, exec_string, script(boundary), gathering, cancel, limits, watch)
        except (LineLost, ConnectFailed) as error:
            if not cancel.cancelled and not of_a_sleep(error, watch):
                raise
            return gathering.end(Reason.COMPUTER_SLEPT, cancelled=cancel.cancelled, far_end_seen=False)


def _gather(
    line: Line, exec_string: str, program: bytes, gathering: _Gathering, cancel: CancelToken, limits: Limits, watch: Watch
) -> CollectEnd:
    """As `gather`. Raises LineLost and ConnectFailed after a cancel, too."""
    with impatient(line, cancel), cancel.calls.calling():
        channel = line.open(exec_string)
    ending = Ending(channel, cancel)
    try:
        moments = _Moments(watch)
        with impatient(line, cancel), cancel.calls.calling():
            why = _handed(channel, program, gathering)
        if why is None:
            ending.watch()
            why = _drain(channel, gathering, cancel, _Waiting(limits, watch), moments)
        # After the end mark or the end of output there is nothing left to end; who floods us is not listened to.
        seen = why in (None, Reason.NOT_COLLECTED) or (why is Reason.TIMEOUT and finish(channel, ending.seconds(END_SECONDS)))
        if why is Reason.NOT_COLLECTED and (gathering.frames or not line.alive):
            why = Reason.CONNECTION_LOST
        if why in _OF_A_SLEEP and watch.slept:
            why = Reason.COMPUTER_SLEPT
        return gathering.end(why, cancelled=cancel.cancelled and why is not None, far_end_seen=seen and line.alive)
    finally:
        cancel.calls.something_came()
        ending.over()
        with impatient(line, cancel):
            channel.close()


def _handed(channel: Channel, program: bytes, gathering: _Gathering) -> Reason | None:
    """Give the far side its program; why nothing comes of it, None if it took it."""
    try:
        channel.write(program)
    except LineLost:
        return _last_words(channel, gathering)
    return None


def _drain(channel: Channel, gathering: _Gathering, cancel: CancelToken, waiting: _Waiting, moments: _Moments) -> Reason | None:
    """Read both outputs to the end mark; why it did not come, None if it did."""
    while True:
        left = waiting.left_s(gathering)
        if cancel.cancelled or left <= 0:
            return Reason.TIMEOUT
        chunk = channel.read(min(_LOOK_S, left))
        if chunk.out or chunk.err or chunk.ended:
            cancel.calls.something_came()
        elif waiting.is_for_facts:
            cancel.calls.nothing_came()
        gathering.take(chunk.out, chunk.err, moments.of(chunk))
        if gathering.reader.ended:
            return None
        if gathering.flooded:
            return Reason.CUT_OFF
        if chunk.ended:
            return Reason.NOT_COLLECTED


def _last_words(channel: Channel, gathering: _Gathering) -> Reason:
    """What the far side said that ended before it took the program; why nothing came of it."""
    for _ in range(_LAST_READS):
        chunk = channel.read(SLICE_S)
        gathering.take(chunk.out, chunk.err)
        if chunk.ended:
            break
    return Reason.NOT_COLLECTED if gathering.bytes_in else Reason.CONNECTION_LOST


class _Moments:
    """When did what is read come?"""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._looked_s = watch, watch.now_s()
        self._lay = False

    def of(self, chunk: Chunk) -> datetime | None:
        """The moment of what was just read. None for what may have lain here unread: after a sleep; after a pause of ours
        until all that had come meanwhile is read.
        """
        before_s, self._looked_s = self._looked_s, self._watch.now_s()
        if not (chunk.out or chunk.err):
            self._lay = False
        elif self._looked_s - before_s > _PAUSE_S:
            self._lay = True
        return None if self._lay or self._watch.slept else utc_now()


class _Waiting:
    """How long we still listen, while this computer is awake."""

    def __init__(self, limits: Limits, watch: Watch) -> None:
        self._limits, self._watch = limits, watch
        self._begin = self._heard = watch.now_s()
        self._frames = 0

    @property
    def is_for_facts(self) -> bool:
        """Whether outputs should come soon; what measures is at work while it says nothing."""
        return self._limits.pause_s < math.inf

    def left_s(self, gathering: _Gathering) -> float:
        """Seconds to the first limit that ends the listening; 0 or less: it has come."""
        now = self._watch.now_s()
        if gathering.frames > self._frames:
            self._heard, self._frames = now, gathering.frames
        pause_s = self._limits.pause_s if gathering.bytes_in else self._limits.silence_s
        return min(self._begin + self._limits.deadline_s, self._heard + pause_s) - now


class _Gathering:
    """What came so far; bounded, whatever the node sends."""

    def __init__(self, boundary: str, ids: Sequence[str], on_frame: Callable[[Frame], None], mask: Mask) -> None:
        self._mask, self._mark = mask, boundary.encode()
        self.reader = FrameReader(boundary)
        self.frames = 0
        self._wanted = dict.fromkeys(ids)
        self._on_frame = on_frame
        self.bytes_in = 0
        self._most_bytes = len(self._wanted) * (MAX_STDOUT_BYTES + MAX_STDERR_BYTES) + NOISE_MAX_BYTES
        self._said = bytearray()

    @property
    def flooded(self) -> bool:
        """More came than all frames together could be."""
        return self.reader.noise_bytes > NOISE_MAX_BYTES or self.bytes_in > self._most_bytes

    def take(self, out: bytes, err: bytes, at: datetime | None = None) -> None:
        self.bytes_in += len(out) + len(err)
        room = SAID_BYTES + len(self._mark) - len(self._said)  # a mark that begins in what is told is seen as a whole
        if not self.frames and room > 0:
            self._said += (out + err)[:room]
        for frame in self.reader.feed(out):
            if frame.id in self._wanted:  # a second frame, or one that nobody asked for, is noise
                del self._wanted[frame.id]
                self.frames += 1
                self._on_frame(replace(frame, output=self._masked(frame.output), arrived_at=at))

    def _masked(self, output: CommandOutput) -> CommandOutput:
        return replace(output, stdout=self._mask.output(output.stdout), stderr=self._mask.output(output.stderr))

    def end(self, why: Reason | None, *, cancelled: bool, far_end_seen: bool) -> CollectEnd:
        reason = Reason.NOT_COLLECTED if why is None or cancelled else why
        words = _foreign(bytes(self._said), self._mark)[:SAID_BYTES]
        said = visible(self._mask.quoted(words.decode("utf-8", "replace").strip())) if not self.frames else ""
        return CollectEnd(
            tuple(Missing(id_, reason) for id_ in self._wanted), why is None, cancelled, far_end_seen,
            self.reader.noise_bytes, said,
        )  # fmt: skip


def _foreign(said: bytes, mark: bytes) -> bytes:
    """What came before the first line of our own program, which is told by its mark; the line was lost in it, or before its output."""
    theirs, found, _ = said.partition(mark)
    before, end, last = theirs.rpartition(b"\n")
    return before + end if found or mark.startswith(last) else theirs
