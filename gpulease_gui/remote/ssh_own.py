"""What does an ssh config say of a host where no ssh client can be asked? What we can't judge is refused by its place."""

from __future__ import annotations

import getpass
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import parse_jump
from gpulease_gui.remote.algorithms import USUAL, spelt_out
from gpulease_gui.remote.known_hosts import pattern_matches
from gpulease_gui.remote.ssh_keywords import GIVEN_UP, SAID, is_classified
from gpulease_gui.remote.ssh_lines import ConfigFile, ConfigLine, config_files
from gpulease_gui.remote.ssh_options import FAMILIES, OPTIONS

# Ways of logging in that a config switches off, whatever PreferredAuthentications says.
SWITCHED_WAYS = {"passwordauthentication": "password", "kbdinteractiveauthentication": "keyboard-interactive"}
_YES_NO = ("yes", "no", "true", "false")
_ONCE = frozenset({
    "hostname", "port", "user", "hostkeyalias", "userknownhostsfile", "proxyjump", "proxycommand", "canonicalizehostname",
    *OPTIONS, *SAID, *SWITCHED_WAYS, "refuseconnection",
})  # fmt: skip
_WORDS = frozenset({"userknownhostsfile", "globalknownhostsfile", "refuseconnection", *SAID})
_MANY = frozenset({"identityfile", "certificatefile"})
_ONE_WORD = frozenset({"hostname", "port", "user", "hostkeyalias", "canonicalizehostname", "ignoreunknown", *_MANY, *OPTIONS, *SWITCHED_WAYS, "pkcs11provider"} - {"globalknownhostsfile"})
_SWITCHES = {
    "identitiesonly": _YES_NO, **{way: _YES_NO for way in SWITCHED_WAYS},
    "pubkeyauthentication": ("yes", "no", "true", "false", "unbound", "host-bound"),
}  # fmt: skip
_USUAL_KEYS = tuple(f"~/.ssh/id_{kind}" for kind in ("rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk"))
_NEXT = Text("write user@host:port, or install an ssh client", "请写 user@host:port，或安装 ssh 客户端")
_BY_CLIENT = Text("this Match can only be judged by an ssh client", "此 Match 只有 ssh 客户端才能判断")


def own_answer(host: str, user: str = "", port: int | None = None, *, config_file: str = "") -> str:
    """The lines that `ssh -G` would print of those that we take over: keyword, blank, value.

    The first value of a keyword counts, as in ssh. Raises UserFacing with file and line for what can't be judged here:
    a line that is broken, Match with more than `all`, `host` or `originalhost`, CanonicalizeHostname.
    """
    found = _Found(host)
    if user:
        found.first("user", user)
    if port is not None:
        found.first("port", str(port))
    for file in config_files(config_file):
        found.read(file, active=True)
    return found.answer()


@dataclass(slots=True)
class _Found:
    """The values so far."""

    host: str
    ignored: tuple[str, ...] = ()
    once: dict[str, str] = field(default_factory=dict)
    many: list[tuple[str, str]] = field(default_factory=list)

    def first(self, keyword: str, value: str) -> None:
        self.once.setdefault(keyword, value)

    @property
    def name(self) -> str:
        """Where the host is by what was read so far."""
        name = self.once.get("hostname")
        if name is None:
            return self.host.lower()
        return re.sub("%[h%]", lambda token: self.host if token[0] == "%h" else "%", name).lower()

    def read(self, file: ConfigFile, *, active: bool) -> None:
        """`active`: whether the lines in front of the first Host or Match count. A file that is included where
        nothing counts never counts.
        """
        counts = active
        for item in file.items:
            if isinstance(item, ConfigFile):
                self.read(item, active=counts)
            elif why := item.trouble or wrong_line(item) or self._not_known(item):
                raise _refused(item, why)
            elif item.keyword == "host":
                counts = active and _host_matches(item.words, self.host)
            elif item.keyword == "match":
                counts = active and self._match(item)
            elif counts and item.keyword == "ignoreunknown":
                self.ignored = self.ignored or tuple(",".join(item.words).lower().split(","))
            elif counts:
                self._take(item)

    def _not_known(self, line: ConfigLine) -> Text | None:
        """Why ssh would end at a keyword, wherever it stands: it knows none such, and no line before says to bear it."""
        if is_classified(line.keyword) or line.keyword in GIVEN_UP or any(pattern_matches(one, line.keyword) for one in self.ignored):
            return None
        return Text(f"{line.keyword!r} is no keyword that this program knows", f"本程序不认识关键字 {line.keyword!r}")

    def _match(self, line: ConfigLine) -> bool:
        words = [word.lower() for word in line.words]
        if any(sign in line.text for sign in "#'\"\\"):
            raise _refused(line, _BY_CLIENT)
        if words == ["all"]:
            return True
        if len(words) == 2 and words[0] in ("host", "originalhost"):
            # Unlike Host, Match takes no notice of capitals.
            return _host_matches(words[1].split(","), self.host.lower() if words[0] == "originalhost" else self.name)
        raise _refused(line, _BY_CLIENT)

    def _take(self, line: ConfigLine) -> None:
        keyword = line.keyword
        if keyword == "canonicalizehostname" and line.words[0].lower() not in ("no", "false"):
            raise _refused(line, Text("names are only made canonical by an ssh client", "主机名规范化只能由 ssh 客户端完成"))
        if keyword in _MANY:
            if (keyword, line.words[0]) not in self.many:
                self.many.append((keyword, line.words[0]))
        elif keyword in ("proxyjump", "proxycommand"):
            if keyword == "proxyjump" and _last_hop(line.words[0]) == self.host.lower():
                raise _refused(line, Text("the jump host is the host itself", "跳板机就是该主机自身"))
            if not self.once.keys() & {"proxyjump", "proxycommand"}:  # the first of both counts
                value = " ".join(line.words)
                self.first(keyword, "none" if value.lower() == "none" else value)
        elif keyword in _ONCE:
            value = " ".join(line.words) if keyword in _WORDS else line.words[0]
            if keyword in USUAL:
                value = ",".join(spelt_out(keyword, value) or ())
            if keyword in _SWITCHES:
                value = {"true": "yes", "false": "no"}.get(value.lower(), value.lower())
            self.first(keyword, value.lower() if keyword == "hostkeyalias" else value)

    def answer(self) -> str:
        values = {**self.once, "hostname": self.name}
        values.setdefault("user", getpass.getuser())
        many = self.many
        if not any(keyword == "identityfile" for keyword, _ in many):
            many = [*many, *(("identityfile", path) for path in _USUAL_KEYS)]
        return "".join(f"{keyword} {value}\n" for keyword, value in [*values.items(), *many])


