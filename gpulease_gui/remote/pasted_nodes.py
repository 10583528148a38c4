"""Which machines does a pasted text mean: ssh commands, addresses, tables, or what a supplier writes in a chat?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.address import Target, check_host, check_port, parse_place, person
from gpulease_gui.remote.pasted_labels import (
    LOGIN_FIELDS,
    Pair,
    is_place_like,
    label_alone,
    pairs_in,
    parted_login,
)
from gpulease_gui.remote.pasted_owners import PLACE, unclear, whose, with_place
from gpulease_gui.remote.pasted_table import Table, is_row
from gpulease_gui.remote.ssh_command import is_ssh_line, target_of_command, target_of_words

MAX_LINES = 10_000
_LINE_MAX = 2000
_DEFAULT_COLUMNS, _HOST_FIRST = ("name", "host", "port", "user", "key"), ("host", "port", "user", "key")
_PLACES = ("host", "command", "before")  # the labels that name a machine, and what stands in front of all labels
_OPTION = re.compile(r"-[A-Za-z0-9]")
# `host` or `user@host`, with or without a port, which is no name.
_ENDPOINT = re.compile(r"\S+@\S+|[\w.-]+:[0-9]+|\[[0-9a-fA-F:]+\](?::[0-9]+)?|[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_ADDRESS = re.compile(r"(?<![\w.@-])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?(?![\w.@-])")
_USUAL_USER = re.compile(r"[a-z_][a-z0-9._-]{0,31}|Administrator")
_USUAL_NAME = re.compile(r"(?![0-9.]{7,15}-)[\w.()#+-]{1,80}")  # else the sign that parts the cells may be one of a password
_ACCOUNT = re.compile("(?i)root|admin|administrator|user|ubuntu|debian|centos|ec2-user")  # no name of a node
# No address, and no name of the DNS that somebody would write: such words are passwords, too.
_BARE = re.compile(r"(?![0-9.]+\Z)(?!(?:[a-z0-9-]+\.)+[a-z]{2,}\Z)[\w.-]+")
# A line that is a node rather than what the label above it says.
_NODE = re.compile(r"(?<![\w.-])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w.-])|@[\w.-]+:[0-9]+\Z|(?i:\A(?:root|admin|administrator|user|ubuntu)@)")
_RULE = re.compile(r"[\s|:+-]*---[\s|:+-]*")
_PATH = re.compile(r"~|\.{0,2}[/\\]|[A-Za-z]:\\|%\w+%|id_|.*\.(?:pem|pub|key|ppk)\Z")


@dataclass(frozen=True, slots=True)
class ListLine:
    """One node of a pasted text, at the line where it starts: a target, or what is wrong with it, also in both languages.

    `text` is what of the line may be shown: the address that was read, or the IPv4 addresses of a line that was not understood.
    """

    number: int
    text: str
    target: Target | None
    error: str = ""
    error_text: Text = NO_TEXT


@dataclass(slots=True)
class _Entry:
    """One node while its lines are read. `said`: what labels say of it; `lines`: what each of its lines begins with (see `unclear`)."""

    number: int
    text: str = field(repr=False)
    target: Target | None = None
    error: UsageError | None = None
    said: dict[str, str] = field(default_factory=dict, repr=False)
    is_closed: bool = False
    is_word: bool = False
    lines: dict[int, str] = field(default_factory=dict)

    def stands_in(self, number: int, kind: str) -> None:
        """A line of the text says something of it."""
        if number in self.lines and kind == PLACE:
            self.lines[number] = with_place(self.lines[number])
        elif kind == PLACE or kind in LOGIN_FIELDS:
            self.lines.setdefault(number, kind)

    @property
    def has_place(self) -> bool:
        return self.target is not None or "host" in self.said or "command" in self.said

    @property
    def is_bare(self) -> bool:
        """Whether nothing but its place says that the word is a host."""
        return self.is_word and self.target is not None and not self.said

    def takes(self, pair: Pair) -> bool:
        """Whether a label may be about this node still."""
        if self.is_closed or self.error is not None or pair.field in self.said:
            return False
        return not (pair.field in _PLACES and self.has_place)

    def made(self) -> Target:
        """Raises UsageError."""
        if self.error is not None:
            raise self.error
        return _labelled(self.target, self.said)


def parse_target(text: str) -> Target:
    """`user@host:port`, `[v6]:port`, `ssh://...`, a pasted `ssh -p 34446 root@host -i KEY`, or the lines of a supplier about one node.

    Raises UsageError. A password that stands there comes as a Secret, and in no message.
    """
    lines = [line for raw in text.replace("\u2028", "\n").splitlines() if (line := raw.strip())]
    if any(len(line) > _LINE_MAX for line in lines):
        raise _too_long()
    if len(lines) == 1 and not pairs_in(lines[0], is_ssh_line(lines[0])):
        return _one(lines[0])
    entries = _entries(text.replace("\u2028", "\n"))
    if len(entries) != 1:
        raise UsageError(Text("not one node", "不是单个节点"), Text(f"the text names {len(entries)}", f"文本中有 {len(entries)} 个"), Text("paste many at once in their own dialog", "多个节点请使用“粘贴节点”"))
    return entries[0].made()


def parse_list(text: str) -> tuple[ListLine, ...]:
    """Many nodes: ssh lines, addresses, labelled lines (`主机: ... 端口: ...`), or rows of a table (tab, comma or semicolon).

    Without a header a row is `name,host,port,user,key` or `host,port,user,key`; a last cell that is no path is a password.
    Blank lines and lines that start with # are left out. A bad line is an error of its own, never of the others. A bare word is
    a host where nothing else stands; beside other nodes it may be the password that was sent below one, and is refused.
    """
    seen: dict[tuple[str, int, str], int] = {}
    entries = _entries(text.removeprefix("\ufeff"))
    bare = [entry for entry in entries if entry.is_bare]
    if len(bare) < len(entries):
        for entry in bare:
            entry.error = UsageError(
                Text("a word alone, which may be a host or a password", "仅有一个词，可能是主机，也可能是密码"), "",
                Text("write user@host, or password: and the word", "请写 user@host，或“密码：”加该词"),
            )  # fmt: skip
    return tuple(_line_of(entry, seen) for entry in entries)


def _line_of(entry: _Entry, seen: dict[tuple[str, int, str], int]) -> ListLine:
    try:
        target = entry.made()
    except UsageError as error:
        return ListLine(entry.number, _may_show(entry.text), None, str(error), error.whole_text)
    # A private address means another machine behind every jump host.
    place = (target.address.host, target.address.port, target.jump)
    if place in seen:
        same = Text(f"the same host and port as line {seen[place]}", f"与第 {seen[place]} 行的主机和端口相同")
        return ListLine(entry.number, str(target.address), None, same.en, same)
    seen[place] = entry.number
    return ListLine(entry.number, str(target.address), target)


def _entries(text: str) -> list[_Entry]:
    """The nodes of a text, and what of it was not understood; refused are those whose labels may be another's."""
    lines = text.splitlines()[:MAX_LINES]
    found = list(_read(lines))
    passed_over = [number for number, line in enumerate(lines, 1) if line.strip().startswith("#") and is_place_like(line.strip("# "))]
    for at in unclear([entry.lines for entry in found], passed_over):
        found[at].error = found[at].error or whose()
    return found


