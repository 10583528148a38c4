"""How do the shell facts of our own write down what they found (`key: value`, one a line)?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason

MAX_LINES = 20_000
MAX_VALUE_CHARS = 500

# `say KEY WORDS` writes a line, `put KEY FILE` a line for each line of a file. A file that is not there is silence,
# one that may not be read is the line `denied: FILE`. Only builtins: hundreds of small files cost no process each.
SHELL = """\
say() { printf '%s: %s\\n' "$1" "$2"; }
put() {
  [ -f "$2" ] || return 0
  if [ ! -r "$2" ]; then say denied "$2"; return 0; fi
  while IFS= read -r line || [ -n "$line" ]; do say "$1" "$line"; done <"$2"
}
"""

END = "say end yes"

# `walk BASE PATH FILE...` shows FILE of a control group and of all its ancestors: any of them may hold the limit.
WALK = """\
walk() {
  base=$1; at=${2%/}; shift 2
  case $at in *..*) at=;; esac
  while :; do
    if [ -d "$base$at" ]; then say cgroup "$base$at"; fi
    for name in "$@"; do put "$name" "$base$at/$name"; done
    [ -n "$at" ] || break
    at=${at%/*}
  done
}
"""


@dataclass(frozen=True, slots=True)
class KeyedLines:
    """The lines in the order printed."""

    pairs: tuple[tuple[str, str], ...]

    def first(self, key: str) -> str | None:
        """The first value of `key` that is not blank; None if there is none."""
        return next((value for name, value in self.pairs if name == key and value), None)

    def all(self, key: str) -> tuple[str, ...]:
        """All values of `key` that are not blank."""
        return tuple(value for name, value in self.pairs if name == key and value)

    def number(self, key: str) -> int | None:
        """The first value of `key` as a whole number; None if it is none."""
        return whole(self.first(key))

    def records(self, key: str) -> Iterator[KeyedLines]:
        """The runs of lines that start with `key`; each run holds that line too."""
        starts = [n for n, (name, _) in enumerate(self.pairs) if name == key] + [len(self.pairs)]
        for start, end in zip(starts, starts[1:], strict=False):
            yield KeyedLines(self.pairs[start:end])


def whole(words: str | None) -> int | None:
    """`words` as a whole number of at most 19 digits; None for anything else."""
    digits = (words or "").strip()
    body = digits.removeprefix("-")
    return int(digits) if body.isascii() and body.isdigit() and len(body) <= 19 else None


def keyed_lines(output: CommandOutput, sign: str) -> KeyedLines:
    """The lines of a shell fact. Raises Unreadable if the line `sign` or the last line `end: yes` is not there."""
    # Only a line feed ends a line here: splitlines() also cuts at marks that a foreign value may hold.
    lines = output.text.rstrip("\n").split("\n")
    pairs = tuple(_pair(line) for line in lines[:MAX_LINES] if ": " in line or line.endswith(":"))
    if not any(key == sign for key, _ in pairs):
        if f"{sign}: ".startswith(output.text) or "\n" not in output.text and output.text.startswith(f"{sign}:"):
            raise Unreadable("the output ends in its first line", code=Reason.CUT_OFF)
        raise Unreadable("the node's shell printed none of the expected lines")
    if ("end", "yes") not in pairs[-1:]:
        raise Unreadable("the output ends before its last line", code=Reason.CUT_OFF)
    return KeyedLines(pairs)


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip()[:80], value.strip()[:MAX_VALUE_CHARS]


def id_list_count(words: str | None) -> int | None:
    """How many numbers a kernel list such as `0-3,8,10-11` holds; None if it is no such list.

    >>> id_list_count("0-3,8,10-11")
    7
    """
    if not words or len(words) > MAX_VALUE_CHARS:
        return None
    total = 0
    for part in words.split(","):
        low, _, high = part.partition("-")
        first, last = whole(low), whole(high) if high else whole(low)
        if first is None or last is None or last < first:
            return None
        total += last - first + 1
    return total
