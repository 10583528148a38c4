"""What do the labels say that suppliers write beside an address, a port, a password?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A label's value. `field`: name, host, port, user, key, password, command, "other", or "before" for what stands before all labels."""

    field: str
    value: str

    def __repr__(self) -> str:
        return f"Pair({self.field})"


# Of each field the words in Chinese, then those in English.
_WORDS: Mapping[str, tuple[str, str]] = {
    "password": (r"(?:登录|登陆|初始|实例|服务器|系统|主机|SSH|root)?\s*(?:密码|口令)", r"(?:ssh |root |login )?pass(?:word|wd)?|pwd"),
    "other": (r"内网\s*(?:IP|地址)?|备注|型号|显卡|显存|内存|硬盘|系统盘|数据盘|系统|地域|区域|状态|到期时间|价格|配置|序号|数量", r"private ip|note|remark|gpu|region|status|price"),
    "command": (r"(?:SSH)?\s*(?:登录|登陆|连接|SSH)\s*(?:命令|指令|方式)", r"(?:ssh )?command|ssh login"),
    "port": (r"(?:SSH|登录|登陆|外网|公网|连接|映射)?\s*端口号?", r"(?:ssh )?port"),
    "user": (r"(?:登录|登陆|SSH)?\s*(?:用户名?|账号|帐号|账户|帐户|登录名)", r"user(?: ?name)?|login|account"),
    "key": (r"密钥(?:文件|路径)?|私钥(?:文件|路径)?", r"(?:private )?key(?: ?file)?|identity(?: ?file)?"),
    "host": (r"(?:主机|服务器|公网|外网|连接|登录|登陆|SSH)?\s*(?:IP地址|IP|地址)|主机名?|服务器", r"host(?: ?name)?|ip(?: ?address)?|address|server(?: ip)?"),
    "name": (r"(?:节点|机器|实例|主机)名称?|名称|节点|实例", r"name|node|instance"),
}  # fmt: skip
_ORDER = ("password", "other", "command", "port", "user", "key", "host", "name")
_CHINESE = "|".join(f"(?P<c_{name}>{_WORDS[name][0]})" for name in _ORDER)
_ENGLISH = "|".join(f"(?P<e_{name}>{_WORDS[name][1]})" for name in _ORDER)
_SEPARATOR = r"[】\])）]?\s*[:：=＝]\s*"
# A Chinese label needs nothing in front of it, one in English a blank or a sign that parts.
_IN_TEXT = re.compile(rf"[【\[(（]?(?:{_CHINESE})(?:{_SEPARATOR}|[ \t\u3000]+(?=\S))|(?:^|(?<=[\s,，;；、|。]))(?:{_ENGLISH}){_SEPARATOR}", re.IGNORECASE)
_CHINESE_ONLY = re.compile(rf"[【\[(（]?(?:{_CHINESE})(?:{_SEPARATOR}|[ \t\u3000]+(?=\S))", re.IGNORECASE)
_ALONE = re.compile(rf"[【\[(（]?(?:{_CHINESE}|{_ENGLISH})[】\])）]?\s*[:：=＝]?\s*", re.IGNORECASE)
_PLAIN_ADDRESS = re.compile(r"[A-Za-z0-9_.-]+:[0-9]+")
# What stands in a row of values: a sign that ends a label, an address, a number.
_NO_HEADING = re.compile(r"[:=@]|[0-9]\.[0-9]|^[0-9]+$")
_PARTING = " \t\u3000,，;；、|。"
_NO_PLACES = ("port", "user", "key", "password", "pass", "pwd", "passwd")


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
    if before and (is_place_like(before)):
        yield Pair("before", before)
    for number, label in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(line)
        name = _field(label)
        value = line[label.end() : end].strip()
        if name == "password":  # it may hold any sign: at most the one is taken off that parts it from the next label
            value = value.split()[0] if value.split() else ""
            value = value[:-1] if value and value[-1] in ("，；、。" if number + 1 == len(found) else _PARTING) else value
        elif name != "command":
            value = re.split(r"[\s,，;；。、（(]", value, maxsplit=1)[0]
        if value:
            yield Pair(name, value)


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
    """The field of each column, when a row is the header of a table; of one that is not taken over its name, with a ? before it."""
    plain = [unicodedata.normalize("NFKC", cell).strip() for cell in cells]
    if len(plain) < 2 or any(_NO_HEADING.search(cell) for cell in plain):
        return ()
    fields = tuple(label_alone(cell) if cell else "" for cell in plain)
    if not {"host", "command"} & set(fields):
        return ()
    # A column of a kind that stands there already says nothing more.
    return tuple(name if name not in ("", "other") and name not in fields[:at] else f"?{cell}" for at, (name, cell) in enumerate(zip(fields, plain, strict=True)))


def are_all_labels(cells: Sequence[str]) -> bool:
    """Whether every cell of a row is a label that is known: then blanks may part them."""
    return all(label_alone(unicodedata.normalize("NFKC", cell)) for cell in cells)
