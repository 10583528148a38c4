"""Which machines does a pasted text mean: ssh commands, addresses, tables, or what a supplier writes in a chat?"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.address import Target, check_host, check_port, check_user, parse_place
from gpulease_gui.remote.pasted_labels import Pair, are_all_labels, fields_of_header, label_alone, pairs_in
from gpulease_gui.remote.ssh_command import is_ssh_line, target_of_command, target_of_words

MAX_LINES = 10_000
_LINE_MAX = 2000
_DEFAULT_COLUMNS, _HOST_FIRST = ("name", "host", "port", "user", "key"), ("host", "port", "user", "key")
_OPTION = re.compile(r"-[A-Za-z0-9]")
_DELIMITERS = ("\t", ",", "，", ";", "；")
_PATH = re.compile(r"~|\.{0,2}[/\\]|[A-Za-z]:\\|%\w+%|id_|.*\.(?:pem|pub|key|ppk)\Z")
_DOTS = "•••"


@dataclass(frozen=True, slots=True)
class ListLine:
    """One node of a pasted text, at the line where it starts: a target, or what is wrong with it, also in both languages.

    `text` is that line with dots in place of a password.
    """

    number: int
    text: str
    target: Target | None
    error: str = ""
    error_text: Text = NO_TEXT


@dataclass(slots=True)
class _Entry:
    """One node while its lines are read. `said`: what labels say of it."""

    number: int
    text: str
    target: Target | None = None
    error: UsageError | None = None
    said: dict[str, str] = field(default_factory=dict, repr=False)
    is_closed: bool = False

    @property
    def has_place(self) -> bool:
        return self.target is not None or "host" in self.said or "command" in self.said

    def takes(self, pair: Pair) -> bool:
        """Whether a label may be about this node still."""
        if self.is_closed or self.error is not None or pair.field in self.said:
            return False
        return not (pair.field in ("host", "command") and self.has_place)

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
    entries = list(_entries(text.replace("\u2028", "\n")))
    if len(entries) != 1:
        raise UsageError(Text("not one node", "不是单个节点"), Text(f"the text names {len(entries)}", f"文本中有 {len(entries)} 个"), Text("paste many at once in their own dialog", "多个节点请使用“粘贴节点”"))
    return entries[0].made()


def parse_list(text: str) -> tuple[ListLine, ...]:
    """Many nodes: ssh lines, addresses, labelled lines (`主机: ... 端口: ...`), or rows of a table (tab, comma or semicolon).

    Without a header a row is `name,host,port,user,key` or `host,port,user,key`; a last cell that is no path is a password.
    Blank lines and lines that start with # are left out. A bad line is an error of its own, never of the others.
    """
    seen: dict[tuple[str, int, str], int] = {}
    return tuple(_line_of(entry, seen) for entry in _entries(text.removeprefix("\ufeff")))


def _line_of(entry: _Entry, seen: dict[tuple[str, int, str], int]) -> ListLine:
    try:
        target = entry.made()
    except UsageError as error:
        return ListLine(entry.number, entry.text, None, str(error), error.whole_text)
    # A private address means another machine behind every jump host.
    place = (target.address.host, target.address.port, target.jump)
    if place in seen:
        same = Text(f"the same host and port as line {seen[place]}", f"与第 {seen[place]} 行的主机和端口相同")
        return ListLine(entry.number, entry.text, None, same.en, same)
    seen[place] = entry.number
    return ListLine(entry.number, entry.text, target)


def _entries(text: str) -> Iterator[_Entry]:
    table = _Table()
    now: _Entry | None = None
    waiting = ""
    for number, raw in enumerate(text.splitlines()[:MAX_LINES], 1):
        line = raw.strip()
        if not line or (line.startswith("#") and not waiting):
            continue
        if len(line) > _LINE_MAX:
            if now is not None:
                yield now
            now, waiting = _Entry(number, f"{line[:20]}…", error=_too_long()), ""
            continue
        cells = table.cells_of(line)
        if not waiting and table.begins(cells, line):
            continue
        pairs: Sequence[Pair] = (Pair(waiting, line),) if waiting else ()
        waiting = "" if waiting or table.columns else label_alone(line)
        if waiting:
            continue
        if not pairs and not table.columns:
            pairs = pairs_in(line, is_ssh_line(line))
        for pair in pairs:
            if now is None or not now.takes(pair):
                if now is not None:
                    yield now
                now = _Entry(number, _without(line, pairs))
            _take(now, pair)
        if not pairs:
            if now is not None:
                yield now
            now = _read_line(number, line, cells, table.columns)
    if now is not None:
        yield now


def _without(line: str, pairs: Sequence[Pair]) -> str:
    return _hidden(line, [pair.value for pair in pairs if pair.field == "password"])


def _hidden(line: str, words: Sequence[str]) -> str:
    """With dots in place of each of the words, in one pass."""
    found = "|".join(map(re.escape, filter(None, words)))
    return re.sub(found, _DOTS, line) if found else line


def _take(entry: _Entry, pair: Pair) -> None:
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
        return _Entry(number, _shown(line, cells, columns), error=error)
    text = _hidden(line, [target.password.reveal()]) if target.password else line
    return _Entry(number, text, target, is_closed=len(cells) > 1)


def _shown(line: str, cells: Sequence[str], columns: Sequence[str]) -> str:
    """A row that can't be read, without what stands in its column of passwords, or may be one."""
    names = columns or (_columns_of(cells) if len(cells) > 1 else ())
    line = _hidden(line, [cell for name, cell in zip(names, cells, strict=False) if name == "password"])
    return re.sub(r"(?i)(sshpass\s+-p\s*|SSHPASS=)(?:'[^']*'|\"[^\"]*\"|\S+)", rf"\1{_DOTS}", re.sub(r"(?i)((?:ssh://|^|(?<=\s))[^:/@\s]*:)[^\s]*@", rf"\1{_DOTS}@", line))


