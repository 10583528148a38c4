"""What of a running task's log is kept, read and shown, in bounded memory and without its secrets?"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterable

from gpulease_gui.domain.task import DOTS, TaskFault, TaskPoint, TaskRate, TaskReading
from gpulease_gui.domain.text import visible
from gpulease_gui.facts.train_log import TrainLog
from gpulease_gui.facts.train_reader import REPLACED, SHORTENED, LogReader

_LAST_CHARACTERS = 2000
# Of a log that is followed: what it may hold before, and what is read of it a second on and on. A core reads six times that.
AHEAD_BYTES, READ_BYTES_S = 9 * 1024 * 1024, 1024 * 1024
# The end of each piece is read in any case: it is what was written last when the flood is over.
NEWEST_BYTES = 1024


class Redactor:
    """Puts dots at the place of secrets in a stream, wherever it is cut into pieces."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # One or two characters stand in every log; who has such a secret has none.
        self._secrets = sorted((s.encode() for s in secrets if len(s) > 2), key=len, reverse=True)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be passed on: all but an end that may be the beginning of a secret."""
        if not self._secrets:
            return data
        whole = self._held + data
        for secret in self._secrets:
            whole = whole.replace(secret, DOTS.encode())
        keep = max(_begun(whole, secret) for secret in self._secrets)
        self._held = whole[len(whole) - keep :]
        return whole[: len(whole) - keep]

    def flush(self) -> bytes:
        """What was held back at the end."""
        held, self._held = self._held, b""
        return held


def _begun(data: bytes, secret: bytes) -> int:
    """How many bytes at the end of `data` begin `secret`."""
    longest = min(len(data), len(secret) - 1)
    return next((n for n in range(longest, 0, -1) if data.endswith(secret[:n])), 0)


class TaskLog:
    """The log of one task: its head and tail as evidence, its curve, its last words.

    A node sends `head_bytes` as they come and at the end the last of the rest. Of a log that is only followed
    (`endless`), all comes live and the middle is dropped here; `unread_bytes` of it came too fast to be read. Raises UsageError for a pattern that can't be used.
    """

    def __init__(self, pattern: str, secrets: Iterable[str], head_bytes: int, tail_bytes: int, *, endless: bool = False) -> None:
        self.reader = LogReader(pattern)
        self.bytes_in = 0
        self.left_out_bytes = 0
        self.unread_bytes = 0
        self._redactor, self._endless = Redactor(secrets), endless
        self._head_bytes, self._tail_bytes = head_bytes, tail_bytes
        self._head, self._tail, self._tail_size = bytearray(), deque[bytes](), 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last = ""
        self._at_s: float | None = None
        self._allowed, self._filled_s = float(AHEAD_BYTES), 0.0

    def take(self, data: bytes, at_s: float) -> None:
        """The next piece, `at_s` seconds after the start."""
        self._at_s = at_s
        room = max(0, self._head_bytes - self.bytes_in)
        self.bytes_in += len(data)
        if room:
            self._keep(self._redactor.feed(data[:room]))
        if len(data) > room:
            self._beyond(data[room:])

    def anew(self, at_s: float, *, cut: bool) -> None:
        """Another file begins, or (`cut`) the same one from its beginning: said in the log itself, so that who reads it later knows, too."""
        self.take(f"{SHORTENED if cut else REPLACED}\n".encode(), at_s)

    def _keep(self, clean: bytes) -> None:
        self._head += clean
        if self._endless:
            self._read_in_pace(clean)
        else:
            self._read(clean)

    def _read_in_pace(self, data: bytes) -> None:
        """Of a log that comes faster than lines can be read for long, parts are left out: the figures stay those of now."""
        at_s = self._at_s or 0.0
        self._allowed = min(AHEAD_BYTES, self._allowed + max(0.0, at_s - self._filled_s) * READ_BYTES_S)
        self._filled_s = at_s
        if len(data) > max(self._allowed, NEWEST_BYTES):
            self.reader.skip()
            self._decoder.reset()
            self.unread_bytes += len(data) - NEWEST_BYTES
            data = data[-NEWEST_BYTES:]
        else:
            self._allowed -= len(data)
        self._read(data)

    def _beyond(self, data: bytes) -> None:
        """Behind the head: read at once where it comes live, kept as the tail."""
        clean = self._redactor.feed(data) if self._endless else data
        if self._endless:
            self._read_in_pace(clean)
        self._tail.append(clean)
        self._tail_size += len(clean)
        while self._tail_size - len(self._tail[0]) >= self._tail_bytes:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self.left_out_bytes += gone

    def end(self, left_out_bytes: int) -> None:
        """The log is over; the node left out so many bytes between head and tail."""
        self.left_out_bytes += left_out_bytes
        tail = b"".join(self._tail)
        self._tail.clear()
        if self._endless:
            rest = self._redactor.flush()
            self._read(rest)
            self._close(tail + rest)
        elif not self.left_out_bytes:
            self._keep(self._redactor.feed(tail) + self._redactor.flush())
        else:
            self._keep(self._redactor.flush())
            clean = self._redactor.feed(tail) + self._redactor.flush()
            # Its first line is torn, and a part of a number is another number.
            self._read(b"\n")
            torn, _, whole = clean.partition(b"\n")
            self.left_out_bytes += len(torn) + 1
            self._read(whole)
            self._close(whole)

    def _close(self, tail: bytes) -> None:
        if self.left_out_bytes:
            self._head += f"\n[{self.left_out_bytes} bytes of the log were not kept here]\n".encode()
        self._head += tail

    def _read(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        if text:
            self.reader.feed(text, self._at_s)
            self._last = (self._last + text[-_LAST_CHARACTERS:])[-_LAST_CHARACTERS:]

    @property
    def kept(self) -> bytes:
        """The evidence: the whole log, or its head, a line that says how much is missing, and its tail."""
        return bytes(self._head)

    def kept_since(self, size_bytes: int) -> bytes:
        """What was added to the kept log after its first `size_bytes`."""
        return bytes(self._head[size_bytes:])

    @property
    def last_words(self) -> str:
        """The last lines, their control characters made visible; and how much came too fast to be read."""
        left_out = f"\n[{self.unread_bytes} bytes came too fast and were not read]" if self.unread_bytes else ""
        return visible(self._last.replace("\r\n", "\n").replace("\r", "\n")) + left_out

    def points_since(self, seen: int) -> tuple[TaskPoint, ...]:
        """The points of the curve after the first `seen`; a curve that was thinned meanwhile gives fewer."""
        return self.reader.curve.points_since(seen)

    def faults_since(self, seen: int) -> tuple[TaskFault, ...]:
        """The faults after the first `seen`."""
        return tuple(TaskFault(str(f.kind), f.number, f.line) for f in self.reader.faults.found()[seen:])


def reading_of(log: TrainLog, points: tuple[TaskPoint, ...]) -> TaskReading:
    """What a log says, as it is stored with its run."""
    rates = tuple(TaskRate(str(r.unit), r.n, r.median, r.p5, r.p95, r.drift, r.warmup) for r in log.rates)
    faults = tuple(TaskFault(str(f.kind), f.number, f.line) for f in log.faults)
    return TaskReading(log.form, log.steps, log.last_step, log.first_loss, log.last_loss, rates, faults, log.lines, points)
