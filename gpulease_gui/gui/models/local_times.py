"""How do times in stored words, which are UTC, read on the user's own clock?"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gpulease_gui.domain.text import Text

_STAMP = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC\b")


def in_local_time(words: Text) -> Text:
    """The same words with each "2026-12-02 06:54:35 UTC" in local time, its zone named; today's without the day."""
    return Text(_STAMP.sub(_local, words.en), _STAMP.sub(_local, words.zh))


def _local(found: re.Match[str]) -> str:
    written = found.group(1)
    form = "%H:%M:%S" if written.count(":") == 2 else "%H:%M"
    try:
        at = datetime.strptime(written, f"%Y-%m-%d {form}").replace(tzinfo=UTC).astimezone()
    except ValueError:
        return found.group(0)
    day = "" if at.date() == datetime.now(at.tzinfo).date() else "%Y-%m-%d "
    return f"{at.strftime(day + form)} {zone(at)}"


def zone(at: datetime) -> str:
    """The zone of a local time, such as UTC+8 or UTC−3:30."""
    offset = at.utcoffset()
    minutes = round(offset.total_seconds() / 60) if offset is not None else 0
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes >= 0 else chr(0x2212)}{hours}" + (f":{rest:02}" if rest else "")
