"""Can the figures of the program's own tests all be true: do both ends fit each other, and our own clock?

Either end may be the supplier's, so no end is believed alone: what one says is bounded by the other and by the time that
passed here. TCP delivers every byte once, so never more arrives than was sent, and what was sent and did not arrive lies in
the buffers of both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpulease_gui.domain.units import MIB
from gpulease_gui.facts.json_text import count, figure

MOST_S = 3600.0
# What the sending program stops at, per stream (a terabit in a second over eight); it begins with whole pieces of 1 MiB.
_MOST_BYTES_S = 125e9 / 8
# The two stretches begin a little apart, and buffers that were full may have drained: per stream, and of the whole.
_DRAINED, _IN_FLIGHT, _APART = 32 * MIB, 256 * MIB, 1.05
# Against the length that was asked for; no test is shorter than the least, and our clock is read a little late or early.
_SHORTEST, _LONGEST, _LEAST_S, _CLOCK_S = 0.5, 1.5, 0.4, 0.5


class Misfit(StrEnum):
    """Why the figures can't all be true."""

    MORE_ARRIVED = "more_arrived"
    MORE_SENT = "more_sent"
    TIME = "time"
    CLOCK = "clock"
    TOO_MUCH = "too_much"
    SILENT = "silent"
    STREAMS = "streams"
    COUNTERS = "counters"


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream as one end tells it: bytes and seconds of the measured stretch, and all bytes that it moved (None = not told)."""

    moved: int
    seconds: float
    in_all: int | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """What we know ourselves: the length that was asked for and how long the whole test took here; None = not kept."""

    asked_s: float | None = None
    took_s: float | None = None


def clock_of(found: dict[str, Any]) -> Clock:
    """What we wrote into a document."""
    return Clock(_positive(figure(found, "asked_s")), _positive(figure(found, "took_s")))


def stream_of(told: dict[str, Any]) -> Stream | None:
    """None where bytes or seconds are missing, or no numbers that a test can give."""
    moved, seconds = count(told, "bytes"), figure(told, "seconds")
    if moved is None or moved < 0 or seconds is None or not 0 < seconds < MOST_S:
        return None
    return Stream(moved, seconds, count(told, "all_bytes"))


def misfit(sender: Sequence[Stream | None], receiver: Sequence[Stream], clock: Clock) -> Misfit | None:
    """What can't be true of one test; None = all fits. Streams stand in the same order at both ends."""
    sent = [one for one in sender if one is not None]
    if len(sent) != len(receiver):
        return Misfit.MORE_ARRIVED
    times = [one.seconds for one in (*sent, *receiver)]
    return timing(times, clock) or _amounts(sent, receiver, clock.asked_s or max(times))


def timing(times: Sequence[float], clock: Clock) -> Misfit | None:
    """Whether these lengths can be those of the test that was asked for."""
    asked_s = clock.asked_s or max(times)
    if min(times) < max(_LEAST_S, asked_s * _SHORTEST) or max(times) > asked_s * _LONGEST:
        return Misfit.TIME
    if clock.took_s is not None and max(*times, asked_s) > clock.took_s + _CLOCK_S:
        return Misfit.CLOCK
    return None


def _amounts(sent: Sequence[Stream], came: Sequence[Stream], asked_s: float) -> Misfit | None:
    pairs = list(zip(sent, came, strict=True))
    out, into = sum(one.moved for one in sent), sum(one.moved for one in came)
    if into > out * _APART + _DRAINED * len(pairs) or any(_over_all(here, there) for here, there in pairs):
        return Misfit.MORE_ARRIVED
    if any(one.moved > asked_s * _MOST_BYTES_S + _DRAINED for one in (*sent, *came)):
        return Misfit.TOO_MUCH
    if silent(came):
        return Misfit.SILENT
    return Misfit.MORE_SENT if out > into * _APART + _IN_FLIGHT * len(pairs) else None


def _over_all(sent: Stream, came: Stream) -> bool:
    """Whether one stream brought more, from its first to its last byte, than was put into it."""
    if sent.in_all is None or came.in_all is None:
        return False
    return came.in_all > sent.in_all or came.moved > came.in_all or sent.moved > sent.in_all


def silent(came: Sequence[Stream]) -> int:
    """How many streams brought nothing."""
    return sum(not one.moved for one in came)


def _positive(value: float | None) -> float | None:
    return value if value is not None and 0 < value < MOST_S * 2 else None
