"""What do the labels say that suppliers write beside an address, a port, a password?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import person


@dataclass(frozen=True, slots=True)
class Pair:
    """A label's value. `field`: name, host, port, user, key, password, command, "login" (user and password), "other", "before" for what stands before
    all labels, or "unread" for a part that may name a user or a password and is not understood.
    """

    field: str
    value: str

    def __repr__(self) -> str:
        return f"Pair({self.field})"


# Of each field the words in Chinese, then those in English.
_USER_ZH, _USER_EN, _PASSWORD_EN = "用户名?|账号|帐号|账户|帐户|登录名", r"user(?: ?name)?|login|account", r"pass(?:word|wd|code)?|pwd|psw|pw"
_WORDS: Mapping[str, tuple[str, str]] = {
    "login": (rf"(?:登录|登陆|SSH)?\s*(?:{_USER_ZH})\s*[/／、，,&+和与及|｜(（]?\s*(?:登录|登陆)?(?:密码|口令)[)）]?",
              rf"(?:ssh )?(?:{_USER_EN})\s*(?:[/／&+,|｜]|and)\s*(?:{_PASSWORD_EN})|credentials?"),
    "password": (r"(?:登录|登陆|初始|实例|服务器|系统|主机|SSH|root)?\s*(?:密码|口令)", rf"(?:ssh |root |login )?(?:{_PASSWORD_EN})"),
    "other": (r"内网\s*(?:IP|地址)?|备注|型号|显卡|显存|内存|硬盘|系统盘|数据盘|系统|地域|区域|状态|到期时间|价格|配置|序号|数量", r"private ip|note|remark|gpu|region|status|price"),
    "command": (r"(?:SSH)?\s*(?:登录|登陆|连接|SSH)\s*(?:命令|指令|方式)", r"(?:ssh )?command|ssh login"),
    "port": (r"(?:SSH|登录|登陆|外网|公网|连接|映射)?\s*端口号?", r"(?:ssh )?port"),
    "user": (rf"(?:登录|登陆|SSH)?\s*(?:{_USER_ZH})", _USER_EN),
    "key": (r"密钥(?:文件|路径)?|私钥(?:文件|路径)?", r"(?:private )?key(?: ?file)?|identity(?: ?file)?"),
    "host": (r"(?:主机|服务器|公网|外网|连接|登录|登陆|SSH)?\s*(?:IP地址|IP|地址)|主机名?|服务器", r"host(?: ?name)?|ip(?: ?address)?|address|server(?: ip)?"),
    "name": (r"(?:节点|机器|实例|主机)名称?|名称|节点|实例", r"name|node|instance"),
}  # fmt: skip
_ORDER = ("login", "password", "other", "command", "port", "user", "key", "host", "name")
_CHINESE = "|".join(f"(?P<c_{name}>{_WORDS[name][0]})" for name in _ORDER)
_ENGLISH = "|".join(f"(?P<e_{name}>{_WORDS[name][1]})" for name in _ORDER)
_SEPARATOR = r"[】\])）]?\s*(?:[-=]>|→|[:：﹕=＝])\s*"
_SEPARATOR_ZH = r"[】\])）]?\s*(?:[-=]>|→|[为是]?[:：﹕=＝]|[为是])\s*"
# A Chinese label needs nothing in front of it, one in English a blank or a sign that parts.
_BEGINS = "(?:(?<![A-Za-z0-9])|(?=[^A-Za-z0-9]))"  # no label such as `IP` in the middle of a word
_IN_TEXT = re.compile(rf"{_BEGINS}[【\[(（]?(?:{_CHINESE})(?:{_SEPARATOR_ZH}|[ \t\u3000]+(?=\S))|(?:^|(?<=[\s,，;；、|。]))(?:{_ENGLISH}){_SEPARATOR}", re.IGNORECASE)
_CHINESE_ONLY = re.compile(rf"{_BEGINS}[【\[(（]?(?:{_CHINESE})(?:{_SEPARATOR_ZH}|[ \t\u3000]+(?=\S))", re.IGNORECASE)
_ALONE = re.compile(rf"[【\[(（]?(?:{_CHINESE}|{_ENGLISH})[】\])）]?\s*[:：=＝]?\s*", re.IGNORECASE)
_PLAIN_ADDRESS = re.compile(r"[A-Za-z0-9_.-]+:[0-9]+")
# What stands in a row of values: a sign that ends a label, an address, a number.
_NO_HEADING = re.compile(r"[:=@]|[0-9]\.[0-9]|^[0-9]+$")
_PARTING = " \t\u3000,，;；、|。"
_NO_PLACES = ("port", "user", "login", "key", "password", "pass", "pwd", "passwd", "pw", "psw")
LOGIN_FIELDS = ("port", "user", "login", "key", "password")
# A user or a password that is named in what is left of a line: in front of another label, or with a word of its own.
_NAMED = rf"(?:{_USER_ZH}|密码|口令|\b(?:{_USER_EN}|{_PASSWORD_EN}|credentials?|secret)\b)"
_UNREAD = re.compile(rf"{_NAMED}[^\w\u3000]{{0,3}}[!-~]", re.IGNORECASE)
_UNREAD_BEFORE = re.compile(rf"{_NAMED}[\s/／、，,&+和与及或|｜]*\Z", re.IGNORECASE)
# Before labels: a full name, an IPv6 address, a port; and one word that may be a host or none.
_HOST_BEFORE = re.compile(r"(?i)\A[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\Z|\A\[?[0-9a-f]*:[0-9a-f]*:[0-9a-f:]*(?:\]|\Z)|[\w\]][:：][0-9]+\Z|\s-p\s*[0-9]")
_WORD_BEFORE = re.compile(r"(?i)(?!(?:your|my|our|its|the|a|and|with|new|default|initial|temporary|ssh|root|node|server|host|machine|instance|hi|hello)\Z)(?=[\w.-]*[a-z])[a-z0-9_.-]+")
# Behind a value: another host, of which the labels that follow may speak.
_ANOTHER = re.compile(r"[\w.-]@[\w\[]|(?i:\bssh(?:\.exe)?\s+\S)|(?<![\w.-])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w.-])")
_IN_BRACKETS = re.compile(r"[(（][^()（）]*[)）]?")
_USER_ALONE = re.compile(rf"(?:{_USER_ZH}|{_USER_EN})\s*\S+", re.IGNORECASE)
_LOGIN_REST = re.compile(r"\s*[/／:：|｜]")  # a third part: which is which can't be told
_LOGIN = re.compile(r"([^\s/／:：﹕,，、;；|｜]+)(?:\s*[/／:：﹕,，、;；|｜]\s*|\s+)(\S+)")


def pairs_in(line: str, is_ssh_line: bool) -> tuple[Pair, ...]:
    """The labels of a line with their values, in its order; () = it has none. What stands before the first is a pair, too."""
    if _is_address(line):
        return ()
    return tuple(_pairs(line, _CHINESE_ONLY if is_ssh_line else _IN_TEXT))


def _is_address(line: str) -> bool:
    """`node:22`: a host may have the name of a label, but for what no host is called."""
    words = line.strip()
    return _PLAIN_ADDRESS.fullmatch(words) is not None and words.partition(":")[0].lower() not in _NO_PLACES


def _pairs(line: str, labels: re.Pattern[str]) -> Iterator[Pair]:
    found = list(labels.finditer(line))
    if not found:
        return
    before = line[: found[0].start()].strip(_PARTING)
    if before and (is_place_like(before) or _HOST_BEFORE.search(before)):
        yield Pair("before", before)
    elif _WORD_BEFORE.fullmatch(before) and not any(_field(label) in ("host", "command") for label in found):
        yield from (Pair("before", before), Pair("unread", ""))  # it may be a host, whose labels are nobody else's
    elif _USER_ALONE.fullmatch(before) or _UNREAD_BEFORE.search(before):
        yield Pair("unread", "")
    for number, label in enumerate(found):
        is_last = number + 1 == len(found)
        text = line[label.end() : len(line) if is_last else found[number + 1].start()]
        name = _field(label)
        value = _value(name, text.strip(), is_last)
        rest = text.strip()[len(value) :]
        if name == "password" and label[0][0] in "(（":
            value = value.removesuffix(")").removesuffix("）")
        if name != "command" and _ANOTHER.search(rest):
            yield Pair("unread", "")
        if name not in ("command", "other", "login") and (_is_unread(rest, is_last) or (name == "user" and rest.lstrip()[:1] in ("/", "／", "|", "｜"))):
            yield Pair("unread", "")
        if value:
            yield Pair(name, value)


def _value(name: str, text: str, is_last: bool) -> str:
    word = text.split()[0] if text.split() else ""
    if name in ("command", "login"):
        return text
    if name == "password":  # it may hold any sign: at most the one is taken off that parts it from the next label
        return word[:-1] if word and word[-1] in ("，；、。" if is_last else _PARTING) else word
    value = re.split(r"[\s,，;；。、（(]", text, maxsplit=1)[0]
    with_password = name == "user" and re.search("[:/：／﹕]", value) or name == "host" and re.search("[@＠]", word)
    return word.rstrip("，；、。" if is_last else _PARTING) if with_password else value


def _is_unread(rest: str, is_last: bool) -> bool:
    """Whether what is left behind a value may name a user or a password."""
    plain = _IN_BRACKETS.sub(" ", rest)
    return _UNREAD.search(plain) is not None or (not is_last and _UNREAD_BEFORE.search(plain) is not None)


def parted_login(words: str) -> tuple[str, Secret]:
    """User and password of `root / password`, `root password`, ... Raises UsageError, which repeats nothing of it."""
    found = _LOGIN.match(words.strip())
    if found is None or _LOGIN_REST.match(words.strip()[found.end() :]):
        raise UsageError(Text("a user and a password are expected", "此处应有用户名和密码"), "", Text("write them as user/password", "请写成“用户名/密码”"))
    password = found[2][:-1] if found[2][-1] in "，；、。" else found[2]
    user, _ = person(found[1])
    return user, Secret(password)


def is_place_like(words: str) -> bool:
    """Whether words before a label may be the place itself, not a bullet or a greeting."""
    return re.search(r"(?i)@|\bssh\s|[0-9]\.[0-9]", words) is not None


def _field(label: re.Match[str]) -> str:
    return next(name[2:] for name, words in label.groupdict().items() if words is not None)


def label_alone(line: str) -> str:
    """The field that a line names and says nothing of: the next line does. "" = none such."""
    match = _ALONE.fullmatch(line)
    return _field(match) if match is not None else ""


def fields_of_header(cells: Sequence[str]) -> tuple[str, ...]:
    """The field of each column, when a row is the header of a table; of one that is not taken over ? and its name if that is known, else ?# and its number."""
    plain = [unicodedata.normalize("NFKC", cell).strip() for cell in cells]
    if len(plain) < 2 or any(_NO_HEADING.search(cell) for cell in plain):
        return ()
    fields = tuple(label_alone(cell) if cell else "" for cell in plain)
    if not {"host", "command"} & set(fields):
        return ()
    # A column of a kind that stands there already says nothing more.
    return tuple(name if name not in ("", "other") and name not in fields[:at] else f"?{cell}" if name else f"?#{at + 1}" for at, (name, cell) in enumerate(zip(fields, plain, strict=True)))


def are_all_labels(cells: Sequence[str]) -> bool:
    """Whether every cell of a row is a label that is known: then blanks may part them."""
    return all(label_alone(unicodedata.normalize("NFKC", cell)) for cell in cells)
