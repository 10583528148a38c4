"""How do many bytes go to a node's command without a call of the system and a change of threads for each packet?"""

from __future__ import annotations

import paramiko

from gpulease_gui.remote.pieces import Pieces
from gpulease_gui.remote.wire import Wire

# So much goes at once: an eighth of a node's window, and what a line of 1 Mbit/s takes in two seconds.
AT_ONCE_BYTES = 256 * 1024
# Below that the library sends: the memory of the short way is more than a program for a node's shell is worth.
_MUCH_BYTES = 128 * 1024
_PACKET_BYTES = 32 * 1024  # no server is known that takes more
_AROUND_BYTES = 64  # what a packet has besides its data


class Outpour:
    """What goes to one channel; one thread at a time. Its memory is taken with the first large piece and kept until the end."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self._room = self._scratch = memoryview(b"")

    def send_all(self, data: bytes) -> None:
        """As the library's `sendall`, several packets at a time. Raises what that does.

        That is OSError (TimeoutError when the node makes no room for as long as the channel's timeout), EOFError, SSHException.
        """
        transport, rest = self._channel.get_transport(), memoryview(data)
        if not isinstance(transport, Wire) or len(data) < _MUCH_BYTES:
            self._channel.sendall(data)
            return
        if not self._room:
            packets = AT_ONCE_BYTES // _PACKET_BYTES + 1
            self._room = memoryview(bytearray(packets * (_PACKET_BYTES + _AROUND_BYTES)))
            self._scratch = memoryview(bytearray(_PACKET_BYTES + _AROUND_BYTES))
        while rest:
            sizes = self._sizes(min(len(rest), AT_ONCE_BYTES))
            count = sum(sizes)
            transport.send_user(Pieces(self._channel.remote_chanid, rest[:count], sizes, self._room, self._scratch))
            rest = rest[count:]

    def _sizes(self, wanted: int) -> list[int]:
        """The sizes of the packets that may go now, after waiting for room for one; they count as sent."""
        channel = self._channel
        with channel.lock:
            # The stubs lack both.
            size = 0 if channel.closed else channel._wait_for_send_window(min(wanted, _PACKET_BYTES))  # type: ignore[attr-defined]
            if not size:
                raise OSError("the channel takes nothing more")
            sizes, left, most = [size], wanted - size, min(_PACKET_BYTES, channel.out_max_packet_size - _AROUND_BYTES)
            while left and len(sizes) * most < AT_ONCE_BYTES and (size := min(left, most, channel.out_window_size)):
                sizes.append(size)
                left -= size
                channel.out_window_size -= size
        return sizes
