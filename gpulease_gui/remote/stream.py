"""How do samples flow from a node for hours over one kept channel?"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, Unreadable, UserFacing
from gpulease_gui.domain.frame import AGENT, STREAM, new_boundary
from gpulease_gui.domain.text import visible
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.impatient import impatient
from gpulease_gui.remote.masking import mask_of
from gpulease_gui.remote.transport import SLICE_S, Channel, Line, LineLost, finish
from gpulease_gui.remote.wrap import stream_script

LINE_MAX_BYTES = 64 * 1024
SILENT_INTERVALS = 2.8
SILENT_LEAST_S = 2.5
# A busy node on a slow line takes its time to start Python.
AGENT_PATIENCE_S = 12.0
_END_SECONDS = 3.0
_SAID_BYTES = 2048
_NAME_BYTES = 80
# What taking a line can raise, of the reader's own and of slips in our rules.
_FAULTS = (
    UserFacing, Unreadable, Cancelled, ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
TOO_LONG = b"! a line of more than 64 KiB was left out"


class StreamEnding(StrEnum):
    """Why a stream is over."""

    CLOSED = "closed"
    LOST = "lost"
    SILENT = "silent"
    SOURCES_ENDED = "sources_ended"
    PROGRAM_ENDED = "program_ended"


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended. `last_s`: monotonic time of the last line of ours; a gap starts there. `said`: foreign text.

    `heard`: whether the far side ever sent one of our lines.
    """

    ending: StreamEnding
    last_s: float
    said: str = ""
    heard: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """How a stream begins: what is run, and by `opening(boundary)` the first bytes on its stdin, which stays open.

    `patience_s` is how long its first line may take.
    """

    exec_string: str
    opening: Callable[[str], bytes]
    patience_s: float = SILENT_LEAST_S


def agent_start(program: bytes, interval_s: float) -> Start:
    """The start of the agent, whose lines are the payloads of the telemetry sources, every `interval_s` seconds."""

    def opening(boundary: str) -> bytes:
        wish = json.dumps({"mark": boundary, "interval_s": interval_s})
        return b"%d\n%b%b\n" % (len(program), program, wish.encode())

    return Start(AGENT, opening, AGENT_PATIENCE_S)


class StreamLine(NamedTuple):
    """One whole line. `source` is an id; `payload` None with `code` when that source has ended; both None: a beat."""

    source: str
    payload: bytes | None
    code: int | None = None


class LineCutter:
    """Cuts a byte stream into the lines of its sources; memory is bounded by 64 KiB a line and source.

    Lines without the boundary are noise. A longer line is dropped and counted; its source then says so, as a source in
    trouble does, because a curve must not go on over it as if nothing had been there.
    """

    def __init__(self, boundary: str, sources: Sequence[str]) -> None:
        self._mark = boundary.encode() + b" "
        self._pieces = {source: bytearray() for source in sources}
        self._names = {source.encode(): (source, False) for source in sources}
        self._names |= {source.encode() + b"+": (source, True) for source in sources}
        self._rest = bytearray()
        self._skipping = False
        self.dropped = 0
        self.spoke = self.beat = False

    def feed(self, data: bytes) -> list[StreamLine]:
        """The lines that `data` completes, in order. `spoke`: whether any of it was ours, `beat`: whether the node beat in it."""
        self.spoke = self.beat = False
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._rest or self._skipping):
            lines[0] = self._completed(lines[0])
        found: list[StreamLine] = []
        for line in lines:
            if len(line) > LINE_MAX_BYTES:
                self._drop(line, found)
            elif line.startswith(self._mark):
                self._read(line, found)
        if rest:
            self._keep(rest, found)
        return found

    def _completed(self, line: bytes) -> bytes:
        whole = b"" if self._skipping else bytes(self._rest) + line
        self._rest.clear()
        self._skipping = False
        return whole

    def _keep(self, rest: bytes, found: list[StreamLine]) -> None:
        if not self._skipping:
            self._rest += rest
        if len(self._rest) > LINE_MAX_BYTES:
            self._drop(bytes(self._rest), found)
            self._rest.clear()
            self._skipping = True

    def _drop(self, line: bytes, found: list[StreamLine]) -> None:
        """Leave a line out that is too long."""
        self.dropped += 1
        if line.startswith(self._mark):
            name = line[len(self._mark) : len(self._mark) + _NAME_BYTES].partition(b" ")[0]
            if name in self._names:
                found.append(StreamLine(self._names[name][0], TOO_LONG))

    def _read(self, line: bytes, found: list[StreamLine]) -> None:
        word, _, payload = line[len(self._mark) :].partition(b" ")
        if (named := self._names.get(word)) is not None:
            self.spoke = True
            source, more = named
            if more or self._pieces[source]:
                self._piece(source, payload, found, more=more)
            else:
                found.append(StreamLine(source, payload))
        elif word == b"BEAT":
            self.spoke = self.beat = True
        elif word == b"END":
            self._ended(payload.decode("ascii", "replace").split(), found)

    def _ended(self, words: list[str], found: list[StreamLine]) -> None:
        if len(words) == 2 and words[0] in self._pieces and words[1].isdigit():
            found.append(StreamLine(words[0], None, int(words[1])))

    def _piece(self, source: str, payload: bytes, found: list[StreamLine], *, more: bool) -> None:
        held = self._pieces[source]
        if len(held) <= LINE_MAX_BYTES:
            held += payload
        if more:
            return
        if len(held) > LINE_MAX_BYTES:
            self.dropped += 1
            found.append(StreamLine(source, TOO_LONG))
        else:
            found.append(StreamLine(source, bytes(held)))
        held.clear()


