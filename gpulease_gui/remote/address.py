"""Which machine does an address mean?"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text

HOPS_MAX = 8
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?\.?\Z")
_USER = re.compile(r"[!-,./0-?A-Z\[-~][!-~]{0,99}\Z")
_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_AT, _PARTING = "@＠﹫", re.compile("[:/：／﹕]")
# Signs that part words or cells and stand in no login name, and an address in its place.
_NO_USER = re.compile(rf"[,;|<>\"'=()\[\]{{}}]|\A{_ADDRESS}")
# An address that goes on is a row whose cells nobody parted.
_NO_HOST = re.compile(rf"{_ADDRESS}[^.0-9]")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a line points. `identity_file` is a path, "" = none named; several of ssh's config stand one a line, in
    the order in which they are tried. `host_key_alias` as ssh's config says.

    `jump` names the jump hosts as ssh does (`[user@]host[:port],...`, the first is reached first). `known_hosts` are
    the files that ssh's config names; () = ssh's own defaults. `notes`: what that config says and we don't follow.
    `ssh_options`: what it says of this computer's side, one option a line. `password`: of a pasted line; it is never saved.
    `no_key_file`: the config wants none (`IdentityFile none`), other than where it names none.
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
    no_key_file: bool = False


@dataclass(frozen=True, slots=True)
class HopName:
    """One jump host as it is written; `user` "" and `port` None where that says nothing."""

    host: str
    port: int | None = None
    user: str = ""


def parse_place(text: str) -> Target:
    """`[user@]host[:port]`, `[v6]:port` or `ssh://...`; full-width letters are taken as plain ones. Raises UsageError."""
    place, password = read_place(text)
    return Target(Address(place.host, place.port or 22, place.user or "root"), password=password)


def parse_jump(text: str) -> tuple[HopName, ...]:
    """The jump hosts of `[user@]host[:port],...` (`ssh -J`); `none` and "" are none. Raises UsageError, for a password, too."""
    words = [word.strip() for word in text.split(",")]
    if words in ([""], ["none"]):
        return ()
    if len(words) > HOPS_MAX:
        raise UsageError(Text(f"{len(words)} jump hosts in a row", f"连续 {len(words)} 个跳板机"), Text(f"at most {HOPS_MAX} are followed", f"最多支持 {HOPS_MAX} 个"))
    return tuple(_hop(word) for word in words)


def _hop(word: str) -> HopName:
    hop, password = read_place(word)
    if password is not None:
        raise UsageError(
            Text("a password stands beside a jump host", "跳板机地址中含有密码"),
            Text("what follows the user and : or / would be saved in the clear", "用户名后 : 或 / 之后的内容会以明文保存"),
            Text("leave it out; it is asked for", "请去掉密码，需要时会向您询问"),
        )  # fmt: skip
    return hop


def read_place(text: str) -> tuple[HopName, Secret | None]:
    """`[user[:password]@]host[:port]`, also behind ssh://, and the password. Raises UsageError, which repeats nothing of it."""
    line = text.strip()
    is_url = _plain(line[:6]).lower() == "ssh://"
    line = line[6:] if is_url else line
    at = max(line.rfind(sign) for sign in _AT)
    place = _plain(line[at + 1 :])
    host, port = _split_port(place.rstrip("/") if is_url else place)
    user, password = person(line[:at], is_url=is_url) if at >= 0 else ("", None)
    return HopName(check_host(host), check_port(port) if port else None, user), password


def person(text: str, *, is_url: bool = False) -> tuple[str, Secret | None]:
    """The user of `user`, `user:password` or `user/password`, whose password is kept letter by letter. Raises UsageError, which repeats nothing of it.

    Wherever a user is typed or pasted this decides. A user name that has such a sign itself can be written in an ssh config only.
    """
    signs = _PARTING.search(text)
    name, rest = (text[: signs.start()], text[signs.end() :]) if signs else (text, "")
    name, rest = (unquote(name), unquote(rest)) if is_url else (name, rest)
    name = _plain(name)
    if (name or not is_url) and (not _USER.match(name) or _NO_USER.search(name)):
        raise _no_user()
    # `root@host:password` with a further @ in the password, and `root: password@...` of a chat.
    if rest and ("@" in name or any(sign.isspace() for sign in rest)):
        raise _no_user()
    if rest.startswith("//"):
        raise UsageError(Text("an address of another kind than ssh://", "不是 ssh:// 地址"))
    return name, Secret(rest) if rest else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _split_port(text: str) -> tuple[str, str]:
    bracketed = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", text)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    if text.count(":") > 1:  # a bare IPv6 address: a port could not be told from its last group
        return text, ""
    host, colon, port = text.partition(":")
    if colon and not port:
        raise UsageError(Text("no port after the colon", "冒号后没有端口"))
    return host, port


def check_host(host: str) -> str:
    """A host name or IP address that no program takes for an option. Raises UsageError, which repeats nothing but an IPv4 address."""
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            raise UsageError(Text("not an IPv6 address", "不是 IPv6 地址"), "", Text("write [address]:port", "请写 [地址]:端口")) from None
        return host
    if re.fullmatch(r"[0-9.]+", host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            shown, shown_zh = (f": {host}", f"：{host}") if re.fullmatch(_ADDRESS, host) else ("", "")
            raise UsageError(Text(f"not an IPv4 address{shown}", f"不是 IPv4 地址{shown_zh}")) from None
    if not _HOST.match(host) or _NO_HOST.match(host):
        step = Text("write user@host:port or paste the supplier's ssh line", "请写 user@host:port，或粘贴供应商给的 ssh 命令")
        raise UsageError(Text("not a host name", "不是主机名"), "", step)
    return host


def check_port(text: str) -> int:
    """A port. Raises UsageError, which does not repeat it: it may be a password."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise UsageError(Text("not a port from 1 to 65535", "不是 1 到 65535 的端口"))
    return int(text)


def check_user(text: str) -> str:
    """A user name without blanks, as a record or an ssh config has it, that no program takes for an option. Raises UsageError, which does not repeat it."""
    if not _USER.match(text):
        raise _no_user()
    return text


def _no_user() -> UsageError:
    return UsageError(Text("not a user name", "不是用户名"))
