"""What does the user's own ssh make of an alias?"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.remote.address import (
    HOPS_MAX,
    HopName,
    Target,
    check_host,
    check_port,
    check_user,
    parse_jump,
    parse_place,
    person,
)
from gpulease_gui.remote.algorithms import HOST_KEY, METHOD, METHODS, USUAL, narrowed, not_able, spelt_out, taken_away
from gpulease_gui.remote.config_files import missing_files, missing_words
from gpulease_gui.remote.credentials import KEYS_MAX
from gpulease_gui.remote.key_certificates import pairs
from gpulease_gui.remote.ssh_keywords import MAY_HOLD_SECRETS, SAID, UNKNOWN, Unfollowed, is_classified
from gpulease_gui.remote.ssh_lines import ALSO_CALLED, ConfigLine, all_lines, programs_in
from gpulease_gui.remote.ssh_options import OPTIONS, SYSTEM_KNOWN_HOSTS, options_text, parse_options
from gpulease_gui.remote.ssh_own import SWITCHED_WAYS, own_answer
from gpulease_gui.remote.ssh_tokens import Tokens, TokenUnknown

_SECONDS = 10
_SOMEWHERE = "ssh config"
_CHANGES = ("+", "-", "^")
_NO_TERMINAL = "Pseudo-terminal will not be allocated"  # of no interest where nothing is run
_BY_HAND = Text("write user@host:port", "请写 user@host:port")


def resolve_alias(alias: str, *, config_file: str = "") -> Target:
    """What `ssh -G alias` says: host, port, user, key, certificate, jump hosts, HostKeyAlias, known hosts files.

    `alias` may be `user@alias`. Without an ssh client the config is read by us as far as it can be judged; a word with
    a port is an address already. ssh runs the programs of Match exec in the user's own config when it is asked, as it does
    in a terminal; a `config_file` of another place that has one is refused before ssh sees it. Raises UsageError for a proxy command (it would run a program), UserFacing when the
    config is refused.
    """
    before, at, word = alias.rpartition("@")
    if ":" in word or "[" in word:
        return parse_place(alias)
    check_alias(word)
    user, password = person(before) if at else ("", None)
    found = resolve_hop(HopName(word, None, user), f"{user}{at}{word}", config_file=config_file)
    if found.address.host == _as_a_number(word):  # "128": ssh would call 0.0.0.128
        check_host(word)
    return replace(found, password=password)


def check_alias(word: str) -> None:
    """Raises UsageError for a word that ssh could take for an option. Digits may be a name: HostName can make an address of them."""
    if not re.fullmatch("[0-9.]+", word):
        check_host(word)


def _as_a_number(word: str) -> str:
    try:
        return socket.inet_ntoa(socket.inet_aton(word))
    except OSError:
        return ""


def resolve_hop(hop: HopName, alias: str = "", *, config_file: str = "") -> Target:
    """The same for a jump host, whose port and user may be named beside its alias."""
    alias = alias or hop.host
    ssh = shutil.which("ssh")
    if ssh is None:
        return target_of(alias, own_answer(hop.host, hop.user, hop.port, config_file=config_file), config_file)
    if config_file:
        _refuse_programs(config_file)
    words = [ssh, *(["-F", config_file] if config_file else []), "-G"]
    words += [*(["-p", str(hop.port)] if hop.port else []), *(["-l", hop.user] if hop.user else [])]
    return target_of(alias, _ask([*words, "--", hop.host], alias), config_file)


def _refuse_programs(config_file: str) -> None:
    """Asking ssh about a host runs what the config names in Match exec: in the user's own config that is their ssh's
    own behaviour, a file from elsewhere gets no such trust.
    """
    found = programs_in(config_file)
    if found:
        raise UserFacing(
            Text(f"{found[0].place} may run a program", f"{found[0].place} 可能运行程序"),
            Text("Match exec is followed in your own ~/.ssh/config only; nothing was run", "只有您自己的 ~/.ssh/config 中的 Match exec 会被采用；没有运行任何程序"),
            Text("take the line out, or write user@host:port", "请去掉该行，或写 user@host:port"),
        )  # fmt: skip


def resolve_jumps(jump: str, *, config_file: str = "") -> tuple[Target, ...]:
    """The jump hosts of `jump` in the order in which they are reached, each as ssh's config has it.

    The first may have jump hosts of its own; those of the others are named by their place in the list. Raises
    UsageError when the way leads in a circle.
    """
    chain: list[Target] = []
    while names := parse_jump(jump):
        if len(chain) + len(names) > HOPS_MAX:
            raise UsageError(Text(f"the jump hosts {jump!r} lead in a circle", f"跳板机 {jump!r} 形成了循环"), Text(f"at most {HOPS_MAX} are followed", f"最多支持 {HOPS_MAX} 个"))
        targets = [resolve_hop(name, config_file=config_file) for name in names]
        chain = [*targets, *chain]
        jump = targets[0].jump
    return tuple(chain)


def notes_of(target: Target, *, config_file: str = "") -> tuple[Text, ...]:
    """What the config says and we don't follow: of the host itself, then of each jump host on the way, by its name.

    Jump hosts that can't be read say nothing here: connecting does.
    """
    try:
        return with_hops(target.notes, resolve_jumps(target.jump, config_file=config_file))
    except UserFacing:
        return target.notes


def with_hops(notes: tuple[Text, ...], hops: Iterable[Target]) -> tuple[Text, ...]:
    """A host's notes and those of its jump hosts, each with the name of the jump host."""
    named = [(hop.name, words) for hop in hops for words in hop.notes]
    return (*notes, *(Text(f"jump host {name}: {words.en}", f"跳板机 {name}：{words.zh}") for name, words in named))