def _last_hop(jump: str) -> str:
    last = jump.lower().rpartition(",")[2].strip().removeprefix("ssh://").rpartition("@")[2]
    return last.partition(":")[0].rstrip("/").strip("[]")


def wrong_line(line: ConfigLine) -> Text | None:
    """Why ssh would refuse this line, wherever it stands; None = it would not, or we don't read the keyword."""
    keyword, words = line.keyword, line.words
    if keyword in _ONE_WORD and (len(words) > 1 or not words[0]):
        return Text(f"{keyword} takes one word", f"{keyword} 只能有一个值")
    if keyword == "port" and not (words[0].isascii() and words[0].isdigit() and 0 < int(words[0]) < 65536):
        return Text(f"{words[0]!r} is no port", f"{words[0]!r} 不是端口号")
    if keyword in _SWITCHES and words[0].lower() not in _SWITCHES[keyword]:
        return Text(f"{words[0]!r} is no {keyword}", f"{words[0]!r} 不是 {keyword} 的合法值")
    if keyword in USUAL and spelt_out(keyword, words[0]) is None:
        return Text(f"{words[0]!r} is no list of algorithms that ssh knows", f"{words[0]!r} 不是 ssh 认识的算法列表")
    if keyword == "requiredrsasize" and not re.fullmatch("[0-9]{1,6}", words[0]):
        return Text(f"{words[0]!r} is no length in bits", f"{words[0]!r} 不是密钥位数")
    if keyword == "addressfamily" and words[0].lower() not in FAMILIES:
        return Text(f"{words[0]!r} is no AddressFamily", f"{words[0]!r} 不是合法的 AddressFamily")
    if keyword in ("userknownhostsfile", "globalknownhostsfile") and len(words) > 1 and "none" in map(str.lower, words):
        return Text("none must stand alone", "none 必须单独使用")
    if keyword == "proxyjump" and (len(words) > 1 or not _is_plain_jump(words[0]) or any(sign in line.text for sign in "#'\"\\")):
        return Text("this ProxyJump can only be judged by an ssh client", "此 ProxyJump 只有 ssh 客户端才能判断")
    if keyword == "canonicalizehostname" and words[0].lower() not in ("no", "false", "yes", "true", "always"):
        return Text(f"{words[0]!r} is no CanonicalizeHostname", f"{words[0]!r} 不是合法的 CanonicalizeHostname")
    return Text("an empty word", "空的值") if "" in words and keyword in ("host", "userknownhostsfile") else None


def _is_plain_jump(words: str) -> bool:
    """Whether it is `none` alone, or hops whose ports are ports."""
    if not words.isprintable():
        return False
    if words.lower() == "none":
        return True
    try:
        return "none" not in words.lower().split(",") and bool(parse_jump(re.sub(r"\[([^]:]*)\]", r"\1", words)))
    except UsageError:
        return "%" in words  # tokens are filled in later


def _host_matches(patterns: Sequence[str], host: str) -> bool:
    hit = False
    for pattern in patterns:
        if pattern.startswith("!"):
            if pattern_matches(pattern[1:], host):
                return False
        else:
            hit = hit or pattern_matches(pattern, host)
    return hit


def _refused(line: ConfigLine, why: Text) -> UserFacing:
    return UserFacing(Text(f"{line.place} can't be followed without an ssh client", f"没有 ssh 客户端，无法采用 {line.place}"), why, _NEXT)