def _one(line: str) -> Target:
    """One line that stands for one node by itself. Raises UsageError."""
    if is_ssh_line(line):
        return target_of_command(line)
    plain = unicodedata.normalize("NFKC", line).strip()
    plain = plain.removeprefix("$ ").strip()
    words = plain.split()
    if len(words) > 1 and any(_OPTION.match(word) for word in words) and re.match(r"(?i)-p|[^-]", plain):
        return target_of_words(plain)
    if _is_row(raw := line.split()):
        return _from_row(raw, _columns_of(raw))
    return parse_place(line.removeprefix("$ "))


def _too_long() -> UsageError:
    return UsageError(Text("the line is too long for a node", "该行过长，不像一个节点"), Text(f"at most {_LINE_MAX} characters are read", f"最多读取 {_LINE_MAX} 个字符"))


def _is_row(words: Sequence[str]) -> bool:
    """`203.0.113.9 34446 root ...`, as a chat has it."""
    return 2 <= len(words) <= 4 and bool(re.fullmatch(r"[\w.:-]*[.:][\w.:-]*", words[0])) and words[1].isascii() and words[1].isdigit()


def _columns_of(cells: Sequence[str]) -> tuple[str, ...]:
    """What the cells of a row without a header are."""
    columns = _HOST_FIRST if len(cells) > 1 and cells[1].isascii() and cells[1].isdigit() else _DEFAULT_COLUMNS
    last = len(columns) - 1
    if len(cells) > last and cells[last] and not _PATH.match(cells[last]):
        return (*columns[:-1], "password")
    return columns


@dataclass(slots=True)
class _Table:
    """A table in the text: the fields of its columns and what parts its cells, once a header has told them."""

    columns: Sequence[str] = ()
    delimiter: str = ""

    def begins(self, cells: Sequence[str], line: str) -> bool:
        """Whether the row is a header."""
        fields = fields_of_header(cells)
        if fields:
            self.columns, self.delimiter = fields, next((sign for sign in _DELIMITERS if sign in line), " ")
        return bool(fields)

    def cells_of(self, line: str) -> list[str]:
        """The cells of a row, letter by letter; one where it is none."""
        if not self.columns and is_ssh_line(line):  # the comma of its -J parts jump hosts, not cells
            return [line]
        words = line.split()
        if self.delimiter == " " or (not self.delimiter and "\t" not in line and _is_row(words)):
            return words if self.delimiter != " " or len(words) == len(self.columns) or fields_of_header(words) else [line]
        for delimiter in _DELIMITERS:
            if delimiter in line:
                return _parted(line, delimiter)
        return words if fields_of_header(words) and are_all_labels(words) else [line]


def _parted(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
    except csv.Error:
        return [line]


def _columns_are(columns: Sequence[str]) -> Text:
    return Text(f"the columns are {', '.join(columns)}", f"列为 {'、'.join(columns)}")


def _from_row(cells: Sequence[str], columns: Sequence[str]) -> Target:
    if len(cells) > len(columns):
        raise UsageError(Text(f"{len(cells)} cells for {len(columns)} columns", f"有 {len(cells)} 个值，但只有 {len(columns)} 列"), _columns_are(columns))
    said = {name: cell for name, cell in zip(columns, cells, strict=False) if cell and not name.startswith("?")}
    left = [name[1:] for name, cell in zip(columns, cells, strict=False) if cell and name.startswith("?")]
    names = "、".join(left)
    notes = (Text(f"not taken over: {', '.join(left)}", f"未采用的列：{names}"),) if left else ()
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
            is_place = "@" in host or host.lower().startswith("ssh://") or re.search(r"(?:\]|^[^:]*):\d+\Z", plain["host"])
            target = parse_place(plain["host"]) if is_place else Target(Address(check_host(host)))
        else:
            raise UsageError(Text("no host is named", "没有主机地址"), "", Text("write user@host:port or paste the supplier's ssh line", "请写 user@host:port，或粘贴供应商给的 ssh 命令"))
    port = check_port(plain["port"]) if plain.get("port") else target.address.port
    user = check_user(plain["user"]) if plain.get("user") else target.address.user
    password = Secret(said["password"]) if said.get("password") else target.password
    return replace(
        target, address=Address(target.address.host, port, user), name=plain.get("name", "") or target.name,
        identity_file=plain.get("key", "") or target.identity_file, password=password,
    )  # fmt: skip
