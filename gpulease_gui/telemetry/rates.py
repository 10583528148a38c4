"""How does a counter become a rate, without inventing one at a wrap, a reset or a wrong reading?"""

from __future__ import annotations

import math

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.telemetry.source import RECORD_END, Point

# Why a rate is none: its counter was set to another value, or read wrong.
IMPOSSIBLE = "impossible_rate"
# It is smaller than before: it was reset, or began anew.
FELL = "counter_fell"
# Why a curve ended: its subject has another name now, or is gone.
NOT_NAMED = "not_named"


class Rates:
    """Per key: (counter now - counter before) / seconds between; None for the first and for a counter that fell.

    `most` is the rate (in counter units per second) that no device reaches: what is above it was no traffic. One such reading is
    left out, and the next one is compared with the last good one; where the counter stays there, it counts on from there.
    """

    __slots__ = ("_before", "_doubted", "_fell", "_most")

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self._before: dict[str, tuple[float, float]] = {}
        self._doubted: dict[str, tuple[float, float]] = {}
        self._fell = ""  # the key of the last reading, if that fell

    def per_second(self, key: str, at_s: float, counter: float) -> float | None:
        """The rate since the line before, in counter units per second."""
        before = self._before.get(key)
        rate = _rate(before, at_s, counter)
        self._fell = key if rate is None and before is not None and counter < before[1] else ""
        if rate is not None and rate > self._most:
            rate = _rate(self._doubted.get(key), at_s, counter)
            if rate is None or rate > self._most:
                self._doubted[key] = (at_s, counter)
                return None
        self.set(key, at_s, counter)
        return rate

    def set(self, key: str, at_s: float, counter: float) -> None:
        """What the next reading is compared with."""
        self._before[key] = (at_s, counter)
        if self._doubted:
            self._doubted.pop(key, None)

    def why(self, key: str) -> str:
        """Why the last reading of all, which was one of this key, made no rate; "" where it was the first."""
        return FELL if key == self._fell else IMPOSSIBLE if key in self._doubted else ""


def _rate(before: tuple[float, float] | None, at_s: float, counter: float) -> float | None:
    if before is None or at_s <= before[0] or counter < before[1]:
        return None
    return (counter - before[1]) / (at_s - before[0])


class Changes:
    """Per key: by how much a counter rose since the line before."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: dict[str, float] = {}

    def since(self, key: str, counter: float) -> tuple[float | None, str]:
        """(the rise since the line before, why there is none): None for the first one, and FELL for one that fell."""
        before = self._before.get(key)
        self._before[key] = counter
        if before is None or counter < before:
            return None, "" if before is None else FELL
        return counter - before, ""


class Present:
    """Which subjects a complete sample names, and which of those before it does not name any more."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], None] = {}

    def with_missing(self, points: list[Point]) -> tuple[Point, ...]:
        """The points, and one without a value for each curve that has just ended: a renamed interface, a lost disk."""
        now = {(point.metric, point.subject): None for point in points}
        missing = [Point(*key, None, why=NOT_NAMED) for key in self._before if key not in now]
        self._before = now
        return (*points, *missing)


def counter(word: str) -> int | None:
    """A counter of the kernel (64 bits: up to 20 digits); None for everything else. "²" is a digit for Python, too."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 20 else None


def split_sample(line: str) -> tuple[float, list[str]]:
    """(node uptime in seconds, the other lines) of a /proc sample. Raises Unreadable."""
    head, *rest = line.split(RECORD_END)
    try:
        at_s = float(head.split()[0])
    except (ValueError, IndexError) as error:
        raise Unreadable("the sample has no time") from error
    if not math.isfinite(at_s):
        raise Unreadable("the sample has no time")
    return at_s, [part for part in rest if part]
