"""Over jump hosts and proxies, with real sshds: each stop answers for itself."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, HostKeyChanged, Phase, UnknownHostKey
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.proxy import Proxy, ProxyKind
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector, SshSession
from tests.integration.listening import listening

pytestmark = pytest.mark.sshd

OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def through(server, route: Route, address: Address | None = None, **deadlines: float) -> SshSession:
    return Connector().connect(
        address or server.address, server.credentials, server.trust, Deadlines(**deadlines), CancelToken(), route
    )


def hop(server, **changes: object) -> Hop:
    return replace(Hop(server.address, server.credentials, server.trust), **changes)


def failure(server, route: Route, address: Address | None = None, **deadlines: float) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        through(server, route, address, **deadlines)
    return caught.value


@pytest.fixture
def two(make_sshd):
    return make_sshd(), make_sshd()


def test_that_a_collection_works_over_two_jump_hosts_and_leaves_nothing(sshd, two, fact, until):
    threads = set(threading.enumerate())
    frames: list[Frame] = []
    with through(sshd, Route((hop(two[0]), hop(two[1])))) as session:
        assert [place for place, _, _ in session.hop_keys] == [server.address.host_port for server in two]
        assert session.address == sshd.address
        end = collect(session, [fact("port", "echo $SSH_CONNECTION")], frames.append, CancelToken())
    assert end.complete
    # The node itself was reached, and its caller is the machine of the last jump host.
    assert frames[0].output.stdout.split()[3] == str(sshd.port).encode()
    assert until(lambda: set(threading.enumerate()) <= threads)


def test_that_the_node_sees_nothing_when_a_jump_host_is_unknown(sshd, two):
    error = failure(sshd, Route((hop(two[0]), hop(two[1], trust=HostTrust()))))
    assert isinstance(error, UnknownHostKey)
    assert str(error).startswith(f"jump host {two[1].address.host_port}: ")
    assert error.hop == two[1].address.host_port
    assert error.why_text.zh.startswith(f"在跳板机 {two[1].address.host_port}（第 2 个，共 2 个）：")


def test_that_ux_19_a_changed_key_of_a_jump_host_is_its_own_and_not_the_nodes(sshd, two):
    error = failure(sshd, Route((hop(two[0], trust=HostTrust((OTHER,))),)))
    assert isinstance(error, HostKeyChanged)
    assert (error.hop, error.old) == (two[0].address.host_port, OTHER)


def test_that_the_key_of_the_node_is_checked_through_the_tunnel(sshd, two):
    with pytest.raises(HostKeyChanged) as caught:
        Connector().connect(
            sshd.address, sshd.credentials, HostTrust((OTHER,)), Deadlines(), CancelToken(), Route((hop(two[0]),))
        )
    assert caught.value.hop == ""
    assert "jump" not in str(caught.value)


def test_that_each_jump_host_has_its_own_login(sshd, two):
    stranger = Credentials(identity_file=str(sshd.keys.user("stranger")))
    error = failure(sshd, Route((hop(two[0], credentials=stranger),)))
    assert (error.phase, error.cause) == (Phase.AUTH, "key_refused")
    assert error.why == f"at jump host {two[0].address.host_port} (1 of 1): the jump host refuses this key for this user"


def test_that_a_closed_port_behind_a_jump_host_names_both(sshd, two):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        nowhere = replace(sshd.address, port=sock.getsockname()[1])
    error = failure(sshd, Route((hop(two[0]),)), nowhere)
    assert (error.phase, error.cause, error.hop) == (Phase.TCP, "tunnel_refused", "")
    assert nowhere.host_port in error.what and two[0].address.host_port in error.why


def test_that_a_jump_host_that_forwards_nothing_is_told_by_name(sshd, make_sshd):
    gate = make_sshd("AllowTcpForwarding no\n")
    error = failure(sshd, Route((hop(gate),)))
    assert error.cause == "tunnel_refused"
    assert "AllowTcpForwarding" in error.next_step
    assert error.why_text.zh == f"跳板机 {gate.address.host_port} 无法连到该地址（对方的规则不允许）"


def test_that_a_silent_port_behind_a_jump_host_has_its_deadline(sshd, two):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        silent = replace(sshd.address, port=sock.getsockname()[1])
        error = failure(sshd, Route((hop(two[0]),)), silent, banner_s=0.3)
    assert (error.phase, error.cause) == (Phase.BANNER, "timeout")


def test_that_a_lost_jump_host_ends_the_line(sshd, make_sshd, until):
    gate = make_sshd()
    with through(sshd, Route((hop(gate),))) as session:
        gate.cut_sessions()
        assert until(lambda: not session.alive)


def exactly(caller: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        more = caller.recv(count - len(got))
        if not more:
            raise EOFError
        got += more
    return got


class Socks:
    """SOCKS5 as RFC 1928 and 1929 have it; `code` is its answer to CONNECT."""

    def __init__(self, place: Address, code: int = 0, secret: bytes = b"") -> None:
        self.place, self.code, self.secret = place, code, secret
        self.asked = b""

    def __call__(self, caller: socket.socket) -> Address | None:
        ways = exactly(caller, exactly(caller, 2)[1])
        wanted = 2 if self.secret else 0
        caller.sendall(bytes([5, wanted if wanted in ways else 255]))
        if self.secret and wanted in ways:
            user = exactly(caller, exactly(caller, 2)[1])
            word = exactly(caller, exactly(caller, 1)[0])
            caller.sendall(bytes([1, user != b"anna" or word != self.secret]))
        head = exactly(caller, 4) if wanted in ways else b""
        if head:
            length = {1: 4, 4: 16}.get(head[3]) or exactly(caller, 1)[0]
            self.asked = exactly(caller, length + 2)
            caller.sendall(bytes([5, self.code, 0, 1]) + bytes(6))
        return self.place if head and not self.code else None


class Http:
    """An HTTP proxy; `status` is its answer to CONNECT. The node's banner comes in the same packet as the answer."""

    def __init__(self, place: Address, status: bytes = b"200 OK") -> None:
        self.place, self.status = place, status
        self.asked = b""

    def __call__(self, caller: socket.socket) -> Address | None:
        while not self.asked.endswith(b"\r\n\r\n"):
            self.asked += caller.recv(1)
        caller.sendall(b"HTTP/1.1 " + self.status + b"\r\nVia: test\r\n\r\n")
        return self.place if self.status.startswith(b"200") else None


