"""Which machine does a pasted line mean?"""

from __future__ import annotations

import csv
import ipaddress
import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.text import NO_TEXT, Text

MAX_LINES = 10_000
HOPS_MAX = 8
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?\.?\Z")
_USER = re.compile(r"[!-,./0-?A-Z\[-~][!-~]{0,99}\Z")
_SSH_LINE = re.compile(r"\s*(?:\$\s+)?ssh\s")
_DEFAULT_COLUMNS = ("name", "host", "port", "user", "key")
_COLUMNS: Mapping[str, str] = {
    "name": "name", "node": "name", "名称": "name", "节点": "name", "host": "host", "ip": "host", "address": "host",
    "hostname": "host", "主机": "host", "地址": "host", "port": "port", "端口": "port", "user": "user",
    "username": "user", "用户": "user", "用户名": "user", "key": "key", "identity": "key", "密钥": "key",
}  # fmt: skip
_NO_FORWARD, _NO_X11 = Text("no forwards are opened", "不建立任何转发"), Text("X11 is never forwarded", "从不转发 X11")
_WHY_REFUSED: Mapping[str, Text] = {
    "-L": _NO_FORWARD, "-R": _NO_FORWARD, "-D": _NO_FORWARD, "-A": Text("the agent is never forwarded", "从不转发 agent"), "-X": _NO_X11, "-Y": _NO_X11,
    "-o": Text("options of a pasted line are not taken over", "不采用粘贴内容中的选项"),
    "-F": Text("another config file is not read from a pasted line", "不读取粘贴内容指定的其他配置文件"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Where a line points. `identity_file` is a path, "" = none named; several of ssh's config stand one a line, in
    the order in which they are tried. `host_key_alias` as ssh's config says.

    `jump` names the jump hosts as ssh does (`[user@]host[:port],...`, the first is reached first). `known_hosts` are
    the files that ssh's config names; () = ssh's own defaults. `notes`: what that config says and we don't follow.
    `ssh_options`: what it says of this computer's side, one option a line.
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


@dataclass(frozen=True, slots=True)
class HopName:
    """One jump host as it is written; `user` "" and `port` None where that says nothing."""

    host: str
    port: int | None = None
    user: str = ""


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line of a pasted list: a target, or what is wrong with it, also in both languages."""

    number: int
    text: str
    target: Target | None
    error: str = ""
    error_text: Text = NO_TEXT


def parse_target(text: str) -> Target:
    """`user@host:port`, `[v6]:port`, `ssh://...` or a pasted `ssh -p 34446 root@host -i KEY`. Raises UsageError."""
    line = unicodedata.normalize("NFKC", text).strip().removeprefix("$ ").strip()
    if _SSH_LINE.match(line):
        return _from_ssh_line(line)
    return Target(parse_address(line.removeprefix("ssh://").rstrip("/")))


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
    return tuple(_hop_name(word) for word in words)


def _hop_name(word: str) -> HopName:
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


def _from_ssh_line(line: str) -> Target:
    try:
        words = shlex.split(line)[1:]
    except ValueError:
        raise UsageError(Text(f"a quote is not closed in {line!r}", f"{line!r} 中有引号未闭合")) from None
    values, places = _options(words)
    if len(places) != 1:
        raise _no_single_host(places)
    place = places[0].removeprefix("ssh://")
    address = parse_address(place)
    port = check_port(values["-p"]) if "-p" in values else address.port
    user = check_user(values["-l"]) if "-l" in values else address.user
    return Target(Address(address.host, port, user), identity_file=values.get("-i", ""), jump=_jump_of(values))


def _no_single_host(places: Sequence[str]) -> UsageError:
    if not places:
        return UsageError(Text("no host in the ssh line", "ssh 命令中没有主机"))
    more = " ".join(places[1:])
    return UsageError(
        Text(f"more than a host in the ssh line: {more!r}", f"ssh 命令中除主机外还有内容：{more!r}"),
        Text("a remote command is not taken over", "不采用远程命令"),
    )


def _columns_are(columns: Sequence[str]) -> Text:
    return Text(f"the columns are {', '.join(columns)}", f"列为 {'、'.join(columns)}")


def _jump_of(values: Mapping[str, str]) -> str:
    jump = values.get("-J", "")
    return jump if parse_jump(jump) else ""


def _options(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    values: dict[str, str] = {}
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            places.append(word)
            continue
        option, value = word[:2], word[2:]
        if option not in ("-p", "-i", "-l", "-J"):
            name = word if word.startswith("--") else option
            why = _WHY_REFUSED.get(name, Text("only -p, -i, -l and -J are taken over", "只采用 -p、-i、-l 和 -J"))
            raise UsageError(Text(f"the option {name} of the ssh line is refused", f"不支持 ssh 命令中的选项 {name}"), why, Text("leave it out", "请去掉它"))
        value = value or next(rest, "")
        if not value or value.startswith("-"):
            raise UsageError(Text(f"the option {option} of the ssh line has no value", f"ssh 命令中的选项 {option} 没有值"))
        values[option] = value
    return values, places


def parse_list(text: str) -> tuple[ListLine, ...]:
    """Many nodes: ssh lines, addresses, or rows `name,host,port,user,key` (comma, semicolon or tab; header optional).

    Blank lines and lines that start with # are left out. A bad line is an error of its own, never of the others.
    """
    return tuple(_list_lines(text.removeprefix("\ufeff")))


def _list_lines(text: str) -> Iterator[ListLine]:
    columns: Sequence[str] = _DEFAULT_COLUMNS
    seen: dict[tuple[str, int, str], int] = {}
    for number, raw in enumerate(text.splitlines()[:MAX_LINES], 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        cells = _cells(line)
        header = _header(cells)
        if header is not None:
            columns = header
            continue
        yield _list_line(number, line, cells, columns, seen)


def _list_line(
    number: int, line: str, cells: Sequence[str], columns: Sequence[str], seen: dict[tuple[str, int, str], int]
) -> ListLine:
    try:
        target = _from_row(cells, columns) if len(cells) > 1 else parse_target(line)
    except UsageError as error:
        return ListLine(number, line, None, str(error), error.whole_text)
    # A private address means another machine behind every jump host.
    place = (target.address.host, target.address.port, target.jump)
    if place in seen:
        same = Text(f"the same host and port as line {seen[place]}", f"与第 {seen[place]} 行的主机和端口相同")
        return ListLine(number, line, None, same.en, same)
    seen[place] = number
    return ListLine(number, line, target)


def _cells(line: str) -> list[str]:
    normal = unicodedata.normalize("NFKC", line)
    if _SSH_LINE.match(normal):  # the comma of its -J parts jump hosts, not cells
        return [line]
    for delimiter in ("\t", ",", ";"):
        if delimiter in normal:
            return [cell.strip() for cell in next(csv.reader([normal], delimiter=delimiter, skipinitialspace=True))]
    return [line]


def _header(cells: Sequence[str]) -> tuple[str, ...] | None:
    names = [cell.lower() for cell in cells]
    columns = tuple(_COLUMNS.get(name, name) for name in names)
    return columns if len(cells) > 1 and "host" in columns and set(names) & set(_COLUMNS) else None


def _from_row(cells: Sequence[str], columns: Sequence[str]) -> Target:
    unknown = [name for name in columns if name not in _DEFAULT_COLUMNS]
    if unknown:
        raise UsageError(Text(f"unknown column {unknown[0]!r}", f"未知的列 {unknown[0]!r}"), _columns_are(_DEFAULT_COLUMNS))
    if len(cells) > len(columns):
        raise UsageError(Text(f"{len(cells)} cells for {len(columns)} columns", f"有 {len(cells)} 个值，但只有 {len(columns)} 列"), _columns_are(columns))
    row = dict(zip(columns, cells, strict=False))
    user = check_user(row["user"]) if row.get("user") else "root"
    port = check_port(row["port"]) if row.get("port") else 22
    host = row.get("host", "").removeprefix("[").removesuffix("]")
    return Target(Address(check_host(host), port, user), row.get("name", ""), row.get("key", ""))
