"""Is a server that renegotiates without a pause told as that, soon, and one that does so for its limits borne?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.rekeys import Rekeys
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector, SshSession
from tests.integration.listening import serving

pytestmark = pytest.mark.sshd
_GRANTED = 52
SOON_S = 8.0  # of a machine with much else to do


class Anybody(paramiko.ServerInterface):
    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        return paramiko.AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def check_channel_direct_tcpip_request(self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]) -> int:
        return paramiko.OPEN_SUCCEEDED


def restless(when: str) -> type[paramiko.Transport]:
    """A server that asks for new keys as soon as it has new ones: from the first on, or once somebody is logged in."""

    class Restless(paramiko.Transport):
        def _parse_newkeys(self, m: paramiko.Message) -> None:
            super()._parse_newkeys(m)
            if when == "before" or self.is_authenticated():
                self._send_kex_init()

        def _send_message(self, data: paramiko.Message) -> None:
            """Nothing is said between the exchanges, as there is no time for it."""
            kind = data.asbytes()[0]
            if self.in_kex and not 20 <= kind <= 41:
                return
            super()._send_message(data)
            if when == "after" and kind == _GRANTED:
                self._send_kex_init()

    return Restless


@pytest.fixture
def server() -> Iterator[Callable[[str], tuple[Address, HostTrust]]]:
    key = paramiko.ECDSAKey.generate()
    with ExitStack() as stack:

        def start(when: str) -> tuple[Address, HostTrust]:
            address, _ = stack.enter_context(serving(Anybody(), key, restless(when), "anna"))
            return address, HostTrust((host_key_of(key),))

        yield start


PASSWORD = Credentials(AuthMethod.PASSWORD, password=Secret("x"))


def connected(address: Address, trust: HostTrust) -> SshSession:
    return Connector().connect(address, PASSWORD, trust, Deadlines(), CancelToken())


def test_that_a_server_that_renegotiates_before_the_login_is_told_as_that_within_seconds(server):
    address, trust = server("before")
    started = time.monotonic()
    with pytest.raises(ConnectFailed) as caught:
        connected(address, trust)
    assert (caught.value.phase, caught.value.cause) == (Phase.AUTH, "renegotiates")
    assert time.monotonic() - started < SOON_S


def test_that_one_that_does_so_after_the_login_is_told_when_a_command_is_asked_for(server):
    address, trust = server("after")
    started = time.monotonic()
    with pytest.raises(ConnectFailed) as caught, connected(address, trust) as session:
        for _ in range(20):
            session.open("true").write(b"x")
    assert caught.value.cause == "renegotiates" and "without a pause" in caught.value.why
    assert time.monotonic() - started < SOON_S


def test_that_a_jump_host_that_does_so_is_the_one_that_is_blamed(server, sshd):
    address, trust = server("after")
    route = Route((Hop(address, PASSWORD, trust),))
    with pytest.raises(ConnectFailed) as caught:
        Connector().connect(sshd.address, sshd.credentials, sshd.trust, Deadlines(tcp_s=5.0, banner_s=5.0), CancelToken(), route)
    assert (caught.value.cause, caught.value.host_port) == ("renegotiates", address.host_port)


@pytest.mark.parametrize("limit", ["1K", "default 1"])
def test_that_a_real_server_with_small_limits_is_borne(make_sshd, fact, limit):
    server = make_sshd(f"RekeyLimit {limit}\n")
    frames: list[Frame] = []
    with server.connect() as session:
        collect(session, [fact("long", "head -c 200000 /dev/zero; sleep 1.3")], frames.append, CancelToken())
    assert [len(frame.output.stdout) for frame in frames if frame.id == "long"] == [200_000]


def test_that_a_clock_of_one_second_and_exchanges_with_words_between_are_no_unrest():
    rekeys, quick, talking = Rekeys(), Rekeys(), Rekeys()
    assert not any(rekeys.one_too_many(logged_in=True, moved_bytes=0, now_s=float(second)) for second in range(600))
    assert [quick.one_too_many(logged_in=True, moved_bytes=0, now_s=tick * 0.1) for tick in range(6)] == [False] * 5 + [True]
    assert not any(talking.one_too_many(logged_in=True, moved_bytes=1000, now_s=tick * 0.01) for tick in range(600))
