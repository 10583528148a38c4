"""Which machine does an address mean?"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass, replace
from urllib.parse import unquote

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text

HOPS_MAX = 8
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?\.?\Z")
_USER = re.compile(r"[!-,./0-?A-Z\[-~][!-~]{0,99}\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a line points. `identity_file` is a path, "" = none named; several of ssh's config stand one a line, in
    the order in which they are tried. `host_key_alias` as ssh's config says.

    `jump` names the jump hosts as ssh does (`[user@]host[:port],...`, the first is reached first). `known_hosts` are
    the files that ssh's config names; () = ssh's own defaults. `notes`: what that config says and we don't follow.
    `ssh_options`: what it says of this computer's side, one option a line. `password`: of a pasted line; it is never saved.
    """

    address: Address
    name: str = ""
    identity_file: str = ""
    host_key_alias: str = ""
    jump: str = ""
    certificate_file: str = ""
    known_hosts: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()
    ssh_options: str = ""
    password: Secret | None = None


@dataclass(frozen=True, slots=True)
class HopName:
    """One jump host as it is written; `user` "" and `port` None where that says nothing."""

    host: str
    port: int | None = None
    user: str = ""


def parse_place(text: str) -> Target:
    """`[user@]host[:port]`, `[v6]:port` or `ssh://...`; full-width letters are taken as plain ones. Raises UsageError.

    A password in an address, `user:password@host`, is a Secret at once. A user name with a colon can be typed into its own field.
    """
    line = unicodedata.normalize("NFKC", text).strip()
    is_url = line.lower().startswith("ssh://")
    person, at, place = (line[6:].rstrip("/") if is_url else line).rpartition("@")
    user, colon, _ = person.partition(":")
    raw = text.strip()[6 if is_url else 0 :].rpartition("@")[0].replace("：", ":").split(":", 1)
    found = Target(parse_address(f"{user}{at}{place}" if user or not is_url else place))
    if not colon or len(raw) < 2 or not raw[1]:
        return found
    return replace(found, password=Secret(unquote(raw[1]) if is_url else raw[1]))


def parse_address(text: str) -> Address:
    """`[user@]host[:port]`; user root and port 22 where not said. Raises UsageError."""
    user, host_port = "root", text
    if "@" in text:
        user, host_port = text.rsplit("@", 1)
    host, port = _split_port(host_port)
    return Address(check_host(host), check_port(port) if port else 22, check_user(user))


def parse_jump(text: str) -> tuple[HopName, ...]:
    """The jump hosts of `[user@]host[:port],...` (`ssh -J`); `none` and "" are none. Raises UsageError."""
    words = [word.strip().removeprefix("ssh://").rstrip("/") for word in text.split(",")]
    if words in ([""], ["none"]):
        return ()
    if len(words) > HOPS_MAX:
        raise UsageError(Text(f"{len(words)} jump hosts in a row", f"连续 {len(words)} 个跳板机"), Text(f"at most {HOPS_MAX} are followed", f"最多支持 {HOPS_MAX} 个"))
    return tuple(hop_name(word) for word in words)


def hop_name(word: str) -> HopName:
    """One jump host, `[user@]host[:port]`. Raises UsageError."""
    user, _, place = word.rpartition("@")
    host, port = _split_port(place)
    return HopName(check_host(host), check_port(port) if port else None, check_user(user) if user else "")


def _split_port(text: str) -> tuple[str, str]:
    bracketed = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", text)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    if text.count(":") > 1:  # a bare IPv6 address: a port could not be told from its last group
        return text, ""
    host, colon, port = text.partition(":")
    if colon and not port:
        raise UsageError(Text(f"no port after the colon in {text!r}", f"{text!r} 的冒号后没有端口"))
    return host, port


def check_host(host: str) -> str:
    """A host name or IP address that no program takes for an option. Raises UsageError."""
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            raise UsageError(Text(f"not an IPv6 address: {host!r}", f"不是 IPv6 地址：{host!r}"), "", Text("write [address]:port", "请写 [地址]:端口")) from None
        return host
    if re.fullmatch(r"[0-9.]+", host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise UsageError(Text(f"not an IPv4 address: {host!r}", f"不是 IPv4 地址：{host!r}")) from None
    if not _HOST.match(host):
        step = Text("write user@host:port or paste the supplier's ssh line", "请写 user@host:port，或粘贴供应商给的 ssh 命令")
        raise UsageError(Text(f"not a host name: {host!r}", f"不是主机名：{host!r}"), "", step)
    return host


def check_port(text: str) -> int:
    """A port. Raises UsageError."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise UsageError(Text(f"not a port from 1 to 65535: {text!r}", f"不是 1 到 65535 的端口：{text!r}"))
    return int(text)


def check_user(text: str) -> str:
    """A user name without blanks that no program takes for an option. Raises UsageError."""
    if not _USER.match(text):
        raise UsageError(Text(f"not a user name: {text!r}", f"不是用户名：{text!r}"))
    return text
