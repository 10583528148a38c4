"""Which hosts does the user's ssh config name, and what does ssh make of each? Nothing connects."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.remote.address import Target, check_host
from gpulease_gui.remote.ssh_config import resolve_alias, resolve_jumps
from gpulease_gui.remote.ssh_lines import ConfigFile, ConfigLine, config_files

ALIASES_MAX = 1000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """An alias and where it stands (FILE:LINE); or, without `target`, a line or alias that is refused, and why."""

    name: str
    place: str
    text: str
    target: Target | None = None
    error: str = ""


def read_aliases(config_file: str, cancel: CancelToken) -> tuple[ConfigRow, ...]:
    """All aliases of the user's config (or of `config_file` alone), in its order, then the lines that are refused.

    Patterns are no aliases. Each is what `ssh -G` says of it; jump hosts of another config file than the user's are
    spelled out, as only the user's is asked when connecting. Raises Cancelled.
    """
    rows = list(_listed(config_file))
    named = [row for row in rows if not row.error]

    def resolve(row: ConfigRow) -> ConfigRow:
        return row if cancel.cancelled else _resolved(row, config_file)

    with ThreadPoolExecutor(_AT_ONCE, "ssh-config") as pool:
        done = list(pool.map(resolve, named[:ALIASES_MAX]))
    cancel.check()
    late = [replace(row, error=f"only the first {ALIASES_MAX} aliases are read") for row in named[ALIASES_MAX:]]
    return (*done, *late, *(row for row in rows if row.error))


def _resolved(row: ConfigRow, config_file: str) -> ConfigRow:
    try:
        target = resolve_alias(row.name, config_file=config_file)
        if target.jump and config_file:
            hops = resolve_jumps(target.jump, config_file=config_file)
            target = replace(target, jump=",".join(str(hop.address) for hop in hops))
    except UserFacing as error:
        why = "; ".join(part for part in (error.what, error.why) if part)
        return replace(row, error=why)
    return replace(row, target=target)


def _listed(config_file: str) -> Iterator[ConfigRow]:
    seen: set[str] = set()
    for file in config_files(config_file):
        for line in _lines(file):
            if line.trouble:
                yield ConfigRow("", line.place, line.text, error=line.trouble)
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
            check_host(word)
        except UsageError as error:
            yield ConfigRow(word, line.place, line.text, error=error.what)
        else:
            yield ConfigRow(word, line.place, line.text)
