"""How does what a channel brings reach its reader without a thread, a copy and a wake-up between them?"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import paramiko
from paramiko.buffered_pipe import BufferedPipe

from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.quick_packets import read_quickly

_WINDOW_ADJUST = 93


class Feed:
    """Both outputs of a channel. They are kept to be read, as the library does, until `listen` asks for them.

    The library has no such call: this puts pipes of our own in the place of the channel's, before the command starts.
    """

    def __init__(self, channel: paramiko.Channel, ear: Ear | None = None) -> None:
        self._channel, self._ear = channel, ear
        self._gate = threading.Lock()
        self._take: Callable[[bytes, bytes], None] | None = None
        self._wake: Callable[[], None] | None = None
        self._taken_bytes = 0
        self._ended = threading.Event()
        self._pipes = _Pipe(self, is_error=False), _Pipe(self, is_error=True)
        with channel.lock:
            channel.in_buffer, channel.in_stderr_buffer = self._pipes
            if channel.closed or channel.eof_received:
                for pipe in self._pipes:
                    pipe.close()

    @property
    def listening(self) -> bool:
        """Whether the outputs are handed on."""
        return self._take is not None

    def listen(self, take: Callable[[bytes, bytes], None], wake: Callable[[], None]) -> None:
        """From now on what comes goes to `take(out, err)`, in the thread of the connection, one call at a time."""
        with self._gate:
            self._take, self._wake = take, wake
            out, err = (pipe.empty() for pipe in self._pipes)
            if out or err:
                take(out, err)
                self._taken_bytes += len(out) + len(err)
        if self._ended.is_set():
            wake()
        if self._ear is not None:
            read_quickly(self._channel.get_transport(), self._ear)

    def hand_on(self, data: bytes, *, is_error: bool) -> bool:
        """Give `data` to the listener; False if there is none, who keeps it then has it before anyone asks."""
        if self._take is None:
            return False
        self._take(b"", data) if is_error else self._take(data, b"")
        self._taken_bytes += len(data)
        if self._wake is not None and self._taken_bytes > self._channel.in_window_threshold:
            self._wake()
        return True

    def end(self) -> None:
        """No more comes."""
        self._ended.set()
        if self._wake is not None:
            self._wake()

    def wait_end(self, seconds: float) -> bool:
        """Whether all has come, after waiting up to `seconds`. Meanwhile the node gets room for what was taken."""
        self._give_room()
        return self._ended.wait(seconds)

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
    """The pipe of one output; `feed` and `close` are the library's calls, in the thread of the connection."""

    def __init__(self, feed: Feed, *, is_error: bool) -> None:
        super().__init__()
        self._feed, self._is_error = feed, is_error

    def feed(self, data: bytes) -> None:
        """Take what came."""
        with self._feed._gate:
            if not self._feed.hand_on(data, is_error=self._is_error):
                super().feed(data)

    def close(self) -> None:
        """No more comes."""
        super().close()
        self._feed.end()