class Stream:
    """Sources (id, endless sh script) that print lines on one channel of `line`, every `interval_s` seconds.

    `on_line(source_id, line, received_monotonic_s)` and `on_ended(source_id, exit_code)` are called one at a time while
    `run` runs: in the thread of the connection, else in that of `run`. They must not wait for the line.
    Streams that share a `turn` are heard one after the other: of many threads that want to compute at once, all but one would wake
    again and again to ask for the interpreter (64 nodes: a quarter of a core, or a whole one that gets nowhere).
    Loss is noticed at once when the channel ends, and by silence: the node beats every interval, which `on_beat(received_monotonic_s)`
    hears. From its first line on, bytes that are none of ours are no sign of life.
    """

    def __init__(
        self,
        line: Line,
        sources: Sequence[tuple[str, str]],
        interval_s: float,
        on_line: Callable[[str, bytes, float], None],
        *,
        on_ended: Callable[[str, int], None] | None = None,
        on_beat: Callable[[float], None] | None = None,
        on_lost: Callable[[StreamEnd], None] | None = None,
        start: Start | None = None,
        turn: threading.Lock | None = None,
    ) -> None:
        self._line, self._mask = line, mask_of(line)
        self._sources = tuple(sources)
        self._interval_s = interval_s
        self._on_line = on_line
        self._on_ended = on_ended
        self._on_beat = on_beat
        self._on_lost = on_lost
        self._stop = CancelToken()
        self._running = {id_ for id_, _ in sources}
        self._said = b""
        self._cutter = LineCutter("", ())
        self._last_s = 0.0
        self._woken = threading.Event()
        self._taking, self._turn = threading.Lock(), turn or threading.Lock()
        self._over = False
        self._fault: BaseException | None = None
        self._start = start or Start(STREAM, lambda boundary: stream_script(boundary, self._sources, interval_s))
        self._heard = False
        self._own = start is not None
        self.silent_s = max(SILENT_INTERVALS * interval_s, SILENT_LEAST_S)

    def run(self) -> StreamEnd:
        """Block until `close`, loss, or the end of all sources. Raises UserFacing when no channel can be opened."""
        boundary = new_boundary()
        try:
            with impatient(self._line, self._stop):
                channel = self._line.open(self._start.exec_string)
        except (LineLost, ConnectFailed):
            if not self._stop.cancelled:
                raise
            return StreamEnd(StreamEnding.CLOSED, time.monotonic(), heard=False)
        try:
            end = self._flow(channel, boundary)
            if end.ending is StreamEnding.CLOSED and self._line.alive:
                finish(channel, _END_SECONDS)
        finally:
            channel.close()
        if end.ending is not StreamEnding.CLOSED and self._on_lost is not None:
            self._on_lost(end)
        return end

    def close(self) -> None:
        """Ask `run` to end the sources and return; any thread, any number of times."""
        self._stop.cancel()

    def _flow(self, channel: Channel, boundary: str) -> StreamEnd:
        self._cutter = LineCutter(boundary, [id_ for id_, _ in self._sources])
        self._last_s = time.monotonic()
        try:
            with impatient(self._line, self._stop):
                channel.write(self._start.opening(boundary))
        except (LineLost, ConnectFailed) as error:
            if self._stop.cancelled:
                return StreamEnd(StreamEnding.CLOSED, self._last_s, heard=False)
            if isinstance(error, ConnectFailed):
                raise
            return StreamEnd(StreamEnding.LOST, self._last_s, error.why, heard=False)
        forget = self._stop.on_cancel(self._woken.set)
        try:
            ending = self._hear(channel)
        finally:
            forget()
            with self._taking:
                self._over = True
        if self._fault is not None:
            raise self._fault
        said = "" if ending is StreamEnding.CLOSED else visible(self._mask.quoted(self._said.decode("utf-8", "replace").strip()))
        return StreamEnd(ending, self._last_s, said, self._heard)

    def _hear(self, channel: Channel) -> StreamEnding:
        """Wait until the stream is over; why it is."""
        handed = channel.listen(self._take, self._woken.set)
        quiet_looks = 0
        while not self._stop.cancelled:
            ending = self._ending(self._await_word(channel) if handed else self._read(channel))
            # Bytes that wait for us to find the time are no silence of the node; some are on their way between two looks.
            quiet_looks = quiet_looks + 1 if ending is StreamEnding.SILENT and not channel.behind() else 0
            if ending is not None and (ending is not StreamEnding.SILENT or quiet_looks > 1):
                return ending
        return StreamEnding.CLOSED

    def _await_word(self, channel: Channel) -> bool:
        """Sleep until something is to be done, or the node has been silent for long; whether the channel ended."""
        self._woken.wait(max(SLICE_S, self._patience_s - (time.monotonic() - self._last_s)))
        self._woken.clear()
        return channel.read(0.0).ended

    def _read(self, channel: Channel) -> bool:
        chunk = channel.read(SLICE_S)
        self._take(chunk.out, chunk.err)
        return chunk.ended

    def _take(self, out: bytes, err: bytes) -> None:
        """What came, from whatever thread."""
        now = time.monotonic()
        with self._turn, self._taking:
            if self._over or not (out or err):
                return
            if err:
                self._said = (self._said + err)[-_SAID_BYTES:]
            try:
                lines = self._cutter.feed(out)
                if self._cutter.spoke or not self._heard:
                    self._last_s = now
                for line in lines:
                    self._pass(line, now)
                if self._cutter.beat and self._on_beat is not None:
                    self._on_beat(now)
            except _FAULTS as fault:  # raised again by `run`: the thread of the connection can't tell it
                self._fault, self._over = fault, True
                self._woken.set()

    def _pass(self, line: StreamLine, now: float) -> None:
        if not self._heard:
            self._heard = True
            self._woken.set()  # from now on silence is noticed sooner
        if line.payload is not None:
            self._on_line(line.source, self._mask.output(line.payload), now)
            return
        self._running.discard(line.source)
        if self._on_ended is not None and line.code is not None:
            self._on_ended(line.source, line.code)
        if not self._running:
            self._woken.set()

    @property
    def _patience_s(self) -> float:
        return self.silent_s if self._heard else max(self.silent_s, self._start.patience_s)

    def _ending(self, ended: bool) -> StreamEnding | None:
        if not self._running:
            return StreamEnding.SOURCES_ENDED
        if ended or self._fault is not None:
            return StreamEnding.PROGRAM_ENDED if self._own and self._line.alive else StreamEnding.LOST
        return StreamEnding.SILENT if time.monotonic() - self._last_s > self._patience_s else None
