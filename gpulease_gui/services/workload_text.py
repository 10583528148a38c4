"""How are sessions written and read as lines of text?

    20 x 6 h
    2026-03-02T10:50+08:00 20 min
    10 min not ready
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.workload import Session

MOST_SESSIONS = 20_000
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "秒": 1, "分钟": 60, "小时": 3600, "天": 86400}
_LINE = re.compile(
    r"(?:(?P<count>\d{1,5})\s*[x×*]\s*)?(?:(?P<start>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)\s+)?"
    r"(?P<length>\d{1,6}(?:\.\d{1,4})?)\s*(?P<unit>s|min|h|d|秒|分钟|小时|天)(?P<never>\s+(?:not ready|未就绪))?",
    re.ASCII | re.IGNORECASE,
)


class WrongLine(UsageError):
    """A line that is no session; `words` say so in both languages."""

    def __init__(self, words: Text, next_step: Text) -> None:
        super().__init__(words, next_step=next_step)
        self.words = words


def read_sessions(words: str) -> tuple[Session, ...]:
    """The sessions of the lines; a time without a zone is one of this computer. Raises WrongLine naming the line."""
    found: list[Session] = []
    for number, line in enumerate(words.splitlines(), start=1):
        if line.strip():
            found += _of_line(line.strip(), number)
    if len(found) > MOST_SESSIONS:
        words_of = Text(f"{len(found)} sessions are too many", f"{len(found)} 次使用过多，最多 {MOST_SESSIONS} 次")
        raise WrongLine(words_of, Text(f"write at most {MOST_SESSIONS}", f"最多填写 {MOST_SESSIONS} 次"))
    return tuple(found)


def _of_line(line: str, number: int) -> list[Session]:
    said = _LINE.fullmatch(line)
    if said is None:
        told = Text(f"line {number}: {line!r} is no session", f"第 {number} 行：无法识别 {line!r}，例如 20 x 6 h")
        raise WrongLine(told, Text("write such as 20 x 6 h, or 2026-03-02T10:50+08:00 20 min", "请写成 20 x 6 h，或 2026-03-02T10:50+08:00 20 min"))
    seconds = round(Decimal(said["length"]) * _UNITS[said["unit"].lower()])
    session = Session(seconds, _start(said["start"], number), said["never"] is None)
    return [session] * int(said["count"] or 1)


def _start(words: str | None, number: int) -> datetime | None:
    if words is None:
        return None
    try:
        start = datetime.fromisoformat(words)
    except ValueError:
        told = Text(f"line {number}: {words!r} is no time", f"第 {number} 行：{words!r} 不是时间")
        raise WrongLine(told, Text("write such as 2026-03-02T10:50+08:00", "请写成 2026-03-02T10:50+08:00")) from None
    return start if start.tzinfo is not None else start.astimezone()


def write_sessions(sessions: Sequence[Session]) -> str:
    """The lines that `read_sessions` reads as the same sessions; equal neighbours share a line."""
    return "\n".join(_line(session, len(list(same))) for session, same in groupby(sessions))


def _line(session: Session, count: int) -> str:
    unit, size = next((unit, size) for unit, size in (("h", 3600), ("min", 60), ("s", 1)) if session.duration_s % size == 0)
    parts = [f"{count} x"] if count > 1 else []
    if session.start is not None:
        parts.append(session.start.isoformat())
    parts.append(f"{session.duration_s // size} {unit}")
    return " ".join([*parts, *([] if session.ready else ["not ready"])])
