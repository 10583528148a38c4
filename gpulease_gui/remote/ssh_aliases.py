"""Which hosts does the user's ssh config name, and what does ssh make of each? Nothing connects."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.known_hosts import pattern_matches
from gpulease_gui.remote.ssh_config import check_alias, resolve_alias, resolve_jumps, with_hops
from gpulease_gui.remote.ssh_lines import ConfigFile, ConfigLine, all_lines, config_files

ALIASES_MAX = 1000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """An alias and where it stands (FILE:LINE); or, without `target`, a line or alias that is refused, and why, in both languages."""

    name: str
    place: str
    text: str
    target: Target | None = None
    error: str = ""
    error_text: Text = NO_TEXT

    def refused(self, why: Text) -> ConfigRow:
        """The same, refused."""
        return replace(self, error=why.en, error_text=why)


def read_aliases(config_file: str, cancel: CancelToken) -> tuple[ConfigRow, ...]:
    """All aliases of the user's config (or of `config_file` alone), in its order, then the lines that are refused.

    Patterns are no aliases. Each is what `ssh -G` says of it; jump hosts of another config file than the user's are
    spelled out, as only the user's is asked when connecting. Raises Cancelled.
    """
    rows = list(_listed(config_file))
    named = [row for row in rows if not row.error]

    hops = _Hops(config_file)

    def resolve(row: ConfigRow) -> ConfigRow:
        return row if cancel.cancelled else _resolved(row, hops)

    with ThreadPoolExecutor(_AT_ONCE, "ssh-config") as pool:
        done = list(pool.map(resolve, named[:ALIASES_MAX]))
    cancel.check()
    late = [row.refused(Text(f"only the first {ALIASES_MAX} aliases are read", f"只读取前 {ALIASES_MAX} 个别名")) for row in named[ALIASES_MAX:]]
    return (*done, *late, *(row for row in rows if row.error))


def may_speak_of(name: str) -> bool:
    """Whether the user's config may say something of this name in particular; nothing is run. Names that are no alias: no."""
    word = name.rpartition("@")[2]
    try:
        check_alias(word)
    except UsageError:
        return False
    return any(_speaks_of(line, word) for line in all_lines())


def is_alias(name: str) -> bool:
    """Whether the user's config has a Host line with this very word (of `user@word`, too), not only a pattern that fits."""
    word = name.rpartition("@")[2]
    return any(line.keyword == "host" and word in line.words for line in all_lines())


def _speaks_of(line: ConfigLine, word: str) -> bool:
    if line.keyword == "match":
        return [part.lower() for part in line.words] != ["all"]
    return line.keyword == "host" and any(part != "*" and part[:1] != "!" and pattern_matches(part, word) for part in line.words)


class _Hops:
    """The jump hosts that many aliases share, each way asked for once."""

    def __init__(self, config_file: str) -> None:
        self.config_file = config_file
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Target, ...]] = {}

    def of(self, jump: str) -> tuple[Target, ...]:
        """Raises UserFacing."""
        with self._lock:
            known = self._known.get(jump)
        if known is None:
            known = resolve_jumps(jump, config_file=self.config_file)
            with self._lock:
                self._known[jump] = known
        return known


def _resolved(row: ConfigRow, ways: _Hops) -> ConfigRow:
    try:
        target = resolve_alias(row.name, config_file=ways.config_file)
        hops = ways.of(target.jump)
        target = replace(target, notes=with_hops(target.notes, hops))
        if hops and ways.config_file:
            target = replace(target, jump=",".join(str(hop.address) for hop in hops))
    except UserFacing as error:
        parts = [part for part in (error.what_text, error.why_text) if part.en]
        return row.refused(Text("; ".join(part.en for part in parts), "；".join(part.zh for part in parts)))
    return replace(row, target=target)


def _listed(config_file: str) -> Iterator[ConfigRow]:
    seen: set[str] = set()
    for file in config_files(config_file):
        for line in _lines(file):
            if line.trouble:
                yield ConfigRow("", line.place, line.text).refused(line.trouble)
            elif line.keyword == "host":
                yield from _aliases(line, seen)


def _lines(file: ConfigFile) -> Iterator[ConfigLine]:
    for item in file.items:
        if isinstance(item, ConfigFile):
            yield from _lines(item)
        else:
            yield item


def _aliases(line: ConfigLine, seen: set[str]) -> Iterator[ConfigRow]:
    for word in line.words:
        if word in seen or word.startswith("!") or any(sign in word for sign in "*?"):
            continue
        seen.add(word)
        try:
            check_alias(word)
        except UsageError as error:
            yield ConfigRow(word, line.place, line.text).refused(error.what_text)
        else:
            yield ConfigRow(word, line.place, line.text)
