"""Which keys does a known_hosts file name for a host? It is only ever read."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.hostkeys import PlacedKey, PlacedList
from gpulease_gui.remote.named_files import OddFile, read_file, why_unread
from gpulease_gui.remote.revocation import MAGIC, read_list

_FILE_MAX_BYTES = 16 * 1024 * 1024
_MARKERS = ("", "@cert-authority", "@revoked")
# Files of up to this size are not taken apart anew for each node.
_KEPT_BYTES = 1024 * 1024
_ODD = ""
_PATTERN = re.compile(r"[*?!|]")
_BLANKS = re.compile(r"[ \t]+")
# What ssh takes no notice of around a key, such as the end of a line of Windows.
_IDLE = "\n\v\f\r"

# Number and words of a line.
_Worded = tuple[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class KnownLine:
    """One line that can be used. `names` as written: a hash, or names and patterns with commas."""

    number: int
    marker: str
    names: str
    key: HostKey


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """One line that can't be used, and why (for a note; never a failure)."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class KnownHere:
    """What the files say of one host. `authorities`: CA lines that match it."""

    listed: tuple[PlacedKey, ...] = ()
    revoked: tuple[PlacedKey, ...] = ()
    authorities: tuple[PlacedKey, ...] = ()
    skipped: tuple[str, ...] = ()


def known_name(address: Address, alias: str = "") -> str:
    """Under which name ssh keeps the key of an address: its HostKeyAlias, the host, or `[host]:port`."""
    if alias:
        return alias.lower()
    return address.host.lower() if address.port == 22 else f"[{address.host.lower()}]:{address.port}"


def known_of(address: Address, alias: str, paths: Sequence[str]) -> KnownHere:
    """What `paths` say of a host. An authority of the host counts on each of its ports, as in ssh; then what is revoked for the host
    speaks against it there, too. A key of the host does not count: other ports may be other machines.
    """
    here = keys_for(known_name(address, alias), paths)
    if alias or address.port == 22:
        return here
    host = keys_for(address.host.lower(), paths)
    if not host.authorities:
        return here
    authorities, revoked = ((*mine, *others) for mine, others in ((here.authorities, host.authorities), (here.revoked, host.revoked)))
    return replace(here, authorities=tuple(dict.fromkeys(authorities)), revoked=tuple(dict.fromkeys(revoked)))


def keys_for(name: str, paths: Iterable[str]) -> KnownHere:
    """What `paths` say of `name`; a file that is not there says nothing."""
    found: dict[str, list[PlacedKey]] = {marker: [] for marker in _MARKERS}
    skipped: list[str] = []
    for path in paths:
        try:
            content = read_file(Path(path).expanduser() if path.startswith("~") else path, _FILE_MAX_BYTES)
        except OddFile as error:
            skipped.append(f"{path}: {error.words.en}")
            continue
        except OSError:
            continue
        lines, bad = parse_lines(_without_mark(content), name)
        skipped += [f"{path}:{line.number}: {line.why}" for line in bad]
        for line in lines:
            found[line.marker].append(PlacedKey(line.key, f"{path}:{line.number}"))
    return KnownHere(tuple(found[""]), tuple(found["@revoked"]), tuple(found["@cert-authority"]), tuple(skipped))


def revoked_in(path: str) -> tuple[tuple[PlacedKey, ...], tuple[PlacedList, ...]]:
    """The keys in a file of RevokedHostKeys, one public key a line, or the list that ssh-keygen -k wrote there.

    Raises UsageError for a file that can't be read so: no key may pass unread.
    """
    place = Path(re.sub(r"\$\{(\w+)\}", lambda name: os.environ.get(name[1], name[0]), path)).expanduser()
    try:
        content = read_file(place, _FILE_MAX_BYTES)
    except OSError as error:
        raise _unread(path, why_unread(error, place)) from error
    if content.startswith(MAGIC[:6]):
        try:
            return (), (PlacedList(read_list(content), path),)
        except ValueError as error:
            raise _unread(path, str(error)) from error
    found = []
    for number, words in _worded(_without_mark(content)):
        line = _line(number, ["*", *words[:2]])
        if not isinstance(line, KnownLine):
            raise _unread(f"{path}:{number}", line.why)
        found.append(PlacedKey(line.key, f"{path}:{number}"))
    return tuple(found), ()


