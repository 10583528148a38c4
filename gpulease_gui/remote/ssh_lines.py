"""Which lines does an ssh config have, with the files that it includes in their places?"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gpulease_gui.domain.text import Text
from gpulease_gui.remote.named_files import place_of, read_file, why_unread

DEPTH_MAX = 16  # as OpenSSH has it
_FILES_MAX = 200
_FILE_MAX_BYTES = 4 * 1024 * 1024
# Files of up to this size are not taken apart anew for each alias.
_KEPT_BYTES = 256 * 1024
# Names of before, and today's.
ALSO_CALLED = {
    "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms", "dsaauthentication": "pubkeyauthentication", "identityfile2": "identityfile", "rsaminsize": "requiredrsasize",
    **dict.fromkeys(("challengeresponseauthentication", "skeyauthentication", "tisauthentication"), "kbdinteractiveauthentication"),
}  # fmt: skip
_SPLIT = re.compile(r'(?:([A-Za-z0-9]+)(?:[ \t\r]*=[ \t\r]*|[ \t\r]+)|"([A-Za-z0-9]+)"[ \t\r]*)(.*)\Z')
_BLANKS = " \t"
_END_BLANKS = " \t\r\f"  # a form feed counts as a blank at the end of a line only


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """One line: keyword in lower case and its words. `trouble` says why it can't be used, None = it can."""

    file: str
    number: int
    keyword: str
    words: tuple[str, ...]
    text: str
    trouble: Text | None = None

    @property
    def place(self) -> str:
        """FILE:LINE."""
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file; what its Include lines bring stands in their places."""

    path: str
    items: tuple[ConfigLine | ConfigFile, ...] = ()


def config_files(config_file: str = "") -> tuple[ConfigFile, ...]:
    """The user's config and then the system's, as ssh reads them, or `config_file` alone. Never raises.

    A file that is not there is empty; one that can't be read is a line with its trouble.
    """
    own = str(Path.home() / ".ssh")
    if config_file:
        return (_Reader(own).read(str(place_of(config_file)), ()),)
    system = os.path.join(os.environ.get("PROGRAMDATA", ""), "ssh") if os.name == "nt" else "/etc/ssh"
    return _Reader(own).read(f"{own}/config", ()), _Reader(system).read(f"{system}/ssh_config", ())


class _Reader:
    """Reads one config; `base` is where relative Include names start."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._left = _FILES_MAX

    def read(self, path: str, within: tuple[str, ...]) -> ConfigFile:
        self._left -= 1
        try:
            content = read_file(path, _FILE_MAX_BYTES)
        except FileNotFoundError:
            return ConfigFile(path)
        except OSError as error:
            why = why_unread(error, path)
            return ConfigFile(path, (_bad(path, 0, "", Text(f"the file can't be read: {why.en}", f"文件无法读取：{why.zh}")),))
        items: list[ConfigLine | ConfigFile] = []
        for line in _parsed(path, content) if len(content) <= _KEPT_BYTES else _parsed.__wrapped__(path, content):
            items += self._included(line, (*within, path)) if line.keyword == "include" and not line.trouble else [line]
        return ConfigFile(path, tuple(items))

    def _included(self, line: ConfigLine, within: tuple[str, ...]) -> list[ConfigLine | ConfigFile]:
        found: list[ConfigLine | ConfigFile] = []
        for word in line.words:
            if "${" in word or "%" in word:
                return [_bad(line.file, line.number, line.text, Text("an Include with variables is not followed", "不支持带变量的 Include"))]
            pattern = os.path.join(self._base, os.path.expanduser(word))
            for path in sorted(glob.glob(pattern)):
                why = self._refused(path, within)
                if why is not None:
                    return [_bad(line.file, line.number, line.text, why)]
                found.append(self.read(path, within))
        return found

    def _refused(self, path: str, within: tuple[str, ...]) -> Text | None:
        if path in within:
            return Text("the Include leads back to a file that it stands in", "Include 又指回其所在的文件")
        if len(within) > DEPTH_MAX:
            return Text(f"more than {DEPTH_MAX} Include lines lead to each other", f"Include 嵌套超过 {DEPTH_MAX} 层")
        return None if self._left > 0 else Text(f"more than {_FILES_MAX} files are included", f"包含的文件超过 {_FILES_MAX} 个")


@lru_cache(maxsize=16)
def _parsed(path: str, content: bytes) -> tuple[ConfigLine, ...]:
    """The lines of one file. Kept, as the same files are asked for each of their aliases."""
    raw = enumerate(content.decode("utf-8", "replace").split("\n"), 1)
    lines = (config_line(path, number, words.rstrip(_END_BLANKS).lstrip(" \t\r")) for number, words in raw)
    return tuple(line for line in lines if line is not None)


def _bad(file: str, number: int, text: str, why: Text) -> ConfigLine:
    return ConfigLine(file, number, "", (), text, why)


def config_line(file: str, number: int, text: str) -> ConfigLine | None:
    """One line of a config, as ssh reads it; None for a blank line or a comment."""
    if not text or text.startswith("#"):
        return None
    parts = _SPLIT.match(text)
    if parts is None or "\0" in text:
        return _bad(file, number, text, Text("no keyword and value", "没有关键字和值"))
    words = split_words(parts[3])
    if words is None:
        return _bad(file, number, text, Text("a quote is not closed", "引号未闭合"))
    if not words:
        return _bad(file, number, text, Text("no value", "没有值"))
    keyword = (parts[1] or parts[2]).lower()
    return ConfigLine(file, number, ALSO_CALLED.get(keyword, keyword), words, text)


def split_words(text: str) -> tuple[str, ...] | None:
    """The words of a value as ssh splits them; None = a quote is not closed.

    A `#` starts a comment only where a word starts. A backslash stays, unless a quote, a backslash or, outside quotes,
    a blank follows it: that is then taken as it is.
    """
    words: list[str] = []
    at = 0
    while (at := _past_blanks(text, at)) < len(text) and text[at] != "#":
        word, at = _word(text, at)
        if word is None:
            return None
        words.append(word)
    return tuple(words)


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _word(text: str, at: int) -> tuple[str | None, int]:
    """The word that starts here and where it ends; None when its quote is not closed."""
    word, quote = "", ""
    while at < len(text):
        sign, after = text[at], text[at + 1 : at + 2]
        if sign == "\\" and after and after in ("'", '"', "\\", *("" if quote else " ")):
            word += after
            at += 1
        elif not quote and sign in _BLANKS:
            break
        elif sign == quote or (not quote and sign in "'\""):
            quote = "" if quote else sign
        else:
            word += sign
        at += 1
    return (None if quote else word), at


def programs_in(config_file: str = "") -> tuple[ConfigLine, ...]:
    """The Match lines that make ssh run a program as soon as it is asked about any host; those of included files, too."""
    return tuple(line for line in all_lines(config_file) if _runs(line))


def all_lines(config_file: str = "") -> Iterator[ConfigLine]:
    """Every line of the config, whomever it is about, those of included files in their places."""
    for file in config_files(config_file):
        yield from _all_lines(file)


def _all_lines(file: ConfigFile) -> Iterator[ConfigLine]:
    for item in file.items:
        if isinstance(item, ConfigFile):
            yield from _all_lines(item)
        else:
            yield item


def _runs(line: ConfigLine) -> bool:
    """`exec`, negated or joined to its command by `=`, and what we can't read but ssh might: better refused than run."""
    if line.trouble:
        return re.match(r"\s*(match|include)\b", line.text, re.IGNORECASE) is not None
    return line.keyword == "match" and any(word.lower().lstrip("!").split("=")[0] == "exec" for word in line.words)
