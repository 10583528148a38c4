"""How does a connection get out through a SOCKS5 or an HTTP proxy?"""

from __future__ import annotations

import base64
import ipaddress
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.remote.address import check_host, check_port
from gpulease_gui.remote.failures import ConnectFailed, proxy_failed
from gpulease_gui.remote.masking import masked

_SLICE_S = 0.05
_HEAD_MAX_BYTES = 16 * 1024
_WAYS, _WAY = re.compile(r"(?im)^proxy-authenticate[ \t]*:(.*)$"), re.compile(r"[A-Za-z0-9-]+")
_PROXY = re.compile(r"(socks5h?|http)://(?:([^@/]*)@)?([^/@]+)/?\Z")


class ProxyKind(StrEnum):
    """Which language the proxy speaks."""

    SOCKS5 = "socks5"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that leads out of a company's network; names are resolved there. The password is never part of a text."""

    kind: ProxyKind
    host: str
    port: int
    user: str = ""
    password: Secret | None = None

    @property
    def host_port(self) -> str:
        """host:port, IPv6 in brackets."""
        return Address(self.host, self.port).host_port

    @property
    def user_at(self) -> str:
        """user@host:port: whose the password is."""
        return f"{self.user}@{self.host_port}"


def parse_proxy(text: str) -> Proxy | None:
    """`socks5://[user@]host[:port]` or `http://[user@]host[:port]` (1080 and 8080 where not said); None for "".

    Raises UsageError; also for a password in the text, which would be saved with the node.
    """
    if not text.strip():
        return None
    match = _PROXY.match(text.strip())
    if match is None:
        raise UsageError(Text("not a proxy", "不是代理地址"), "", Text("write socks5://host:port or http://host:port", "请写 socks5://host:port 或 http://host:port"))
    kind = ProxyKind.HTTP if match[1] == "http" else ProxyKind.SOCKS5
    user, place = match[2] or "", match[3]
    if ":" in unquote(user):
        raise UsageError(
            Text("a password stands in the proxy's address", "代理地址中含有密码"), Text("it would be saved in the clear", "密码会以明文保存"),
            Text("leave it out; it is asked for", "请去掉密码，需要时会向您询问"),
        )  # fmt: skip
    host, colon, port = (place, "", "") if place.endswith("]") else place.rpartition(":")
    if not colon:
        host, port = place, ""
    default = 8080 if kind is ProxyKind.HTTP else 1080
    return Proxy(kind, check_host(host.removeprefix("[").removesuffix("]")), check_port(port) if port else default, unquote(user))


def lead_through(sock: socket.socket, proxy: Proxy, target: Address, seconds: float, cancel: CancelToken) -> None:
    """Ask the proxy at the other end of `sock` to connect it to `target`. Raises ConnectFailed (proxy), Cancelled."""
    talk = _Talk(sock, proxy, target, time.monotonic() + seconds, seconds, cancel)
    if proxy.kind is ProxyKind.HTTP:
        _connect_http(talk)
    else:
        _connect_socks(talk)


