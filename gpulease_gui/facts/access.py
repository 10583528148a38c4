"""Who can get into this node, and what listens on it?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# Of a key only its kind and its comment are shown, never the key; accounts that can't log in are no way in.
_SCRIPT = (
    SHELL
    + """\
say uid "$(id -u)"
say groups "$(id -Gn)"
if [ -r /etc/passwd ]; then
  while IFS=: read -r name word uid gid gecos home shell; do
    case $shell in */nologin|*/false|*/sync|*/shutdown|*/halt) continue;; esac
    say account "$name $uid $home"
    for file in "$home/.ssh/authorized_keys" "$home/.ssh/authorized_keys2"; do
      [ -f "$file" ] || continue
      if [ ! -r "$file" ]; then say denied "$file"; continue; fi
      while read -r kind key comment || [ -n "$kind" ]; do
        case $kind in ''|'#'*) ;; *) say key "$name $kind $comment";; esac
      done <"$file"
    done
  done </etc/passwd
fi
if [ -r /etc/group ]; then
  while IFS=: read -r name word gid members; do
    case $name in sudo|wheel|admin|docker) say group "$name $members";; esac
  done </etc/group
fi
if command -v ss >/dev/null; then
  said=$(ss -Hltnp); say ss_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say listen "$line"; done
fi
"""
    + END
)

FACT = Fact(id="access", title=Text("Ways into the node", "可进入节点的途径"), command=Command(script=_SCRIPT), seconds=10)


_LOCAL = re.compile(r"(?:\[?::ffff:)?127(?:\.\d{1,3}){3}(?:%\w{1,20})?\]?|\[?::1\]?(?:%\w{1,20})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP port that waits for calls; `program` None = this user may not see it."""

    address: str
    port: int
    program: str | None

    @property
    def is_local(self) -> bool:
        """Whether only this machine itself can reach it."""
        return _LOCAL.fullmatch(self.address) is not None


@dataclass(frozen=True, slots=True)
class Access:
    """`listeners` None = the tool did not answer. `accounts` can log in; `keys` as "user kind comment"."""

    uid: int | None
    groups: tuple[str, ...]
    accounts: tuple[str, ...]
    keys: tuple[str, ...]
    admins: tuple[str, ...]
    listeners: tuple[Listener, ...] | None
    denied: tuple[str, ...] = ()


_ADDRESS = re.compile(r"(\S+):(\d{1,5})\Z", re.ASCII)


def parse(output: CommandOutput) -> Access:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "uid")
    answered = lines.number("ss_code") == 0
    admins = [name for line in lines.all("group") for name in line.partition(" ")[2].split(",") if name]
    return Access(
        lines.number("uid"), tuple((lines.first("groups") or "").split()), lines.all("account"), lines.all("key"),
        tuple(dict.fromkeys(admins)), _listeners(lines) if answered else None, lines.all("denied"),
    )  # fmt: skip


def _listeners(lines: KeyedLines) -> tuple[Listener, ...]:
    found = []
    for line in lines.all("listen"):
        cells = line.split()
        place = _ADDRESS.match(cells[3]) if len(cells) > 3 else None
        port = whole(place[2]) if place else None
        if place and port is not None and 0 < port < 65536:
            program = re.search(r'users:\(\("([^"]{1,60})"', line)
            found.append(Listener(place[1], port, program[1] if program else None))
    return tuple(found)


def as_dict(reading: Access) -> dict[str, object]:
    """The fields by name; listeners as address:port and program."""
    listeners = reading.listeners
    return {
        "uid": reading.uid,
        "groups": list(reading.groups),
        "accounts": list(reading.accounts),
        "keys": list(reading.keys),
        "admins": list(reading.admins),
        "listeners": None if listeners is None else [f"{x.address}:{x.port} {x.program or '?'}" for x in listeners],
        "denied": list(reading.denied),
    }


def recognise(text: str) -> int:
    """Sure of our own first lines."""
    return 97 if text.startswith("uid: ") and "\ngroups: " in text[:200] else 0
