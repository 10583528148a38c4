"""Who takes in what comes over a connection?

Whoever waits for something of it does, for as long as nobody else waits: a node of a fleet costs one thread, and no change of
threads for each packet. A connection on which two wait at once, to which nobody listens for a while, or whose packets are not
plainly as usual, gets a thread of its own, as the library gives to each.
"""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import paramiko
from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
from paramiko.ssh_exception import MessageOrderError

from gpulease_gui.remote.agreement import Agreeing
from gpulease_gui.remote.awake import awake_s
from gpulease_gui.remote.pieces import Several

_DISCONNECT, _IGNORE, _UNIMPLEMENTED, _DEBUG = 1, 2, 3, 4
_KEX_INIT, _OF_THE_EXCHANGE, _CHANNEL_CLOSE = 20, range(30, 42), 97
_LIBRARY = cast("Any", paramiko.transport)
# What a node can bring about by what it sends; that ends its connection, and is told by who waits for it.
_WRONG = (
    paramiko.SSHException, OSError, EOFError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError, struct.error,
    InvalidTag, InvalidSignature, UnsupportedAlgorithm,
)  # fmt: skip
# Who does not want to wait gets what is there.
_AT_LEAST_S = 0.001

Packet = tuple[int, paramiko.Message]
# In place of a packet: none has come yet; the next one is for a thread of the connection's own.
NOTHING: Packet = (_IGNORE, paramiko.Message())
NOT_PLAIN: Packet = (_IGNORE, paramiko.Message())


