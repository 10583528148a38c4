"""What does a pasted ssh command ask for, word by word as ssh reads them, and what of it has no meaning here?"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import HopName, Target, check_host, check_port, parse_jump, person, read_place

_FLAGS, _VALUED = frozenset("46AaCfGgKkMNnqsTtVvXxYy"), frozenset("BbcDEeFIiJLlmOoPpQRSWw")
_KEYWORDS = {"p": "port", "i": "identityfile", "J": "proxyjump", "b": "bindaddress", "B": "bindinterface", "c": "ciphers", "m": "macs"}
_NO_FORWARD, _NO_X11 = Text("no forwards are opened", "不建立任何转发"), Text("X11 is never forwarded", "从不转发 X11")
_WHY_LEFT: Mapping[str, Text] = {
    **dict.fromkeys("LRDWw", _NO_FORWARD), **dict.fromkeys("XY", _NO_X11), "A": Text("the agent is never forwarded", "从不转发 agent"),
    "F": Text("another config file is not read from a pasted line", "不读取粘贴内容指定的其他配置文件"),
    "I": Text("keys on cards sign through an agent", "智能卡中的密钥须通过 agent 使用"), "C": Text("nothing is compressed", "不压缩"),
    "f": Text("only commands of this program run", "只运行本程序的命令"), "s": Text("only commands of this program run", "只运行本程序的命令"),
    "t": Text("no terminal is asked for", "不请求终端"), "P": Text("no tag of an ssh config is chosen", "不选择 ssh 配置的标签"),
}  # fmt: skip
_IDLE = Text("it changes nothing here", "在此不起作用")
# In front may stand a prompt or a label, then sshpass.
_LINE = re.compile(
    r"(?:[^\r\n]{0,200}?[$#>%:：\]】]\s*|\s*)((?:SSHPASS=\S+\s+)?(?:sshpass\s[^\r\n]*?\s)?(?:[^\s'\"@]*[/\\])?ssh(?:\.exe)?\s[^\r\n]*)", re.IGNORECASE
)
_DASHES = re.compile("[‐-―−－](?=[0-9A-Za-z])")  # a chat makes one of a hyphen
_PATH_OF_WINDOWS = re.compile(r"'[^']*'|\\(?=[\w.~%-])")
# What chats and web pages put in place of a blank.
_BLANKS = {0x3000: " ", 0xA0: " "}


def is_ssh_line(line: str) -> bool:
    """Whether an ssh command stands in a line, behind a prompt perhaps."""
    return _LINE.match(line.translate(_BLANKS)) is not None


def target_of_command(line: str) -> Target:
    """What `ssh -p 34446 root@host -i KEY` leads to; also behind sshpass, whose password comes as a Secret. Raises UsageError."""
    match = _LINE.match(line.translate(_BLANKS))
    assert match is not None
    return _target(*_without_sshpass(_words(match[1])))


def target_of_words(line: str) -> Target:
    """The same of what stands behind the word ssh: `root@host -p 34446`. Raises UsageError."""
    return _target(_words(line.translate(_BLANKS)), None)


def _words(line: str) -> list[str]:
    """As a shell parts them, but for the backslashes of a Windows path."""
    kept = _PATH_OF_WINDOWS.sub(lambda found: found[0] if found[0] != "\\" else "\\\\", line)
    try:
        return shlex.split(kept)
    except ValueError:
        raise UsageError(Text("a quote is not closed in the ssh line", "ssh 命令中有引号未闭合")) from None


def _without_sshpass(words: list[str]) -> tuple[list[str], Secret | None]:
    """The words behind ssh, and the password: it is never normalised."""
    password = None
    if words[0].upper().startswith("SSHPASS="):
        password, words = Secret(words[0].partition("=")[2]), words[1:]
    if words[0].lower() != "sshpass":
        return words[1:], password
    rest = iter(words[1:])
    for word in rest:
        if re.fullmatch(r"(?i)(?:.*[/\\])?ssh(?:\.exe)?", word):
            return list(rest), password
        if word.startswith("-p"):
            password = Secret(word[2:] or next(rest, ""))
        elif word in ("-f", "-d", "-P"):
            next(rest, "")
    raise UsageError(Text("no ssh command behind sshpass", "sshpass 之后没有 ssh 命令"))


@dataclass(slots=True)
class _Read:
    """What was read so far; of each keyword the first value counts, as in ssh."""

    said: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Text] = field(default_factory=list)
    place: HopName | None = None
    user: str = ""
    password: Secret | None = None

    def take_person(self, user: str, password: Secret | None) -> None:
        """The first user counts, with the password that stands beside that one."""
        if not self.user:
            self.user, self.password = user, password

    def say(self, keyword: str, value: str) -> None:
        self.said.setdefault(keyword, []).append(value)

    def leave(self, letter: str) -> None:
        why = _WHY_LEFT.get(letter, _IDLE)
        note = Text(f"-{letter} is not taken over: {why.en}", f"未采用 -{letter}：{why.zh}")
        if note not in self.notes:
            self.notes.append(note)

    def first(self, keyword: str) -> str:
        return next(iter(self.said.get(keyword, ())), "")


def _plain(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word)
    return _DASHES.sub("-", plain, count=1) if plain[:1] > "\x7f" else plain


def _target(words: Sequence[str], password: Secret | None) -> Target:
    """Of words as they were typed: a password among them is never normalised. No error repeats a word that was not understood."""
    read = _Read()
    rest = iter(words)
    for word in rest:
        plain = _plain(word)
        if plain == "--":
            continue
        if plain.startswith("--"):
            raise UsageError(
                Text("an option with two hyphens in the ssh line is refused", "不支持 ssh 命令中以两个连字符开头的选项"),
                Text("ssh has none such", "ssh 没有该选项"), Text("leave it out", "请去掉它"),
            )  # fmt: skip
        if plain.startswith("-"):
            _take_options(word, rest, read)
        elif read.place is None:
            _take_place(word, read)
        else:
            count = 1 + sum(1 for _ in rest)
            raise UsageError(
                Text(f"more than a host in the ssh line: {count} more behind it", f"ssh 命令中除主机外还有内容：其后还有 {count} 个词"),
                Text("a remote command is not taken over", "不采用远程命令"),
            )  # fmt: skip
    if read.place is None:
        raise UsageError(Text("no host in the ssh line", "ssh 命令中没有主机"))
    return _made(read, read.place, password or read.password)


def _take_place(word: str, read: _Read) -> None:
    read.place, password = read_place(word)
    if read.place.user:
        read.take_person(read.place.user, password)
    if read.place.port:
        read.say("port", str(read.place.port))


def _take_options(word: str, rest: Iterator[str], read: _Read) -> None:
    """One word of options, such as `-vNp 22`."""
    letters = _plain(word)[1:]
    if not letters:
        raise UsageError(Text("a lone hyphen in the ssh line", "ssh 命令中有单独的连字符"))
    for at, letter in enumerate(letters):
        if letter in _FLAGS:
            if letter in "46":
                read.say("addressfamily", "inet" if letter == "4" else "inet6")
            else:
                read.leave(letter)
            continue
        if letter not in _VALUED:
            if not re.match("[A-Za-z0-9]", letter):
                raise UsageError(Text("an option of the ssh line is no letter", "ssh 命令中有不是字母的选项"))
            raise UsageError(Text(f"the option -{letter} of the ssh line is refused", f"不支持 ssh 命令中的选项 -{letter}"), Text("ssh has none such", "ssh 没有该选项"), Text("leave it out", "请去掉它"))
        raw = word[at + 2 :] or next(rest, "")
        value = unicodedata.normalize("NFKC", raw)
        if not value or (value.startswith("-") and letter in "piJlo"):
            if not re.match("[A-Za-z0-9]", letter):
                raise UsageError(Text("an option of the ssh line is no letter", "ssh 命令中有不是字母的选项"))
            raise UsageError(Text(f"the option -{letter} of the ssh line has no value", f"ssh 命令中的选项 -{letter} 没有值"))
        _take_value(letter, value, raw, read)
        return


def _take_value(letter: str, value: str, raw: str, read: _Read) -> None:
    if letter == "o":
        _take_option(value, raw, read)
    elif letter == "l":
        read.take_person(*person(raw))
    elif letter == "P" and value.isascii() and value.isdigit():  # that of scp and PuTTY; a tag of ssh is a word
        read.say("port", value)
        read.notes.append(Text(f"-P {value} is taken as the port, which is -p", f"-P {value} 按端口（-p）处理"))
    elif letter == "J" and "proxyjump" in read.said:
        raise UsageError(Text("two -J in the ssh line", "ssh 命令中有两个 -J"), "", Text("join the jump hosts with commas", "请用逗号连接各跳板机"))
    elif letter in _KEYWORDS:
        read.say(_KEYWORDS[letter], value)
    else:
        read.leave(letter)


def _take_option(value: str, raw: str, read: _Read) -> None:
    from gpulease_gui.remote.ssh_line_options import read_option  # few lines need it

    line = read_option(value)
    if line.keyword == "user":
        read.take_person(*person(" ".join(read_option(raw).words)))
    elif line.keyword in ("userknownhostsfile", "globalknownhostsfile"):
        read.said.setdefault(line.keyword, list(line.words))
    else:
        read.say(line.keyword, " ".join(line.words))


def _made(read: _Read, place: HopName, password: Secret | None) -> Target:
    host = check_host(read.first("hostname").replace("%h", place.host) or place.host)
    port = check_port(read.first("port")) if read.first("port") else 22
    jump = read.first("proxyjump")
    jump = jump if parse_jump(jump) else ""
    address = Address(host, port, read.user or "root")
    name = place.host if host != place.host else ""
    plain = Target(address, name, "\n".join(dict.fromkeys(read.said.get("identityfile", ()))), jump=jump, notes=tuple(read.notes), password=password)
    if not set(read.said) - {"port", "identityfile", "proxyjump"}:
        return plain
    from gpulease_gui.remote.ssh_line_options import with_options

    return with_options(plain, place.host, read.said)
