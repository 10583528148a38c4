"""How does a bare socket become an encrypted connection, each phase within its own time?"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import socket
import threading
import time
from dataclasses import dataclass
from functools import partial

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.algorithms import WireLists
from gpulease_gui.remote.failures import (
    ConnectFailed,
    Phase,
    greets_too_long,
    hung_up,
    kex_broken,
    no_banner,
    no_common_algorithm,
    no_such_name,
    no_way_out,
    not_ssh,
    one_line,
    open_to_truncation,
    refused,
    renegotiates,
    timed_out,
    unreachable,
)
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.way_out import ANY_WAY_OUT, NoWayOut, WayOut, of_own_network
from gpulease_gui.remote.wire import Wire

# One that needs no file of its own for a single socket, where there is one.
_Selector = getattr(selectors, "PollSelector", selectors.DefaultSelector)
_SLICE_S = 0.05
_PHASE_SLICE_S = 0.25
_JOIN_S = 3.0
_SAID_CHARACTERS = 160
# How an SSH server begins that then hangs up, as one does that takes no more callers for now.
_SSH_SAYS = (b"Exceeded MaxStartups", b"Not allowed at this time", b"SSH-2.0-", b"SSH-1.99-")


_ALL_OF_OURS = WireLists()


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that each phase may take; `gate_s` is the wait for other handshakes with the same host:port.

    `ask_s` is a login in which the user answers questions of the node; sshd itself waits 120 s by default.
    """

    gate_s: float = 120.0
    tcp_s: float = 10.0
    banner_s: float = 12.0
    kex_s: float = 15.0
    auth_s: float = 20.0
    channel_s: float = 15.0
    ask_s: float = 110.0
    proxy_s: float = 15.0


