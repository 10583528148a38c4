"""How is an SSH connection to a node made and kept?"""

from __future__ import annotations

import contextlib
import logging
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.awake import awake_s
from gpulease_gui.remote.credentials import Credentials, KeyRing
from gpulease_gui.remote.driving import go_alone, look, take_in
from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.else_password import by_password_instead, told_of_both
from gpulease_gui.remote.failures import ConnectFailed, Phase, channels_full, exec_refused, no_channel, timed_out
from gpulease_gui.remote.feed import Feed
from gpulease_gui.remote.gate import HandshakeGate
from gpulease_gui.remote.handshake import Deadlines, gone, hang_up
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy
from gpulease_gui.remote.keys_in_turn import KeysInTurn
from gpulease_gui.remote.login import KeyToTry, log_in_by_one_of
from gpulease_gui.remote.lookout import Lookout
from gpulease_gui.remote.lost_hops import lost_through, told
from gpulease_gui.remote.masking import NO_MASK
from gpulease_gui.remote.openings import Openings, close_at_once
from gpulease_gui.remote.outpour import Outpour
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.room import Room
from gpulease_gui.remote.route import STRAIGHT, Hop, Passed, Route, Way, hang_up_all, trusted, way_to
from gpulease_gui.remote.transport import SLICE_S, Channel, Chunk, LineLost

# Without a handler Python prints the library's warnings to stderr; every failure is told by our own errors.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

CHANNELS_AT_ONCE = 4
_READ_BYTES = 256 * 1024
_WRITE_S = 15.0
_AT_ONCE_BYTES = 32 * 1024
_CHANNEL_REQUEST, _EXEC = 98, struct.Struct(">BII4s?I")


class Connector:
    """Makes connections; one for the whole program, so that its gate and its keys are shared."""

    def __init__(self, gate: HandshakeGate | None = None, keys: KeyRing | None = None) -> None:
        self._gate = gate or HandshakeGate()
        self._keys = keys or KeyRing()
        self._ear, self._lookout = Ear(), Lookout()

    def connect(
        self,
        target: Address,
        credentials: Credentials,
        trust: HostTrust,
        deadlines: Deadlines,
        cancel: CancelToken,
        route: Route = STRAIGHT,
    ) -> SshSession:
        """A logged-in session; every jump host of `route` is judged, and logged in to, on its own terms.

        Raises UnknownHostKey, HostKeyChanged and HostKeyRevoked before anything of the user's is sent, ConnectFailed
        for every other trouble of the world (`hop` names a jump host that failed), Cancelled.
        """
        stops = (*route.hops, Hop(target, credentials, trust))
        passed: list[Passed] = []
        try:
            for number, stop in enumerate(stops, 1):
                with told(number, route, passed):
                    way = way_to(stop.address, route, passed[-1] if passed else None, deadlines, cancel)
                    passed.append(self._pass(stop, way, deadlines, cancel))
        except BaseException:
            hang_up_all([stop.transport for stop in passed])
            raise
        last = passed[-1]
        self._lookout.mind(last.transport)
        return SshSession(
            last.transport, target, last.host_key, last.trusted_by, deadlines, passed[:-1],
            tuple((stop.host_port, stop.host_key, stop.trusted_by) for stop in passed[:-1]), self._ear,
        )  # fmt: skip

    def _pass(self, stop: Hop, way: Way, deadlines: Deadlines, cancel: CancelToken) -> Passed:
        """Get into one stop. One that did not wait until a password was typed is called anew, once: it is known now."""
        try:
            return self._by_any_way(stop, way, deadlines, cancel)
        except ConnectFailed as error:
            if error.cause != "typed_too_late":
                raise
        return self._by_any_way(stop, way, deadlines, cancel)

    def _by_any_way(self, stop: Hop, way: Way, deadlines: Deadlines, cancel: CancelToken) -> Passed:
        """Get into one stop by key or, where its credentials say so, else by password.

        The host is called anew for that: keys that it refused count among the tries that it grants on one connection.
        """
        try:
            return self._by_key(stop, way, deadlines, cancel)
        except ConnectFailed as error:
            typed = by_password_instead(stop.credentials, error)
            if typed is None:
                raise
            try:
                return self._enter(replace(stop, credentials=typed), way, ((typed, None),), (), deadlines, cancel)
            except ConnectFailed as second:
                raise told_of_both(error, second) from second

    def _by_key(self, stop: Hop, way: Way, deadlines: Deadlines, cancel: CancelToken) -> Passed:
        """Get into one stop with the first of its keys that is taken.

        For each key whose passphrase has to be asked for the host is called anew: nobody thinks while a server counts
        the seconds of a login.
        """
        keys = KeysInTurn(self._keys, stop.address.host_port, stop.credentials)
        while True:
            now = keys.next()
            try:
                return self._enter(stop, way, now, keys.refused, deadlines, cancel)
            except ConnectFailed as error:
                if error.cause != "key_refused" or not keys.go_on(now, error):
                    raise

    def _enter(
        self, stop: Hop, way: Way, keys: Sequence[KeyToTry], before: Sequence[str], deadlines: Deadlines, cancel: CancelToken
    ) -> Passed:
        """Shake hands with one stop and log in to it."""
        host_port = stop.address.host_port
        with self._place(host_port, deadlines, cancel):
            transport, host_key, trusted_by = trusted(way, host_port, stop.trust, deadlines, cancel)
            try:
                log_in_by_one_of(transport, stop.address, keys, deadlines, cancel, before)
            except BaseException:
                hang_up(transport)
                raise
        return Passed(transport, host_port, host_key, trusted_by)

    @contextlib.contextmanager
    def _place(self, host_port: str, deadlines: Deadlines, cancel: CancelToken) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._gate.hold(host_port, deadlines.gate_s, cancel))
            except TimeoutError:
                raise timed_out(Phase.TCP, host_port, deadlines.gate_s) from None
            yield


