"""What do the options (-o) of a pasted ssh command ask for? The same as those lines of an ssh config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import Target, parse_jump
from gpulease_gui.remote.algorithms import METHOD, METHODS, USUAL, spelt_out
from gpulease_gui.remote.ssh_keywords import FOLLOWED, GIVEN_UP, SAID, is_classified
from gpulease_gui.remote.ssh_lines import ConfigLine, config_line
from gpulease_gui.remote.ssh_options import OPTIONS, SYSTEM_KNOWN_HOSTS, options_text
from gpulease_gui.remote.ssh_own import SWITCHED_WAYS, wrong_line
from gpulease_gui.remote.ssh_tokens import Tokens

_SHOWN = re.compile("yes|no|none|ask|auto|accept-new|off|force|[0-9]{1,4}")
_OURS = frozenset({
    "hostname", "port", "user", "identityfile", "certificatefile", "proxyjump", "proxycommand", "hostkeyalias", "userknownhostsfile",
    *OPTIONS, *SWITCHED_WAYS,
})  # fmt: skip


def read_option(value: str) -> ConfigLine:
    """One `-o`, as a line of a config. Raises UsageError for one that ssh would refuse, or that would run a program; it names a known keyword, never the value."""
    line = config_line("-o", 0, value.strip(" \t"))
    if line is None:
        raise _refused("", Text("no keyword and value", "没有关键字和值"))
    if not is_classified(line.keyword) and line.keyword not in GIVEN_UP:
        raise _refused("", Text("it is no keyword that this program knows", "本程序不认识该关键字"))
    if line.keyword == "proxyjump":
        parse_jump(" ".join(line.words))
    why = Text("ssh takes no such value", "ssh 不接受这样的值") if line.trouble or wrong_line(line) else None
    if line.keyword == "proxycommand" and " ".join(line.words).lower() != "none":
        why = Text("a ProxyCommand runs a program, and none is run from a pasted line", "ProxyCommand 会运行程序，本程序不运行粘贴内容中的程序")
    if why is None and line.keyword in FOLLOWED and line.keyword not in _OURS:
        why = Text("it has a meaning in a config file only", "该选项仅在配置文件中有意义")
    if why is not None:
        raise _refused(line.keyword, why)
    return line


def _refused(keyword: str, why: Text) -> UsageError:
    shown = f" {OPTIONS.get(keyword, keyword)}" if keyword else ""
    return UsageError(Text(f"-o{shown} of the ssh line is refused", f"不支持 ssh 命令中的 -o{shown}"), why, Text("leave it out", "请去掉它"))


def with_options(target: Target, name: str, said: Mapping[str, Sequence[str]]) -> Target:
    """The target with what `said` asks for besides, by keyword; `name` is the host as it was typed. Raises UsageError, which repeats no value."""
    try:
        return _with_options(target, name, said)
    except UsageError:
        named = [OPTIONS.get(key, key) for key in said if key not in ("port", "identityfile")]
        why = Text(f"a value of theirs can't be used: {', '.join(named)}", f"其中有无法使用的值：{'、'.join(named)}")
        raise UsageError(Text("options of the ssh line are refused", "不支持 ssh 命令中的选项"), why, Text("leave them out", "请去掉它们")) from None


def _with_options(target: Target, name: str, said: Mapping[str, Sequence[str]]) -> Target:
    tokens = Tokens(target.address, name, _unless_none(_first(said, "hostkeyalias")))
    values: dict[str, str | tuple[str, ...]] = {key: _first(said, key) for key in OPTIONS if key in said}
    values.update({key: _spelt(key, _first(said, key)) for key in USUAL if key in said})
    off = {way for key, way in SWITCHED_WAYS.items() if _first(said, key).lower() in ("no", "false")}
    if off or METHOD in said:
        values[METHOD] = tuple(way for way in (_first(said, METHOD) or ",".join(METHODS)).split(",") if way not in off)
    if "pubkeyauthentication" in said:
        values["pubkeyauthentication"] = "no" if _first(said, "pubkeyauthentication").lower() in ("no", "false") else ""
    if "globalknownhostsfile" in said:
        system = tuple(tokens.fill(word) for word in said["globalknownhostsfile"])
        values["globalknownhostsfile"] = () if system == SYSTEM_KNOWN_HOSTS else system
    known = tuple("none" if not _unless_none(word) else tokens.fill(word) for word in said.get("userknownhostsfile", ()))
    certificates = [tokens.fill(word) for word in said.get("certificatefile", ()) if _unless_none(word)]
    return replace(
        target, host_key_alias=_unless_none(_first(said, "hostkeyalias")), certificate_file="\n".join(certificates), known_hosts=known,
        identity_file="\n".join(word for word in target.identity_file.split("\n") if _unless_none(word)),
        ssh_options=options_text(values, tokens.fill_signs), notes=(*target.notes, *_notes(said)),
    )  # fmt: skip


def _spelt(keyword: str, words: str) -> tuple[str, ...]:
    found = spelt_out(keyword, words)
    if found is None:
        raise _refused(keyword, Text("ssh knows no such list", "ssh 不认识这样的列表"))
    return found


def _notes(said: Mapping[str, Sequence[str]]) -> Iterator[Text]:
    for keyword, values in said.items():
        about = SAID.get(keyword)
        value = {"true": "yes", "false": "no"}.get(values[0].lower(), values[0])
        if about is not None and value.lower() not in about.quiet:
            # Words of the user's own, such as those of SetEnv, may be secret.
            shown = f" {value}" if _SHOWN.fullmatch(value.lower()) else ""
            yield Text(f"{about.name}{shown} is not honoured: {about.instead.en}", f"不支持 {about.name}{shown}，已忽略：{about.instead.zh}")


def _unless_none(word: str) -> str:
    return "" if word.lower() == "none" else word


def _first(said: Mapping[str, Sequence[str]], keyword: str) -> str:
    return next(iter(said.get(keyword, ())), "")
