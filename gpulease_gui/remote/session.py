"""How is an SSH connection to a node made and kept?"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections.abc import Iterator

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, HostKey
from gpulease_gui.remote.credentials import Credentials, KeyRing
from gpulease_gui.remote.failures import ConnectFailed, Phase, exec_refused, no_channel, timed_out
from gpulease_gui.remote.gate import HandshakeGate
from gpulease_gui.remote.handshake import Deadlines, dial, hang_up, offered_key_types, shake
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy, host_key_of, judge, key_types, kind_of, unknown
from gpulease_gui.remote.login import log_in
from gpulease_gui.remote.transport import SLICE_S, Channel, Chunk, LineLost

# Without a handler Python prints the library's warnings to stderr; every failure is told by our own errors.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

CHANNELS_AT_ONCE = 4
_TRIES = 4
_KEEPALIVE_S = 15
_READ_BYTES = 256 * 1024
_WRITE_S = 15.0


class Connector:
    """Makes connections; one for the whole program, so that its gate and its keys are shared."""

    def __init__(self, gate: HandshakeGate | None = None, keys: KeyRing | None = None) -> None:
        self._gate = gate or HandshakeGate()
        self._keys = keys or KeyRing()

    def connect(
        self,
        target: Address,
        credentials: Credentials,
        trust: HostTrust,
        deadlines: Deadlines,
        cancel: CancelToken,
    ) -> SshSession:
        """A logged-in session.

        Raises UnknownHostKey and HostKeyChanged before anything of the user's is sent, ConnectFailed for every other
        trouble of the world, Cancelled.
        """
        key = self._keys.load(target.host_port, credentials) if credentials.method is AuthMethod.KEY else None
        with self._place(target, deadlines, cancel):
            transport, host_key, trusted_by = _trusted(target, trust, deadlines, cancel)
            try:
                log_in(transport, target, credentials, key, deadlines.auth_s, cancel)
            except BaseException:
                hang_up(transport)
                raise
        transport.set_keepalive(_KEEPALIVE_S)
        return SshSession(transport, target, host_key, trusted_by, deadlines)

    @contextlib.contextmanager
    def _place(self, target: Address, deadlines: Deadlines, cancel: CancelToken) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._gate.hold(target.host_port, deadlines.gate_s, cancel))
            except TimeoutError:
                raise timed_out(Phase.TCP, target.host_port, deadlines.gate_s) from None
            yield


def _trusted(
    target: Address, trust: HostTrust, deadlines: Deadlines, cancel: CancelToken
) -> tuple[paramiko.Transport, HostKey, TrustedBy]:
    """A connection to a trusted host. For an unknown key the host's other key types are asked for, too."""
    offered = key_types(trust.pins, offered_key_types())
    shown: list[HostKey] = []
    for types in _rounds(offered, shown):
        try:
            transport = _shake_patiently(target, types, deadlines, cancel)
        except ConnectFailed as error:
            if shown and error.cause == "no_common_algorithm":  # the host has no key of this type
                continue
            raise
        try:
            key = host_key_of(transport.get_remote_server_key())
            trusted_by = judge(target.host_port, key, trust)
        except BaseException:
            hang_up(transport)
            raise
        if trusted_by is not None:
            return transport, key, trusted_by
        hang_up(transport)
        shown.append(key)
    raise unknown(target.host_port, shown[0], tuple(shown[1:]), trust)


def _rounds(offered: tuple[str, ...], shown: list[HostKey]) -> Iterator[tuple[str, ...]]:
    """All types first; then each family that has not been shown."""
    yield offered
    for family in ("ssh-ed25519", "ecdsa-sha2", "ssh-rsa"):
        if not any(key.kind.startswith(family) for key in shown):
            yield tuple(algorithm for algorithm in offered if kind_of(algorithm).startswith(family))


def _shake_patiently(
    target: Address, types: tuple[str, ...], deadlines: Deadlines, cancel: CancelToken
) -> paramiko.Transport:
    """Dial and shake hands; a server that hangs up before its banner (full, starting) is asked again."""
    for attempt in range(_TRIES):
        try:
            return shake(dial(target, deadlines.tcp_s, cancel), target.host_port, types, deadlines, cancel)
        except ConnectFailed as error:
            if (error.phase, error.cause) != (Phase.BANNER, "hung_up") or attempt == _TRIES - 1:
                raise
        cancel.wait(0.2 * 2**attempt * random.uniform(0.5, 1.5))
        cancel.check()
    raise AssertionError("unreachable")