def _read(lines: Sequence[str]) -> Iterator[_Entry]:
    table = Table()
    now: _Entry | None = None
    waiting = ""
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or (line.startswith("#") and not waiting):
            continue
        if len(line) > _LINE_MAX:
            if now is not None:
                yield now
            now, waiting = _Entry(number, "…", error=_too_long(), lines={number: PLACE}), ""
            continue
        cells = table.cells_of(raw)
        if not waiting and (table.begins(cells, raw) or _RULE.fullmatch(line)):
            continue
        pairs: Sequence[Pair] = (Pair(waiting, line),) if waiting else ()
        if waiting and waiting not in _PLACES and _is_another(line):
            if now is not None:
                yield now
            now, pairs = None, (Pair("unread", ""),)  # the value was left out, or it is one
        waiting = "" if waiting or table.columns else label_alone(line)
        if waiting:
            continue
        if not pairs and not table.columns:
            pairs = pairs_in(line, is_ssh_line(line)) or _as_label(cells)
        if any(pair.field == "unread" for pair in pairs) or _are_mixed(pairs):
            if now is not None and any(pair.field in _PLACES for pair in pairs):
                yield now
                now = None
            pairs = (Pair("unread", ""),)
        elif now is not None and any(pair.field in _PLACES for pair in pairs) and not all(now.takes(pair) for pair in pairs):
            yield now  # what stands in one line with a host is about that host
            now = None
        for pair in pairs:
            if now is None or not now.takes(pair):
                if now is not None:
                    yield now
                now = _Entry(number, line)
            _take(now, pair)
            now.stands_in(number, PLACE if pair.field in _PLACES or (pair.field == "unread" and not now.lines) else pair.field)
        if not pairs:
            if now is not None:
                yield now
            now = _read_line(number, line, cells, table.columns)
    if now is not None:
        yield now


