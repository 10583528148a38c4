"""How do the lines of many watched nodes come in without a thread that wakes for each of them?

While a node is watched its thread sleeps, and one thread, the ear, takes the bytes of channels out of the packets of all
connections; whatever is not plainly that (another type, a key exchange, an odd length, a seal that does not fit) is left
untouched to the connection's own thread, whose answer then counts.
"""

from __future__ import annotations

import struct
import threading
import weakref
from collections.abc import Callable
from typing import Any, cast

import paramiko
from paramiko.packet import Packetizer

from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.seals import AROUND_BYTES, Seals, known
from gpulease_gui.remote.wire import Packets

_START = struct.Struct(">BBII")  # padding, type, channel, bytes of data
_CHANNEL_DATA, _HEAD_BYTES = 94, 10
# How often a thread that sleeps looks whether a quiet line is kept alive; the end of the line, too, wakes it.
_PATIENCE_S = 5.0
# A read that brought so much may have left more: the ear goes on at once, up to so many times, for it rests between its turns.
_MUCH_BYTES, _MOST_READS = 16 * 1024, 16


def _none() -> None:
    """No channel is known yet."""


class QuickPackets:
    """Stands before the library's reading of packets. Its parts are the transport's thread's, or the ear's while that sleeps."""

    def __init__(self, transport: paramiko.Transport, sock: ReadAhead, ear: Ear) -> None:
        self._transport = cast("Any", transport)  # the stubs lack most of it
        self._packets: Any = transport.packetizer
        self._sock, self._ear = sock, ear
        self._whole: Callable[[], tuple[int, paramiko.Message]] = self._packets.read_message
        self._shut: Callable[[], None] = self._packets.close
        self._seals = Seals(self._packets)
        self._channels: Callable[[int], Any] = self._transport._channels.get
        self._last: Callable[[], Any] = _none
        self._own = threading.Lock()
        self._parked = self._heard = self._failed = False
        self._woken = threading.Event()

    # -- in the thread of the transport -----------------------------------------------------------------------------------

    def read_message(self) -> tuple[int, paramiko.Message]:
        """The next packet that is not taken here. Raises what the library raises."""
        while self._take_all() and self._usual() and self._await():
            pass
        return self._whole()

    def _await(self) -> bool:
        """Wait for bytes; False if the library is to look what there is."""
        if not self._ear.works:
            return self._read()
        number = self._sock.fileno()
        self._woken.clear()
        if self._packets.closed:
            return False
        self._parked, self._heard = True, True
        self._sock.rest(True)
        try:
            self._ear.park(number, self)
            self._sleep()
        except (OSError, ValueError):
            return False  # closed meanwhile
        finally:
            with self._own:
                self._parked = False
            self._ear.leave(number, self)
            self._sock.rest(False)
        if self._failed:
            raise paramiko.SSHException("what came could not be taken")
        return False

    def _sleep(self) -> None:
        """Until the ear says so; meanwhile see that a quiet line is kept alive."""
        while not self._woken.wait(_PATIENCE_S):
            if self._packets.closed or not self._usual():
                return
            if not self._heard:
                self._packets._check_keepalive()
            self._heard = False

    def _read(self) -> bool:
        try:
            return bool(self._sock.more())
        except OSError as error:
            if self._packets.closed:
                raise EOFError from error
            if not isinstance(error, (TimeoutError, BlockingIOError)):
                raise
        self._packets._check_keepalive()
        return True

    # -- in the thread of the ear -----------------------------------------------------------------------------------------

    def hear(self) -> bool:
        """Take what came; False when the transport's thread is to go on."""
        with self._own:
            if not self._parked:
                return True
            self._sock.rest(False)
            done = False
            try:
                stays = self._take_what_came()
                done = True
            finally:
                self._failed = not done
                if not done:
                    self._woken.set()
            self._heard = True
            self._sock.rest(stays)
            self._parked = stays
            return stays

    def _take_what_came(self) -> bool:
        sock = self._sock
        for _ in range(_MOST_READS):
            stays, came_bytes = sock.more_at_once(), len(sock.held)
            if not stays or not self._take_all():
                return False
            if came_bytes < _MUCH_BYTES:
                break
        return True

    # -- in any thread ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the line, and let the transport's thread see it at once."""
        self._shut()
        self._woken.set()

    def go_on(self) -> None:
        """Wake the transport's thread."""
        self._woken.set()

    # -- packets ----------------------------------------------------------------------------------------------------------

    def _take_all(self) -> bool:
        """Hand on the data of packets that are all there and nothing but that; False if the next one is for the library."""
        sock, seals = self._sock, self._seals
        ahead = sock.held
        while ahead:
            plain = seals.opened(ahead) if self._flows() else None
            if not plain:
                return plain is not None
            padding, kind, number, count = _START.unpack_from(plain)
            if kind != _CHANNEL_DATA or count + padding + _HEAD_BYTES != len(plain):
                return False
            channel = self._channel(number)
            if channel is None:
                return False
            size = len(plain) + AROUND_BYTES
            seals.came(size)
            ahead = sock.skip(size)
            channel.in_buffer.feed(plain[_HEAD_BYTES : _HEAD_BYTES + count])
        return True

    def _channel(self, number: int) -> Any:
        """The open channel of that number; None without one."""
        last = self._last()
        if last is not None and last.chanid == number and not last.closed:
            return last
        channel = self._channels(number)
        self._last = _none if channel is None else weakref.ref(channel)
        return channel

    def _flows(self) -> bool:
        """Whether nobody waits for a certain packet."""
        transport = self._transport
        return bool(transport.active and not transport._expected_packet and not transport.in_kex)

    def _usual(self) -> bool:
        """Whether the line is as it is nearly always: keys agreed on, nobody waits for a certain packet."""
        return self._seals.usual_in() and self._flows()


def read_quickly(transport: paramiko.Transport, ear: Ear) -> bool:
    """From now on packets of `transport` take the short way where they can; whether that is possible."""
    sock, packets = transport.sock, transport.packetizer
    if not isinstance(sock, ReadAhead) or not isinstance(packets, Packetizer) or not known(packets):
        return False
    if isinstance(packets, Packets):
        packets.in_steps = True
    if "read_message" not in vars(packets):
        quick = QuickPackets(transport, sock, ear)
        packets.close = quick.close  # type: ignore[method-assign]
        packets.read_message = quick.read_message  # type: ignore[method-assign]
    return True