def _without_mark(content: bytes) -> bytes:
    """The lines as ASCII, whatever mark an editor of Windows put before the first: behind it `@revoked` would not be seen."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode("ascii", "replace")
    return content.removeprefix(codecs.BOM_UTF8)


def _unread(path: str, why: str | Text) -> UsageError:
    words = why if isinstance(why, Text) else Text(why, why)
    return UsageError(
        Text(f"RevokedHostKeys {path} can't be read", f"无法读取 RevokedHostKeys {path}"),
        Text(f"{words.en}; without it no host key can be trusted", f"{words.zh}；缺少它就不能信任任何主机密钥"),
        Text("mend the file, or take the line out", "请修复该文件，或去掉该行"),
    )  # fmt: skip


def parse_lines(content: bytes, name: str = "") -> tuple[tuple[KnownLine, ...], tuple[SkippedLine, ...]]:
    """All usable lines and all others, or those that may mean `name`; blank lines and comments are neither.

    Never raises. Other hosts' keys are not decoded: a file may hold thousands, and every connect reads it.
    """
    good: list[KnownLine] = []
    bad: list[SkippedLine] = []
    for number, words in _that_may_mean(name, content) if name else _worded(content):
        line = _line(number, list(words))
        if isinstance(line, KnownLine):
            good.append(line)
        else:
            bad.append(line)
    return tuple(good), tuple(bad)


def _worded(content: bytes) -> Iterator[_Worded]:
    for number, raw in enumerate(content.split(b"\n"), 1):
        # Names and keys are ASCII; a comment may be in any encoding. Only these two part words, in ssh too.
        words = _BLANKS.split(raw.decode("ascii", "replace").strip(" \t"))
        if words[0].strip() and not words[0].startswith("#"):
            yield number, tuple(words)


def _names_of(words: tuple[str, ...]) -> str:
    return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]


def _that_may_mean(name: str, content: bytes) -> Iterator[_Worded]:
    """In the order of the file."""
    by_name = _by_name(content) if len(content) <= _KEPT_BYTES else _by_name.__wrapped__(content)
    for number, words in sorted((*by_name.get(name, ()), *by_name[_ODD])):
        if len(words) <= 2 or names_match(_names_of(words), name):
            yield number, words


@lru_cache(maxsize=3)
def _by_name(content: bytes) -> dict[str, list[_Worded]]:
    """The lines under the names that they spell out; those that need a closer look under `_ODD`.

    Kept, as a fleet asks the same file for each of its nodes.
    """
    found: dict[str, list[_Worded]] = {_ODD: []}
    for number, words in _worded(content):
        names = _names_of(words).lower()
        spelt = {_ODD} if len(words) <= 2 or _PATTERN.search(names) else set(names.split(",")) - {_ODD}
        for name in spelt:
            found.setdefault(name, []).append((number, words))
    return found


def _line(number: int, words: list[str]) -> KnownLine | SkippedLine:
    marker = words.pop(0) if words[0].startswith("@") else ""
    if marker not in _MARKERS:
        return SkippedLine(number, "an unknown marker")
    if len(words) < 3:
        return SkippedLine(number, "no host, key type and key")
    names, kind, key = words[0], words[1], words[2].strip(_IDLE)
    try:
        blob = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        return SkippedLine(number, "the key is not base64")
    if blob[4 : 4 + int.from_bytes(blob[:4], "big")] != kind.encode("ascii", "replace") or len(blob) <= 4 + len(kind):
        return SkippedLine(number, "the key is not of the type that the line names")
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return KnownLine(number, marker, names, HostKey(kind, f"SHA256:{digest}"))


def names_match(names: str, name: str) -> bool:
    """Whether a line's names mean `name`: a hash of it, or a pattern of it and no negated one."""
    if names.startswith("|"):
        return _hash_matches(names, name)
    hit = False
    for pattern in names.lower().split(","):
        if pattern.startswith("!"):
            if pattern_matches(pattern[1:], name):
                return False
        elif pattern:
            hit = hit or pattern_matches(pattern, name)
    return hit


def _hash_matches(names: str, name: str) -> bool:
    parts = names.split("|")
    if len(parts) != 4 or parts[1] != "1":
        return False
    try:
        salt, wanted = base64.b64decode(parts[2], validate=True), base64.b64decode(parts[3], validate=True)
    except (binascii.Error, ValueError):
        return False
    # SHA-1 is how OpenSSH hides names here; it protects nothing of ours.
    return hmac.compare_digest(hmac.digest(salt, name.encode(), "sha1"), wanted)


def pattern_matches(pattern: str, name: str) -> bool:
    """Whether `name` fits: `*` and `?` only, as ssh has it; in time that grows with the lengths' product at most."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    at = back = 0
    star = -1
    place = 0
    while place < len(name):
        if at < len(pattern) and (pattern[at] == "?" or (pattern[at] == name[place] and pattern[at] != "*")):
            at, place = at + 1, place + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, back, at = at, place, at + 1
        elif star >= 0:
            back += 1
            at, place = star + 1, back
        else:
            return False
    return not pattern[at:].strip("*")