def _ask(argv: Sequence[str], alias: str) -> str:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserFacing(Text(f"ssh -G {alias} gave no answer", f"ssh -G {alias} 没有返回结果"), str(error), _BY_HAND) from error
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip() and not line.startswith(_NO_TERMINAL)]
        said = "; ".join(lines[:2])  # what, and in which line
        raise UserFacing(
            Text(f"ssh can't read its config for {alias}", f"ssh 无法为 {alias} 读取配置"), said, Text("mend the config or write user@host:port", "请修复配置，或写 user@host:port")
        )  # fmt: skip
    return done.stdout


def target_of(alias: str, answer: str, config_file: str = "") -> Target:
    """The target in the text that `ssh -G` printed. Raises UsageError.

    `config_file` as it was asked for: its lines tell where a file's name with a blank in it ends, and where what we
    don't follow stands.
    """
    values: dict[str, list[str]] = {}
    for line in answer.split("\n"):
        key, _, value = line.partition(" ")
        values.setdefault(ALSO_CALLED.get(key.lower(), key.lower()), []).append(value.strip(" \t\r"))
    lines = tuple(all_lines(config_file))
    try:
        return _target_of(alias, values, lines)
    except TokenUnknown as error:
        raise UsageError(_at_place(error.what_text, _place_with(error.words, lines)), error.why_text, error.next_text) from error


def _at_place(words: Text, place: str) -> Text:
    return Text(f"{place}: {words.en}", f"{place}：{words.zh}")


def _place_with(words: str, lines: Sequence[ConfigLine]) -> str:
    return next((line.place for line in lines if words in line.words), _SOMEWHERE)


def _refuse(alias: str, values: Mapping[str, Sequence[str]], lines: Sequence[ConfigLine]) -> None:
    """Raises UsageError for what the config forbids, or would run."""
    command, refusal = _first(values, "proxycommand"), _first(values, "refuseconnection")
    if command not in ("", "none"):
        place = _place_said("proxycommand", command, lines)
        raise UsageError(
            Text(f"{alias} is reached by ProxyCommand", f"{alias} 须经 ProxyCommand 连接"),
            Text(f"{place}: a ProxyCommand runs a program, and none is run from a config", f"{place}：ProxyCommand 会运行程序，本程序不运行配置文件中的程序"),
            Text("use ProxyJump, or name a proxy of the node", "请改用 ProxyJump，或为节点指定代理"),
        )  # fmt: skip
    if refusal:
        raise UsageError(
            Text(f"the ssh config refuses connections to {alias}", f"ssh 配置拒绝连接 {alias}"),
            _at_place(foreign(refusal), _place_said("refuseconnection", refusal, lines)), Text("take the RefuseConnection line out", "请去掉 RefuseConnection 行"),
        )  # fmt: skip


def _place_said(keyword: str, value: str, lines: Sequence[ConfigLine]) -> str:
    line = _line_of(keyword, value, lines)
    return line.place if line is not None else _SOMEWHERE


