"""How does one task run on a node, live, bounded, and with nothing of it left in the end?"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.frame import TASK, new_boundary
from gpulease_gui.domain.text import visible
from gpulease_gui.remote.awake import Watch
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.follow_program import WAITS
from gpulease_gui.remote.impatient import impatient
from gpulease_gui.remote.masking import MaskedFlow, mask_of
from gpulease_gui.remote.slept import told_of_sleep
from gpulease_gui.remote.task_wrap import TaskOrder, follow_script, task_script
from gpulease_gui.remote.transport import SLICE_S, Channel, Line, LineLost

# A busy node on a slow line: until the program has found room and says so.
_READY_S = 40.0
_BEAT_S = 5.0
# What ending takes at worst on the node: TERM, KILL, a container, a large folder to remove.
END_S = 45.0
_GRACE_S = 20.0
# All of it was sent: until a slow disk has it.
_UNPACK_S = 600.0
_LAST_WORDS_S = 2.0
# A line of which nothing is known to be wrong so long after a sleep has outlasted it.
_OUTLASTED_S = 60.0
_PLACE = re.compile(r"/(?:[^\x00-\x1f\x7f]*/)?gpulease-task\.[A-Za-z0-9]{6,12}")
_TOOLS = frozenset(["docker", "podman", "enroot"])
_MARKS_MOST_BYTES = 64 * 1024
_SAID_MOST = 400


class TaskEars(Protocol):
    """Who hears how a task goes; all in the thread that runs it. None of them may block for long."""

    def sent(self, size_bytes: int) -> None:
        """So many bytes of the task were sent so far."""

    def started(self) -> None:
        """Its command begins."""

    def log(self, data: bytes) -> None:
        """A piece of its output: the head as it comes, then the tail (see TaskReport.left_out_bytes)."""

    def tick(self) -> None:
        """Called several times a second, whether something came or not."""

    def stopping(self) -> None:
        """The task is being ended by us."""


class FollowEars(TaskEars, Protocol):
    """Who hears how a log is followed."""

    def file(self, word: str) -> None:
        """What became of the file between the pieces of log before and after: a word of remote.follow_program."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What the node said of a task. `why`: exit, or what ended it: line, time, space, disk, silent, killed; or
    `refused` (then `refusal` and `said`); `lost` when the line broke, `cancelled` when we ended it before it began.

    `code` is the command's exit code. `left_out_bytes` of its log did not come, between `head` and tail. `kept` is the
    folder kept on request, of `kept_kib`; `remains` what could not be removed; `processes` still alive afterwards (None:
    not told). `oom_kills` happened on the node meanwhile. `waits`: why a log that was followed could not be read at its end.
    `slept`: this computer did so shortly before the end that the line may not have outlasted it, or stood still.
    """

    why: str
    code: int | None = None
    seconds: float | None = None
    refusal: str = ""
    said: str = ""
    left_out_bytes: int = 0
    left_processes: int = 0
    oom_kills: int = 0
    place: str = ""
    kept: str = ""
    kept_kib: int = 0
    remains: tuple[str, ...] = ()
    processes: int | None = None
    tool: str = ""
    cancelled: bool = False
    waits: str = ""
    slept: bool = False

    @property
    def clean(self) -> bool | None:
        """Whether no process and no file was left; None: the node did not say so."""
        return None if self.processes is None else self.processes == 0 and not self.remains


def run_task(line: Line, order: TaskOrder, blocks: Iterable[bytes], ears: TaskEars, cancel: CancelToken) -> TaskReport:
    """Send `blocks` (a tar stream of order.send_bytes), run the command, end all. Blocks to its end.

    A cancel, a lost line, a time limit are in the answer. Raises UserFacing when no channel can be opened (ComputerSlept
    where this computer slept meanwhile), and what `blocks` raises; UsageError for names that can't be.
    """
    boundary = new_boundary()
    script = task_script(boundary, order)
    with told_of_sleep(line.name) as watch:
        return _Running(line, boundary, ears, cancel, order.time_limit_s, watch).go(script, blocks)


def follow_log(line: Line, path: str, time_limit_s: int, ears: FollowEars, cancel: CancelToken) -> TaskReport:
    """Wait for a log on the node, read its end and follow it, until cancelled or for `time_limit_s`. Raises as run_task."""
    boundary = new_boundary()
    with told_of_sleep(line.name) as watch:
        return _Following(line, boundary, ears, cancel, time_limit_s, watch).go(follow_script(boundary, path, time_limit_s), ())


class _Running:
    """One task on one channel."""

    def __init__(self, line: Line, boundary: str, ears: TaskEars, cancel: CancelToken, limit_s: int, watch: Watch) -> None:
        self._line, self._ears, self._cancel, self._limit_s, self._watch = line, ears, cancel, limit_s, watch
        self._mask = mask_of(line)
        self._masked = MaskedFlow(self._mask)
        self._mark = boundary.encode() + b" "
        self._held = bytearray()
        self._noise = bytearray()
        self._log_begun = False
        self._report = TaskReport("lost")
        self._ready = self._started = self._over = self._ended = False
        self._said = bytearray()
        self._beat = 0.0

    def go(self, script: bytes, blocks: Iterable[bytes]) -> TaskReport:
        try:
            with impatient(self._line, self._cancel):
                channel = self._line.open(TASK)
        except (LineLost, ConnectFailed):
            if not self._cancel.cancelled:
                raise
            return TaskReport("cancelled", cancelled=True)
        try:
            try:
                self._flow(channel, script, blocks)
            except LineLost as lost:
                self._lost(channel, lost)
            except BaseException:
                # What we can't send is not begun on the node either.
                self._end(channel)
                raise
        finally:
            channel.close()
        return self._answer()

    def _lost(self, channel: Channel, lost: LineLost) -> None:
        """A program that refused and ended takes nothing more: its last words say why."""
        deadline = self._watch.now_s() + _LAST_WORDS_S
        with contextlib.suppress(LineLost):
            while not self._over and self._watch.now_s() < deadline:
                self._hear(channel, SLICE_S)
        if self._report.why != "refused" and not self._ended:
            self._report = replace(self._report, why="lost", said=lost.why)

    def _answer(self) -> TaskReport:
        self._pass_rest()
        words = bytes((self._noise + self._said)[-_SAID_MOST:]).decode("utf-8", "replace").strip()
        said = self._mask.quoted(self._report.said or ("" if self._started else visible(words)))
        report = replace(self._report, said=said, cancelled=self._cancel.cancelled, slept=self._watch.slept_within(_OUTLASTED_S))
        if report.why == "lost" and not self._ready and self._line.alive:
            return replace(report, why="refused", refusal="shell")
        return report

    def _flow(self, channel: Channel, script: bytes, blocks: Iterable[bytes]) -> None:
        with impatient(self._line, self._cancel):
            channel.write(script)
        if not self._hear_until_ready(channel):
            return
        if not self._send(channel, blocks):
            return
        begin = self._watch.now_s()
        while not self._over:
            self._hear(channel, SLICE_S)
            limit_s = self._limit_s + END_S + _GRACE_S if self._started else _UNPACK_S
            if self._cancel.cancelled or self._watch.now_s() - begin > limit_s or self._report.why == "refused":
                self._end(channel)
                return
            self._live(channel)

    def _hear_until_ready(self, channel: Channel) -> bool:
        deadline = self._watch.now_s() + _READY_S
        while not self._ready and not self._over:
            self._hear(channel, SLICE_S)
            if self._cancel.cancelled or self._watch.now_s() > deadline:
                self._report = replace(self._report, why="cancelled" if self._cancel.cancelled else "silent")
                self._end(channel)
                return False
        if self._report.why == "refused":
            self._end(channel)
            return False
        return not self._over

    def _send(self, channel: Channel, blocks: Iterable[bytes]) -> bool:
        """Whether all was sent; a node that refuses in the middle, or a cancel, ends it."""
        sent = looked = 0
        for block in blocks:
            if self._cancel.cancelled:
                self._report = replace(self._report, why="cancelled")
                self._end(channel)
                return False
            # A node that takes nothing more ends what it began as soon as the line is gone.
            with impatient(self._line, self._cancel):
                channel.write(block)
            sent += len(block)
            self._ears.sent(sent)
            if sent - looked >= 1 << 20:
                looked = sent
                self._hear(channel, 0.0)
                if self._report.why == "refused" or self._over:
                    self._end(channel)
                    return False
        return True

    def _live(self, channel: Channel) -> None:
        """The sign of life: a line that is cut in silence is noticed on the node."""
        now = self._watch.now_s()
        if self._started and now - self._beat >= _BEAT_S and not self._ended:
            self._beat = now
            with contextlib.suppress(LineLost):  # the next read says whether it ended well
                channel.write(b"\n")

    def _end(self, channel: Channel) -> None:
        """End the command's stdin and hear how the node cleans up."""
        self._ears.stopping()
        channel.end_input()
        deadline = self._watch.now_s() + END_S
        while not self._over and self._watch.now_s() < deadline:
            self._hear(channel, SLICE_S)

    def _hear(self, channel: Channel, seconds: float) -> None:
        chunk = channel.read(seconds)
        if chunk.out:
            self._output(chunk.out)
        if chunk.err:
            self._marks(chunk.err)
        self._ears.tick()
        self._over = self._over or chunk.ended

    def _output(self, data: bytes) -> None:
        """Both outputs come in their own time, so the log has a first line of its own; what stands before it is noise."""
        if self._log_begun:
            self._piece(data)
            return
        self._noise = (self._noise + data)[-_MARKS_MOST_BYTES:]
        before, mark, log = self._noise.partition(b"\n" + self._mark + b"LOG\n")
        if mark:
            self._log_begun = True
            self._noise = before
            if log:
                self._piece(bytes(log))

    def _piece(self, data: bytes) -> None:
        self._pass_on(data)

    def _pass_on(self, log: bytes) -> None:
        if masked := self._masked.feed(log):
            self._ears.log(masked)

    def _pass_rest(self) -> None:
        if held := self._masked.rest():
            self._ears.log(held)

    def _marks(self, data: bytes) -> None:
        *lines, rest = (self._held + data).split(b"\n")
        self._held = rest[-_MARKS_MOST_BYTES:]
        for line in lines:
            if line.startswith(self._mark):
                word, _, more = line[len(self._mark) :].decode("utf-8", "replace").partition(" ")
                self._take(word, more)
            elif line.strip() and not self._started:
                self._said = (self._said + line + b"\n")[-_SAID_MOST:]

    def _take(self, word: str, more: str) -> None:
        words = more.split()
        if word == "READY":
            self._ready, self._report = True, replace(self._report, place=more)
        elif word == "START":
            self._started, self._beat = True, self._watch.now_s()
            self._ears.started()
        elif word == "REFUSE" and self._report.why != "cancelled":  # then it refuses what we broke off
            refusal, _, said = more.partition(" ")
            self._report = replace(self._report, why="refused", refusal=refusal, said=visible(said)[:_SAID_MOST])
            self._ready = True
        elif word == "BOX":
            self._report = replace(self._report, tool=more if more in _TOOLS else "")
        elif word == "LOG" and _counts(words, 1):
            self._report = replace(self._report, left_out_bytes=int(words[0]))
        elif word == "END" and len(words) == 5 and _counts(words[2:], 3):
            self._ended, by_itself = True, words[0] == "exit"
            self._report = replace(
                self._report, why="exit" if by_itself else words[1], code=int(words[1]) if words[1].isdigit() else None,
                seconds=float(words[2]), left_processes=int(words[3]) if by_itself else 0, oom_kills=int(words[4]),
            )  # fmt: skip
        elif word == "KEPT":
            kib, _, place = more.partition(" ")
            # The user will copy a command with this path.
            if _PLACE.fullmatch(place) and place == self._report.place:
                self._report = replace(self._report, kept=place, kept_kib=int(kib) if kib.isdigit() and len(kib) < 16 else 0)
        elif word == "REMAINS":
            self._report = replace(self._report, remains=(*self._report.remains, more[:_SAID_MOST]))
        elif word == "CLEAN" and _counts(words, 1):
            self._report = replace(self._report, processes=int(words[0]))


