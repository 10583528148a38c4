"""How does the output of many commands travel in one SSH channel?

    # gpulease BOUNDARY id id ...                                    our first line on stdin
    BOUNDARY id rc seconds out_bytes err_bytes out_cut err_cut\\n      then out_bytes + err_bytes raw bytes
    BOUNDARY END

The boundary is random per run. Bytes that stand where a header should be (a message of the day, noise of a shell)
are skipped up to the next line that starts with the boundary. A torn frame is a lost reading, never a wrong one.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from gpulease_gui.domain.command import CommandOutput

MAX_STDOUT_BYTES = 8 * 1024 * 1024
MAX_STDERR_BYTES = 256 * 1024
COLLECT = "sh -s gpulease-collect 1"
STREAM = "sh -s gpulease-stream 1"
ACTIVE = "sh -s gpulease-active 1"
TASK = "sh -s gpulease-task 1"
# The first line is the length of the program that follows; `python3 -` would wait for the end of stdin, which is our
# lifeline. The current folder is no place to take libraries from.
AGENT = (
    "python3 -c 'import sys;sys.path[:]=filter(None,sys.path);b=sys.stdin.buffer;"
    'exec(compile(b.read(int(b.readline())),"agent","exec"))\''
)

_HEADER_MAX = 256
_ID = re.compile(r"[a-z0-9_]{1,64}\Z")
_NOISE_MAX = 1024 * 1024


def new_boundary() -> str:
    """32 random hexadecimal digits."""
    return secrets.token_hex(16)


def head_line(boundary: str, words: list[str]) -> str:
    """The first line on stdin, which is all that the demo server reads."""
    return f"# gpulease {boundary} {' '.join(words)}\n"


def parse_head_line(line: str) -> tuple[str, list[str]]:
    """(boundary, words) of a first line. Raises ValueError."""
    marker, program, boundary, *words = line.split()
    if (marker, program) != ("#", "gpulease") or not re.fullmatch(r"[0-9a-f]{32}", boundary):
        raise ValueError("not a gpulease head line")
    return boundary, words


def active_line(boundary: str, fact_id: str, argv: tuple[str, ...]) -> str:
    """The first line of an active run: the fact and the words of its command as JSON."""
    return f"# gpulease {boundary} {fact_id} {json.dumps(list(argv))}\n"


def parse_active_line(line: str) -> tuple[str, str, tuple[str, ...]]:
    """(boundary, fact id, argv) of the first line of an active run. Raises ValueError."""
    marker, program, boundary, fact_id, words = line.split(maxsplit=4)
    argv = json.loads(words)
    if (marker, program) != ("#", "gpulease") or not isinstance(argv, list):
        raise ValueError("not a gpulease active line")
    return boundary, fact_id, tuple(str(word) for word in argv)


@dataclass(frozen=True, slots=True)
class Frame:
    """The output of one fact. `id` is the fact's.

    `arrived_at` is the moment, in UTC on our clock, at which it was here; None where that is not known, such as after a
    sleep of this computer, through which it may have lain unread.
    """

    id: str
    output: CommandOutput
    arrived_at: datetime | None = None


def write_frame(boundary: str, frame: Frame) -> bytes:
    """A frame as it travels."""
    out = frame.output
    head = (
        f"{boundary} {frame.id} {out.exit_code or 0} {out.seconds:.3f} {len(out.stdout)} {len(out.stderr)} "
        f"{int(out.stdout_cut)} {int(out.stderr_cut)}\n"
    )
    return head.encode() + out.stdout + out.stderr


def write_end(boundary: str) -> bytes:
    """The last line of a collection."""
    return f"{boundary} END\n".encode()


class FrameReader:
    """Cuts frames out of a byte stream; memory is bounded by one frame's caps."""

    __slots__ = ("_buffer", "_header", "_mark", "ended", "noise_bytes")

    def __init__(self, boundary: str) -> None:
        self._mark = boundary.encode()
        self._buffer = bytearray()
        self._header: tuple[str, int, float, int, int, bool, bool] | None = None
        self.ended = False
        self.noise_bytes = 0

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes, in order."""
        if self.ended:
            return []
        self._buffer += data
        frames: list[Frame] = []
        while not self.ended:
            if self._header is None and not self._read_header():
                break
            if self.ended or self._header is None:
                break
            frame = self._read_body()
            if frame is None:
                break
            frames.append(frame)
        return frames

    def _read_header(self) -> bool:
        while True:
            start = 0 if self._buffer.startswith(self._mark) else self._buffer.find(b"\n" + self._mark) + 1
            if start == 0 and not self._buffer.startswith(self._mark):
                self._drop_noise(max(0, len(self._buffer) - len(self._mark) - 1))
                return False
            self._drop_noise(start)
            end = self._buffer.find(b"\n", 0, _HEADER_MAX)
            if end < 0:
                if len(self._buffer) >= _HEADER_MAX:
                    self._drop_noise(len(self._mark))
                    continue
                return False
            line = bytes(self._buffer[:end])
            header = self._parse(line)
            if header is None:
                self._drop_noise(end)
                continue
            del self._buffer[: end + 1]
            if header == "END":
                self.ended = True
                self._buffer.clear()
            else:
                assert not isinstance(header, str)
                self._header = header
            return True

    def _drop_noise(self, count: int) -> None:
        self.noise_bytes += count
        del self._buffer[:count]

    def _parse(self, line: bytes) -> tuple[str, int, float, int, int, bool, bool] | str | None:
        words = line.decode("ascii", "replace").split()[1:]
        if words == ["END"]:
            return "END"
        if len(words) != 7 or not _ID.match(words[0]):
            return None
        try:
            code, seconds = int(words[1]), float(words[2])
            out, err = int(words[3]), int(words[4])
            cuts = {"0": False, "1": True}
            out_cut, err_cut = cuts[words[5]], cuts[words[6]]
        except (ValueError, KeyError):
            return None
        if not (0 <= code <= 255 and 0 <= seconds < 1e6 and 0 <= out <= MAX_STDOUT_BYTES and 0 <= err <= MAX_STDERR_BYTES):
            return None
        return words[0], code, seconds, out, err, out_cut, err_cut

    def _read_body(self) -> Frame | None:
        assert self._header is not None
        id_, code, seconds, out, err, out_cut, err_cut = self._header
        if len(self._buffer) < out + err:
            return None
        stdout, stderr = bytes(self._buffer[:out]), bytes(self._buffer[out : out + err])
        del self._buffer[: out + err]
        self._header = None
        return Frame(id_, CommandOutput(stdout, stderr, code, seconds, out_cut, err_cut))
