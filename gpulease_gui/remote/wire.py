"""What does the SSH library do for each connection, without what nobody asked for?

It words a log that nobody reads and starts a thread that only watches the clock of the handshake; on a fleet both are paid
for with every node. And it takes a packet's word for its length.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, cast

import paramiko
from paramiko.common import CONNECTION_FAILED_CODE
from paramiko.packet import Packetizer

from gpulease_gui.remote.driving import NOT_PLAIN, NOTHING, Driving, Packet
from gpulease_gui.remote.pieces import Pieces, Several
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.rekeys import Rekeys
from gpulease_gui.remote.seals import AROUND_BYTES, Seals, Told, known

# As OpenSSH has it: no peer makes us keep more than this for one packet.
PACKET_MAX_BYTES = 256 * 1024
# A server may say something before its version; so much of it is read at most, and so much kept to be shown.
_GREETING_MAX_BYTES = 64 * 1024
_SAID_BYTES = 512
_START = struct.Struct(">BBII")  # padding, type, channel, bytes of data
_CHANNEL_DATA, _HEAD_BYTES, _GLOBAL_REQUEST = 94, 10, b"\x50"
_TRIED_OUT = b"too many authentication failures"
# How often who reads looks whether that is still wanted. The library's own 0.1 s costs CPU on each of many quiet lines, and is
# not needed where the end of a socket wakes it.
_LOOK_S = 1.0


def _none() -> None:
    """No channel had anything yet."""


class Packets(Packetizer):
    """The packets of one connection: bounded, without a thread that watches their clock, and the usual ones by a short way."""

    def __init__(self, sock: socket.socket | paramiko.Channel) -> None:
        super().__init__(sock)  # type: ignore[arg-type]  # the stubs know no channels
        self._known, self._held = known(self), vars(self)
        self._ahead = sock if isinstance(sock, ReadAhead) and self._known else None
        self._seals = Seals(self)
        self._writing = threading.RLock()
        self._transport: Any = None
        self._last: Callable[[], Any] = _none
        # Whether reading comes back after each packet and each wait, so that another way of reading can take over.
        self.in_steps = False
        self._deadline: float | None = None
        self._greeting_bytes = 0
        self.said = b""

    def _read_timeout(self, timeout: float) -> bytes:
        """What comes next of the greeting; its start stays in `said`. Raises TimeoutError, EOFError, OSError, SSHException.

        The library gives each line but the first 2 s; a gateway that says whom it calls may need all of the time.
        """
        left = timeout if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        self._wait_for(left)
        came: bytes = super()._read_timeout(left)  # type: ignore[misc]  # the stubs lack it
        self._greeting_bytes += len(came)
        self.said += came[: _SAID_BYTES - len(self.said)]
        if self.said.startswith(b"HTTP/") or self.greets_too_long:
            raise paramiko.SSHException("no SSH server greets so")
        return came

    @property
    def greets_too_long(self) -> bool:
        """Whether more came as a greeting than any server has to say."""
        return self._greeting_bytes > _GREETING_MAX_BYTES

    @property
    def moved_bytes(self) -> int:
        """What came and went since the last keys; 0 where the library does not say it."""
        held = self._held
        return int(held["_Packetizer__received_bytes"] + held["_Packetizer__sent_bytes"]) if self._known else 0

    @property
    def came_bytes(self) -> int | None:
        """A number that changes with all that comes; None where the library does not say it."""
        held_bytes = len(self._ahead.held) if self._ahead is not None else 0
        return int(self._held["_Packetizer__received_bytes"]) + held_bytes if self._known else None

    @property
    def has_news(self) -> bool:
        """Whether who reads has something to do, without waiting."""
        return self.holds_one or (self._ahead is not None and self._ahead.has_come())

    def start_handshake(self, timeout: float) -> None:
        """Seconds until reading gives the handshake up."""
        self._deadline = time.monotonic() + timeout

    def handshake_timed_out(self) -> bool:
        """Whether that time is over."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def complete_handshake(self) -> None:
        """The handshake is done, or of no interest any more."""
        self._deadline = None

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """The next `n` bytes. Raises EOFError, OSError, SSHException for a packet that no peer has a reason to send."""
        if not 0 <= n <= PACKET_MAX_BYTES:
            raise paramiko.SSHException(f"a packet of {n} bytes")
        return super().read_all(n, check_rekey)

    @property
    def can_be_taken(self) -> bool:
        """Whether `take` works."""
        return self._ahead is not None

    @property
    def holds_one(self) -> bool:
        """Whether the next packet is here already, all of it."""
        held = b"" if self._ahead is None else self._ahead.held
        return len(held) >= AROUND_BYTES and len(held) >= AROUND_BYTES + int.from_bytes(held[:4], "big")

    def _wait_for(self, seconds: float) -> None:
        """How long one wait for bytes may last."""
        if self._ahead is not None:
            self._ahead.patience(min(max(seconds, 0.0), _LOOK_S))

    def be_patient(self) -> None:
        """From now on each wait for bytes lasts as long as it may."""
        self._wait_for(_LOOK_S)

    def take(self, seconds: float) -> Packet:
        """The next packet for who reads without a thread of the connection's own, NOTHING when none came in `seconds` or sooner.

        The first keys are agreed on within the time of the handshake; after that NOT_PLAIN is what may take longer than
        `seconds`. Raises what the library raises.
        """
        ahead = self._ahead
        if ahead is None:
            return NOT_PLAIN
        if not self._held["_initial_kex_done"]:
            self._wait_for(seconds)
            return super().read_message()
        opened, waited = self._seals.opened, False
        while (plain := opened(ahead.held)) is not None:
            if plain:
                if plain[0] >= len(plain) - 1:
                    return super().read_message()
                packet = self._told(ahead, plain)
                if packet is not NOTHING:
                    return packet
                waited = True  # who waits for it has something to look at, once all that came is handed on
                continue
            if waited:
                return NOTHING
            self._wait_for(seconds)
            if not self._more(ahead):
                return super().read_message()
            waited = True
        return NOT_PLAIN

    def _told(self, ahead: ReadAhead, plain: bytes) -> Packet:
        """A packet that was opened; NOTHING for the bytes of a channel, which then has them."""
        size = len(plain) + AROUND_BYTES
        ahead.skip(size)
        number = self._seals.came(size)
        if self._delivered(plain):
            return NOTHING
        told = Told(plain[2 : len(plain) - plain[0]])
        told.seqno = number
        return plain[1], told

    def serve(self, transport: paramiko.Transport) -> None:
        """From now on bytes of a channel of `transport` go straight to its pipe."""
        self._transport = cast("Any", transport)  # the stubs lack most of it

    def read_message(self) -> tuple[int, paramiko.Message]:
        """The next packet that is not a channel's data. Raises what the library raises.

        What is not plainly as it is nearly always is left untouched to the library, whose answer then counts.
        """
        ahead, seals = self._ahead, self._seals
        while ahead is not None and (plain := seals.opened(ahead.held)) is not None:
            if not plain and self._more(ahead):
                if self.in_steps:
                    return NOTHING
                continue
            if not plain or plain[0] >= len(plain) - 1:
                break
            packet = self._told(ahead, plain)
            if packet is not NOTHING or self.in_steps:
                return packet
        return super().read_message()

    def _more(self, ahead: ReadAhead) -> bool:
        """Wait for bytes; False if the library is to look what there is."""
        try:
            return ahead.more()
        except OSError as error:
            if self.closed:
                raise EOFError from error
            if not isinstance(error, (TimeoutError, BlockingIOError)):
                raise
        self._check_keepalive()  # type: ignore[attr-defined]  # the stubs lack it
        return True

    def _delivered(self, plain: bytes) -> bool:
        """Whether these are bytes of a channel, which then has them."""
        padding, kind, number, count = _START.unpack_from(plain)
        transport = self._transport
        if kind != _CHANNEL_DATA or count + padding + _HEAD_BYTES != len(plain) or transport is None:
            return False
        if not transport.active or transport._expected_packet:
            return False
        channel = self._last()
        if channel is None or channel.chanid != number or channel.closed:
            channel = transport._channels.get(number)
            if channel is None:
                return False
            self._last = weakref.ref(channel)
        channel.in_buffer.feed(plain[_HEAD_BYTES : _HEAD_BYTES + count])
        return True

    def send_message(self, data: paramiko.Message) -> None:
        """Send one message, or `Several` or `Pieces` with one call of the system. Raises what the library raises."""
        with self._writing:
            if isinstance(data, Pieces) and self._known and self._seals.usual_out(len(data.room)):
                self.write_all(data.sealed_by(self._seals))
            else:
                self._send_all(data.messages if isinstance(data, Several | Pieces) else (data,))

    def _send_all(self, messages: Sequence[paramiko.Message]) -> None:
        sealed = b""
        for message in messages:
            payload = message.asbytes()
            if self._known and self._seals.usual_out(len(payload)):
                sealed += self._seals.seal(payload)
                continue
            if sealed:
                self.write_all(sealed)
            sealed = b""
            super().send_message(message)
        if sealed:
            self.write_all(sealed)