def _target_of(alias: str, values: Mapping[str, Sequence[str]], lines: Sequence[ConfigLine]) -> Target:
    _refuse(alias, values, lines)
    name = alias.rpartition("@")[2]
    host = check_host(_first(values, "hostname") or name)
    address = Address(host, check_port(_first(values, "port") or "22"), check_user(_first(values, "user") or "root"))
    key_alias = _unless_none(_first(values, "hostkeyalias"))
    tokens = Tokens(address, name, key_alias)
    jump = re.sub(r"\[([^]:]*)\]", r"\1", tokens.fill_jump(_first(values, "proxyjump")))  # ssh -G writes [10.0.0.1]
    try:
        hops = parse_jump(jump)
    except UsageError as error:
        raise UsageError(_at_place(error.what_text, _place_said("proxyjump", _first(values, "proxyjump"), lines)), error.why_text, error.next_text) from error
    tokens = replace(tokens, jump_host=hops[-1].host if hops else "")
    keys = [tokens.fill(path) for path in values.get("identityfile", ()) if _unless_none(path)]
    certificates = [tokens.fill(path) for path in values.get("certificatefile", ()) if _unless_none(path)]
    _check_lists(values, lines)
    options = options_text(_options(values, tokens, lines), tokens.fill_signs)
    if parse_options(options).no_key:
        keys = certificates = []
    key_file, not_there = _key_file(keys), missing_files("identityfile", keys, tokens.fill, lines)
    if not key_file and parse_options(options).only_named:  # nothing else may be shown: connecting says which file is not there
        key_file = next(iter(not_there), "")
    certificates_gone = missing_words("CertificateFile", missing_files("certificatefile", certificates, tokens.fill, lines))
    gone = (*(missing_words("IdentityFile", not_there) if key_file in ("", *not_there) else ()), *certificates_gone)
    return Target(
        address, alias, key_file, key_alias, jump if hops else "", "\n".join(_there(certificates)),
        _files("userknownhostsfile", _first(values, "userknownhostsfile"), user_known_hosts(), tokens, lines),
        (*gone, *_keys_left_out(keys, certificates), *_notes(values, lines)),
        options, no_key_file=[path.lower() for path in values.get("identityfile", ())] == ["none"],
    )  # fmt: skip


def _options(values: Mapping[str, Sequence[str]], tokens: Tokens, lines: Sequence[ConfigLine]) -> dict[str, str | tuple[str, ...]]:
    said: dict[str, str | tuple[str, ...]] = {key: _first(values, key) for key in OPTIONS if key not in (*USUAL, METHOD)}
    said["globalknownhostsfile"] = _files("globalknownhostsfile", _first(values, "globalknownhostsfile"), SYSTEM_KNOWN_HOSTS, tokens, lines)
    said["pubkeyauthentication"] = "no" if _first(values, "pubkeyauthentication") in ("no", "false") else ""
    lists: dict[str, str | tuple[str, ...]] = {**_own_lists(values), METHOD: _ways(values)}
    if HOST_KEY in lists and _only_changed(tuple(lists[HOST_KEY]), lines):
        lists[HOST_KEY] = taken_away(HOST_KEY, lists[HOST_KEY])
    return {**said, **lists}


def _only_changed(names: tuple[str, ...], lines: Sequence[ConfigLine]) -> bool:
    """Whether HostKeyAlgorithms only adds to ssh's own list or takes away: then the types that are known go first, as in ssh."""
    words = [line.words[0] for line in lines if line.keyword == HOST_KEY and line.words]
    said = [one for one in words if spelt_out(HOST_KEY, one) == names] or words
    return bool(said) and all(one[:1] in ("+", "-") for one in said)