def at(kind: ProxyKind, place: Address, user: str = "", password: str = "") -> Proxy:
    return Proxy(kind, place.host, place.port, user, Secret(password) if password else None)


@pytest.mark.parametrize(("kind", "server"), [(ProxyKind.SOCKS5, Socks), (ProxyKind.HTTP, Http)])
def test_that_a_node_is_reached_through_a_proxy_that_resolves_its_name(sshd, kind, server):
    talk = server(sshd.address)
    inside = replace(sshd.address, host="node-07.inside.invalid")
    with listening(talk) as place, through(sshd, Route(proxy=at(kind, place)), inside) as session:
        assert session.alive
    assert b"node-07.inside.invalid" in talk.asked


def test_that_a_proxy_leads_to_the_first_jump_host(sshd, two):
    talk = Socks(two[0].address)
    with listening(talk) as place, through(sshd, Route((hop(two[0]),), at(ProxyKind.SOCKS5, place))) as session:
        assert session.alive
    assert talk.asked == socket.inet_aton("127.0.0.1") + two[0].port.to_bytes(2, "big")


@pytest.mark.parametrize(("password", "cause"), [("right", ""), ("wrong", "auth"), ("", "auth")])
def test_that_a_socks_proxy_may_ask_for_a_user(sshd, password, cause):
    with listening(Socks(sshd.address, secret=b"right")) as place:
        route = Route(proxy=at(ProxyKind.SOCKS5, place, "anna" if password else "", password))
        if not cause:
            through(sshd, route).close()
            return
        error = failure(sshd, route)
    assert (error.phase, error.cause) == (Phase.PROXY, cause)
    assert place.host_port in error.why and sshd.address.host_port in error.what


