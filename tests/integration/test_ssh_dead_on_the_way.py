"""What stands on the way to a node falls silent, all before it lives on: how soon is that seen, and who is blamed?"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.proxy import Proxy, ProxyKind
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector, SshSession
from gpulease_gui.remote.stream import SILENT_INTERVALS, SILENT_LEAST_S, Stream, StreamEnd, StreamEnding
from tests.integration.conftest import children
from tests.integration.listening import listening

pytestmark = pytest.mark.sshd
INTERVAL_S = 1.0
# Three intervals, and what a machine with much else to do takes to look.
NOTICED_S = max(SILENT_INTERVALS * INTERVAL_S, SILENT_LEAST_S) + 3.0


def connect(server, route: Route, **deadlines: float) -> SshSession:
    return Connector().connect(server.address, server.credentials, server.trust, Deadlines(**deadlines), CancelToken(), route)


def hop(server) -> Hop:
    return Hop(server.address, server.credentials, server.trust)


def seconds_until_lost(session: SshSession, until: Callable[..., bool], silence: Callable[[], object]) -> tuple[float, StreamEnding]:
    """After what time a watched line is lost when `silence` is called, and as what."""
    lines: list[bytes] = []
    lost: list[StreamEnd] = []
    stream = Stream(session, [("ticks", "while :; do echo t; sleep 0.2; done")], INTERVAL_S, lambda _, data, at: lines.append(data), on_lost=lost.append)
    thread = threading.Thread(target=stream.run)
    thread.start()
    try:
        assert until(lambda: lines, 30)
        silence()
        began = time.monotonic()
        assert until(lambda: lost, NOTICED_S)
        return time.monotonic() - began, lost[0].ending
    finally:
        stream.close()
        thread.join(60)


def blamed(server, route: Route) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        connect(server, route, banner_s=4.0, proxy_s=4.0)  # those before it answer in that time, however slow this machine is
    return caught.value


def test_that_ux_10_an_inner_jump_host_that_dies_is_noticed_in_three_intervals_and_is_the_one_that_is_blamed(sshd, make_sshd, until):
    outer, inner = make_sshd(), make_sshd()
    route = Route((hop(outer), hop(inner)))
    with connect(sshd, route) as session:
        frozen = [inner.process.pid, *children(inner.process.pid)]
        try:
            seconds, ending = seconds_until_lost(session, until, lambda: [os.kill(pid, signal.SIGSTOP) for pid in frozen])
            error = blamed(sshd, route)
        finally:
            for pid in frozen:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
    assert ending is StreamEnding.SILENT and seconds < NOTICED_S
    assert (error.phase, error.cause, error.hop) == (Phase.BANNER, "timeout", inner.address.host_port)
    assert error.why.startswith(f"at jump host {inner.address.host_port} (2 of 2): ")


@contextmanager
def proxy(kind: ProxyKind, place: Address) -> Iterator[tuple[Proxy, threading.Event]]:
    """A proxy that leads to `place`, until the event is set: then it keeps its callers and passes nothing on."""
    quiet = threading.Event()

    def agree(caller: socket.socket) -> Address | None:
        if quiet.is_set():
            return None
        if kind is ProxyKind.SOCKS5:
            caller.recv(3)
            caller.sendall(b"\5\0")
            caller.recv(10)
            caller.sendall(b"\5\0\0\1" + bytes(6))
        else:
            caller.recv(4096)
            caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        return place

    with listening(agree, passes=lambda: not quiet.is_set()) as way:
        yield Proxy(kind, way.host, way.port), quiet


@pytest.mark.parametrize("kind", [ProxyKind.SOCKS5, ProxyKind.HTTP])
def test_that_ux_10_a_proxy_that_falls_silent_is_noticed_in_three_intervals_and_is_the_one_that_is_blamed(sshd, until, kind):
    with proxy(kind, sshd.address) as (way, quiet):
        with connect(sshd, Route(proxy=way)) as session:
            seconds, ending = seconds_until_lost(session, until, quiet.set)
        error = blamed(sshd, Route(proxy=way))
    assert ending is StreamEnding.SILENT and seconds < NOTICED_S
    assert (error.phase, error.cause, error.host_port) == (Phase.PROXY, "timeout", sshd.address.host_port)
    assert way.host_port in error.why