def _own_lists(values: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The lists of algorithms that are not ssh's own: it prints those, too."""
    usual = _usual_lists(shutil.which("ssh") or "")
    said = {key: _first(values, key) for key in USUAL if key in values}
    # An ssh of before may print a change of its list as it was written.
    return {key: (spelt_out(key, words) if words[:1] in _CHANGES else None) or tuple(words.split(",")) for key, words in said.items() if words != usual.get(key)}


def _check_lists(values: Mapping[str, Sequence[str]], lines: Sequence[ConfigLine]) -> None:
    """Raises UsageError, with the line, for a list of which we are able to do nothing."""
    for key, names in {**_own_lists(values), METHOD: _ways(values)}.items():
        try:
            narrowed(key, OPTIONS[key], names)
        except UsageError as error:
            raise UsageError(_at_place(error.what_text, _place_of(key, names, lines)), error.why_text, error.next_text) from error


def _ways(values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The ways of logging in that are left, in their order."""
    off = {way for key, way in SWITCHED_WAYS.items() if _first(values, key) in ("no", "false")}
    wanted = _first(values, METHOD) or ",".join(METHODS)
    return tuple(way for way in wanted.split(",") if way not in off)


def _unless_none(word: str) -> str:
    return "" if word.lower() == "none" else word


def _there(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if Path(path).is_file())


def _key_file(paths: Sequence[str]) -> str:
    """The private keys that are there, one a line, as many as are tried; else the first public one: its private half may be
    in an agent.
    """
    private = [path for path in _there(paths) if not path.endswith(".pub")]
    return "\n".join(private[:KEYS_MAX]) or next(_there([*paths, *(f"{path}.pub" for path in paths)]), "")


def _keys_left_out(paths: Sequence[str], certificates: Sequence[str]) -> tuple[Text, ...]:
    """Certificates come first, each once for the key that it is about."""
    keys = [path for path in _there(paths) if not path.endswith(".pub")]
    shown = [*(certificate for certificate, _ in pairs(tuple(_there(certificates)), keys[:KEYS_MAX])), *keys]
    left = ", ".join(shown[KEYS_MAX:])
    words = Text(f"only {KEYS_MAX} keys are tried, not {left}", f"最多尝试 {KEYS_MAX} 个密钥，未包括 {left}")
    return (words,) if left else ()


def _files(keyword: str, value: str, usual: tuple[str, ...], tokens: Tokens, lines: Iterable[ConfigLine]) -> tuple[str, ...]:
    """The known hosts files that the config names; () for the usual ones, ("none",) for none.

    `ssh -G` has filled the tokens in and joins the names with blanks, so that a line which says the same tells where a
    name ends.
    """
    if not value or value == " ".join(usual):
        return ()
    if not _unless_none(value):
        return ("none",)
    for line in lines:
        if line.keyword == keyword:
            paths = tuple(map(tokens.fill, line.words))
            if value in (" ".join(paths), " ".join(line.words)):
                return () if paths == usual else paths
    return tuple(value.split(" "))


def _notes(values: Mapping[str, Sequence[str]], lines: Iterable[ConfigLine]) -> tuple[Text, ...]:
    """What ssh would do and we don't, with the line that says so where it is found."""
    lines = tuple(lines)
    usual = _usual_lists(shutil.which("ssh") or "")
    said = []
    for key, names in _own_lists(values).items():
        left = not_able(key, names, (usual.get(key) or ",".join(USUAL[key])).split(","))
        if left:
            said.append(_note(OPTIONS[key], ",".join(left), _place_of(key, left, lines)))
    return (*said, *_unfollowed(values, usual, lines))


def _unfollowed(values: Mapping[str, Sequence[str]], usual: Mapping[str, str], lines: Sequence[ConfigLine]) -> Iterator[Text]:
    """What would change something, and is not followed; also what an ssh knows that is newer than we."""
    for key, said in values.items():
        about = SAID.get(key) or (None if is_classified(key) or not key else Unfollowed(key, ("",), UNKNOWN))
        value = _yes_no(", ".join(said))
        if about is None or value in about.quiet or value == _yes_no(usual.get(key, "")) or (about is not SAID.get(key) and not usual):
            continue
        line = _line_of(key, value, lines)
        if about.of_systems and line is not None and line.file.startswith("/etc/"):
            continue
        shown = " ".join(line.words) if line is not None else value
        yield _note(about.name, shown, line.place if line is not None else _SOMEWHERE, about.instead)


def _yes_no(value: str) -> str:
    return {"true": "yes", "false": "no"}.get(value.lower(), value)


def _line_of(key: str, value: str, lines: Sequence[ConfigLine]) -> ConfigLine | None:
    """The line that says so: word by word, else the only one with this keyword (ssh prints some values by another name)."""
    of_key = [line for line in lines if line.keyword == key and line.words]
    same = (line for line in of_key if value in (_yes_no(line.words[0]), " ".join(line.words)))
    return next(same, of_key[0] if len({line.words for line in of_key}) == 1 else None)


@lru_cache(maxsize=2)
def _usual_lists(ssh: str) -> Mapping[str, str]:
    """What that ssh takes where no config says otherwise; empty where there is none."""
    if not ssh:
        return {}
    pairs = (line.partition(" ") for line in _ask([ssh, "-F", "none", "-G", "--", "x"], "x").split("\n"))
    return {ALSO_CALLED.get(key.lower(), key.lower()): value.strip() for key, _, value in pairs}


def _place_of(key: str, names: Sequence[str], lines: Iterable[ConfigLine]) -> str:
    """The line that brings these algorithms in."""
    of_key = [line for line in lines if line.keyword == key and line.words]
    if key == METHOD:
        return of_key[0].place if of_key else _SOMEWHERE
    return next((line.place for line in of_key if {*names} - {""} <= set(spelt_out(key, line.words[0]) or ())), _SOMEWHERE)


def _note(option: str, value: str, place: str, instead: Text = NO_TEXT) -> Text:
    en, zh = (f": {instead.en}", f"：{instead.zh}") if instead.en else ("", "")
    shown = option if option.lower() in MAY_HOLD_SECRETS else f"{option} {value}"
    return Text(f"{place}: {shown} is not honoured{en}", f"{place}：不支持 {shown}，已忽略{zh}")


def user_known_hosts() -> tuple[str, ...]:
    """The files that ssh reads where its config names none."""
    return tuple(str(Path.home() / ".ssh" / name) for name in ("known_hosts", "known_hosts2"))


def _first(values: Mapping[str, Sequence[str]], key: str) -> str:
    return next(iter(values.get(key, ())), "")
