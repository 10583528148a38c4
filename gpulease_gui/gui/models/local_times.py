"""How do times of the store, which are UTC, read on the user's own clock?"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gpulease_gui.domain.text import Text

# As rules of a watch write down since when they are broken. What a node says of its own times comes after it and stays as it is.
_SINCE = {"en": re.compile(r"(?<=since )(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b"), "zh": re.compile(r"(?<=自 )(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b")}


def in_local_time(words: Text, *, zoned: bool = True) -> Text:
    """The same words with "since 2026-12-02 06:54:35 UTC" in local time; today's without the day.

    The zone is named, unless whoever shows the words names it beside them (not `zoned`).
    """

    def local(found: re.Match[str]) -> str:
        return _local(found, zoned=zoned)

    return Text(_SINCE["en"].sub(local, words.en, 1), _SINCE["zh"].sub(local, words.zh, 1))


def _local(found: re.Match[str], *, zoned: bool) -> str:
    try:
        at = datetime.strptime(found.group(1), "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).astimezone()
    except ValueError:
        return found.group(0)
    day = "" if at.date() == datetime.now(at.tzinfo).date() else "%Y-%m-%d "
    said = at.strftime(f"{day}%H:%M:%S")
    return f"{said} {zone(at)}" if zoned else said


def zone(at: datetime) -> str:
    """The zone of a local time, such as UTC+8 or UTC−3:30."""
    offset = at.utcoffset()
    minutes = round(offset.total_seconds() / 60) if offset is not None else 0
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes >= 0 else chr(0x2212)}{hours}" + (f":{rest:02}" if rest else "")