@dataclass(slots=True)
class _Talk:
    """The words with a proxy, all before one deadline. Nothing is read beyond the proxy's answer."""

    sock: socket.socket
    proxy: Proxy
    target: Address
    deadline: float
    seconds: float
    cancel: CancelToken
    asked: bool = False

    def ask(self, data: bytes) -> None:
        """Send what makes the proxy connect: from now on it may be silent because the node is."""
        self.send(data)
        self.asked = True

    def send(self, data: bytes) -> None:
        self.sock.settimeout(max(_SLICE_S, self.deadline - time.monotonic()))
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise self.trouble("hung_up", Text("it hung up", "对方断开了连接")) from error

    def read(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            got += self._some(count - len(got))
        return got

    def _some(self, most: int) -> bytes:
        self.sock.settimeout(_SLICE_S)
        while time.monotonic() < self.deadline:
            self.cancel.check()
            try:
                data = self.sock.recv(most)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                raise self.trouble("hung_up", Text("it hung up", "对方断开了连接"))
            return data
        raise self._silent()

    def _silent(self) -> ConnectFailed:
        step = Text("check the proxy's address and type", "检查代理的地址和类型")
        if not self.asked:
            error = self.trouble("timeout", Text(f"no answer within {self.seconds:g} s", f"{self.seconds:g} 秒内无应答"))
        else:
            error = self.trouble("timeout", Text(f"no answer within {self.seconds:g} s; it may be waiting for the node",
                                                 f"{self.seconds:g} 秒内无应答；代理可能在等待目标节点"))  # fmt: skip
            step = Text(f"{step.en}, and whether {self.target.host_port} answers the proxy: node off, wrong address or port, firewall",
                        f"{step.zh}，并确认代理能连通 {self.target.host_port}：节点可能已关机、地址或端口有误或被防火墙拦截")  # fmt: skip
        error.next_text = step
        return error

    def trouble(self, cause: str, why: Text) -> ConnectFailed:
        return proxy_failed(self.target.host_port, self.proxy.host_port, cause, why)


_NO_USER = Text("it wants a user and password", "需要用户名和密码")
_USER_REFUSED = Text("it refuses the user or the password", "用户名或密码被拒绝")
_SOCKS_SAYS = {
    1: Text("general failure", "一般性故障"),
    2: Text("its rules forbid this connection", "规则禁止该连接"),
    3: Text("the node's network can't be reached", "目标网络不可达"),
    4: Text("the node can't be reached", "目标主机不可达"),
    5: Text("the node refused the connection", "目标拒绝连接"),
    6: Text("the connection timed out", "连接超时"),
}


def _connect_socks(talk: _Talk) -> None:
    """RFC 1928 and, with a user, RFC 1929."""
    ways = b"\0\2" if talk.proxy.user else b"\0"
    talk.send(b"\5" + bytes([len(ways)]) + ways)
    version, way = talk.read(2)
    if version != 5:
        raise talk.trouble("not_a_proxy", Text("it does not speak SOCKS5", "不是 SOCKS5 代理"))
    if way == 2 and talk.proxy.user:
        _socks_user(talk)
    elif way != 0:
        raise _socks_ways(talk)
    talk.ask(b"\5\1\0" + _socks_place(talk))
    version, code, _, kind = talk.read(4)
    if version != 5 or (code == 0 and kind not in (1, 3, 4)):
        raise talk.trouble("not_a_proxy", Text("it does not speak SOCKS5", "不是 SOCKS5 代理"))
    if code != 0:
        raise talk.trouble("refused", _SOCKS_SAYS.get(code, Text(f"it answers with code {code}", f"返回代码 {code}")))
    talk.read({1: 4, 4: 16}.get(kind) or talk.read(1)[0])
    talk.read(2)


def _socks_ways(talk: _Talk) -> ConnectFailed:
    """It takes none of the ways that were offered. With a user that is no question of the password, which it was never sent."""
    if not talk.proxy.user:
        return talk.trouble("auth", _NO_USER)
    why = Text("it lets users in neither without a login nor by user and password; others, such as GSSAPI, are not spoken here",
               "既不允许匿名也不接受用户名和密码；本程序不支持其他方式（如 GSSAPI）")  # fmt: skip
    return _by_another_way(talk.trouble("auth_way", why))


def _socks_user(talk: _Talk) -> None:
    password = talk.proxy.password.reveal() if talk.proxy.password else ""
    user, secret = talk.proxy.user.encode()[:255], password.encode()[:255]
    talk.send(bytes([1, len(user)]) + user + bytes([len(secret)]) + secret)
    if talk.read(2)[1] != 0:
        raise talk.trouble("auth", _USER_REFUSED)


def _socks_place(talk: _Talk) -> bytes:
    port = talk.target.port.to_bytes(2, "big")
    try:
        address = ipaddress.ip_address(talk.target.host)
    except ValueError:
        try:
            name = talk.target.host.encode("idna")
        except UnicodeError:  # an empty or an endless part between two dots
            raise talk.trouble("refused", Text("the node's name is no name of the DNS", "主机名不符合 DNS 规则")) from None
        if len(name) > 255:
            raise talk.trouble("refused", Text("the node's name is too long for SOCKS5", "主机名过长")) from None
        return bytes([3, len(name)]) + name + port
    return bytes([1 if address.version == 4 else 4]) + address.packed + port


def _connect_http(talk: _Talk) -> None:
    """CONNECT of RFC 9110, with Basic credentials where there is a user."""
    place = talk.target.host_port
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if talk.proxy.user:
        password = talk.proxy.password.reveal() if talk.proxy.password else ""
        token = base64.b64encode(f"{talk.proxy.user}:{password}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {token}")
    talk.ask("\r\n".join([*lines, "", ""]).encode())
    status, ways = _http_answer(talk)
    if status == 407 and ways and "basic" not in map(str.lower, ways):
        raise _other_ways(talk, ways)
    if status == 407:
        raise talk.trouble("auth", _USER_REFUSED if talk.proxy.user else _NO_USER)


def _other_ways(talk: _Talk, ways: Sequence[str]) -> ConnectFailed:
    """It lets users in by ways only that are not spoken here, such as Negotiate and NTLM."""
    names = ", ".join(ways)
    return _by_another_way(
        talk.trouble("auth_way", Text(f"it lets users in by {names} only, and none but Basic is spoken here", f"只接受 {names} 认证，本程序仅支持 Basic"))
    )


def _by_another_way(error: ConnectFailed) -> ConnectFailed:
    error.next_text = Text(
        "ask for a SOCKS5 proxy that takes user and password or an HTTP one with Basic, or run a helper on this computer that speaks it, such as px or cntlm, and name that as the proxy",
        "请改用接受用户名和密码的 SOCKS5 代理或支持 Basic 的 HTTP 代理，或在本机运行支持该认证的中转程序（如 px、cntlm），并将其设为代理",
    )
    return error


def _http_answer(talk: _Talk) -> tuple[int, tuple[str, ...]]:
    """The status, and for 407 the names of the ways to log in. Raises ConnectFailed for any other that leads nowhere."""
    head = b""
    while not head.endswith((b"\r\n\r\n", b"\n\n")):  # byte by byte: what follows belongs to SSH
        head += talk.read(1)
        if len(head) > _HEAD_MAX_BYTES or not head.startswith(b"HTTP/"[: len(head)]):
            raise talk.trouble("not_a_proxy", Text("it does not speak HTTP", "不是 HTTP 代理"))
    first = head.split(b"\n", 1)[0].rstrip(b"\r").decode("ascii", "replace")
    words = first.split(None, 2)
    status = int(words[1]) if len(words) > 1 and words[1].isascii() and words[1].isdigit() else 0
    if status != 407 and not 200 <= status < 300:
        said = visible(masked(first))[:100]
        raise talk.trouble("refused", Text(f"it answers {said!r}", f"返回 {said!r}"))
    return status, _ways_in(head) if status == 407 else ()


def _ways_in(head: bytes) -> tuple[str, ...]:
    values = _WAYS.findall(head.decode("ascii", "replace"))
    parts = (part.split() for value in values for part in value.split(","))
    return tuple(dict.fromkeys(words[0][:30] for words in parts if words and _WAY.fullmatch(words[0])))[:8]
