"""How does what a channel brings reach its reader without a thread, a copy and a wake-up between them?"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable

import paramiko
from paramiko.buffered_pipe import BufferedPipe, PipeTimeout

from gpulease_gui.remote.driving import go_alone, take_in
from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.quick_packets import read_quickly

_WINDOW_ADJUST = 93
# A command that ends within this time is not worth a place at the ear.
_SHORT_S = 1.0
# Pieces below that are put together: each costs memory of its own.
_SMALL_BYTES = 4096


class Feed:
    """Both outputs of a channel. They are kept to be read, as the library does, until `listen` asks for them.

    The library has no such call: this puts pipes of our own in the place of the channel's, before the command starts.
    """

    def __init__(self, channel: paramiko.Channel, ear: Ear | None = None) -> None:
        self._channel, self._ear = channel, ear
        self._gate = threading.Lock()
        self._take: Callable[[bytes, bytes], None] | None = None
        self._wake: Callable[[], None] | None = None
        self._taken_bytes, self._since = 0, 0.0
        self._ended = threading.Event()
        self.news = threading.Condition()
        self._pipes = _Pipe(self, is_error=False), _Pipe(self, is_error=True)
        # An eighth of the window at a time: each word of it costs the node as much as a packet.
        channel.in_window_threshold = channel.in_window_size // 8
        self.most_bytes = channel.in_window_size + channel.in_window_threshold
        with channel.lock:
            channel.in_buffer, channel.in_stderr_buffer = self._pipes
            if channel.closed or channel.eof_received:
                for pipe in self._pipes:
                    pipe.close()

    @property
    def told(self) -> bool:
        """Whether something waits at the errors' output."""
        return self._pipes[1].read_ready()

    @property
    def listening(self) -> bool:
        """Whether the outputs are handed on."""
        return self._take is not None

    def listen(self, take: Callable[[bytes, bytes], None], wake: Callable[[], None]) -> None:
        """From now on what comes goes to `take(out, err)`, in the thread of the connection, one call at a time."""
        go_alone(self._channel.get_transport())
        with self._gate:
            self._take, self._wake, self._since = take, wake, time.monotonic()
            out, err = (pipe.empty() for pipe in self._pipes)
            if out or err:
                take(out, err)
                self._taken_bytes += len(out) + len(err)
        if self._ended.is_set():
            wake()

    def hand_on(self, data: bytes, *, is_error: bool) -> bool:
        """Give `data` to the listener; False if there is none, who keeps it then has it before anyone asks."""
        if self._take is None:
            return False
        self._take(b"", data) if is_error else self._take(data, b"")
        self._taken_bytes += len(data)
        if self._wake is not None and self._taken_bytes > self._channel.in_window_threshold:
            self._wake()
        if self._ear is not None and time.monotonic() - self._since > _SHORT_S:
            ear, self._ear = self._ear, None
            read_quickly(self._channel.get_transport(), ear)
        return True

    def end(self) -> None:
        """No more comes."""
        self._ended.set()
        if self._wake is not None:
            self._wake()

    def wait_end(self, seconds: float) -> bool:
        """Whether all has come, after waiting up to `seconds`. Meanwhile the node gets room for what was taken."""
        self._give_room()
        return self._ended.wait(take_in(self._channel.get_transport(), self._ended.is_set, seconds))

    def wait_news(self, seconds: float) -> float:
        """Take in what comes until something is there to be read, or the end; the seconds that are left of `seconds`."""
        return take_in(self._channel.get_transport(), self._has_news, seconds)

    def _has_news(self) -> bool:
        out, err = self._pipes
        return out.has_news or err.has_news

    def _give_room(self) -> None:
        """Tell the node how much it may send. Not from the thread of the connection: in a key exchange it would wait for itself."""
        with self._gate:
            taken, self._taken_bytes = self._taken_bytes, 0
        room = self._channel._check_add_window(taken)  # type: ignore[attr-defined]
        if room <= 0:
            return
        message = paramiko.Message()
        message.add_byte(bytes([_WINDOW_ADJUST]))
        message.add_int(self._channel.remote_chanid)
        message.add_int(room)
        # A line that is lost ends both pipes.
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.get_transport()._send_user_message(message)  # type: ignore[attr-defined]


class _Pipe(BufferedPipe):  # type: ignore[type-arg]
    """The pipe of one output. Its calls are the library's, `feed` and `close` come in the thread of the connection.

    Pieces are kept as they came: the library would copy each byte three times. A node that sends more than it was given room
    for is hung up on, as by OpenSSH; what comes after the end is dropped.
    """

    def __init__(self, feed: Feed, *, is_error: bool) -> None:
        super().__init__()
        self._feed, self._is_error = feed, is_error
        self._news = feed.news
        self._pieces: deque[bytes] = deque()
        self._held_bytes = 0
        self._shut = False

    def feed(self, data: bytes) -> None:
        """Take what came. Raises SSHException for what there was no room for."""
        with self._feed._gate:
            if not self._feed.hand_on(data, is_error=self._is_error):
                self._keep(data)

    def _keep(self, data: bytes) -> None:
        with self._news:
            if self._shut or not data:
                return
            self._held_bytes += len(data)
            if self._held_bytes > self._feed.most_bytes:
                raise paramiko.SSHException("the node sent more than it was given room for")
            if self._pieces and len(self._pieces[-1]) + len(data) <= _SMALL_BYTES:
                data = self._pieces.pop() + data
            self._pieces.append(data)
            self._news.notify_all()

    @property
    def has_news(self) -> bool:
        """Whether something is there, or no more comes."""
        return bool(self._pieces) or self._shut

    def read_ready(self) -> bool:
        """Whether something is there."""
        return bool(self._pieces)

    def read(self, nbytes: int, timeout: float | None = None) -> bytes:
        """Up to `nbytes` bytes, b"" at the end. Raises PipeTimeout when none came in `timeout` seconds.

        That comes early if something is at the errors' output, where a program may say what is waited for.
        """
        with self._news:
            self._news.wait_for(lambda: self._has_news(also_errors=timeout is not None), timeout)
            if not self._pieces and not self._shut:
                raise PipeTimeout
            found, left = [], nbytes
            while self._pieces and left:
                piece = self._pieces.popleft()
                if len(piece) > left:
                    self._pieces.appendleft(piece[left:])
                found.append(piece[:left])
                left -= len(found[-1])
            self._held_bytes -= nbytes - left
        return found[0] if len(found) == 1 else b"".join(found)

    def _has_news(self, *, also_errors: bool) -> bool:
        return bool(self._pieces) or self._shut or (also_errors and not self._is_error and self._feed.told)

    def empty(self) -> bytes:
        """All that is there."""
        with self._news:
            found = b"".join(self._pieces)
            self._pieces.clear()
            self._held_bytes = 0
        return found

    def close(self) -> None:
        """No more comes."""
        super().close()
        with self._news:
            self._shut = True
            self._news.notify_all()
        self._feed.end()

    def __len__(self) -> int:
        return self._held_bytes