def _are_mixed(pairs: Sequence[Pair]) -> bool:
    """Whether a line names several machines and begins with a label that may be about any of them."""
    first = next((pair.field for pair in pairs if pair.field in _PLACES or pair.field in LOGIN_FIELDS), "")
    return first in LOGIN_FIELDS and sum(pair.field in _PLACES for pair in pairs) > 1


def _as_label(cells: Sequence[str]) -> tuple[Pair, ...]:
    """A row of a label and its value, such as `password<TAB>...`."""
    label = label_alone(cells[0]) if len(cells) == 2 else ""
    return (Pair(label, cells[1]),) if label in LOGIN_FIELDS and cells[1] else ()


def _may_show(text: str) -> str:
    """Of a line that was not understood: no word of it but the addresses."""
    return " … ".join(["", *_ADDRESS.findall(text[:_LINE_MAX]), ""]).strip() or "…"


def _take(entry: _Entry, pair: Pair) -> None:
    if pair.field == "unread":
        entry.error = entry.error or UsageError(
            Text("a part of the line is not understood", "该行有一部分无法识别"), "",
            Text("write user@host:port, or each label with a colon and its value", "请写 user@host:port，或每项写成“名称：值”"),
        )  # fmt: skip
        return
    if pair.field != "before":
        entry.said[pair.field] = pair.value
        return
    try:
        entry.target = _one(pair.value)
    except UsageError as error:
        entry.error = error


def _read_line(number: int, line: str, cells: Sequence[str], columns: Sequence[str]) -> _Entry:
    try:
        target = _from_row(cells, columns or _columns_of(cells)) if len(cells) > 1 else _one(line)
    except UsageError as error:
        return _Entry(number, line, error=error, lines={number: PLACE})
    alone = cells[-1] if len(cells) < (2 if columns else 3) else ""
    if not _USUAL_USER.fullmatch(target.address.user or "root") and not is_ssh_line(line):
        alone = target.address.host  # a password may have the sign that parts the cells, or a user and a host
    is_word = _BARE.fullmatch(alone) is not None
    return _Entry(number, line, target, is_closed=len(cells) > 1, is_word=is_word, lines={number: PLACE})


def _is_another(line: str) -> bool:
    """Whether a line that stands where a value should is a node of its own."""
    pairs = pairs_in(line, is_ssh_line(line))
    return is_ssh_line(line) or _NODE.search(line) is not None or any(pair.field in _PLACES for pair in pairs)


def _one(line: str) -> Target:
    """One line that stands for one node by itself. Raises UsageError."""
    if is_ssh_line(line):
        return target_of_command(line)
    plain = unicodedata.normalize("NFKC", line).strip()
    plain = plain.removeprefix("$ ").strip()
    words = plain.split()
    if len(words) > 1 and any(_OPTION.match(word) for word in words) and re.match(r"(?i)-p|[^-]", plain):
        return target_of_words(line.strip().removeprefix("$ "))
    if is_row(raw := line.split()):
        return _from_row(raw, _columns_of(raw))
    return parse_place(line.removeprefix("$ "))


def _too_long() -> UsageError:
    return UsageError(Text("the line is too long for a node", "该行过长，不像一个节点"), Text(f"at most {_LINE_MAX} characters are read", f"最多读取 {_LINE_MAX} 个字符"))