def test_that_a_socks_proxy_that_takes_no_password_is_no_reason_to_ask_for_another_one(sshd):
    """One that wants GSSAPI alone was told to want user and password, and the user was asked for three."""
    with listening(lambda caller: caller.sendall(b"\5\xff") if exactly(caller, 4) == b"\5\2\0\2" else None) as place:
        error = failure(sshd, Route(proxy=at(ProxyKind.SOCKS5, place, "anna", "right")))
    assert (error.phase, error.cause) == (Phase.PROXY, "auth_way")
    assert "GSSAPI" in error.why and "SOCKS5" in error.next_step


def test_that_an_http_proxy_gets_user_and_password_of_basic(sshd):
    talk = Http(sshd.address)
    with listening(talk) as place:
        through(sshd, Route(proxy=at(ProxyKind.HTTP, place, "anna", "geheim"))).close()
    assert b"Proxy-Authorization: Basic YW5uYTpnZWhlaW0=\r\n" in talk.asked


@pytest.mark.parametrize(
    ("talk", "kind", "cause", "words"),
    [
        (lambda to: Socks(to, 5), ProxyKind.SOCKS5, "refused", "refused the connection"),
        (lambda to: Socks(to, 77), ProxyKind.SOCKS5, "refused", "code 77"),
        (lambda to: Http(to, b"403 Forbidden"), ProxyKind.HTTP, "refused", "403 Forbidden"),
        (lambda to: Http(to, b"407 Who"), ProxyKind.HTTP, "auth", "wants a user"),
        (lambda to: Http(to, b"407 Who\r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate: NTLM, Digest realm=\"a\", nonce=\"b\""), ProxyKind.HTTP,
         "auth_way", "it lets users in by Negotiate, NTLM, Digest only, and none but Basic is spoken here"),
        (lambda to: Http(to, b"407 Who\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: basic realm=\"x\""), ProxyKind.HTTP, "auth", "wants a user"),
        (lambda to: lambda caller: caller.close(), ProxyKind.HTTP, "hung_up", "hung up"),
        (lambda to: lambda caller: caller.sendall(b"SSH-2.0-x\r\n"), ProxyKind.HTTP, "not_a_proxy", "HTTP"),
        (lambda to: lambda caller: caller.sendall(b"HTTP/1.1 400\r\n"), ProxyKind.SOCKS5, "not_a_proxy", "SOCKS5"),
        (lambda to: lambda caller: caller.sendall(b"\5\0\4\0\0\1" + bytes(6)), ProxyKind.SOCKS5, "not_a_proxy", "SOCKS5"),
        (lambda to: lambda caller: caller.sendall(b"\5\0\5\0\0\11" + bytes(6)), ProxyKind.SOCKS5, "not_a_proxy", "SOCKS5"),
        (lambda to: lambda caller: caller.sendall(b"HTTP/1.1 403 No\n\n"), ProxyKind.HTTP, "refused", "'HTTP/1.1 403 No'"),
    ],
)
def test_that_trouble_with_the_proxy_is_told_by_name(sshd, talk, kind, cause, words):
    with listening(talk(sshd.address)) as place:
        error = failure(sshd, Route(proxy=at(kind, place)))
    assert (error.phase, error.cause) == (Phase.PROXY, cause)
    assert words in error.why
    assert error.why_text.zh != error.why_text.en