class Driving(Agreeing):
    """A connection that is read by whoever waits for it, or by a thread of its own."""

    def __init__(self, sock: Any, packets: type) -> None:
        super().__init__(sock, packetizer_class=packets)
        self._known: Any = self  # the stubs lack most of it
        self._packets: Any = self.packetizer
        self._taking, self._beginning, self._owing = threading.Lock(), threading.Lock(), threading.Lock()
        self._owed: list[paramiko.Message] = []
        self._alone = self._greeted = False
        self._heard_at = time.monotonic()

    def begin(self, done: threading.Event) -> None:
        """Be a client, read by `take_in`; `done` is set once there are keys, or the connection is over."""
        self.active = True
        self.completion_event = done
        if not self._packets.can_be_taken:
            self.go_alone()

    def go_alone(self) -> None:
        """From now on a thread of its own reads; any thread, any number of times."""
        with self._beginning:
            if self._alone or not self.active:
                return
            self._alone = True
        self.start()

    @property
    def is_alone(self) -> bool:
        """Whether a thread of its own reads, or soon does."""
        return self._alone

    @property
    def unheard_s(self) -> float:
        """Seconds since somebody last read; 0 while somebody does."""
        return 0.0 if self._taking.locked() else time.monotonic() - self._heard_at

    def take_in(self, until: Callable[[], bool], seconds: float) -> float:
        """Read until `until()` holds, the connection is over or `seconds` have passed; the seconds that are left.

        Where it has a thread, or somebody else reads, nothing is done: who waits then waits to be told, for what is left.
        """
        if self._alone or until():
            return seconds
        if not self._taking.acquire(blocking=False):
            self.go_alone()
            return seconds
        deadline = awake_s() + max(seconds, _AT_LEAST_S)

        def next_one() -> Packet:
            if self._owed and not self._packets.holds_one:
                self._send_owed()
            packet: Packet = self._packets.take(deadline - awake_s())
            if packet is NOT_PLAIN:
                self.go_alone()
            return packet

        try:
            self._read(next_one, lambda: self._alone or until() or awake_s() >= deadline)
        finally:
            self._heard_at = time.monotonic()
            self._taking.release()
        return max(0.0, deadline - awake_s())

    def take_held(self) -> None:
        """Handle the packets that lie here already; waits for nothing."""
        if self._packets.holds_one and not self._taking.locked():
            self.take_in(lambda: not self._packets.holds_one, 0.0)

    def look(self) -> None:
        """Handle what came, where nobody reads; waits for nothing."""
        if self.active and not self._alone and not self._taking.locked():
            self.take_in(lambda: not self._packets.has_news, 0.0)

    def owed(self) -> Sequence[paramiko.Message]:
        """What nobody waits for, to be sent with what goes now: that the closing of channels by the node was seen."""
        if not self._owed:
            return ()
        with self._owing:
            owed, self._owed = self._owed, []
        return owed

    def _send_owed(self) -> None:
        """Before somebody waits for the node. Not in a key exchange, whose end only who reads can bring."""
        if self._owed and self._known.clear_to_send.is_set():
            self._send_user_message(Several(self.owed()))

    def run(self) -> None:
        """What the thread of the connection does."""
        _LIBRARY._active_threads.append(self)
        try:
            with self._taking:
                self._packets.be_patient()
                with contextlib.suppress(OSError, EOFError, paramiko.SSHException):  # a line that is over: reading tells of it
                    self._send_owed()
                self._read(lambda: cast("Packet", self._packets.read_message()), lambda: False)
        finally:
            _LIBRARY._active_threads.remove(self)

    def _read(self, next_one: Callable[[], Packet], stop: Callable[[], bool]) -> None:
        """Handle packet after packet, until `stop()` or the end."""
        known, packets = self._known, self._packets
        try:
            if not self._greeted:
                self._greet()
            while self.active:
                if stop():
                    return
                if packets.need_rekey() and not known.in_kex:
                    known._send_kex_init()
                try:
                    kind, message = next_one()
                except _LIBRARY.NeedRekeyException:
                    continue
                if message is not NOTHING[1] and message is not NOT_PLAIN[1] and not self._handle(kind, message):
                    break
            error: Exception | None = None
        except _WRONG as wrong:
            error = wrong
        except BaseException:
            self._end(None)
            raise
        self._end(error)

    def _greet(self) -> None:
        """Both sides say who they are and what they can do; each within its time."""
        known, packets = self._known, self._packets
        self._greeted = True
        packets.write_all(f"{known.local_version}\r\n".encode())
        packets.start_handshake(known.banner_timeout)
        known._check_banner()
        packets.start_handshake(known.handshake_timeout)
        known._send_kex_init()
        known._expect_packet(_KEX_INIT)

    def _handle(self, kind: int, message: paramiko.Message) -> bool:
        """Do what a packet asks for; False if it ends the connection. Raises SSHException for one that is not allowed now."""
        known = self._known
        if kind in known._channel_handler_table and not known._expected_packet:
            return self._handle_at_channel(kind, message)
        if kind in (_IGNORE, _DEBUG):
            known._enforce_strict_kex(kind)
            return True
        if kind == _DISCONNECT:
            known._parse_disconnect(message)
            return False
        if known._expected_packet:
            if kind not in known._expected_packet:
                wrong = MessageOrderError if known.agreed_on_strict_kex else paramiko.SSHException
                raise wrong(f"a packet of type {kind} came in place of {known._expected_packet}")
            known._expected_packet = ()
            if kind in _OF_THE_EXCHANGE:
                known.kex_engine.parse_next(kind, message)
                return True
        if kind in known._handler_table:
            known._handler_table[kind](message)
        elif known.auth_handler is not None and kind in known.auth_handler._handler_table:
            known.auth_handler._handler_table[kind](message)
        elif kind != _UNIMPLEMENTED:
            answer = paramiko.Message()
            answer.add_byte(bytes([_UNIMPLEMENTED]))
            answer.add_int(cast("Any", message).seqno)
            known._send_message(answer)
        if known.initial_kex_done:
            self._packets.complete_handshake()
        return True

    def _handle_at_channel(self, kind: int, message: paramiko.Message) -> bool:
        """As `_handle`; what is for a channel that was closed is dropped."""
        known, number = self._known, message.get_int()
        channel = known._channels.get(number)
        if channel is None:
            return number in known.channels_seen
        if kind == _CHANNEL_CLOSE and not self._alone:
            self._closed_there(channel)
        else:
            known._channel_handler_table[kind](channel, message)
        return True

    def _closed_there(self, channel: Any) -> None:
        """The node closed a channel. Our word for it goes with what goes next: a call of the system less for each command."""
        with channel.lock:
            messages = [message for message in channel._close_internal() if message is not None]
            self._known._unlink_channel(channel.chanid)
        with self._owing:
            self._owed += messages

    def _end(self, error: Exception | None) -> None:
        """The connection is over: everyone who waits for something of it sees that."""
        known = self._known
        if error is not None:
            known.saved_exception = error
        for channel in list(known._channels.values()):
            channel._unlink()
        self.active = False
        _shut(self._packets)
        if self.completion_event is not None:
            self.completion_event.set()
        if known.auth_handler is not None:
            known.auth_handler.abort()
        for event in list(known.channel_events.values()):
            event.set()
        _shut(self.sock)

    def _send_user_message(self, data: paramiko.Message) -> None:
        """Send what the user wants sent, after a key exchange that goes on. Raises SSHException, EOFError."""
        known = self._known
        with known.clear_to_send_lock:
            if self.active and known.clear_to_send.is_set():
                known._send_message(data)
                return
        self.take_in(known.clear_to_send.is_set, known.clear_to_send_timeout)
        super()._send_user_message(data)  # type: ignore[misc]  # the stubs lack it


def _shut(line: Any) -> None:
    """Close it. A channel through a jump host says so to that host, whose connection may be over by then, which is no news here."""
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        line.close()


def take_in(transport: paramiko.Transport, until: Callable[[], bool], seconds: float) -> float:
    """As `Driving.take_in`; the library's own connections have threads."""
    return transport.take_in(until, seconds) if isinstance(transport, Driving) else seconds


def go_alone(transport: paramiko.Transport) -> None:
    """As `Driving.go_alone`: before the library is to wait for something."""
    if isinstance(transport, Driving):
        transport.go_alone()


def look(transport: paramiko.Transport) -> None:
    """As `Driving.look`; the library's own connections have threads."""
    if isinstance(transport, Driving):
        transport.look()
