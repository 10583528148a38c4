"""When may an event of a watched node disturb the user?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.settings import get_setting, save_setting

_ON, _FROM, _TO, _OFF = "notices.on", "notices.quiet_from", "notices.quiet_to", "notices.nodes_off"


@dataclass(frozen=True, slots=True)
class Notices:
    """Whether, when and of which nodes. Quiet hours are local time and may go over midnight; both equal = none."""

    on: bool = True
    quiet_from: time = time(0)
    quiet_to: time = time(0)
    nodes_off: frozenset[str] = frozenset()

    def disturbs(self, node_id: str, now: datetime) -> bool:
        """Whether an event of a node at a local time may show up outside of its page."""
        return self.on and node_id not in self.nodes_off and not self.quiet(now.time())

    def quiet(self, now: time) -> bool:
        """Whether a time of day lies in the quiet hours; their end no longer does."""
        if self.quiet_from <= self.quiet_to:
            return self.quiet_from <= now < self.quiet_to
        return now >= self.quiet_from or now < self.quiet_to


def parse_time(words: str) -> time:
    """`22:30` as time of day. Raises UsageError."""
    found = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", words.strip())
    if found is None:
        raise UsageError(Text(f"{words[:20]!r} is no time of day", f"{words[:20]!r} 不是时刻"), next_step=Text("write hours and minutes, such as 22:30", "请填写时和分，如 22:30"))
    return time(int(found[1]), int(found[2]))


def get_notices(connection: Reader) -> Notices:
    """As the user set them; what was edited by hand into something else counts as not set."""
    off = get_setting(connection, _OFF, "")
    return Notices(
        get_setting(connection, _ON, True), _time(get_setting(connection, _FROM, "00:00")), _time(get_setting(connection, _TO, "00:00")),
        frozenset(id_ for id_ in off.split("\n") if id_),
    )  # fmt: skip


def _time(words: str) -> time:
    try:
        return parse_time(words)
    except UsageError:
        return time(0)


def save_notices(db: Database, notices: Notices) -> None:
    """Keep them."""
    save_setting(db, _ON, notices.on)
    save_setting(db, _FROM, f"{notices.quiet_from:%H:%M}")
    save_setting(db, _TO, f"{notices.quiet_to:%H:%M}")
    save_setting(db, _OFF, "\n".join(sorted(notices.nodes_off)))