class SshSession:
    """An open connection to one node. The node can open nothing towards us: all its channel requests are refused."""

    def __init__(
        self,
        transport: paramiko.Transport,
        address: Address,
        host_key: HostKey,
        trusted_by: TrustedBy,
        deadlines: Deadlines,
    ) -> None:
        self._transport = transport
        self._deadlines = deadlines
        self._room = threading.BoundedSemaphore(CHANNELS_AT_ONCE)
        self.address = address
        self.host_key = host_key
        self.trusted_by = trusted_by

    @property
    def name(self) -> str:
        """Which machine, as messages name it."""
        return str(self.address)

    @property
    def alive(self) -> bool:
        """Whether the connection stands, as far as is known without asking."""
        return self._transport.is_active()

    def open(self, exec_string: str) -> Channel:
        """Start `exec_string`. Raises ConnectFailed (channel), LineLost."""
        seconds = self._deadlines.channel_s
        if not self._room.acquire(timeout=seconds):
            raise no_channel(self.address.host_port, f"{CHANNELS_AT_ONCE} are open already")
        try:
            channel = self._session(seconds)
            self._execute(channel, exec_string, seconds)
        except BaseException:
            self._room.release()
            raise
        return SshChannel(channel, self.name, self._room)

    def _session(self, seconds: float) -> paramiko.Channel:
        try:
            return self._transport.open_session(timeout=seconds)
        except paramiko.ChannelException as error:
            raise no_channel(self.address.host_port, error.text) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            if not self.alive:
                raise LineLost(self.name) from error
            raise timed_out(Phase.CHANNEL, self.address.host_port, seconds) from error

    def _execute(self, channel: paramiko.Channel, exec_string: str, seconds: float) -> None:
        # The library waits for the answer without a deadline; closing the channel wakes it.
        started = time.monotonic()
        alarm = threading.Timer(seconds, channel.close)
        alarm.start()
        try:
            channel.exec_command(exec_string)
        except (paramiko.SSHException, EOFError, OSError) as error:
            channel.close()
            if not self.alive:
                raise LineLost(self.name) from error
            if time.monotonic() - started >= seconds:
                raise timed_out(Phase.CHANNEL, self.address.host_port, seconds) from error
            raise exec_refused(self.address.host_port) from error
        finally:
            alarm.cancel()

    def close(self) -> None:
        """Close the connection; every command on it ends by its lifeline. Any number of times."""
        hang_up(self._transport)

    def __enter__(self) -> SshSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SshChannel:
    """One running command on a node."""

    def __init__(self, channel: paramiko.Channel, name: str, room: threading.BoundedSemaphore) -> None:
        self._channel = channel
        self._name = name
        self._room = room
        self._closing = threading.Lock()
        self._closed = False

    def write(self, data: bytes) -> None:
        """Send `data` to the command's stdin. Raises LineLost."""
        self._channel.settimeout(_WRITE_S)
        try:
            self._channel.sendall(data)
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise LineLost(self._name, str(error)) from error

    def end_input(self) -> None:
        """End the command's stdin. Never raises."""
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.shutdown_write()

    def read(self, seconds: float = SLICE_S) -> Chunk:
        """What there is, after waiting up to `seconds`. Both outputs are drained: one that is not stalls the other."""
        self._channel.settimeout(max(0.001, seconds))
        out, ended = b"", False
        try:
            out = self._channel.recv(_READ_BYTES)
            ended = not out
        except TimeoutError:
            pass
        err = b""
        while self._channel.recv_stderr_ready() and len(err) < _READ_BYTES:
            err += self._channel.recv_stderr(_READ_BYTES)
        return Chunk(out, err, ended and not self._channel.recv_stderr_ready())

    def exit_status(self, seconds: float) -> int | None:
        """The exit code, waiting up to `seconds`; None if it is not known (ended by a signal, line cut)."""
        self._channel.status_event.wait(seconds)
        return self._channel.exit_status if self._channel.exit_status >= 0 else None

    def close(self) -> None:
        """Give the channel up; any thread, any number of times, never raises."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()
        self._room.release()
