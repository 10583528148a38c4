"""How does a packet cost one call of the system in place of four?

The library asks for a packet's first 16 bytes, then for the rest, and Python waits in a call of its own before each.
"""

from __future__ import annotations

import selectors
import socket
import struct
import sys

# What is asked of the system at once: room for more costs a call of its own, and is only worth it where much comes.
_FEW_BYTES, _AHEAD_BYTES = 16 * 1024, 64 * 1024
_RECV = socket.socket.recv  # found once, not for each packet
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_SHORTEST_S = 0.001  # zero would be for ever
# Where the system itself ends a wait, and the layout of the time is known.
_KERNEL_WAITS = sys.platform == "linux" and sys.maxsize > 2**32


class ReadAhead(socket.socket):
    """A connected socket whose `recv` fetches all that is there and hands it out in the pieces asked for; one thread reads."""

    __slots__ = ("_ahead", "_patience_s", "_room", "_waits")

    _ahead: bytes
    _waits: bool
    _patience_s: float
    _room: int

    @classmethod
    def of(cls, sock: socket.socket) -> ReadAhead:
        """The connection of `sock`, which is not usable any more."""
        made = cls(sock.family, sock.type, sock.proto, fileno=sock.detach())
        made._ahead, made._waits, made._patience_s, made._room = b"", False, 0.0, _FEW_BYTES
        return made

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Up to `bufsize` bytes; b"" at the end. Raises OSError; TimeoutError when none came in time, as any socket does."""
        held = self._ahead
        if not held:
            self._waits = True
            try:
                held = super().recv(self._room, flags)
            except BlockingIOError as error:
                if flags or self.gettimeout() is not None:
                    raise
                raise TimeoutError from error  # the system's word for the end of a wait that it keeps itself
            finally:
                self._waits = False
        self._ahead = held[bufsize:]
        return held[:bufsize]

    @property
    def held(self) -> bytes:
        """What came and was not handed out."""
        return self._ahead

    def skip(self, count: int, /) -> bytes:
        """Hand out so many bytes of what is held; the rest."""
        self._ahead = rest = self._ahead[count:]
        return rest

    def more(self) -> bool:
        """Wait for more to hold; False at the end. Raises OSError; TimeoutError or BlockingIOError when none came in time."""
        self._waits = True
        try:
            came = _RECV(self, self._room)
        finally:
            self._waits = False
        self._room = _AHEAD_BYTES if len(came) >= _FEW_BYTES else _FEW_BYTES
        self._ahead += came
        return bool(came)

    def more_at_once(self) -> bool:
        """Hold what came, without waiting; False at the end or when something is wrong, which `recv` then tells."""
        try:
            came = _RECV(self, _AHEAD_BYTES, _AT_ONCE)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._room = _AHEAD_BYTES if len(came) >= _FEW_BYTES else _FEW_BYTES
        self._ahead += came
        return bool(came)

    def rest(self, resting: bool, /) -> None:
        """Whether all that came is done with, for `behind`."""
        self._waits = resting

    def behind(self) -> bool:
        """Whether bytes came that the reading thread has not done with, as far as another thread can see."""
        return not self._waits or self.has_come()

    def has_come(self) -> bool:
        """Whether bytes came, or the end, that nobody has fetched; any thread."""
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self, selectors.EVENT_READ)
                return bool(selector.select(0))
        except (OSError, ValueError):  # closed meanwhile
            return False

    def patience(self, seconds: float, /) -> None:
        """About how long one wait for bytes may last; a call of the system only where that changes by much."""
        if not seconds / 2 <= self._patience_s <= seconds * 1.1:
            self.settimeout(max(seconds, _SHORTEST_S))

    def settimeout(self, value: float | None, /) -> None:
        """Seconds that one call may take, None for any number."""
        self._patience_s = value or 0.0
        if not _KERNEL_WAITS or value == 0:
            super().settimeout(value)
            return
        whole, part = divmod(round((value or 0.0) * 1_000_000), 1_000_000)
        limit = struct.pack("ll", whole, part)
        super().settimeout(None)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
