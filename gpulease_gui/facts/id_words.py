"""Who is the user of a shell, by `id`?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import clean, first_line

FACT = Fact(id="id_words", title=Text("User and groups (id)", "用户与组（id）"), ok_codes=None, ask=Text("id", "id"), answers=("access",))
_ID = re.compile(
    r"^[ \t]*uid=(\d{1,10})(?:\(([^)\n]{1,60})\))? gid=\d{1,10}(?:\([^)\n]{1,60}\))?(?: groups=([^\n]{1,4000}?))?(?: context=\S+)?[ \t]*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class User:
    """The number and name of the user, and the names of its groups; None = not told."""

    uid: int
    name: str | None
    groups: tuple[str, ...] | None


def parse(output: CommandOutput) -> User:
    """Read the line. Raises Unreadable when there is none."""
    found = _ID.search(clean(output.text))
    if found is None:
        raise Unreadable(f"no line of id in the output: {first_line(output.text) or first_line(output.error_text) or 'it is empty'}")
    groups = tuple(re.findall(r"\(([^)]{1,60})\)", found[3])) if found[3] else None
    return User(int(found[1]), found[2], groups)


def as_dict(reading: User) -> dict[str, object]:
    """uid, name, groups."""
    return {"uid": reading.uid, "name": reading.name, "groups": None if reading.groups is None else list(reading.groups)}


def recognise(text: str) -> int:
    """The line itself, in a short text."""
    return 90 if len(text) < 6000 and _ID.search(clean(text)) else 0