def dial(address: Address, seconds: float, cancel: CancelToken, way_out: WayOut = ANY_WAY_OUT) -> socket.socket:
    """A connected socket without Nagle and with keep-alive. Raises ConnectFailed (dns, tcp), Cancelled."""
    try:
        places = socket.getaddrinfo(address.host, address.port, way_out.families, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        only = f"AddressFamily {way_out.family}: " if way_out.family else ""
        ours = of_own_network(Phase.DNS, address.host_port, address.host, error) if isinstance(error, OSError) else None
        raise ours or no_such_name(address.host_port, only + (getattr(error, "strerror", None) or str(error))) from error
    deadline = time.monotonic() + seconds
    code, stuck = errno.ETIMEDOUT, None
    for number, (family, kind, protocol, _, place) in enumerate(places):
        sock = socket.socket(family, kind, protocol)
        share = (deadline - time.monotonic()) / (len(places) - number)
        try:
            way_out.bind(sock)
            code = _connect(sock, place, time.monotonic() + share, cancel)
        except NoWayOut as error:
            sock.close()
            stuck = error
            continue
        except BaseException:
            sock.close()
            raise
        if code == 0:
            cancel.calls.heard()
            _tune(sock)
            return sock
        sock.close()
        stuck = None
    raise no_way_out(address.host_port, str(stuck)) if stuck is not None else _tcp_failure(address, code, seconds)


def _tune(sock: socket.socket) -> None:
    """No Nagle (it costs 45 ms a command); a peer that is gone is noticed within half a minute, where the system can."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4), ("TCP_USER_TIMEOUT", 30_000)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _connect(sock: socket.socket, place: object, deadline: float, cancel: CancelToken) -> int:
    """The error number of connecting, 0 for success."""
    sock.setblocking(False)
    code = sock.connect_ex(place)  # type: ignore[arg-type]
    if code not in (errno.EINPROGRESS, errno.EWOULDBLOCK):
        return code
    with _Selector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        while not selector.select(_SLICE_S):
            cancel.check()
            if time.monotonic() >= deadline:
                return errno.ETIMEDOUT
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def _tcp_failure(address: Address, code: int, seconds: float) -> ConnectFailed:
    host_port = address.host_port
    if code == errno.ECONNREFUSED:
        return refused(host_port)
    if code == errno.ETIMEDOUT:
        return timed_out(Phase.TCP, host_port, seconds)
    ours = of_own_network(Phase.TCP, host_port, address.host, OSError(code, ""))
    return ours or unreachable(host_port, os.strerror(code))


def shake(
    sock: socket.socket | paramiko.Channel, host_port: str, key_types: tuple[str, ...], deadlines: Deadlines, cancel: CancelToken,
    lists: WireLists = _ALL_OF_OURS,
) -> paramiko.Transport:  # fmt: skip
    """Banner and key exchange, of `lists` only; the host key is not judged here. Raises ConnectFailed (banner, kex), Cancelled."""
    if isinstance(sock, socket.socket):
        sock = ReadAhead.of(sock)
    transport = Wire(sock)
    try:
        options = transport.get_security_options()
        options.key_types = key_types
        if lists != _ALL_OF_OURS:
            options.kex, options.ciphers = lists.exchanges or options.kex, lists.ciphers or options.ciphers
            options.digests = lists.digests or options.digests
        done = threading.Event()
        # A thread of its own ends after the one who waits for it, who then tells of it.
        after_s = 0.0 if isinstance(sock, ReadAhead) else 1.0
        transport.banner_timeout, transport.handshake_timeout = deadlines.banner_s + after_s, deadlines.kex_s + after_s
        transport.begin(done)
        _await_keys(transport, done, host_port, deadlines, cancel)
        # The stubs lack the names. What we send can be cut short, too: both directions count.
        strict = transport.agreed_on_strict_kex  # type: ignore[attr-defined]
        if not (strict or all("gcm" in cipher for cipher in (transport.remote_cipher, transport.local_cipher))):  # type: ignore[attr-defined]
            raise open_to_truncation(host_port)
        return transport
    except BaseException:
        hang_up(transport)
        raise


def _await_keys(
    transport: Wire, done: threading.Event, host_port: str, deadlines: Deadlines, cancel: CancelToken
) -> None:
    phase, seconds = Phase.BANNER, deadlines.banner_s
    deadline = time.monotonic() + seconds
    take_back = cancel.on_cancel(partial(_stop_waiting, transport, done))
    try:
        transport.take_in(done.is_set, deadlines.banner_s + deadlines.kex_s)
        while not done.wait(max(0.0, min(_PHASE_SLICE_S, deadline - time.monotonic()))):
            if phase is Phase.BANNER and transport.remote_version:
                phase, seconds = Phase.KEX, deadlines.kex_s
                deadline = time.monotonic() + seconds
            if time.monotonic() >= deadline:
                raise _too_late(transport, phase, host_port, seconds)
    finally:
        take_back()
    cancel.check()
    if transport.is_active():
        cancel.calls.heard()
        return
    if transport.is_late:
        phase, seconds = (Phase.KEX, deadlines.kex_s) if transport.remote_version else (Phase.BANNER, deadlines.banner_s)
        raise _too_late(transport, phase, host_port, seconds)
    raise _handshake_failure(transport, host_port)


def _stop_waiting(transport: Wire, done: threading.Event) -> None:
    """Nobody wants it any more."""
    done.set()
    cut(transport)


def _too_late(transport: Wire, phase: Phase, host_port: str, seconds: float) -> ConnectFailed:
    if phase is Phase.BANNER and transport.said:
        return no_banner(host_port, seconds, transport.said)
    return timed_out(phase, host_port, seconds)


def _handshake_failure(transport: Wire, host_port: str) -> ConnectFailed:
    error = transport.get_exception()
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        return no_common_algorithm(host_port, one_line(str(error))[:_SAID_CHARACTERS])
    if transport.greets_too_long:
        return greets_too_long(host_port, transport.said)
    if not transport.remote_version or str(error) == "Invalid SSH banner":
        said = transport.said
        return not_ssh(host_port, said) if said and not said.startswith(_SSH_SAYS) else hung_up(Phase.BANNER, host_port, said)
    if error is None or isinstance(error, (EOFError, OSError)):
        return hung_up(Phase.KEX, host_port)
    return kex_broken(host_port, one_line(str(error))[:_SAID_CHARACTERS])


def gone(transport: paramiko.Transport, phase: Phase, host_port: str) -> ConnectFailed:
    """Why a connection that stood is over."""
    return renegotiates(phase, host_port) if isinstance(transport, Wire) and transport.restless else hung_up(phase, host_port)


def cut(transport: paramiko.Transport) -> None:
    """End the connection's input and output, which wakes its thread; does not wait, any thread, never raises."""
    if isinstance(transport.sock, socket.socket):
        with contextlib.suppress(OSError):
            transport.sock.shutdown(socket.SHUT_RDWR)
    else:  # a channel of a jump host, which may be gone
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            transport.close()


def hang_up(transport: paramiko.Transport) -> None:
    """Close the connection and wait for its thread; any number of times, never raises."""
    cut(transport)
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        transport.close()
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        transport.sock.close()
    if transport.ident is not None and transport is not threading.current_thread():
        transport.join(_JOIN_S)
    # How it ended is of no interest any more, and holds the calls of the thread, and with them the connection's memory.
    transport.get_exception()
