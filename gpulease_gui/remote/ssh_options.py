"""Which lines of an ssh config about this computer's side of a connection belong to a node, and what do they ask for?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import check_host
from gpulease_gui.remote.algorithms import (
    ABLE,
    CIPHER,
    DIGEST,
    EXCHANGE,
    HOST_KEY,
    METHOD,
    METHODS,
    SIGNATURE,
    USER_KEY,
    WireLists,
    narrowed,
    spelt_out,
)
from gpulease_gui.remote.rsa_length import RSA_BITS_LEAST
from gpulease_gui.remote.ssh_keywords import is_classified
from gpulease_gui.remote.ssh_lines import ALSO_CALLED
from gpulease_gui.remote.way_out import WayOut

OPTIONS: Mapping[str, str] = {
    "addressfamily": "AddressFamily", "bindaddress": "BindAddress", "bindinterface": "BindInterface", "identityagent": "IdentityAgent",
    "identitiesonly": "IdentitiesOnly", "pubkeyauthentication": "PubkeyAuthentication", "revokedhostkeys": "RevokedHostKeys",
    "globalknownhostsfile": "GlobalKnownHostsFile", HOST_KEY: "HostKeyAlgorithms", SIGNATURE: "CASignatureAlgorithms",
    USER_KEY: "PubkeyAcceptedAlgorithms", METHOD: "PreferredAuthentications",
    CIPHER: "Ciphers", EXCHANGE: "KexAlgorithms", DIGEST: "MACs", "requiredrsasize": "RequiredRSASize",
}  # fmt: skip
SYSTEM_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
FAMILIES = ("any", "inet", "inet6")
NO_AGENT = "none"
_USUAL: Mapping[str, tuple[str, ...]] = {
    "addressfamily": ("any",), "identityagent": ("SSH_AUTH_SOCK",), "identitiesonly": ("no",), "revokedhostkeys": (NO_AGENT,),
    "pubkeyauthentication": ("yes", "true", "unbound", "host-bound"), "globalknownhostsfile": (" ".join(SYSTEM_KNOWN_HOSTS),),
    "requiredrsasize": (str(RSA_BITS_LEAST),),
}  # fmt: skip
_SWITCHES = {"identitiesonly": "yes", "pubkeyauthentication": "no"}
_BITS = re.compile("[0-9]{1,6}")
_INTERFACE = re.compile(r"[!-.0-~]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class SshOptions:
    """`identity_agent` as the config writes it, %-tokens filled in; "" = the environment's.

    `only_named`: no key is offered but those that are named. `no_key`: none at all. `revoked_file`: its keys are no
    host's; "" = none. `system_files`: what is read beside the user's known_hosts; ("none",) = nothing. The algorithms of
    host keys, of what authorities sign and of the user's keys, and the ways of logging in, in their order: () = all of ours.
    `keeps_order`: the order of host keys counts even where the host is known by another type, as in ssh for a list that does
    more than add (`+`) to its own or take away (`-`). `rsa_bits_least`: shorter RSA keys are none, of hosts and of the user.
    """

    way_out: WayOut = WayOut()
    identity_agent: str = ""
    only_named: bool = False
    no_key: bool = False
    revoked_file: str = ""
    system_files: tuple[str, ...] = SYSTEM_KNOWN_HOSTS
    host_algorithms: tuple[str, ...] = ()
    ca_algorithms: tuple[str, ...] = ()
    key_algorithms: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    wire: WireLists = WireLists()
    keeps_order: bool = False
    rsa_bits_least: int = RSA_BITS_LEAST

    @property
    def agent(self) -> str:
        """Where the agent listens now: "" = where the environment says, "none" = no agent is used.

        Raises UsageError for ${NAME} that the environment does not have, as ssh does.
        """
        words = self.identity_agent
        if words in ("", "SSH_AUTH_SOCK", NO_AGENT):
            return NO_AGENT if words == NO_AGENT else ""
        if re.fullmatch(r"\$\w+", words):
            return os.environ.get(words[1:]) or NO_AGENT
        return str(Path(re.sub(r"\$\{(\w+)\}", _from_environment, words)).expanduser())


def _from_environment(name: re.Match[str]) -> str:
    found = os.environ.get(name[1])
    if found is None:
        raise UsageError(
            Text(f"IdentityAgent names {name[0]}", f"IdentityAgent 使用了 {name[0]}"), Text("the environment has no such variable", "环境中没有该变量"),
            Text("set it, or take the line out", "请设置该变量，或去掉该行"),
        )  # fmt: skip
    return found


def options_text(values: Mapping[str, str | tuple[str, ...]], fill: Callable[[str], str]) -> str:
    """The options of a node's record, one a line, from the lines of a config by keyword in lower case; defaults are left out.

    Several files are several lines; a list of algorithms or ways is a tuple of its names, of which those stay that we are able to do.
    `fill` fills in %-tokens. Raises UsageError, also for a list of which nothing stays.
    """
    said = [(keyword, _kept(keyword, values[keyword])) for keyword in OPTIONS if keyword in values]
    lines = [
        f"{OPTIONS[key]} {fill(value) if key in ('identityagent', 'revokedhostkeys') else value}"
        for key, many in said for value in ((many,) if isinstance(many, str) else many)
        if value and value not in _USUAL.get(key, ())
    ]  # fmt: skip
    text = "\n".join(lines)
    parse_options(text)
    return text


def _kept(keyword: str, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return ",".join(narrowed(keyword, OPTIONS[keyword], value)) if keyword in ABLE and not isinstance(value, str) else value


def parse_options(text: str) -> SshOptions:
    """What the lines of `options_text` ask for; `;` also ends a line. Raises UsageError that names the line."""
    found: dict[str, str] = {}
    files: list[str] = []
    for line in _lines(text):
        keyword, _, value = line.partition(" ")
        found.setdefault(ALSO_CALLED.get(keyword.lower(), keyword.lower()), value.strip())
        if keyword.lower() == "globalknownhostsfile":
            files.append(value.strip())
    for complaint in _wrong(found):
        known = ", ".join(OPTIONS.values())
        raise UsageError(complaint, "", Text(f"known are {known}", f"支持的选项：{known}"))
    family, revoked = found.get("addressfamily", "").lower(), found.get("revokedhostkeys", "")
    way_out = WayOut("" if family == "any" else family, found.get("bindaddress", ""), found.get("bindinterface", ""))
    switched = {key: found.get(key, "").lower() == value for key, value in _SWITCHES.items()}
    lists = {key: _names(key, found[key]) if key in found else () for key in ABLE}
    barred = switched["pubkeyauthentication"] or "publickey" not in (lists[METHOD] or METHODS)
    return SshOptions(
        way_out, found.get("identityagent", ""), switched["identitiesonly"], barred,
        "" if revoked.lower() == NO_AGENT else revoked, tuple(files) or SYSTEM_KNOWN_HOSTS,
        lists[HOST_KEY], lists[SIGNATURE], lists[USER_KEY], lists[METHOD],
        WireLists(lists[CIPHER], lists[EXCHANGE], lists[DIGEST]), _keeps_order(found.get(HOST_KEY, "")),
        max(RSA_BITS_LEAST, int(found.get("requiredrsasize", "0"))),
    )  # fmt: skip


def _keeps_order(words: str) -> bool:
    return words[:1] not in ("", "+", "-")


def _names(keyword: str, words: str) -> tuple[str, ...]:
    """The names that a line asks for, as far as we are able to do them."""
    names = tuple(words.split(",")) if keyword == METHOD else spelt_out(keyword, words)
    if names is None:
        raise UsageError(
            Text(f"{OPTIONS[keyword]}: ssh knows no such list", f"{OPTIONS[keyword]}：ssh 不认识这样的列表"), "",
            Text(f"write names with commas, such as {ABLE[keyword][-1]}", f"请写以逗号分隔的名称，例如 {ABLE[keyword][-1]}"),
        )  # fmt: skip
    return narrowed(keyword, OPTIONS[keyword], names)


def _wrong(found: Mapping[str, str]) -> Iterator[Text]:
    """What is wrong, without the words that are: they may be a password that came along."""
    for keyword, value in found.items():
        if keyword not in OPTIONS:
            name, name_zh = (f": {keyword!r}", f"：{keyword!r}") if is_classified(keyword) else ("", "")
            yield Text(f"not an ssh option that is followed{name}", f"不支持的 ssh 选项{name_zh}")
        elif not value or not value.isprintable():
            yield Text(f"{OPTIONS[keyword]} has no value", f"{OPTIONS[keyword]} 没有值")
        elif keyword == "addressfamily" and value.lower() not in FAMILIES:
            yield Text(f"AddressFamily: write {', '.join(FAMILIES)}", f"AddressFamily：请写 {'、'.join(FAMILIES)} 之一")
        elif keyword in _SWITCHES and value.lower() not in (_SWITCHES[keyword], *_USUAL[keyword]):
            yield Text(f"{OPTIONS[keyword]}: write yes or no", f"{OPTIONS[keyword]}：请写 yes 或 no")
        elif keyword == "requiredrsasize" and not _BITS.fullmatch(value):
            yield Text("RequiredRSASize: write how many bits, such as 2048", "RequiredRSASize：请写位数，例如 2048")
        elif keyword == "bindinterface" and not _INTERFACE.match(value):
            yield Text("BindInterface: not the name of an interface", "BindInterface：不是网络接口名")
        elif keyword == "bindaddress":
            check_host(value.partition("%")[0])


def _lines(text: str) -> list[str]:
    return [line for part in re.split(r"\n|;(?:\s|\Z)", text) if (line := part.strip())]


def in_one_line(text: str) -> str:
    """As a form shows them."""
    return "; ".join(_lines(text))


def one_a_line(text: str) -> str:
    """As a node's record has them."""
    return "\n".join(_lines(text))