def _columns_of(cells: Sequence[str]) -> tuple[str, ...]:
    """What the cells of a row without a header are. Raises UsageError where that can't be told."""
    is_number = len(cells) > 1 and cells[1].isascii() and cells[1].isdigit()
    if not is_number and _ENDPOINT.fullmatch(cells[0]) and not (len(cells) > 1 and _ENDPOINT.fullmatch(cells[1])):
        columns: tuple[str, ...] = ("host", "user", "key")
        if len(cells) < len(columns) or "@" in cells[0]:
            raise _which(cells)
    else:
        columns = _HOST_FIRST if is_number else _DEFAULT_COLUMNS
    said = dict(zip(columns, cells, strict=False))
    before, at, _ = said["host"].rpartition("@")
    users = [re.split("[:/：／]", words, maxsplit=1)[0] for words in (said.get("user", ""), before if at else "")]
    name = said.get("name", "")
    if (name and not _USUAL_NAME.fullmatch(name)) or any(user and not _USUAL_USER.fullmatch(user) for user in users) or (at and _ACCOUNT.fullmatch(name)):
        raise _which(cells)
    last = len(columns) - 1
    if len(cells) > last and cells[last] and not _PATH.match(cells[last]):
        return (*columns[:-1], "password")
    return columns


def _which(cells: Sequence[str]) -> UsageError:
    return UsageError(
        Text(f"what each of the {len(cells)} cells is can't be told", f"无法判断这 {len(cells)} 个值各是什么"), "",
        Text("put a header over them: host, port, user, password", "请在上方加一行表头：主机、端口、用户、密码"),
    )  # fmt: skip


def _columns_are(columns: Sequence[str]) -> Text:
    return Text(f"the columns are {', '.join(columns)}", f"列为 {'、'.join(columns)}")


def _from_row(cells: Sequence[str], columns: Sequence[str]) -> Target:
    if len(cells) > len(columns):
        raise UsageError(Text(f"{len(cells)} cells for {len(columns)} columns", f"有 {len(cells)} 个值，但只有 {len(columns)} 列"), _columns_are(columns))
    said = {name: cell for name, cell in zip(columns, cells, strict=False) if cell and not name.startswith("?")}
    left = [name[1:] for name, cell in zip(columns, cells, strict=False) if cell and name.startswith("?")]
    en, zh = ", ".join(name.replace("#", "column ") for name in left), "、".join(re.sub("#(.*)", r"第 \1 列", name) for name in left)
    notes = (Text(f"not taken over: {en}", f"未采用的列：{zh}"),) if left else ()
    target = _labelled(None, said)
    return replace(target, notes=(*target.notes, *notes))


def _labelled(target: Target | None, said: dict[str, str]) -> Target:
    """What labels or columns say of one node, on top of a line that names its place. Raises UsageError."""
    plain = {name: unicodedata.normalize("NFKC", value).strip() for name, value in said.items() if name != "password"}
    if target is None:
        if "command" in plain and is_ssh_line(said["command"]):
            target = target_of_command(said["command"])
        elif "host" in plain:
            host = plain["host"].removeprefix("[").removesuffix("]")
            if label_alone(host) in LOGIN_FIELDS:
                raise UsageError(Text("a label stands where the host should", "主机地址处是一个名称标签"))
            is_place = "@" in host or host.lower().startswith("ssh://") or re.search(r"(?:\]|^[^:]*):\d+\Z", plain["host"])
            target = parse_place(said["host"]) if is_place else Target(Address(check_host(host)))
        else:
            raise UsageError(Text("no host is named", "没有主机地址"), "", Text("write user@host:port or paste the supplier's ssh line", "请写 user@host:port，或粘贴供应商给的 ssh 命令"))
    port = check_port(plain["port"]) if plain.get("port") else target.address.port
    user, password = target.address.user, target.password
    if said.get("user"):
        user, beside = person(said["user"])
        password = beside or password
    if said.get("login"):
        user, password = parted_login(said["login"])
    password = Secret(said["password"]) if said.get("password") else password
    return replace(
        target, address=Address(target.address.host, port, user), name=plain.get("name", "") or target.name,
        identity_file=plain.get("key", "") or target.identity_file, password=password,
    )  # fmt: skip
