"""How do samples flow from a node for hours over one kept channel?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.frame import AGENT, STREAM, new_boundary
from gpulease_gui.domain.text import visible
from gpulease_gui.remote.transport import SLICE_S, Channel, Line, LineLost, finish
from gpulease_gui.remote.wrap import stream_script

LINE_MAX_BYTES = 64 * 1024
SILENT_INTERVALS = 2.8
SILENT_LEAST_S = 2.5
# A busy node on a slow line takes its time to start Python.
AGENT_PATIENCE_S = 12.0
_END_SECONDS = 3.0
_SAID_BYTES = 2048


class StreamEnding(StrEnum):
    """Why a stream is over."""

    CLOSED = "closed"
    LOST = "lost"
    SILENT = "silent"
    SOURCES_ENDED = "sources_ended"
    PROGRAM_ENDED = "program_ended"


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended. `last_s`: monotonic time of the last byte; a gap starts there. `said`: foreign text.

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


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One whole line. `source` is an id; `payload` None with `code` when that source has ended; both None: a beat."""

    source: str
    payload: bytes | None
    code: int | None = None


class LineCutter:
    """Cuts a byte stream into the lines of its sources; memory is bounded by 64 KiB a line and source.

    Lines without the boundary are noise; longer ones are dropped and counted.
    """

    def __init__(self, boundary: str, sources: Sequence[str]) -> None:
        self._mark = boundary.encode() + b" "
        self._pieces = {source: bytearray() for source in sources}
        self._rest = bytearray()
        self._skipping = False
        self.dropped = 0

    def feed(self, data: bytes) -> Iterator[StreamLine]:
        """The lines that `data` completes, in order."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole, skipped = bytes(self._rest) + line, self._skipping
            self._rest.clear()
            self._skipping = False
            if skipped or len(whole) > LINE_MAX_BYTES:
                self.dropped += 1
            elif whole.startswith(self._mark):
                yield from self._read(whole[len(self._mark) :])
        if not self._skipping:
            self._rest += rest
        if len(self._rest) > LINE_MAX_BYTES:
            self._rest.clear()
            self._skipping = True

    def _read(self, line: bytes) -> Iterator[StreamLine]:
        word, _, payload = line.partition(b" ")
        name = word.decode("ascii", "replace")
        if name == "END":
            yield from self._ended(payload.decode("ascii", "replace").split())
        elif name.removesuffix("+") in self._pieces:
            yield from self._piece(name.removesuffix("+"), payload, more=name.endswith("+"))

    def _ended(self, words: list[str]) -> Iterator[StreamLine]:
        if len(words) == 2 and words[0] in self._pieces and words[1].isdigit():
            yield StreamLine(words[0], None, int(words[1]))

    def _piece(self, source: str, payload: bytes, *, more: bool) -> Iterator[StreamLine]:
        held = self._pieces[source]
        if len(held) <= LINE_MAX_BYTES:
            held += payload
        if more:
            return
        if len(held) > LINE_MAX_BYTES:
            self.dropped += 1
        else:
            yield StreamLine(source, bytes(held))
        held.clear()


class Stream:
    """Sources (id, endless sh script) that print lines on one channel of `line`, every `interval_s` seconds.

    `on_line(source_id, line, received_monotonic_s)` and `on_ended(source_id, exit_code)` are called in the thread of
    `run`. Loss is noticed at once when the channel ends, and by silence: the node beats every interval.
    """

    def __init__(
        self,
        line: Line,
        sources: Sequence[tuple[str, str]],
        interval_s: float,
        on_line: Callable[[str, bytes, float], None],
        *,
        on_ended: Callable[[str, int], None] | None = None,
        on_lost: Callable[[StreamEnd], None] | None = None,
        start: Start | None = None,
    ) -> None:
        self._line = line
        self._sources = tuple(sources)
        self._interval_s = interval_s
        self._on_line = on_line
        self._on_ended = on_ended
        self._on_lost = on_lost
        self._stop = CancelToken()
        self._running = {id_ for id_, _ in sources}
        self._said = b""
        self._start = start or Start(STREAM, lambda boundary: stream_script(boundary, self._sources, interval_s))
        self._heard = False
        self._own = start is not None
        self.silent_s = max(SILENT_INTERVALS * interval_s, SILENT_LEAST_S)

    def run(self) -> StreamEnd:
        """Block until `close`, loss, or the end of all sources. Raises UserFacing when no channel can be opened."""
        boundary = new_boundary()
        channel = self._line.open(self._start.exec_string)
        try:
            end = self._flow(channel, boundary)
            if end.ending is StreamEnding.CLOSED:
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
        cutter = LineCutter(boundary, [id_ for id_, _ in self._sources])
        last = time.monotonic()
        try:
            channel.write(self._start.opening(boundary))
        except LineLost as error:
            return StreamEnd(StreamEnding.LOST, last, error.why, heard=False)
        while not self._stop.cancelled:
            chunk = channel.read(SLICE_S)
            now = time.monotonic()
            if chunk.out or chunk.err:
                last = now
            self._said = (self._said + chunk.err)[-_SAID_BYTES:]
            for line in cutter.feed(chunk.out):
                self._pass(line, now)
            ending = self._ending(chunk.ended, now - last)
            if ending is not None:
                return StreamEnd(ending, last, visible(self._said.decode("utf-8", "replace").strip()), self._heard)
        return StreamEnd(StreamEnding.CLOSED, last, heard=self._heard)

    def _pass(self, line: StreamLine, now: float) -> None:
        self._heard = True
        if line.payload is not None:
            self._on_line(line.source, line.payload, now)
            return
        self._running.discard(line.source)
        if self._on_ended is not None and line.code is not None:
            self._on_ended(line.source, line.code)

    def _ending(self, ended: bool, silence_s: float) -> StreamEnding | None:
        if not self._running:
            return StreamEnding.SOURCES_ENDED
        if ended:
            return StreamEnding.PROGRAM_ENDED if self._own and self._line.alive else StreamEnding.LOST
        patience_s = self.silent_s if self._heard else max(self.silent_s, self._start.patience_s)
        return StreamEnding.SILENT if silence_s > patience_s else None