@pytest.mark.parametrize("kind", [ProxyKind.SOCKS5, ProxyKind.HTTP])
def test_that_a_proxy_that_says_it_is_connected_and_hangs_up_is_told_as_the_proxy(sshd, kind):
    said = b"HTTP/1.1 200 OK\r\n\r\n" if kind is ProxyKind.HTTP else b"\5\0\5\0\0\1" + bytes(6)

    def agree(caller: socket.socket) -> None:
        caller.recv(3 if kind is ProxyKind.SOCKS5 else 4096)
        caller.sendall(said)
        caller.shutdown(socket.SHUT_WR)

    with listening(agree) as place:
        error = failure(sshd, Route(proxy=at(kind, place)))
    assert (error.phase, error.cause) == (Phase.PROXY, "hung_up")
    assert place.host_port in error.why and place.host_port in error.why_text.zh
    assert "before an SSH server said a word" in error.why and "MaxStartups" not in str(error)


def test_that_what_answers_behind_a_proxy_is_told_with_the_proxy(sshd):
    def lead(caller: socket.socket) -> None:
        caller.recv(4096)
        caller.sendall(b"HTTP/1.1 200 OK\r\n\r\nExceeded MaxStartups\r\n")
        caller.shutdown(socket.SHUT_WR)

    with listening(lead) as place:
        error = failure(sshd, Route(proxy=at(ProxyKind.HTTP, place)))
    assert (error.phase, error.cause) == (Phase.BANNER, "hung_up")
    assert error.why == f"the far side hung up; it said: Exceeded MaxStartups; through the proxy {place.host_port}"


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_that_a_name_that_is_none_is_told_and_never_an_error_of_ours(sshd, host):
    with listening(Socks(sshd.address)) as place:
        error = failure(sshd, Route(proxy=at(ProxyKind.SOCKS5, place)), replace(sshd.address, host=host))
    assert (error.phase, error.cause) == (Phase.PROXY, "refused") and "DNS" in error.why


def test_that_a_silent_proxy_has_its_deadline(sshd):
    with listening(lambda caller: None) as place:
        error = failure(sshd, Route(proxy=at(ProxyKind.SOCKS5, place)), proxy_s=0.3)
    assert (error.phase, error.cause, error.host_port) == (Phase.PROXY, "timeout", sshd.address.host_port)
    assert (error.why, error.next_text.en) == (f"proxy {place.host_port}: no answer within 0.3 s", "check the proxy's address and type")


@pytest.mark.parametrize("kind", [ProxyKind.SOCKS5, ProxyKind.HTTP])
def test_that_a_proxy_that_was_asked_to_connect_and_is_silent_may_be_waiting_for_the_node(sshd, kind):
    """It was blamed alone, without its name, where a node behind it was off."""

    def wait(caller: socket.socket) -> None:
        if kind is ProxyKind.SOCKS5:
            caller.recv(3)
            caller.sendall(b"\5\0")

    with listening(wait) as place:
        error = failure(sshd, Route(proxy=at(kind, place)), proxy_s=0.5)
    assert (error.phase, error.cause) == (Phase.PROXY, "timeout")
    assert error.why == f"proxy {place.host_port}: no answer within 0.5 s; it may be waiting for the node"
    assert error.why_text.zh == f"代理 {place.host_port}：0.5 秒内无应答；代理可能在等待目标节点"
    assert f"whether {sshd.address.host_port} answers the proxy" in error.next_text.en


def test_that_a_proxy_that_is_not_there_is_told_as_the_proxy(sshd):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        place = Address("127.0.0.1", sock.getsockname()[1])
    error = failure(sshd, Route(proxy=at(ProxyKind.HTTP, place)))
    assert (error.phase, error.cause) == (Phase.PROXY, "refused")


def test_that_waiting_for_a_proxy_can_be_cancelled(sshd, until):
    cancel = CancelToken()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with listening(lambda caller: cancel.cancel()) as place, pytest.raises(Cancelled):
        route = Route(proxy=at(ProxyKind.SOCKS5, place))
        Connector().connect(sshd.address, sshd.credentials, sshd.trust, Deadlines(), cancel, route)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