class _Following(_Running):
    """One log on one channel; what becomes of its file is told within it."""

    def __init__(self, line: Line, boundary: str, ears: FollowEars, cancel: CancelToken, limit_s: int, watch: Watch) -> None:
        super().__init__(line, boundary, ears, cancel, limit_s, watch)
        self._file, self._file_mark = ears.file, self._mark + b"FILE "
        self._begun = b""  # of a mark whose end is still to come

    def _piece(self, data: bytes) -> None:
        whole = self._begun + data
        while (at := whole.find(self._file_mark)) >= 0:
            word, end, rest = whole[at + len(self._file_mark) :].partition(b"\n")
            if not end:
                break
            self._pass_on(whole[:at])
            self._become(word.decode("ascii", "replace"))
            whole = rest
        at = _mark_at(whole, self._file_mark) if at < 0 else at
        self._begun = whole[at:]
        self._pass_on(whole[:at])

    def _become(self, word: str) -> None:
        self._pass_rest()
        self._report = replace(self._report, waits=word if word in WAITS else "")
        self._file(word)

    def _answer(self) -> TaskReport:
        self._pass_on(self._begun)
        return super()._answer()


def _mark_at(data: bytes, mark: bytes) -> int:
    """Where at the end of `data` a mark begins whose rest is not there yet."""
    return next((at for at in range(max(0, len(data) - len(mark) + 1), len(data)) if mark.startswith(data[at:])), len(data))


def _counts(words: list[str], count: int) -> bool:
    return len(words) == count and all(word.isdigit() and len(word) < 16 for word in words)