class Session(paramiko.Channel):
    """A channel for a command. `refusal`: what the node said in place of opening it."""

    refusal: paramiko.ChannelException | None = None

    def _log(self, level: int, msg: object, *args: object) -> None:
        """As `Wire._log`."""


class Wire(Driving):
    """One connection: the library's, on packets of our own, with nothing worded for a log."""

    _active_check_timeout = _LOOK_S

    def __init__(self, sock: socket.socket | paramiko.Channel) -> None:
        super().__init__(sock, Packets)
        self._rekeys = Rekeys()
        self.restless = False
        self.no_more_tries = False
        if isinstance(self.packetizer, Packets):
            self.packetizer.serve(self)

    @property
    def said(self) -> bytes:
        """The first bytes that came, as far as they were read as a greeting; foreign."""
        return self.packetizer.said if isinstance(self.packetizer, Packets) else b""

    @property
    def is_late(self) -> bool:
        """Whether the greeting, or the first keys, took longer than they may."""
        return self.packetizer.handshake_timed_out()

    @property
    def greets_too_long(self) -> bool:
        """Whether the node's greeting was given up for its length."""
        return isinstance(self.packetizer, Packets) and self.packetizer.greets_too_long

    def _negotiate_keys(self, m: paramiko.Message) -> None:
        """Go along with new keys. Raises SSHException for a server that asks for nothing else; `restless` then says so."""
        known: Any = self
        if known.initial_kex_done and known.local_kex_init is None:
            moved = self.packetizer.moved_bytes - len(m.asbytes()) if isinstance(self.packetizer, Packets) else 0
            if self._rekeys.one_too_many(logged_in=self.is_authenticated(), moved_bytes=moved, now_s=time.monotonic()):
                self.restless = True
                raise paramiko.SSHException("new keys without a pause")
        super()._negotiate_keys(m)  # type: ignore[misc]  # the stubs lack it

    def _parse_channel_open_failure(self, m: paramiko.Message) -> None:
        """A channel is refused; that is said of this one, where the library keeps one answer for all."""
        known: Any = self
        number, code = m.get_int(), m.get_int()
        channel = known._channels.get(number)
        if not isinstance(channel, Session) or number not in known.channel_events:
            m.rewind()
            super()._parse_channel_open_failure(m)  # type: ignore[misc]  # the stubs lack it
            return
        channel.refusal = paramiko.ChannelException(code, CONNECTION_FAILED_CODE.get(code, "(unknown code)"))
        with known.lock:
            known._channels.delete(number)
            known.channel_events.pop(number).set()

    @property
    def came_bytes(self) -> int | None:
        """A number that changes with all that comes; None where that is not known."""
        return self.packetizer.came_bytes if isinstance(self.packetizer, Packets) else None

    @property
    def is_behind(self) -> bool:
        """Whether something came that nobody has read."""
        return isinstance(self.packetizer, Packets) and self.packetizer.has_news

    def ask_for_a_word(self) -> None:
        """Ask what every server has to answer, if only that it does not know it. Raises SSHException, EOFError, OSError."""
        message = paramiko.Message()
        message.add_byte(_GLOBAL_REQUEST)
        message.add_string("keepalive@openssh.com")
        message.add_boolean(True)
        self.send_user(message)

    def _filter_algorithm(self, type_: str) -> tuple[str, ...]:
        """All that are preferred: none is switched off besides."""
        return tuple(getattr(self, f"_preferred_{type_}"))

    def _log(self, level: int, msg: object, *args: object) -> None:
        """Every failure is told by our own errors."""

    def send_together(self, *messages: paramiko.Message) -> None:
        """Send messages of the user's with one call of the system. Raises SSHException, EOFError."""
        self.send_user(Several((*self.owed(), *messages)))

    def send_user(self, message: paramiko.Message) -> None:
        """Send what the user wants sent, after a key exchange that goes on. Raises SSHException, EOFError."""
        self._send_user_message(message)

    def _parse_disconnect(self, m: paramiko.Message) -> None:
        """As the library does; `no_more_tries` then says whether the node ended the login as OpenSSH does after its last one."""
        m.get_int()
        self.no_more_tries = m.get_binary().lower().startswith(_TRIED_OUT)

    def _parse_debug(self, m: paramiko.Message) -> None:
        """Words of the node for its own maintainers."""