class SshSession:
    """An open connection to one node. The node can open nothing towards us: all its channel requests are refused.

    `hop_keys`: host:port, key and why it was trusted, of every jump host on the way. `mask`: the secrets that were sent.
    """

    def __init__(
        self,
        transport: paramiko.Transport,
        address: Address,
        host_key: HostKey,
        trusted_by: TrustedBy,
        deadlines: Deadlines,
        beneath: Sequence[Passed] = (),
        hop_keys: tuple[tuple[str, HostKey, TrustedBy], ...] = (),
        ear: Ear | None = None,
    ) -> None:
        self._transport = transport
        self._beneath = tuple(beneath)
        self._deadlines = deadlines
        self._room = Room(CHANNELS_AT_ONCE)
        self._openings = Openings(transport, ear)
        self.address = address
        self.host_key = host_key
        self.trusted_by = trusted_by
        self.hop_keys = hop_keys
        self.mask = NO_MASK

    @property
    def name(self) -> str:
        """Which machine, as messages name it."""
        return str(self.address)

    @property
    def alive(self) -> bool:
        """Whether the connection stands, by what has come; a node that hangs is noticed within three intervals."""
        look(self._transport)
        return self._transport.is_active()

    @property
    def lost_at(self) -> Text:
        """Which jump host was lost, and with it the line; empty where none was."""
        return lost_through(self._beneath)

    def open(self, exec_string: str) -> Channel:
        """Start `exec_string`. Raises ConnectFailed (channel), LineLost; the node's refusal of the command itself is
        raised by the first call of the channel. A thread that has all sessions itself is told so at once.
        """
        seconds = self._deadlines.channel_s
        deadline = awake_s() + seconds
        if not self._room.enter(seconds):
            raise self._without_place()
        try:
            channel, feed = self._session(deadline)
            self._request(channel, exec_string)
            self._openings.ask_ahead()
        except BaseException:
            self._room.leave()
            raise
        return SshChannel(channel, feed, self._lost, partial(self._gone, threading.get_ident()), self.address.host_port, seconds)

    def _without_place(self) -> UserFacing:
        """Why no session was to be had."""
        if not self.alive:
            return self._lost()
        return channels_full(self.address.host_port, self._room.most, by_node=self._room.most < CHANNELS_AT_ONCE)

    def _gone(self, opener: int) -> None:
        """One of the channels was closed, which the thread `opener` had opened."""
        self._openings.closed()
        self._room.leave(opener)

    def _session(self, deadline: float) -> tuple[paramiko.Channel, Feed]:
        """A channel of the node's. Where it refuses one while others are open, the next one to be closed is waited for."""
        host_port = self.address.host_port
        while True:
            try:
                return self._openings.take(max(0.0, deadline - awake_s()))
            except paramiko.ChannelException as error:
                given = self._openings.held
                if not given:
                    raise no_channel(host_port, error.text) from error
                if not self._room.again(given, deadline - awake_s()):
                    raise self._without_place() from error
            except (paramiko.SSHException, EOFError, OSError) as error:
                if not self.alive:
                    raise self._lost() from error
                raise timed_out(Phase.CHANNEL, host_port, self._deadlines.channel_s) from error

    def _request(self, channel: paramiko.Channel, exec_string: str) -> None:
        """Ask for the command without waiting for the answer, so that its input travels in the same round trip.

        The library's own call waits, so this is what it does, up to there.
        """
        command = exec_string.encode()
        message = paramiko.Message(_EXEC.pack(_CHANNEL_REQUEST, channel.remote_chanid, 4, b"exec", True, len(command)) + command)
        channel._event_pending()  # type: ignore[attr-defined]  # the stubs lack both
        try:
            self._transport._send_user_message(message)  # type: ignore[attr-defined]
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self._lost() from error

    def _lost(self) -> UserFacing:
        """A line that is over: through a jump host that was lost, or by a server that renegotiates without a pause."""
        error = gone(self._transport, Phase.CHANNEL, self.address.host_port)
        return error if error.cause == "renegotiates" else LineLost(self.name, self.lost_at)

    def close(self) -> None:
        """Close the connection; every command on it ends by its lifeline. Any number of times."""
        hang_up_all([*(stop.transport for stop in self._beneath), self._transport])
        self._room.close()  # after that: who waited for a place sees that the line is gone

    def __enter__(self) -> SshSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SshChannel:
    """One running command on a node. The first write or read raises ConnectFailed (channel) if the node refuses it."""

    def __init__(
        self, channel: paramiko.Channel, feed: Feed, lost: Callable[[], UserFacing], gone: Callable[[], None], host_port: str, seconds: float
    ) -> None:
        self._channel = channel
        self._outpour = Outpour(channel)
        self._feed = feed
        self._lost = lost
        self._gone = gone
        self._host_port = host_port
        self._seconds = seconds
        self._deadline = awake_s() + seconds
        self._running = False
        self._closing = threading.Lock()
        self._closed = False

    def write(self, data: bytes) -> None:
        """Send `data` to the command's stdin. Raises ConnectFailed (channel), LineLost."""
        self._channel.settimeout(_WRITE_S)
        self._await_room(len(data))
        try:
            self._outpour.send_all(data)
        except (OSError, EOFError, paramiko.SSHException) as error:
            self._await_start()
            raise self._lost() from error
        self._await_start()

    def _await_room(self, count: int) -> None:
        """Wait until the node takes the first bytes; for what it does not take at once the connection needs a thread."""
        channel = self._channel
        take_in(channel.get_transport(), lambda: channel.out_window_size > 0 or channel.closed, _WRITE_S)
        if count > min(channel.out_window_size, _AT_ONCE_BYTES):
            go_alone(channel.get_transport())

    def _await_start(self) -> None:
        """Wait for the node's answer to the command."""
        if self._running or self._closed:
            return
        left = take_in(self._channel.get_transport(), self._channel.event.is_set, max(0.0, self._deadline - awake_s()))
        if not self._channel.event.wait(left):
            self.close()
            raise timed_out(Phase.CHANNEL, self._host_port, self._seconds)
        # An exit code says as well as the node's answer, which some send late, that the command ran.
        self._running = bool(self._channel.event_ready) or self._channel.exit_status >= 0
        if self._running or self._closed:
            return
        self.close()
        if not self._channel.get_transport().is_active():
            raise self._lost()
        raise exec_refused(self._host_port)

    def end_input(self) -> None:
        """End the command's stdin. Never raises."""
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.shutdown_write()

    def read(self, seconds: float = SLICE_S) -> Chunk:
        """What there is, after waiting up to `seconds`. Both outputs are drained: one that is not stalls the other."""
        if self._feed.listening:
            return Chunk(ended=self._wait_end(seconds))
        self._channel.settimeout(self._feed.wait_news(max(0.0, seconds)))
        out, ended = b"", False
        try:
            out = self._channel.recv(_READ_BYTES)
            ended = not out
        except TimeoutError:
            pass
        # Output says that the command runs; the node's answer is waited for only where there is none.
        if ended or (not out and awake_s() >= self._deadline):
            self._await_start()
        err = b""
        while self._channel.recv_stderr_ready() and len(err) < _READ_BYTES:
            err += self._channel.recv_stderr(_READ_BYTES)
        return Chunk(out, err, ended and not self._channel.recv_stderr_ready())

    def _wait_end(self, seconds: float) -> bool:
        """Whether all has come. The node's answer to the command is looked at then, or when it is overdue: not a wake-up for it."""
        left = seconds if self._running else min(seconds, max(0.0, self._deadline - awake_s()))
        ended = self._feed.wait_end(left)
        if ended or left < seconds:
            self._await_start()
        return ended

    def listen(self, take: Callable[[bytes, bytes], None], wake: Callable[[], None]) -> bool:
        """What comes goes to `take(out, err)` at once, in the thread of the connection."""
        self._feed.listen(take, wake)
        return True

    def behind(self) -> bool:
        """Whether bytes of the node wait on this computer for us to read them."""
        transport = self._channel.get_transport()
        if not transport.is_active():
            return False
        sock = transport.sock
        return sock.behind() if isinstance(sock, ReadAhead) else isinstance(sock, paramiko.Channel) and sock.recv_ready()

    def exit_status(self, seconds: float) -> int | None:
        """The exit code, waiting up to `seconds`; None if it is not known (ended by a signal, line cut)."""
        status = self._channel.status_event
        status.wait(take_in(self._channel.get_transport(), status.is_set, seconds))
        return self._channel.exit_status if self._channel.exit_status >= 0 else None

    def close(self) -> None:
        """Give the channel up; any thread, any number of times, never raises."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            close_at_once(self._channel)
        self._gone()
