"""Where on a chart does a time or a value lie, and what stands on its axes?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
_STEPS_S = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 432_000)
LEAST_TOP = 0.001  # the half of it is the least that four decimals of an axis can say
HEADROOM, PROMISE_ROOM = 1.15, 1.3  # room above the upper grid line, and for the words over a contract line
TICKS = 6


@dataclass(frozen=True, slots=True)
class TimeScale:
    """A stretch of time over a number of device pixels. Pixels are counted from the epoch, so that they never move."""

    seconds_per_px: float
    columns: int
    right: int

    @classmethod
    def ending(cls, end_s: float, window_s: float, columns: int) -> TimeScale:
        """The last `window_s` seconds up to `end_s`."""
        per_px = window_s / max(1, columns)
        return cls(per_px, max(1, columns), math.floor(end_s / per_px))

    @property
    def left(self) -> int:
        """The first pixel."""
        return self.right - self.columns

    @property
    def start_s(self) -> float:
        """UTC seconds at the left edge."""
        return self.left * self.seconds_per_px

    @property
    def end_s(self) -> float:
        """UTC seconds at the right edge."""
        return self.right * self.seconds_per_px

    def x(self, at_s: float) -> float:
        """Device pixels from the left edge."""
        return at_s / self.seconds_per_px - self.left

    def time(self, x: float) -> float:
        """UTC seconds at `x` device pixels from the left edge."""
        return (self.left + x) * self.seconds_per_px


@dataclass(frozen=True, slots=True)
class ValueScale:
    """The values from the foot to the top of a plot, and the figure that the upper grid line stands for."""

    top: float
    full: float
    bottom: float = 0.0

    def y(self, value: float, height: float) -> float:
        """Pixels from the top of a plot `height` px high."""
        return height - (value - self.bottom) / (self.top - self.bottom) * height

    @property
    def ticks(self) -> tuple[float, ...]:
        """Three values: the foot, the half, the full."""
        return self.bottom, (self.bottom + self.full) / 2, self.full


def nice_above(value: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not under `value`; 1 for nothing."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _NICE if step * power >= value * (1 - 1e-9))


def value_scale(largest: float, promised: float | None, full: float | None) -> ValueScale:
    """From 0; the promise is always in sight, and so is the largest value (NaN and infinity aside)."""
    largest = largest if math.isfinite(largest) else 0.0
    middle = promised or full or max(LEAST_TOP, nice_above(largest))
    room = PROMISE_ROOM if promised else HEADROOM
    if largest > middle * room:
        middle, room = nice_above(largest), HEADROOM
    return ValueScale(middle * room, middle)


def time_step_s(window_s: float, ticks: int = TICKS) -> int:
    """The distance of grid lines: a round one that gives at most `ticks` of them."""
    return next((step for step in _STEPS_S if window_s / step <= ticks), _STEPS_S[-1])


def local(at_s: float) -> datetime:
    """UTC seconds as the user's wall clock, zone included."""
    return datetime.fromtimestamp(at_s).astimezone()


def time_ticks(scale: TimeScale, ticks: int = TICKS) -> tuple[float, ...]:
    """UTC seconds of the grid lines, on round minutes of the user's clock."""
    step = time_step_s(scale.end_s - scale.start_s, ticks)
    offset = local(scale.end_s).utcoffset()
    shift = offset.total_seconds() if offset is not None else 0.0
    first = math.ceil((scale.start_s + shift) / step)
    last = math.floor((scale.end_s + shift) / step)
    return tuple(n * step - shift for n in range(first, last + 1))


def clock_text(at_s: float, *, seconds: bool = True) -> str:
    """15:42:48, or 15:42."""
    return local(at_s).strftime("%H:%M:%S" if seconds else "%H:%M")


def moment_text(at_s: float) -> str:
    """15:42:48, or 11-28 15:42:48 when it is not of today."""
    return local(at_s).strftime("%H:%M:%S" if _is_today(at_s) else "%m-%d %H:%M:%S")


def _is_today(at_s: float) -> bool:
    at = local(at_s)
    return at.date() == datetime.now(at.tzinfo).date()


def tick_text(at_s: float, window_s: float) -> str:
    """What stands at a grid line: the time, with the day where more than one is in sight."""
    if window_s > 86_400:
        return local(at_s).strftime("%m-%d %H:%M")
    return clock_text(at_s, seconds=time_step_s(window_s) < 60)


def range_text(start_s: float, end_s: float) -> str:
    """15:20:00 – 15:50:00 of today, 11-28 15:20:00 – 15:50:00 of another day; 11-28 15:20 – 12-02 15:20 over more than one."""
    if local(start_s).date() == local(end_s).date():
        return f"{moment_text(start_s)} – {clock_text(end_s)}"
    first, last = (local(at_s).strftime("%m-%d %H:%M") for at_s in (start_s, end_s))
    return f"{first} – {last}"
